"""The catalog, routing, and gap proposals."""
