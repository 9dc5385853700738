"""The pack protocol: the declarations of authors, the context of handlers, and the installed packs.

Begin with `pack`, `context` and `registry`. `models`, `memory` and `routing` are the ports for handlers.
"""
