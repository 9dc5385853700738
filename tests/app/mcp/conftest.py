from __future__ import annotations

import pytest

from app.mcp.quick import QuickCalls
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


@pytest.fixture
def quick(monkeypatch):
    """The tools whose calls were answered without the SDK."""
    answered = []
    read = QuickCalls._read

    def noting(self, *given):
        call = read(self, *given)
        if call is not None:
            answered.append(call.tool)
        return call

    monkeypatch.setattr(QuickCalls, "_read", noting)
    return answered
