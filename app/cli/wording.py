"""What the server says in the words of its API, in those of the command line."""

from __future__ import annotations

from typing import Final

#: Longer ones first: one may stand within another.
_WORDS: Final = {
    "`callers { nodes { tokens { … } } }` lists": "`packline token list` shows",
    "`callers` lists": "`packline token list` shows",
    "`memoryEntries` lists": "`packline memory entries` lists",
    "`mcpServers { packs { id } }` lists": "`packline packs` lists",
    "Leave `caller` out": "Leave `--caller` out",
    "Leave `agent` out": "Leave `--agent` out",
    "run_pack calls it": "`packline run` calls it",
    "run_pipeline runs it": "`packline run` runs it",
}


def in_own_words(text: str) -> str:
    """A hint of the server's as whoever types commands can follow it."""
    for theirs, ours in _WORDS.items():
        text = text.replace(theirs, ours)
    return text
