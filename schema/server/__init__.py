"""Information about the server, and how to connect agent clients."""
