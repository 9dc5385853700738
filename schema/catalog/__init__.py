"""The catalog, routing, and gaps that were kept."""
