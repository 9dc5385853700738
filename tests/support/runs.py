"""Drives the units of `store.runs` by hand, as a worker would, for store tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from store.database.dialects import Sql
from store.database.ids import new_id
from store.runs.claim import claim
from store.runs.settle import settle, start_attempt
from store.runs.submit import submit
from store.runs.unit_types import (
    AttemptEnd,
    AttemptStart,
    Claim,
    Fence,
    GoOn,
    NewRun,
    NewStep,
    Settled,
    Submitted,
    Succeed,
)
from store.states import AttemptState, StepState

if TYPE_CHECKING:
    from store.database.engine import Store
    from store.runs.unit_types import NotClaimed

LEASE = 30.0
FAILURE = '{"code":"timeout","message":"too slow"}'


def new_run(caller_id: str, steps: int = 2, **changes: Any) -> NewRun:
    made = NewRun(
        caller_id=caller_id,
        title="A run",
        cause="person",
        inputs='{"topic":"tea"}',
        inputs_digest="d",
        deadline_seconds=60.0,
        steps=tuple(NewStep(f"step{n}", n, "demo.echo", "1.0.0") for n in range(1, steps + 1)),
        pack="demo.echo",
        document="{}",
        search_text="a run tea",
    )
    return replace(made, **changes)


async def submitted(store: Store, caller_id: str, steps: int = 2, **changes: Any) -> Submitted:
    limit = changes.pop("queue_limit", 1000)
    return await store.write(submit, new_run(caller_id, steps, **changes), queue_limit=limit)


async def claimed(
    store: Store, run_id: str, *, owner: str = "w1", lease_seconds: float = LEASE, **more: Any
) -> Claim | NotClaimed:
    return await store.write(claim, run_id, owner=owner, lease_seconds=lease_seconds, **more)


@dataclass
class Worker:
    """A claimed run and the attempt under way."""

    store: Store
    claim: Claim
    index: int = -1
    attempt_id: str = ""
    _fence: Fence | None = None

    @property
    def fence(self) -> Fence:
        """One for the whole claim, as the engine keeps it."""
        if self._fence is None:
            claim = self.claim
            self._fence = Fence(claim.run_id, claim.epoch, claim.caller_id, LEASE, claim.next_seq)
        return self._fence

    @property
    def step_id(self) -> str:
        return self.claim.steps[self.index].id

    def next_start(self, index: int | None = None) -> AttemptStart:
        step = self.claim.steps[self.index + 1 if index is None else index]
        return AttemptStart(step.id, new_id("att"), step.attempts + 1, '{"a":1}', f"key-{step.key}", "1.0.0")

    async def start(self, index: int = 0) -> Settled:
        start = self.next_start(index)
        before = self.claim.steps[index].state
        settled = await self.store.write(start_attempt, self.fence, start, before)
        self.index, self.attempt_id = index, start.attempt_id
        return settled

    def ended(self, state: AttemptState = AttemptState.SUCCEEDED, **changes: Any) -> AttemptEnd:
        made = AttemptEnd(
            self.step_id,
            self.attempt_id,
            state,
            output='{"b":2}' if state is AttemptState.SUCCEEDED else None,
            failure=FAILURE if state is AttemptState.FAILED else None,
        )
        return made._replace(**changes)

    async def settle(self, then: Any, state: AttemptState = AttemptState.SUCCEEDED, **changes: Any) -> Settled:
        return await self.store.write(settle, self.fence, self.ended(state, **changes), then, artifact_days=7)

    async def go_on(self) -> Settled:
        start = self.next_start()
        settled = await self.settle(GoOn(start, StepState.PENDING, 0.5))
        self.index, self.attempt_id = self.index + 1, start.attempt_id
        return settled

    async def to_the_end(self) -> Settled:
        await self.start()
        for _ in self.claim.steps[1:]:
            await self.go_on()
        return await self.settle(Succeed())


async def working(store: Store, run_id: str, **options: Any) -> Worker:
    taken = await claimed(store, run_id, **options)
    assert isinstance(taken, Claim), taken
    return Worker(store, taken)


async def expire_lease(store: Store, run_id: str) -> None:
    """As if the worker's lease had run out: it was killed, or frozen."""
    past = Sql("UPDATE run SET lease_until = :past WHERE id = :id")

    def expire(conn: Any) -> None:
        conn.run(past, {"id": run_id, "past": conn.now() - timedelta(seconds=1)})

    await store.write(expire)
