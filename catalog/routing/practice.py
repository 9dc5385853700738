"""Entries that exist for practice are offered only to somebody who asks for them by name. Pure.

A name of several parts, such as `practice.review` or “See it work”, counts anywhere in a request. A name of one word is
also a word of English: `sample` counts in `backticks`, or where the request says hardly anything else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog.words import telling_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog.search import Entry, RefT

#: Words next to a name of one word, such as `run` or `pipeline`, with which the request still asks for just that.
_WORDS_BESIDE = 1
#: Shortest beginning of a name that counts as typing it.
_BEGINNING = 3


def offered(
    entries: Iterable[Entry[RefT]], request: str | None = None, targets: Collection[str] = ()
) -> list[Entry[RefT]]:
    """The entries without those for practice that nobody asked for.

    Args:
        entries: What can be run.
        request: In the user's words; None when there is none.
        targets: Ids, keys and names that the request's context gives.
    """
    return [
        entry
        for entry in entries
        if not entry.metadata.practice
        or not {entry.id, entry.name, *entry.aliases}.isdisjoint(targets)
        or (request is not None and names_entry(request, entry))
    ]


def names_entry(request: str, entry: Entry[RefT]) -> bool:
    """Whether a request names an entry by its id, key, earlier keys or title, or is the beginning of one of them."""
    text = " ".join(request.casefold().split())
    return any(_is_named(text, name.casefold()) for name in (entry.id, entry.name, *entry.aliases))


def _is_named(text: str, name: str) -> bool:
    if len(text) >= _BEGINNING and name.startswith(text):
        return True
    if f"`{name}`" in text:
        return True
    if re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", text) is None:
        return False
    return not name.isalnum() or len(set(telling_words(text)) - set(telling_words(name))) <= _WORDS_BESIDE
