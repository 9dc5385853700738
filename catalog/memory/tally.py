"""Counts of how packs and pipelines were used, and their stored form.

Recent uses count more: the weight of a use halves every `HALF_LIFE_DAYS`. Weights are relative to one fixed instant, so
shares stay correct as time passes and nothing is counted again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson

from catalog.memory.learning import LearnedField

if TYPE_CHECKING:
    from collections.abc import Mapping

    from store.memory.entries import TargetKind

HALF_LIFE_DAYS = 10.0
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
#: The instant that weights are relative to, and the half-lives at which they are capped, so that a wrong clock cannot
#: overflow them.
_ORIGIN = datetime.now(UTC)
_FARTHEST = 500.0

Target = tuple["TargetKind", str]


@dataclass(slots=True)
class Seen:
    """How often, and when last, a value was chosen."""

    count: int = 0
    weight: float = 0.0
    last: datetime = LONG_AGO


@dataclass(slots=True)
class Tally:
    """Uses of one target."""

    uses: int = 0
    last: datetime | None = None
    fields: dict[LearnedField, dict[str, Seen]] = field(default_factory=dict)

    def add(self, at: datetime, values: Mapping[LearnedField, str]) -> None:
        """Count one use."""
        self.uses += 1
        self.last = at if self.last is None else max(self.last, at)
        weight = _weight(at)
        for name, value in values.items():
            seen = self.fields.setdefault(name, {}).setdefault(value, Seen())
            seen.last = max(seen.last, at)
            seen.count += 1
            seen.weight += weight


def tallies_text(tallies: Mapping[Target, Tally]) -> str:
    """Serialize tallies as JSON, with the instant that their weights are relative to."""
    entries = [
        [
            kind,
            target,
            tally.uses,
            tally.last,
            {
                name.value: {value: [seen.count, seen.weight, seen.last] for value, seen in values.items()}
                for name, values in tally.fields.items()
            },
        ]
        for (kind, target), tally in tallies.items()
    ]
    return orjson.dumps({"origin": _ORIGIN, "entries": entries}).decode()


def tallies_of(text: str) -> dict[Target, Tally]:
    """Parse what `tallies_text` wrote."""
    stored = orjson.loads(text)
    scale = _weight(datetime.fromisoformat(stored["origin"]))
    found: dict[Target, Tally] = {}
    for kind, target, uses, last, fields in stored["entries"]:
        counted = {
            LearnedField(name): {
                value: Seen(count, weight * scale, datetime.fromisoformat(at))
                for value, (count, weight, at) in values.items()
            }
            for name, values in fields.items()
        }
        found[kind, target] = Tally(uses, None if last is None else datetime.fromisoformat(last), counted)
    return found


def _weight(at: datetime) -> float:
    half_lives = (at - _ORIGIN).total_seconds() / 86_400 / HALF_LIFE_DAYS
    return float(2.0 ** min(max(half_lives, -_FARTHEST), _FARTHEST))
