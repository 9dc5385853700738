"""A worker's signs of life where the store is slow."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from runner.running.heartbeat import Heartbeat
from store.runs.workers import Renewal, WorkerIdentity
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

LEASE_SECONDS = 2.0
#: Longer than a tenth of the lease, and much shorter than the whole.
WRITE_SECONDS = 0.4
WORKER = WorkerIdentity("w", machine="m", release="1", lanes=1)


class SlowStore:
    """Does not answer for longer than a lease, then slowly."""

    def __init__(self) -> None:
        self.attempts = 0
        self.renewed = 0

    async def write(self, *_: Any, **__: Any) -> Renewal:
        self.attempts += 1
        if self.attempts > 1:  # the first one lists the worker
            await asyncio.sleep(60 if self.attempts == 2 else WRITE_SECONDS)
        self.renewed += 1
        return Renewal({}, draining=False)

    async def write_few(self, *_: Any) -> None:
        """The removal of the worker that stops."""


class Offers:
    """Offers nothing."""

    matter = True
    text = ""

    def refresh(self) -> None:
        """Finds nothing."""


class SlowOffers(Offers):
    """Has a probe that does not answer the second time until `answers` is set."""

    def __init__(self) -> None:
        self.asked = 0
        self.answers = threading.Event()

    def refresh(self) -> None:
        self.asked += 1
        if self.asked > 1:
            assert self.answers.wait(60)
        self.text = f"found {self.asked}"


class QuickStore:
    """Keeps what each renewal says is offered."""

    def __init__(self) -> None:
        self.offered: list[str] = []

    async def write(self, _unit: Any, _worker: WorkerIdentity, offers: str, *_: Any, **__: Any) -> Renewal:
        self.offered.append(offers)
        return Renewal({}, draining=False)

    async def write_few(self, *_: Any) -> None:
        """The removal of the worker that stops."""


def nothing() -> None:
    """For a change that nobody wants to hear of."""


def heartbeat_of(
    store: Any, offers: Any, lease_seconds: float = LEASE_SECONDS, *, on_return: Callable[[], None] = nothing
) -> Heartbeat:
    return Heartbeat(
        store, WORKER, offers, lease_seconds, active={}, advancing=set(), on_draining=nothing, on_return=on_return
    )


async def test_a_slow_probe_delays_neither_the_event_loop_nor_a_renewal():
    store, offers = QuickStore(), SlowOffers()
    heartbeat = heartbeat_of(store, offers, lease_seconds=0.3)
    await heartbeat.start()
    try:
        await eventually(lambda: len(store.offered) > 4)
        assert (set(store.offered), offers.asked) == ({"found 1"}, 2)
        offers.answers.set()
        await eventually(lambda: store.offered[-1] != "found 1")
    finally:
        offers.answers.set()
        await heartbeat.stop()


async def test_leases_are_renewed_again_by_a_store_that_is_slow_after_it_was_away():
    store = SlowStore()
    returned = asyncio.Event()
    heartbeat = heartbeat_of(store, Offers(), on_return=returned.set)
    await heartbeat.start()
    try:
        await eventually(lambda: store.renewed > 1, seconds=20)
    finally:
        await heartbeat.stop()
    assert store.attempts > store.renewed
    assert returned.is_set()
