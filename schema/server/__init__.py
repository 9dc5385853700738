"""The server itself, and how agents' programs are connected."""
