"""One Chromium for every test of this folder that a process runs: a start costs more than most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.support.browser import CHROMIUM, shared_browser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def _browser() -> AsyncIterator[None]:
    if CHROMIUM is None:  # every test is skipped
        yield
        return
    async with shared_browser():
        yield
