"""What retention lets go of a running server, without anybody asking for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.running.housekeeping import FIRST_SECONDS
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually, pass_time

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_server_lets_old_runs_go_within_a_minute_of_its_start(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs, run_count=1) as it:
        await save(it, "tea", step("only", "test.echo", text="${{ inputs.text }}"))
        latest = [await ran(it, "tea", {"text": str(number)}) for number in range(3)][-1]
        pass_time(FIRST_SECONDS)

        async def left() -> bool:
            found = (await it.query("{ runs { nodes { id } } }"))["runs"]["nodes"]
            return [each["id"] for each in found] == [latest["id"]]

        await eventually(left)
