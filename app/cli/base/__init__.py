"""What all commands share: options, output, exit statuses, the client."""
