"""Finds entries that a request names exactly: by id, key or earlier key, or by their title alone. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog.words import telling_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.search import Entry, RefT


def named_exactly(request: str, entries: Sequence[Entry[RefT]]) -> list[int]:
    """Return the positions of entries that a request names in full: `deck` does not name `deck-2`, or vice versa."""
    text = " ".join(request.casefold().split())
    return [place for place, entry in enumerate(entries) if _names(text, entry)]


def _names(text: str, entry: Entry[RefT]) -> bool:
    title = entry.name.casefold()
    if text == title or f"`{title}`" in text:
        return True
    return any(_holds(text, handle.casefold()) for handle in (entry.id, *entry.aliases))


def _holds(text: str, handle: str) -> bool:
    if handle not in text:
        return False
    if f"`{handle}`" in text:
        return True
    if re.search(rf"(?<![\w./-]){re.escape(handle)}(?![\w/-]|\.\w)", text) is None:
        return False
    # A one-word handle may be meant as an English word: `brew tea` asks for tea.
    return not handle.isalnum() or set(telling_words(text)) <= set(telling_words(handle))
