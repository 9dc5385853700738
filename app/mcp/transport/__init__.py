"""The protocol: over HTTP and standard input, both eras, tasks. Imports `mcp`.

Begin with `mount` and `server`.
"""
