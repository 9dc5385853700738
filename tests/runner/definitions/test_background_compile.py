"""Whose turn it is to have large texts read."""

from __future__ import annotations

import asyncio
import threading

from runner.definitions.background_compile import LARGE_BYTES, in_background

LARGE = "x" * (LARGE_BYTES + 1)


def test_work_that_outlasts_its_event_loop_holds_up_nobody_on_the_next() -> None:
    begun, go = threading.Event(), threading.Event()

    def outlasts() -> None:
        begun.set()
        go.wait(60)

    async def left_behind() -> None:
        reading = asyncio.create_task(in_background("ada", outlasts, LARGE))
        await asyncio.to_thread(begun.wait, 60)
        reading.cancel()

    async def after() -> int:
        async with asyncio.timeout(20):
            return await in_background("ada", lambda: 1, LARGE)

    try:
        asyncio.run(left_behind())
        assert asyncio.run(after()) == 1
    finally:
        go.set()
