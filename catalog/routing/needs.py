"""Compares the inputs an entry needs with those a request has: by kinds, and by the inputs it can fill. Pure.

The words of a request serve as a question, a brief or a description. Everything else must be provided: as a file, an
address or an input, as text pasted into the request, or by being mentioned there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.routing.concepts import thesaurus
from catalog.routing.inputs import suggest_inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from catalog.routing.concepts import Role
    from catalog.routing.entry_concepts import RequestConcepts
    from catalog.routing.facts import Facts
    from catalog.search import Entry, RefT

#: Kinds that the words of a request can serve as.
_SAID = frozenset(("query", "brief", "description"))
#: Kinds of a text pasted into a request, and from how many lines on a request counts as having one.
_PASTED = frozenset(("text", "markdown", "source_content"))
_PASTED_LINES = 4


def kinds_had(facts: Facts, concepts: RequestConcepts) -> frozenset[str]:
    """Return the kinds that a request provides, mentions without wanting them, or serves as by its words."""
    return kinds_given(facts, concepts) | _kinds(concepts, "plain") | _SAID


def kinds_given(facts: Facts, concepts: RequestConcepts) -> frozenset[str]:
    """Return the kinds to make the result from: facts, pasted text, or mentioned as given; empty for a mere topic."""
    found = _kinds(concepts, "given").union(*(fact.kinds for fact in facts.facts))
    return found | _PASTED if len(facts.text.strip().splitlines()) >= _PASTED_LINES else found


def lacks_input(entry: Entry[RefT], facts: Facts, had: Collection[str]) -> bool:
    """Return whether an entry needs an input that a request does not have.

    Args:
        entry: The entry.
        facts: The facts of the request.
        had: The kinds it has, from `kinds_had`.
    """
    required = entry.input_schema.get("required")
    if isinstance(required, list) and any(name in facts.inputs for name in required):
        return False
    return bool(entry.metadata.accepts) and not any(kind in had for kind in entry.metadata.accepts)


def prefer_fed_pipeline(
    entries: Sequence[Entry[RefT]], scores: Sequence[float], facts: Facts, concepts: RequestConcepts
) -> list[float]:
    """Let a pipeline that can run with the facts win over a pack that lacks its input.

    The pipeline calls the pack and makes the pack's main product. It accepts a fact; if only a topic is given, it needs
    nothing more. The likeliest such pipeline swaps scores with the pack, since evidence for the pack's result
    is evidence for it, too.

    Args:
        entries: The packs and pipelines.
        scores: The score of each entry.
        facts: The facts of the request.
        concepts: The concepts of the request.
    """
    had = kinds_had(facts, concepts)
    place = _likeliest(range(len(entries)), scores)
    pack = entries[place]
    if pack.kind == "pipeline" or not lacks_input(pack, facts, had):
        return [*scores]
    available = frozenset(kind for fact in facts.facts for kind in fact.kinds)
    if not available and kinds_given(facts, concepts):
        return [*scores]
    makers = [
        other
        for other, entry in enumerate(entries)
        if pack.id in entry.metadata.supersedes
        and not lacks_input(entry, facts, had)
        and set(pack.metadata.produces[:1]) <= set(entry.metadata.produces)
        and (
            not available.isdisjoint(entry.metadata.accepts)
            if available
            else not suggest_inputs(entry.input_schema, facts.text, facts, {}).missing
        )
    ]
    return _swapped(scores, place, makers)


def prefer_new_product(
    entries: Sequence[Entry[RefT]], scores: Sequence[float], facts: Facts, concepts: RequestConcepts
) -> list[float]:
    """Let an entry that makes what is mentioned win over one that makes only what is already given.

    The likeliest entry that takes what is given and makes what is mentioned swaps scores with it.
    """
    place = _likeliest(range(len(entries)), scores)
    given = kinds_given(facts, concepts)
    named = (_kinds(concepts, "wanted") | _kinds(concepts, "plain")) - given
    if not named or not given.issuperset(entries[place].metadata.produces):
        return [*scores]
    makers = [
        other
        for other, entry in enumerate(entries)
        if not named.isdisjoint(entry.metadata.produces) and not given.isdisjoint(entry.metadata.accepts)
    ]
    return _swapped(scores, place, makers)


def _likeliest(places: Iterable[int], scores: Sequence[float]) -> int:
    return max(places, key=scores.__getitem__)


def _swapped(scores: Sequence[float], place: int, rivals: Sequence[int]) -> list[float]:
    """Swap the score of an entry with that of the likeliest of its rivals, if there are any."""
    found = list(scores)
    if rivals:
        best = _likeliest(rivals, scores)
        found[place], found[best] = found[best], found[place]
    return found


def _kinds(concepts: RequestConcepts, role: Role) -> frozenset[str]:
    vocabulary = thesaurus().concepts
    return frozenset(kind for name in concepts.things.get(role, ()) for kind in vocabulary[name].kinds)
