"""Memory and defaults."""
