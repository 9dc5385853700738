"""A worker's signs of life where the store is slow."""

from __future__ import annotations

import asyncio
from typing import Any

from runner.running.heartbeat import Heartbeat
from store.runs.workers import Renewal, WorkerIdentity
from tests.support.waiting import eventually

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

    text = ""

    def refresh(self) -> None:
        """Finds nothing."""


async def test_leases_are_renewed_again_by_a_store_that_is_slow_after_it_was_away():
    store = SlowStore()
    heartbeat = Heartbeat(
        store,  # type: ignore[arg-type]
        WORKER,
        Offers(),  # type: ignore[arg-type]
        LEASE_SECONDS,
        active={},
        advancing=set(),
        on_draining=lambda: None,
    )
    await heartbeat.start()
    try:
        await eventually(lambda: store.renewed > 1, seconds=20)
    finally:
        await heartbeat.stop()
    assert store.attempts > store.renewed
