"""Work that can be killed: worker processes, and programs in separate process groups.

Begin with `processes`. `worker` runs in the worker processes and imports nothing of the server.
"""
