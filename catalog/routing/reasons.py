"""Explains a choice in plain words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.metadata import kinds
from catalog.routing.needs import kinds_had, lacks_input
from catalog.words import as_written
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.routing.facts import Facts
    from catalog.routing.index import RoutingIndex
    from catalog.routing.ranking import Choice, Ranking
    from catalog.routing.signals import RequestSignals
    from catalog.search import RefT

#: Most kinds or packs in a sentence.
_MOST_NAMED = 3
#: Least uses by the caller that are mentioned as a reason.
_MIN_USES = 2


def reason_of(
    index: RoutingIndex[RefT],
    choice: Choice[RefT],
    facts: Facts,
    signals: RequestSignals,
    *,
    uses: int = 0,
) -> str:
    """Explain why an entry may serve a request, in short sentences.

    Args:
        index: The catalog.
        choice: The entry.
        facts: The facts of the request.
        signals: The request compared with the catalog.
        uses: How often the caller lately used the entry.
    """
    metadata = choice.entry.metadata
    parts = [metadata.typical_use or excerpt(choice.entry.description, 240).split("\n")[0] or choice.entry.name]
    accepts = set(metadata.accepts)
    for fact in facts.facts:
        kind = next((kind for kind in fact.kinds if kind in accepts), None)
        if kind is not None:
            parts.append(f"It takes {_shown(fact.value)} ({_described(kind)}).")
            break
    example = index.nearest_example(choice.position, signals.terms)
    if example is not None:
        parts.append(f"It serves requests such as “{example}”.")
    had = kinds_had(facts, signals.concepts)
    if lacks_input(choice.entry, facts, had):
        parts.append(f"It needs an input that the request does not have: {_either(metadata.accepts)}.")
        makers = [
            entry.id
            for entry in index.entries
            if entry.kind == "pack"
            and not accepts.isdisjoint(entry.metadata.produces)
            and not lacks_input(entry, facts, had)
        ]
        if makers:
            parts.append(f"In a pipeline, a step before it can make one: {_either(makers)}.")
    if uses >= _MIN_USES:
        parts.append(f"You used it {uses} times lately.")
    return " ".join(parts)


def reasoning_of(index: RoutingIndex[RefT], ranking: Ranking[RefT], facts: Facts, how: str) -> str:
    """Explain how the choice was made.

    Args:
        index: The catalog.
        ranking: The ranking.
        facts: The facts of the request.
        how: Who decided, one sentence.
    """
    parts = [how]
    if facts.facts:
        parts.append(f"Found: {', '.join(_shown(fact.value) for fact in facts.facts[:5])}.")
    written = as_written(facts.text)
    unknown = sorted({written.get(term.stem, term.stem) for term in ranking.signals.terms if not term.known})
    if ranking.is_gap:
        parts.append(f"None of {len(index.entries)} entries fits well enough ({ranking.served:.0%} likely).")
    else:
        parts.append(f"{len(index.entries)} entries were compared by their words, inputs, outputs and your history.")
    if unknown:
        parts.append(f"Unknown words: {', '.join(unknown[:8])}.")
    return " ".join(parts)


def _either(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names[:_MOST_NAMED]]
    return " or ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else quoted[0]


def _shown(value: str) -> str:
    return f"`{excerpt(value, 80)}`"


def _described(kind: str) -> str:
    return kinds().get(kind, kind).rstrip(".").lower().split(",")[0]
