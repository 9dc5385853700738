from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.model_server import ModelServer, model_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running
