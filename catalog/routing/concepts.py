"""Finds the concepts (things and deeds) that a text mentions, by any of their synonyms. Pure.

`concepts.toml` lists the synonyms. A thing is read with its role in the sentence: "from a PDF" gives one, "as a PDF"
wants one, "about PDFs" does neither.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from catalog.words import MIN_FUZZY_LENGTH, PART_LIKENESS, Spelling, fold, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Role = Literal["wanted", "given", "topic", "plain"]

_FILE = Path(__file__).with_name("concepts.toml")
#: Most words that the `~` of a phrase matches.
_GAP = 3
#: Least similarity of a misspelling to the word it stands for; chosen by cross-validation.
_LIKENESS = 0.8
#: Most words of a text that are read.
MAX_TOKENS = 160
_TOKEN = re.compile(r"->|[^\W_]+|[,.;:?!]")
#: Words that introduce what is wanted, what it is made from, and what it is about.
_WANTED_WORDS = "to into as als zu zur zum en 2 -> become becomes want need create make makes produce build"
_GIVEN_WORDS = (
    "from of out aus von de du des depuis di del using based this my our these turn convert take transform "
    "meinem meinen unserem mi mis mon mes mein meine dem these existing attached"
)
_TOPIC_WORDS = "about on regarding concerning uber sur sobre why how what whether"
_BREAKS = frozenset(",.;:?!") | {"and", "then", "und", "et", "y", "dann"}
_STARTS: dict[str, Role] = {
    **dict.fromkeys(_WANTED_WORDS.split(), "wanted"),
    **dict.fromkeys(_GIVEN_WORDS.split(), "given"),
    **dict.fromkeys(_TOPIC_WORDS.split(), "topic"),
}
#: Concepts for which "on" means a place rather than a topic.
_PLACES = frozenset(("deeds.chat_post", "deeds.use_service"))
_AT = frozenset(("on", "auf", "sur"))
#: For how many words a role lasts after the word that introduces it.
_REACH = {"wanted": 5, "given": 4, "topic": 40, "plain": 1_000}


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing or a deed.

    Attributes:
        kinds: The kinds of the vocabulary that it covers; a deed has none.
    """

    name: str
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a concept in a text.

    Attributes:
        start: Position of its first word in the text.
        sureness: Below 1 when a misspelt word was read as one of its words.
    """

    concept: str
    role: Role
    start: int
    end: int
    sureness: float = 1.0


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """The concepts with their phrases.

    Attributes:
        phrases: By their first word: the concept and the words, with None for a gap.
        spelling: The words that are a phrase by themselves.
    """

    concepts: Mapping[str, Concept]
    phrases: Mapping[str, Sequence[tuple[str, tuple[str | None, ...]]]]
    spelling: Spelling


@functools.cache
def thesaurus() -> Thesaurus:
    """Read `concepts.toml`; cached."""
    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    concepts: dict[str, Concept] = {}
    phrases: dict[str, list[tuple[str, tuple[str | None, ...]]]] = {}
    words: set[str] = set()
    for group in ("things", "deeds"):
        for name, stated in found[group].items():
            key = f"{group}.{name}"
            concepts[key] = Concept(key, frozenset(stated.get("kinds", ())))
            for phrase in stated["words"].split(","):
                parts = tuple(None if part == "~" else part for part in tokens(phrase.replace("~", " gapgap ")))
                parts = tuple(None if part == "gapgap" else part for part in parts)
                if not parts or parts[0] is None:
                    continue
                phrases.setdefault(parts[0], []).append((key, parts))
                if len(parts) == 1:
                    words.add(parts[0])
    return Thesaurus(concepts, phrases, Spelling(sorted(words)))


def tokens(text: str) -> list[str]:
    """Return the stems of a text with its punctuation, including stop words, up to `MAX_TOKENS`."""
    return [stem(match.group()) for match in _TOKEN.finditer(fold(text))][:MAX_TOKENS]


def mentions(text: str, knows: Callable[[str], bool] | None = None) -> list[Mention]:
    """Find all mentions of concepts in a text.

    A phrase hides shorter ones of its group inside it: "my article" does not mention "article".

    Args:
        text: The text, of which the first `MAX_TOKENS` words are read.
        knows: Whether a word is spelt right; None takes all words as they are.
    """
    phrases = thesaurus().phrases
    parts = tokens(text)
    sure = [1.0] * len(parts)
    if knows is not None:
        for place, word in enumerate(parts):
            if word not in phrases and not knows(word) and (meant := _meant(word)) is not None:
                parts[place], sure[place] = meant
    roles = list(_roles(parts))
    found: list[Mention] = []
    for place, word in enumerate(parts):
        for concept, phrase in phrases.get(word, ()):
            end = _end(parts, place, phrase)
            if end is not None:
                is_place = concept in _PLACES and place > 0 and parts[place - 1] in _AT
                role = "plain" if is_place else roles[place]
                found.append(Mention(concept, role, place, end, min(sure[place:end])))
    solid = [item for item in found if item.end - item.start > 1]
    return [item for item in found if not any(_hides(longer, item) for longer in solid)]


@functools.lru_cache(maxsize=20_000)
def _meant(word: str) -> tuple[str, float] | None:
    """Return the word of a concept that a misspelling or compound stands for, with how surely."""
    if len(word) < MIN_FUZZY_LENGTH or word.isdigit():
        return None
    near = thesaurus().spelling.near(word, PART_LIKENESS)
    return next((item for item in near if item[1] >= _LIKENESS or _is_part(word, item[0])), None)


def _is_part(word: str, other: str) -> bool:
    return len(other) > MIN_FUZZY_LENGTH and (word.endswith(other) or word.startswith(other))


def _hides(longer: Mention, item: Mention) -> bool:
    return (
        longer.start <= item.start
        and item.end <= longer.end
        and longer.end - longer.start > item.end - item.start
        and longer.concept.partition(".")[0] == item.concept.partition(".")[0]
    )


def _end(parts: Sequence[str], place: int, phrase: Sequence[str | None]) -> int | None:
    position = place
    gap = 0
    for part in phrase:
        if part is None:
            gap = _GAP
            continue
        for step in range(gap + 1):
            if position + step < len(parts) and parts[position + step] == part:
                position += step + 1
                break
        else:
            return None
        gap = 0
    return position


def _roles(parts: Sequence[str]) -> Iterator[Role]:
    role: Role = "plain"
    left = 0
    for part in parts:
        begun = _STARTS.get(part)
        if begun is not None:
            if not (role == "topic" and begun == "given"):
                role, left = begun, _REACH[begun]
        elif part in _BREAKS or left <= 0:
            role = "plain"
        yield role
        left -= 1
