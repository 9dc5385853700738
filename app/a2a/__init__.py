"""Packline for other agents: A2A, with pipelines as skills and runs as tasks.

`mount` authenticates callers and imports the rest at the first request, since nothing outside it may import `a2a` while
the server starts. `server` puts the SDK's routes together, `handler` answers its requests, `messages` reads what a
client sends, `tasks` shows runs as tasks, `cards` describes the server,
`pushes` keeps the addresses of push notifications, which `pusher` sends.
"""
