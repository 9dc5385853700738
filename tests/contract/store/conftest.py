from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.databases import postgres_store, sqlite_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from store.database.engine import Store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Each test runs over both databases."""
    opened = sqlite_store(tmp_path) if request.param == "sqlite" else postgres_store(tmp_path)
    async with opened as opened_store:
        yield opened_store
