"""GraphQL over HTTP, WebSockets and server-sent events.

Begin with `endpoint`.
"""
