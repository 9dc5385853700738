"""What callers were answered: the other side of what the database must hold afterwards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime


@dataclass
class KnownRun:
    """A run whose start was answered.

    Attributes:
        text: What it was given; each start has its own.
        settled: The final state it was answered to be in, or a cancel led to, while nothing was asked of it since.
        deleted: Whether it was deleted; `maybe` when no answer came.
    """

    id: str
    caller: str
    pipeline: str
    text: str
    settled: str | None = None
    deleted: Literal["no", "maybe", "yes"] = "no"


@dataclass
class SoakSchedule:
    """A schedule of each second.

    Attributes:
        first: Its first instant.
        until: The instant up to which it had dealt with all when it was paused; None before.
    """

    first: datetime
    until: datetime | None = None


@dataclass
class Journal:
    """What all callers asked and were answered.

    Attributes:
        runs: By id.
        keys: The run that each idempotency key of a caller led to.
        deliveries: The run that each delivery of a caller's webhook led to.
        schedules: By id.
        commands: How often a command on a run was answered: action, run, whether it was accepted.
        counts: What happened, for the table at the end.
        faults: What callers found wrong while it ran.
        secrets: What must be found nowhere afterwards.
    """

    runs: dict[str, KnownRun] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    deliveries: dict[tuple[str, str], str] = field(default_factory=dict)
    schedules: dict[str, SoakSchedule] = field(default_factory=dict)
    commands: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    def led_to(self, caller: str, key: str | None, run_id: str) -> None:
        """Notes what the start under an idempotency key led to, which must never change."""
        if key is None:
            return
        known = self.keys.setdefault((caller, key), run_id)
        if known != run_id:
            self.faults.append(f"{run_id}: the start with key {key} of {caller} led to {known} before")
