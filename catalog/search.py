"""Finding entries of the catalog: by words, best match first, and by what they take and make. Pure.

An entry matches words when it has at least half of them; a word may stand for the beginning of a longer one. Where a
word is found decides what it is worth, and words that few entries have are worth more.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from runner.failures import JSONValue
    from runner.metadata import Metadata

RefT = TypeVar("RefT")
EntryKind = Literal["pack", "pipeline"]
#: An entry's place in the order: rank (lower is better, 0 without words), name in lower case, id.
Place = tuple[int, str, str]

#: What a word is worth by where it stands.
_WEIGHTS = {"name": 8.0, "keywords": 5.0, "kinds": 3.0, "examples": 3.0, "use": 2.0, "description": 1.0}
#: A word that only begins like one of the entry's is worth this share of it.
_PREFIX_SHARE = 0.6
_PREFIX_LENGTH = 3
#: Share of the words asked for that an entry must have.
_COVERAGE = 0.5
_WORD = re.compile(r"[^\W_]+")
#: Words that say nothing about what is wanted.
_EMPTY_WORDS = (
    "a an and are as at be by can could do for from give has have how i in into is it its like make me my of on or our "
    "out please some something that the their them then there this to turn up us want we what when which will with "
    "would you your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class Entry(Generic[RefT]):
    """Something that can be run by name.

    Attributes:
        ref: What the caller knows it by; not looked at here.
        kind: What sort of thing; among equals pipelines come before packs.
        input_schema: JSON Schema of what it must be given; only routing looks at it.
    """

    ref: RefT
    id: str
    kind: EntryKind
    name: str
    description: str
    metadata: Metadata
    input_schema: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed(Generic[RefT]):
    """An entry and its place in the order of a search."""

    entry: Entry[RefT]
    place: Place


def by_kinds(
    entries: Iterable[Entry[RefT]],
    *,
    accepts: Collection[str] | None = None,
    produces: Collection[str] | None = None,
) -> list[Entry[RefT]]:
    """Entries that take one of some kinds of thing and make one of others; None does not ask."""
    return [
        entry
        for entry in entries
        if (accepts is None or not set(accepts).isdisjoint(entry.metadata.accepts))
        and (produces is None or not set(produces).isdisjoint(entry.metadata.produces))
    ]


def placed(entries: Sequence[Entry[RefT]], text: str | None = None) -> list[Placed[RefT]]:
    """Entries in order: by how well they match the words, else by name. Those that do not match are left out."""
    words = _asked(text or "")
    if not words:
        found = [Placed(entry, (0, entry.name.casefold(), entry.id)) for entry in entries]
        return sorted(found, key=lambda item: item.place)
    fields = [_fields(entry) for entry in entries]
    rarity = {word: _rarity(word, fields) for word in words}
    matches = []
    for entry, where in zip(entries, fields, strict=True):
        worth = {word: _worth(word, where) for word in words}
        covered = sum(1 for value in worth.values() if value) / len(words)
        if covered < _COVERAGE:
            continue
        score = covered * sum(value * rarity[word] for word, value in worth.items())
        if entry.kind == "pipeline":
            score *= 1.05
        matches.append(Placed(entry, (-round(score * 1000), entry.name.casefold(), entry.id)))
    return sorted(matches, key=lambda item: item.place)


def _asked(text: str) -> list[str]:
    words = list(dict.fromkeys(_words(text)))[:32]
    telling = [word for word in words if word not in _EMPTY]
    return telling or words


def _words(text: str) -> list[str]:
    """Words in lower case, the plain plural taken off."""
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in _WORD.findall(text.casefold())
    ]


def _fields(entry: Entry[RefT]) -> dict[str, frozenset[str]]:
    metadata = entry.metadata
    texts = {
        "name": (entry.id, entry.name),
        "keywords": metadata.intent_keywords,
        "kinds": (*metadata.accepts, *metadata.produces),
        "examples": metadata.example_intents,
        "use": (metadata.typical_use or "",),
        "description": (entry.description,),
    }
    return {field: frozenset(word for text in found for word in _words(text)) for field, found in texts.items()}


def _worth(word: str, where: dict[str, frozenset[str]]) -> float:
    best = 0.0
    for name, words in where.items():
        weight = _WEIGHTS[name]
        if word in words:
            best = max(best, weight)
        elif (
            len(word) >= _PREFIX_LENGTH
            and weight * _PREFIX_SHARE > best
            and any(other.startswith(word) for other in words)
        ):
            best = weight * _PREFIX_SHARE
    return best


def _rarity(word: str, fields: Sequence[dict[str, frozenset[str]]]) -> float:
    having = sum(1 for where in fields if any(word in words for words in where.values()))
    return math.log(1 + len(fields) / (1 + having))
