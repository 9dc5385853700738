"""Every use case once, declared with its name, input, result and scope."""
