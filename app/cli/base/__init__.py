"""The base of all commands: options, output, exit statuses, the client."""
