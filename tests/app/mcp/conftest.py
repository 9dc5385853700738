from __future__ import annotations

import pytest

from tests.support.packs import Workbench
from tests.support.product import product


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def house(tmp_path, bench):
    async with product(tmp_path, bench.packs) as running:
        yield running
        bench.release.set()
