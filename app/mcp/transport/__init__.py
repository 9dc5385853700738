"""The protocol over HTTP and stdio, for clients with and without the handshake, and tasks. Imports `mcp`.

Begin with `mount` and `server`.
"""
