"""Work that can be killed: worker processes, and programs in groups of their own.

Begin with `processes`. `worker` runs on the far side and imports nothing of the server.
"""
