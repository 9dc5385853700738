from __future__ import annotations

import pytest
import pytest_asyncio

from tests.support.packs import Workbench
from tests.support.product import product


@pytest.fixture(scope="module")
def bench() -> Workbench:
    return Workbench()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory, bench):
    async with product(tmp_path_factory.mktemp("a2a"), bench.packs) as running:
        yield running
        bench.release.set()
