"""The events of one unit, written with gapless numbers in the transaction of the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.dialects import Sql, sqlite_instant
from store.states import AttemptState, EventType, RunState, StepState

if TYPE_CHECKING:
    from datetime import datetime

    from store.dialects import Connection

_INSERT_EVENT = Sql(
    """
    INSERT INTO run_event (run_id, sequence, at, type, step_id, attempt_id, artifact_id, before, after, reason, data)
    VALUES (:run_id, :sequence, :at, :type, :step_id, :attempt_id, :artifact_id, :before, :after, :reason, :data)
    """
)
_SET_SEQUENCE = Sql("UPDATE run SET next_seq = :next_seq WHERE id = :id")


class Ledger:
    """Collects the events of one unit and writes them with gapless numbers.

    Attributes:
        now: The instant of the unit.
        stamp: The same as the driver binds it cheapest: an adapter call for each of the dozen places where a settle
            writes it, and for each enum member, took a third of the writer's time.
    """

    __slots__ = ("_conn", "_events", "_first", "_reserved", "_run_id", "now", "stamp")

    def __init__(self, conn: Connection, run_id: str, now: datetime, *, next_seq: int, reserved: int) -> None:
        self._conn = conn
        self._run_id = run_id
        self._first = next_seq - reserved
        self._reserved = reserved
        self._events: list[dict[str, object]] = []
        self.now = now
        self.stamp: str | datetime = sqlite_instant(now) if conn.dialect == "sqlite" else now

    def add(
        self,
        kind: EventType,
        *,
        step_id: str | None = None,
        attempt_id: str | None = None,
        artifact_id: str | None = None,
        before: str | None = None,
        after: str | None = None,
        reason: str | None = None,
        data: str | None = None,
    ) -> None:
        """Adds an event after the ones so far."""
        self._events.append(
            {
                "run_id": self._run_id,
                "sequence": self._first + len(self._events),
                "at": self.stamp,
                "type": kind.value,
                "step_id": step_id,
                "attempt_id": attempt_id,
                "artifact_id": artifact_id,
                "before": before,
                "after": after,
                "reason": reason,
                "data": data,
            }
        )

    def run(self, before: RunState | None, after: RunState, reason: str | None = None) -> None:
        """The run went from one state to another."""
        self.add(EventType.RUN_STATE, before=before.value if before else None, after=after.value, reason=reason)

    def step(self, step_id: str, before: StepState, after: StepState, reason: str | None = None) -> None:
        """A step went from one state to another."""
        self.add(EventType.STEP_STATE, step_id=step_id, before=before.value, after=after.value, reason=reason)

    def attempt(self, step_id: str, attempt_id: str, after: AttemptState) -> None:
        """An attempt started or ended."""
        self.add(EventType.ATTEMPT_STATE, step_id=step_id, attempt_id=attempt_id, after=after.value)

    def write(self) -> None:
        """Stores the events, corrects the run's counter where it differs from what was reserved, wakes watchers."""
        if len(self._events) != self._reserved:
            self._conn.run(_SET_SEQUENCE, {"id": self._run_id, "next_seq": self._first + len(self._events)})
        if self._events:
            self._conn.many(_INSERT_EVENT, self._events)
        self._conn.wake(self._run_id)
