"""Offers practice entries only for requests that name them. Pure.

A name of several words, such as `practice.review` or “See it work”, counts anywhere in a request. A one-word name may
be meant as an English word: `sample` counts in `backticks`, or if the request has hardly any other words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog.words import telling_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog.search import Entry, RefT

#: Most other words, such as `run` or `pipeline`, with which a request still names a one-word entry.
_OTHER_WORDS = 1
#: Shortest beginning of a name that counts as the name.
_BEGINNING = 3


def offered(
    entries: Iterable[Entry[RefT]], request: str | None = None, targets: Collection[str] = ()
) -> list[Entry[RefT]]:
    """Return the entries without the practice entries that the request does not name.

    Args:
        entries: The packs and pipelines.
        request: The user's words; None when there is no request.
        targets: Ids, keys and names from the request's context.
    """
    return [
        entry
        for entry in entries
        if not entry.metadata.practice
        or not {entry.id, entry.name, *entry.aliases}.isdisjoint(targets)
        or (request is not None and names_entry(request, entry))
    ]


def names_entry(request: str, entry: Entry[RefT]) -> bool:
    """Return whether a request contains an entry's id, key, earlier key or title, or is the beginning of one."""
    text = " ".join(request.casefold().split())
    return any(_is_named(text, name.casefold()) for name in (entry.id, entry.name, *entry.aliases))


def _is_named(text: str, name: str) -> bool:
    if len(text) >= _BEGINNING and name.startswith(text):
        return True
    if f"`{name}`" in text:
        return True
    if re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", text) is None:
        return False
    return not name.isalnum() or len(set(telling_words(text)) - set(telling_words(name))) <= _OTHER_WORDS
