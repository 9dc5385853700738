"""Places are handed out in turns, by a model that knows who is next."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runner.fair_turns import FairTurns


class Worker:
    """Somebody who takes a place and keeps it until let go."""

    def __init__(self, turns: FairTurns, caller: str, log: list[str]) -> None:
        self.caller = caller
        self.done = asyncio.Event()
        self.holds = False
        self.task = asyncio.create_task(self._work(turns, log))

    async def _work(self, turns: FairTurns, log: list[str]) -> None:
        async with turns.place(self.caller):
            log.append(self.caller)
            self.holds = True
            try:
                await self.done.wait()
            finally:
                self.holds = False

    async def cancel(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


async def settle() -> None:
    """Lets every task go as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_callers_take_turns_however_many_each_has_waiting() -> None:
    turns, log = FairTurns(1), list[str]()
    workers = [Worker(turns, caller, log) for caller in "AAAABBC"]
    await settle()
    for worker in workers:
        worker.done.set()
    await asyncio.gather(*(worker.task for worker in workers))

    assert "".join(log) == "AABCABA"


async def test_one_caller_leaves_a_place_for_the_others() -> None:
    turns, log = FairTurns(3, share=2), list[str]()
    mine = [Worker(turns, "A", log) for _ in range(5)]
    await settle()
    assert log == ["A", "A"]

    other = Worker(turns, "B", log)
    await settle()
    assert log == ["A", "A", "B"]

    other.done.set()
    await other.task
    await settle()
    assert log == ["A", "A", "B"]
    for worker in mine:
        await worker.cancel()


async def test_who_is_cancelled_as_his_place_comes_passes_it_on() -> None:
    turns, log = FairTurns(1), list[str]()
    first, second, third = (Worker(turns, caller, log) for caller in "ABC")
    await settle()
    first.done.set()
    await asyncio.sleep(0)  # the first gives his place to the second, who has not run yet
    await second.cancel()
    await settle()

    assert log == ["A", "C"]
    third.done.set()
    await third.task


async def test_who_fails_gives_his_place_back() -> None:
    turns = FairTurns(1)
    for _ in range(3):
        with pytest.raises(ValueError, match="mine"):
            async with turns.place("A"):
                raise ValueError("mine")
    async with turns.place("B"):
        pass


@given(
    places=some.integers(1, 4),
    left_over=some.integers(0, 2),
    steps=some.lists(
        some.one_of(
            some.tuples(some.just("ask"), some.sampled_from("ABCD")),
            some.tuples(some.sampled_from(["end", "cancel", "cancel at once"]), some.integers(0, 1_000)),
        ),
        max_size=40,
    ),
)
def test_any_sequence(places: int, left_over: int, steps: list[tuple[str, str | int]]) -> None:
    asyncio.run(_any_sequence(places, max(1, places - left_over), steps))


async def _any_sequence(places: int, share: int, steps: list[tuple[str, str | int]]) -> None:
    """No place is lost or given twice, no one holds more than a share, and nobody waits while he could be served."""
    turns, log = FairTurns(places, share=share), list[str]()
    alive: list[Worker] = []
    for what, which in steps:
        if isinstance(which, str):
            alive.append(Worker(turns, which, log))
        elif alive:
            worker = alive[which % len(alive)]
            if what == "end":
                worker.done.set()
            elif what == "cancel":
                worker.task.cancel()
            else:
                worker.done.set()
                alive[(which + 1) % len(alive)].task.cancel()
        await settle()
        alive = [worker for worker in alive if not worker.task.done()]
        held = [worker.caller for worker in alive if worker.holds]
        waiting = {worker.caller for worker in alive if not worker.holds}
        assert len(held) <= places
        assert all(held.count(caller) <= share for caller in held)
        assert len(held) == places or all(held.count(caller) == share for caller in waiting)
    for worker in alive:
        worker.done.set()
    await asyncio.gather(*(worker.task for worker in alive))
    async with asyncio.timeout(60):
        final = [Worker(turns, str(number), log) for number in range(places)]
        await settle()
        assert all(worker.holds for worker in final), "a place was lost"
        for worker in final:
            await worker.cancel()
