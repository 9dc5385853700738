"""A run engine with the packs of tests, and what steers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.engine import Laboratory, laboratory
from tests.support.engine_packs import Signals, engine_packs
from tests.support.packs import Workbench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
def signals() -> Signals:
    return Signals()


@pytest.fixture
async def lab(tmp_path: Path, bench: Workbench, signals: Signals) -> AsyncIterator[Laboratory]:
    async with laboratory(tmp_path, [*bench.packs, *engine_packs(signals)]) as made:
        yield made
