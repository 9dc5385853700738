"""Packline for agents: MCP tools that run GraphQL fields and the operations behind them.

`tools` selects the tools of a caller and answers calls; `documents/` has each tool's GraphQL document. `resources` are
read by address, and include files that explain the server to agents. `transport` speaks the protocol; nothing outside
it imports `mcp` before a server is ready. `session` is one request: its caller, its selection, and how it runs
documents.
"""
