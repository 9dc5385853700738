"""When the MCP server is imported: when it is wanted, or when the process has nothing else to do."""

from __future__ import annotations

import asyncio
import itertools

from app.mcp.transport.mount import wanted_or_idle


async def test_a_busy_process_is_waited_for() -> None:
    """Busy three times, then idle: only then it ends."""
    spent = iter([0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0])
    async with asyncio.timeout(60):
        await wanted_or_idle(asyncio.Event(), 0.001, lambda: next(spent))
    assert next(spent, None) is None


async def test_a_request_ends_the_wait_of_a_busy_process() -> None:
    """Whoever asks does not wait for the process to calm down."""
    wanted, looks = asyncio.Event(), itertools.count()
    waiting = asyncio.create_task(wanted_or_idle(wanted, 3600, lambda: float(next(looks))))
    await asyncio.sleep(0)
    wanted.set()
    async with asyncio.timeout(60):
        await waiting
