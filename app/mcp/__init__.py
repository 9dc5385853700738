"""Packline for agents: MCP tools made of GraphQL fields and the operations they call.

`tools` decides what a caller is shown and answers calls; `documents/` holds what each tool asks of the schema.
`resources` are what agents read by address, and the files that teach them. `transport` speaks the protocol; nothing
outside it imports `mcp` before a server is ready. `session` is one request: who sent it, and how documents are run.
"""
