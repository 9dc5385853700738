"""Packs, models, and mounted MCP servers."""
