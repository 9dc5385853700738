"""MCP servers mounted as packs `mcp.<server>.<tool>`.

`spec` is the configuration of a server, `connection` keeps it connected, `tools` makes packs of its tools, `results`
converts its answers to step outputs, `mounts` brings all together and pins accepted tools.
"""
