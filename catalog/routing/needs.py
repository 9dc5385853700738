"""What an entry has to be given, compared with what a request has: by kinds, and by the inputs it can fill. Pure.

The words of a request serve as a question, a brief or a description. Everything else somebody must have: at hand as a
file, an address or an input, pasted into the request, or named there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.routing.concepts import thesaurus
from catalog.routing.inputs import suggest_inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from catalog.routing.concepts import Role
    from catalog.routing.entry_concepts import Wish
    from catalog.routing.facts import Facts
    from catalog.search import Entry, RefT

#: Kinds that the words of a request can be.
_SAID = frozenset(("query", "brief", "description"))
#: Kinds that a text pasted into a request is, and the lines from which on a request holds one.
_PASTED = frozenset(("text", "markdown", "source_content"))
_PASTED_LINES = 4


def kinds_had(facts: Facts, wish: Wish) -> frozenset[str]:
    """The kinds of what a request says, has or names without wanting it."""
    return kinds_given(facts, wish) | _kinds(wish, "plain") | _SAID


def kinds_given(facts: Facts, wish: Wish) -> frozenset[str]:
    """The kinds of what the result is to be made from: at hand, pasted, or said to be; empty for a mere topic."""
    found = _kinds(wish, "given").union(*(fact.kinds for fact in facts.facts))
    return found | _PASTED if len(facts.text.strip().splitlines()) >= _PASTED_LINES else found


def lacks_input(entry: Entry[RefT], facts: Facts, had: Collection[str]) -> bool:
    """Whether an entry takes something, and nothing that a request has.

    Args:
        entry: What could be run.
        facts: What the request says and has.
        had: The kinds of it, from `kinds_had`.
    """
    required = entry.input_schema.get("required")
    if isinstance(required, list) and any(name in facts.inputs for name in required):
        return False
    return bool(entry.metadata.accepts) and not any(kind in had for kind in entry.metadata.accepts)


def fed_first(entries: Sequence[Entry[RefT]], scores: Sequence[float], facts: Facts, wish: Wish) -> list[float]:
    """Scores in which a pack that lacks its input loses to a pipeline that makes it from what the request has.

    Such a pipeline calls the pack and makes what the pack mainly makes. It takes what is at hand; where only a topic is
    given, it needs nothing more. The likeliest one changes places with the pack: what speaks for the pack's result
    speaks for it.

    Args:
        entries: What could be run.
        scores: Of each entry.
        facts: What the request says and has.
        wish: What it speaks of.
    """
    had = kinds_had(facts, wish)
    place = _likeliest(range(len(entries)), scores)
    pack = entries[place]
    if pack.kind == "pipeline" or not lacks_input(pack, facts, had):
        return [*scores]
    at_hand = frozenset(kind for fact in facts.facts for kind in fact.kinds)
    if not at_hand and kinds_given(facts, wish):
        return [*scores]
    makers = [
        other
        for other, entry in enumerate(entries)
        if pack.id in entry.metadata.supersedes
        and not lacks_input(entry, facts, had)
        and set(pack.metadata.produces[:1]) <= set(entry.metadata.produces)
        and (
            not at_hand.isdisjoint(entry.metadata.accepts)
            if at_hand
            else not suggest_inputs(entry.input_schema, facts.text, facts, {}).missing
        )
    ]
    return _exchanged(scores, place, makers)


def new_first(entries: Sequence[Entry[RefT]], scores: Sequence[float], facts: Facts, wish: Wish) -> list[float]:
    """Scores in which an entry that makes nothing but what is given already loses to one that makes what is named.

    The likeliest entry that takes what is given and makes what is named changes places with it.
    """
    place = _likeliest(range(len(entries)), scores)
    given = kinds_given(facts, wish)
    named = (_kinds(wish, "wanted") | _kinds(wish, "plain")) - given
    if not named or not given.issuperset(entries[place].metadata.produces):
        return [*scores]
    makers = [
        other
        for other, entry in enumerate(entries)
        if not named.isdisjoint(entry.metadata.produces) and not given.isdisjoint(entry.metadata.accepts)
    ]
    return _exchanged(scores, place, makers)


def _likeliest(places: Iterable[int], scores: Sequence[float]) -> int:
    return max(places, key=scores.__getitem__)


def _exchanged(scores: Sequence[float], place: int, rivals: Sequence[int]) -> list[float]:
    """Scores in which the likeliest of some rivals, if there are any, has changed places with an entry."""
    found = list(scores)
    if rivals:
        best = _likeliest(rivals, scores)
        found[place], found[best] = found[best], found[place]
    return found


def _kinds(wish: Wish, role: Role) -> frozenset[str]:
    concepts = thesaurus().concepts
    return frozenset(kind for name in wish.things.get(role, ()) for kind in concepts[name].kinds)
