"""MCP servers mounted as packs `mcp.<server>.<tool>`.

`spec` is what the settings say of a server, `connection` keeps one connected, `tools` makes packs of its tools,
`results` makes step outputs of its answers, `mounts` holds it all together and pins what was accepted.
"""
