"""Splits a request into its parts and ranks the catalog for each, to name every capability that is missing. Pure.

"Make slides from this PDF and book me a flight" has two parts: the catalog serves the first and not the second. Only
what reads like a command begins a part, so that "for doctors and nurses" stays in one piece.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from catalog.routing.concepts import mentions
from catalog.routing.facts import Facts, read_facts
from catalog.routing.names import named_exactly
from catalog.routing.ranking import Ranking, rank
from catalog.search import RefT
from catalog.words import fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog.routing.index import RoutingIndex
    from runner.failures import JSONValue

#: Most parts of a request that are ranked one by one; a request with more is ranked as a whole only.
MAX_PARTS = 5
#: Longest request that is split, in characters: a longer one is a pasted text.
_MAX_SPLIT = 1_000
_JOINT = re.compile(
    r"[;.!?](?=\s)\s*|,\s+(?:(?:and|und|et|y)\s+)?|\s+(?:and|und|et|y|then|dann|plus|as well as)\s+|\s*\n\s*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
#: Fewest words of a part: "crop and rotate a photo" is one.
_LEAST_WORDS = 2
#: Words before the verb of a command.
_OPENER_WORDS = "also then afterwards finally please next and just i we want would like need to you can could will"
_OPENERS = frozenset(_OPENER_WORDS.split())
#: Words that begin the object of a command.
_OBJECT_WORDS = "it this that these those them the a an my our me us all each every its their"
_OBJECTS = frozenset(_OBJECT_WORDS.split())
#: Words that are no verb, although an object may follow.
_NO_VERB_WORDS = (
    "for with from in on at of by about into as or but if is are was were be so not no when while which who what how "
    "why where than both make sure"
)
_NO_VERBS = _OBJECTS.union(_NO_VERB_WORDS.split())


@dataclass(frozen=True, slots=True)
class RequestPart(Generic[RefT]):
    """One thing that a request asks for, with the ranking of the catalog for it alone."""

    text: str
    facts: Facts
    ranking: Ranking[RefT]


@dataclass(frozen=True, slots=True)
class RankedRequest(Generic[RefT]):
    """A request, ranked.

    Attributes:
        facts: The facts of what `ranking` ranks.
        ranking: The ranking for the request, or for its first part that the catalog serves when it serves some only.
        missing: The parts that nothing serves; the whole request when it is a gap that cannot be split.
        also_served: When parts are missing, those that the catalog serves with another entry than `ranking` has first.
    """

    facts: Facts
    ranking: Ranking[RefT]
    missing: tuple[RequestPart[RefT], ...]
    also_served: tuple[RequestPart[RefT], ...] = ()


def rank_request(
    index: RoutingIndex[RefT], request: str, context: JSONValue, history: Mapping[str, int]
) -> RankedRequest[RefT]:
    """Rank the catalog for a request and find the parts that nothing in it serves.

    Args:
        index: The catalog.
        request: The user's words.
        context: The context of the request.
        history: How often the caller lately used each entry, by id.
    """
    facts = read_facts(request, context)
    whole = RequestPart(request, facts, rank(index, facts, history))
    texts = split_request(request)
    if len(texts) < 2 or named_exactly(facts.request, index.entries):
        return _unsplit(whole)
    parts = [_ranked(index, text, context, history) for text in texts]
    missing = tuple(part for part in parts if part.ranking.is_gap)
    unknown = tuple(part for part in missing if _is_unknown(part.ranking))
    served = [part for part in parts if not part.ranking.is_gap]
    if not served and whole.ranking.is_gap:
        return RankedRequest(facts, whole.ranking, missing)
    if not served or not unknown:
        return _unsplit(whole)
    answered = served[0] if whole.ranking.is_gap else whole
    return RankedRequest(answered.facts, answered.ranking, unknown, _also_served(answered, served))


def split_request(request: str) -> list[str]:
    """Split a request where a command follows; returns it in one piece if it has one part, or too many."""
    if len(request) > _MAX_SPLIT:
        return [request]
    joints = [
        joint
        for joint in _JOINT.finditer(request)
        if _is_command(request[joint.end() :]) and len(request[: joint.start()].split()) >= _LEAST_WORDS
    ]
    if not joints or len(joints) >= MAX_PARTS:
        return [request]
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(request)]
    pieces = (request[start:end].strip(" \t\n.,;:!?") for start, end in zip(starts, ends, strict=True))
    return [piece for piece in pieces if piece]


def _is_command(text: str) -> bool:
    """Whether a text begins like a command: with a deed, or with a verb and its object."""
    words = _WORD.findall(fold(_JOINT.split(text, maxsplit=1)[0]))
    while words and words[0] in _OPENERS:
        del words[0]
    if len(words) < _LEAST_WORDS or words[0] in _NO_VERBS or not words[0].isalpha():
        return False
    return words[1] in _OBJECTS or any(
        mention.start == 0 and mention.concept.startswith("deeds.") for mention in mentions(" ".join(words))
    )


def _ranked(index: RoutingIndex[RefT], text: str, context: JSONValue, history: Mapping[str, int]) -> RequestPart[RefT]:
    facts = read_facts(text, context)
    return RequestPart(text, facts, rank(index, facts, history))


def _also_served(answered: RequestPart[RefT], served: Sequence[RequestPart[RefT]]) -> tuple[RequestPart[RefT], ...]:
    """Return the parts whose best entry is neither that of `answered` nor of an earlier part."""
    taken = {answered.ranking.choices[0].position}
    others: list[RequestPart[RefT]] = []
    for part in served:
        position = part.ranking.choices[0].position
        if position not in taken:
            taken.add(position)
            others.append(part)
    return tuple(others)


def _unsplit(whole: RequestPart[RefT]) -> RankedRequest[RefT]:
    return RankedRequest(whole.facts, whole.ranking, (whole,) if whole.ranking.is_gap else ())


def _is_unknown(ranking: Ranking[RefT]) -> bool:
    """Whether the catalog never mentions what a part asks to do.

    Stricter than a gap: part of a request that is served as a whole often says how rather than what. Chosen on the
    requests of `tests/bench/routing` that are not sealed, of which it finds fault with none that the catalog serves.
    """
    signals = ranking.signals
    return signals.absent == 1 or (not signals.concepts.deeds and bool(signals.terms) and not signals.terms[0].known)
