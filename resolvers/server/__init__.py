"""The server itself: health, limits, settings, models, mounted MCP servers."""
