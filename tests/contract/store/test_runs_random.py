"""Random transition sequences: whatever workers and people do in whatever order, a run's record stays whole.

Workers follow the protocol (`store.runs`) but may be stale, dead or late; people cancel and resume at any moment.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from store.access.callers import ensure_caller
from store.database.dialects import Sql
from store.database.engine import open_store
from store.database.ids import new_id
from store.runs.admission import set_caller_limit
from store.runs.claim import abandon, claim, release_leases, snapshot
from store.runs.claimed_run import fail_run, record_progress, release, rewind
from store.runs.commands import request_cancel, resume
from store.runs.events import ROW, events_of
from store.runs.settle import fail_step, finish_run, settle, start_attempt
from store.runs.submit import submit
from store.runs.unit_types import (
    AttemptEnd,
    AttemptStart,
    Claim,
    Fail,
    FailNext,
    Fence,
    GoOn,
    LostLeaseError,
    NotClaimed,
    Pause,
    Resume,
    ResumeStep,
    Succeed,
    Wait,
    WrongStateError,
)
from store.states import (
    FINAL_RUN_STATES,
    HELD_RUN_STATES,
    RUN_TRANSITIONS,
    STEP_TRANSITIONS,
    AttemptState,
    RunState,
    StepState,
)
from tests.support.databases import ready_database
from tests.support.runs import FAILURE, LEASE, new_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from store.database.dialects import Connection, Row
    from store.database.engine import Store
    from store.runs.events import EventRecord

_FINAL = {state.value for state in FINAL_RUN_STATES}


@dataclass
class Hand:
    """A worker that claimed the run once; it may have lost it since."""

    claim: Claim
    states: dict[str, StepState] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    running: AttemptStart | None = None

    @property
    def fence(self) -> Fence:
        return Fence(self.claim.run_id, self.claim.epoch, self.claim.caller_id, LEASE)

    def next_start(self) -> AttemptStart | None:
        for step in self.claim.steps:
            if self.states[step.id] is not StepState.SUCCEEDED:
                number = self.numbers[step.id] + 1
                return AttemptStart(step.id, new_id("att"), number, "{}", "key", "1.0.0")
        return None

    def end(self, state: AttemptState) -> AttemptEnd:
        assert self.running is not None
        succeeded = state is AttemptState.SUCCEEDED
        return AttemptEnd(
            self.running.step_id,
            self.running.attempt_id,
            state,
            output='{"n":1}' if succeeded else None,
            failure=None if succeeded else FAILURE,
        )


#: Admitted runs of the machine's caller.
LIMIT = 2


class RunMachine(RuleBasedStateMachine):
    """One run, several workers, and other runs of its caller; `call` runs a unit on the store under test."""

    call: Callable[..., Any]

    def __init__(self) -> None:
        super().__init__()
        self.run_id = ""
        self.caller_id = ""
        self.others: list[str] = []
        self.hands: list[Hand] = []
        self.names = 0

    @initialize(steps=some.integers(1, 3))
    def submits(self, steps: int) -> None:
        self.caller_id = self.call(ensure_caller, new_id("run"), "Ada").id
        self.call(set_caller_limit, LIMIT)
        new = new_run(self.caller_id, steps, flight=new_id("run"), deadline_seconds=3600.0)
        self.run_id = self.call(submit, new, queue_limit=1_000_000).run_id

    # ------------------------------------------------------------------------------------------------ workers

    @rule()
    def claims(self) -> None:
        self.names += 1
        taken = self.call(claim, self.run_id, owner=f"w{self.names}", lease_seconds=LEASE)
        if isinstance(taken, NotClaimed):
            return
        hand = Hand(taken)
        hand.states = {step.id: step.state for step in taken.steps}
        hand.numbers = {step.id: step.attempts for step in taken.steps}
        self.hands.append(hand)

    @precondition(lambda self: self._has(busy=False))
    @rule(which=some.integers(0, 9))
    def starts(self, which: int) -> None:
        hand = self._hand(which, busy=False)
        start = hand.next_start() if hand else None
        if hand is None or start is None:
            return
        settled = self._fenced(hand, start_attempt, start, hand.states[start.step_id])
        if settled is not None and settled.started:
            self._runs(hand, start)

    @precondition(lambda self: self._has(busy=True))
    @rule(which=some.integers(0, 9), how=some.sampled_from(["go on", "pause", "next fails"]))
    def succeeds(self, which: int, how: str) -> None:
        hand = self._hand(which, busy=True)
        if hand is None or hand.running is None:
            return
        states = dict(hand.states)
        end = hand.end(AttemptState.SUCCEEDED)
        hand.states[hand.running.step_id] = StepState.SUCCEEDED
        start = hand.next_start()
        then: Any
        if start is None:
            then = Succeed()
        elif how == "pause":
            then = Pause(0.5)
        elif how == "go on":
            then = GoOn(start, hand.states[start.step_id], 0.5)
        else:
            then = FailNext(start, hand.states[start.step_id], FAILURE, "it does not resolve")
        settled = self._fenced(hand, settle, end, then, artifact_days=7)
        if settled is None:
            hand.states = states
            return
        hand.running = None
        if settled.started and start is not None:
            self._runs(hand, start)

    @precondition(lambda self: self._has(busy=True))
    @rule(which=some.integers(0, 9), waits=some.booleans(), state=some.sampled_from(["failed", "cancelled"]))
    def fails(self, which: int, waits: bool, state: str) -> None:
        hand = self._hand(which, busy=True)
        if hand is None:
            return
        then = Wait(3600, "once more") if waits else Fail(FAILURE, "it failed")
        end = hand.end(AttemptState.FAILED if waits else AttemptState(state))
        if self._fenced(hand, settle, end, then, artifact_days=7) is not None:
            hand.running = None

    @precondition(lambda self: self._has(busy=False))
    @rule(which=some.integers(0, 9))
    def is_refused(self, which: int) -> None:
        hand = self._hand(which, busy=False)
        start = hand.next_start() if hand else None
        if hand is not None and start is not None:
            before = hand.states[start.step_id]
            self._fenced(hand, fail_step, start._replace(input=None), before, Fail(FAILURE, "x"))

    @precondition(lambda self: self._has(busy=False))
    @rule(which=some.integers(0, 9))
    def fails_the_run(self, which: int) -> None:
        hand = self._hand(which, busy=False)
        if hand is not None:
            self._fenced(hand, fail_run, Fail(FAILURE, "it cannot go on"))

    @precondition(lambda self: self._has(busy=False))
    @rule(which=some.integers(0, 9))
    def finishes(self, which: int) -> None:
        hand = self._hand(which, busy=False)
        if hand is not None and hand.next_start() is None:
            self._fenced(hand, finish_run, artifact_days=7)

    @precondition(lambda self: self.hands)
    @rule(which=some.integers(0, 9))
    def gives_back(self, which: int) -> None:
        if not self.hands:
            return
        hand = self.hands[which % len(self.hands)]
        running = (hand.running.step_id, hand.running.attempt_id) if hand.running else None
        self._fenced(hand, release, running, "the server stops")
        hand.running = None

    @precondition(lambda self: self._has(busy=False))
    @rule(which=some.integers(0, 9))
    def puts_back(self, which: int) -> None:
        hand = self._hand(which, busy=False)
        done = [key for key, state in hand.states.items() if state is StepState.SUCCEEDED] if hand else []
        if hand is None or not done:
            return
        try:
            self.call(rewind, hand.fence, done, "its session is gone")
        except LostLeaseError:
            return
        hand.states.update(dict.fromkeys(done, StepState.PENDING))

    @precondition(lambda self: self._has(busy=True))
    @rule(which=some.integers(0, 9))
    def tells_progress(self, which: int) -> None:
        hand = self._hand(which, busy=True)
        if hand is not None and hand.running is not None:
            self._fenced(hand, record_progress, hand.running.step_id, 0.5, "[]", '{"message":"half"}')

    @precondition(lambda self: self.hands)
    @rule(which=some.integers(0, 9))
    def lets_go(self, which: int) -> None:
        if self.hands:
            hand = self.hands[which % len(self.hands)]
            self.call(abandon, self.run_id, hand.claim.epoch, f"w{self.names}")

    @precondition(lambda self: self.hands)
    @rule()
    def another_takes_over(self) -> None:
        self.the_lease_runs_out()
        self.claims()

    # ------------------------------------------------------------------------------------------------ other runs

    @precondition(lambda self: len(self.others) < 4)
    @rule()
    def another_starts(self) -> None:
        self.others.append(self.call(submit, new_run(self.caller_id, 1), queue_limit=1_000_000).run_id)

    @precondition(lambda self: self.others)
    @rule(which=some.integers(0, 9))
    def another_is_executed(self, which: int) -> None:
        """Or cancelled where it is not admitted."""
        if not self.others:
            return
        run_id = self.others.pop(which % len(self.others))
        taken = self.call(claim, run_id, owner="other", lease_seconds=LEASE)
        if isinstance(taken, NotClaimed):
            self.call(request_cancel, run_id, None)
        else:
            self.call(fail_run, Fence(run_id, taken.epoch, taken.caller_id, LEASE), Fail(FAILURE, "x"))

    # ------------------------------------------------------------------------------------------------ the world

    @rule()
    def the_lease_runs_out(self) -> None:
        self._set("lease_until", -1.0, "lease_until IS NOT NULL")

    @rule()
    def the_wait_is_over(self) -> None:
        self._set("not_before", -1.0, "not_before IS NOT NULL")

    @rule()
    def the_deadline_passes(self) -> None:
        self._set("deadline_at", -1.0, "deadline_at IS NOT NULL")

    @rule()
    def the_server_starts_again(self) -> None:
        self.call(release_leases)

    @rule()
    def somebody_cancels(self) -> None:
        try:
            self.call(request_cancel, self.run_id, "enough")
        except WrongStateError:
            assert self._state() in _FINAL

    @rule()
    def somebody_resumes(self) -> None:
        found = self.call(snapshot, self.run_id)
        parts = tuple(ResumeStep(s.id, s.state, s.state is not StepState.SUCCEEDED) for s in found.steps)
        try:
            self.call(resume, Resume(self.run_id, found.resume_count, parts), queue_limit=1_000_000)
        except WrongStateError:
            assert self._state() not in {"failed", "cancelled"}

    # ------------------------------------------------------------------------------------------------ what must hold

    @invariant()
    def the_record_is_whole(self) -> None:
        if not self.run_id:
            return
        run, steps, attempts, events = self.call(_record, self.run_id)
        state, ended_at, next_seq, owner, lease_until, not_before, resumes, flight = run
        assert [event.sequence for event in events] == list(range(1, next_seq)), "events have no gap"
        assert (state in _FINAL) == (ended_at is not None)
        if state not in {held.value for held in HELD_RUN_STATES}:
            assert (owner, lease_until) == (None, None), "only a held run has a lease"
        assert (state == "waiting") == (not_before is not None) or state in HELD_RUN_STATES
        if state in _FINAL:
            assert flight is None
        running = [attempt for attempt in attempts if attempt[2] == "running"]
        assert len(running) <= 1
        if running:
            assert state in {"running", "cancelling"}
        ends = [event for event in events if event.type == "run_state" and event.after in _FINAL]
        assert len(ends) == resumes + (state in _FINAL), "one end for each stretch"
        if state in _FINAL:
            assert events[-1] == ends[-1], "and nothing comes after it"
        self._chains(state, steps, events)
        by_id = {attempt[0]: attempt for attempt in attempts}
        for step_id, step_state, attempt_id, count in steps:
            mine = [attempt for attempt in attempts if attempt[1] == step_id]
            assert sorted(attempt[3] for attempt in mine) == list(range(1, count + 1))
            if step_state == "succeeded":
                assert by_id[attempt_id][2] == "succeeded"
            if step_state == "running":
                assert by_id[attempt_id][2] in {"running", "lost"}

    @invariant()
    def admission_fits_the_limit(self) -> None:
        if not self.run_id:
            return
        runs = self.call(lambda conn: conn.all(_ADMISSION, {"caller_id": self.caller_id}))
        admitted = sum(bool(run.admitted) for run in runs)
        queued = sum(run.state == "queued" and not run.admitted for run in runs)
        assert admitted <= LIMIT
        assert admitted == LIMIT or not queued, "a free slot is given to the next at once"
        for run in runs:
            assert not run.admitted or run.state not in {*_FINAL, "waiting"}
            assert run.admitted or run.state not in {held.value for held in HELD_RUN_STATES}

    def _chains(self, state: str, steps: list[Row], events: list[EventRecord]) -> None:
        """Each change starts where the one before it ended, and the table of states knows it."""
        at: str | None = None
        where = {step[0]: "pending" for step in steps}
        for event in events:
            kind, before, after = event.type, event.before, event.after
            if kind == "run_state":
                assert before == at
                if before is not None and before != after:
                    assert RunState(after) in RUN_TRANSITIONS[RunState(before)]
                at = after
            elif kind == "step_state":
                assert event.step_id is not None
                assert before == where[event.step_id]
                assert StepState(after) in STEP_TRANSITIONS[StepState(before)]
                where[event.step_id] = str(after)
        assert at == state
        assert where == {step[0]: step[1] for step in steps}

    # ------------------------------------------------------------------------------------------------ means

    def _state(self) -> str:
        return str(self.call(_record, self.run_id)[0][0])

    def _hand(self, which: int, *, busy: bool) -> Hand | None:
        fitting = [hand for hand in self.hands if (hand.running is not None) == busy]
        return fitting[-1 - which % len(fitting)] if fitting else None

    def _has(self, *, busy: bool) -> bool:
        return any((hand.running is not None) == busy for hand in self.hands)

    def _runs(self, hand: Hand, start: AttemptStart) -> None:
        hand.running = start
        hand.states[start.step_id] = StepState.RUNNING
        hand.numbers[start.step_id] = start.number

    def _fenced(self, hand: Hand, unit: Any, *args: Any, **kwargs: Any) -> Any:
        """Runs a worker's unit; a worker whose epoch is not the run's must write nothing."""
        _, _, _, before = self.call(_record, self.run_id)
        epoch = self.call(_epoch, self.run_id)
        try:
            result = self.call(unit, hand.fence, *args, **kwargs)
        except LostLeaseError:
            assert self.call(_record, self.run_id)[3] == before, "a stale worker writes nothing"
            self.hands.remove(hand)
            return None
        assert epoch == hand.claim.epoch
        return result

    def _set(self, column: str, seconds: float, where: str) -> None:
        change = Sql(f"UPDATE run SET {column} = :at WHERE id = :id AND {where}")

        def unit(conn: Connection) -> None:
            conn.run(change, {"id": self.run_id, "at": conn.now() + timedelta(seconds=seconds)})

        self.call(unit)


_RUN = Sql(
    "SELECT state, ended_at, next_seq, owner, lease_until, not_before, resume_count, flight FROM run WHERE id = :id"
)
_ADMISSION = Sql("SELECT state, admitted FROM run WHERE caller_id = :caller_id")
_STEPS = Sql("SELECT id, state, attempt_id, attempts FROM run_step WHERE run_id = :id ORDER BY position")
_ATTEMPTS = Sql("SELECT id, step_id, state, number FROM attempt WHERE run_id = :id ORDER BY id")
_EVENTS = Sql(f"SELECT {ROW} FROM run_event WHERE run_id = :id ORDER BY sequence")


def _record(conn: Connection, run_id: str) -> tuple[Row, list[Row], list[Row], list[EventRecord]]:
    values = {"id": run_id}
    run = conn.one(_RUN, values)
    assert run is not None
    events = [event for row in conn.all(_EVENTS, values) for event in events_of(row)]
    return run, conn.all(_STEPS, values), conn.all(_ATTEMPTS, values), events


def _epoch(conn: Connection, run_id: str) -> int:
    row = conn.one(Sql("SELECT epoch FROM run WHERE id = :id"), {"id": run_id})
    assert row is not None
    return int(row[0])


def _try_everything(url: str, folder: Path, *, examples: int) -> None:
    with asyncio.Runner() as runner:
        store: Store = runner.run(open_store(url, folder, migrate=True))
        try:

            def call(unit: Any, *args: Any, **kwargs: Any) -> Any:
                return runner.run(store.write(unit, *args, **kwargs))

            machine = type("Machine", (RunMachine,), {"call": staticmethod(call)})
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=50,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(store.close())


def test_random_sequences_on_sqlite(tmp_path: Path):
    _try_everything("sqlite", tmp_path, examples=80)


@pytest.mark.postgres
def test_random_sequences_on_postgresql(tmp_path: Path):
    with ready_database() as url:
        _try_everything(url, tmp_path, examples=15)
