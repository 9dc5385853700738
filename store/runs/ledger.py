"""The events of one unit, written with gapless numbers in the transaction of the change."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import orjson

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.runs.events import TOGETHER
from store.states import EventType

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.states import AttemptState, RunState, StepState

_SET_SEQUENCE = Sql("UPDATE run SET next_seq = :next_seq WHERE id = :id")
_INSERT = Sql(
    """
    INSERT INTO run_event (run_id, sequence, at, type, step_id, attempt_id, artifact_id, before, after, reason, data,
        earlier)
    VALUES (:run_id, :sequence, :at, :type, :step_id, :attempt_id, :artifact_id, :before, :after, :reason, :data,
        :earlier)
    """
)
# Without what hardly any event has: the driver looks for an adapter of each NULL it binds, a sixth of a statement.
_INSERT_STATES = Sql(
    """
    INSERT INTO run_event (run_id, sequence, at, type, step_id, attempt_id, before, after, earlier)
    VALUES (:run_id, :sequence, :at, :type, :step_id, :attempt_id, :before, :after, :earlier)
    """
)

#: What an event tells, in the order of `store.runs.events.TOLD`.
_Told: TypeAlias = tuple[str, str | None, str | None, str | None, str | None, str | None, str | None, str | None]

_RUN_STATE, _STEP_STATE = EventType.RUN_STATE.value, EventType.STEP_STATE.value
_ATTEMPT_STATE = EventType.ATTEMPT_STATE.value


class Ledger:
    """Collects the events of one unit and writes them with gapless numbers.

    They share a row, which goes by the number of the last: of the four events of a settle that saves three rows in the
    table and in its index, half of what all its events cost.

    Attributes:
        now: The instant of the unit.
        stamp: The same as the driver binds it cheapest.
    """

    __slots__ = ("_conn", "_first", "_reserved", "_run_id", "_told", "now", "stamp")

    def __init__(self, conn: Connection, run_id: str, now: datetime, *, next_seq: int, reserved: int) -> None:
        self._conn = conn
        self._run_id = run_id
        self._first = next_seq - reserved
        self._reserved = reserved
        self._told: list[_Told] = []
        self.now = now
        self.stamp = conn.bindable(now)

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
        """Adds an event after the ones so far; the states are words of `store.states`."""
        self._told.append((kind.value, step_id, attempt_id, artifact_id, before, after, reason, data))

    def run(self, before: RunState | None, after: RunState, reason: str | None = None) -> None:
        """The run went from one state to another."""
        came_from = before.value if before else None
        self._told.append((_RUN_STATE, None, None, None, came_from, after.value, reason, None))

    def step(self, step_id: str, before: StepState, after: StepState, reason: str | None = None) -> None:
        """A step went from one state to another."""
        self._told.append((_STEP_STATE, step_id, None, None, before.value, after.value, reason, None))

    def attempt(self, step_id: str, attempt_id: str, after: AttemptState) -> None:
        """An attempt started or ended."""
        self._told.append((_ATTEMPT_STATE, step_id, attempt_id, None, None, after.value, None, None))

    def write(self) -> None:
        """Stores the events, corrects the run's counter where it differs from what was reserved, wakes watchers."""
        count = len(self._told)
        if count != self._reserved:
            self._conn.run(_SET_SEQUENCE, {"id": self._run_id, "next_seq": self._first + count})
        for start in range(0, count, TOGETHER):
            *earlier, last = self._told[start : start + TOGETHER]
            text = orjson.dumps(earlier).decode() if earlier else None
            number = self._first + start + len(earlier)
            kind, step_id, attempt_id, artifact_id, before, after, reason, data = last
            values = {
                "run_id": self._run_id,
                "sequence": number,
                "at": self.stamp,
                "type": kind,
                "step_id": step_id,
                "attempt_id": attempt_id,
                "before": before,
                "after": after,
                "earlier": text,
            }
            if artifact_id is None and reason is None and data is None:
                self._conn.run(_INSERT_STATES, values)
            else:
                more = {"artifact_id": artifact_id, "reason": reason, "data": data}
                self._conn.run(_INSERT, values | more)
        self._conn.wake(Topic.RUN, self._run_id)
