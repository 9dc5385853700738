"""The pack protocol: what an author declares, what a handler is given, and which packs this installation has.

Begin with `pack`, `context` and `registry`. `models`, `memory` and `routing` are the ports a handler sees.
"""
