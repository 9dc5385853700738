"""Packs, the models they ask, and mounted MCP servers."""
