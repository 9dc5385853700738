"""What brings a run or a reader back: another input of the run, a new login, a credential that was missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER


async def test_a_resume_changes_an_input_that_nothing_kept_has_read(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {"type": "object", "properties": {"first": {"type": "string"}, "second": {"type": "string"}}}
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it,
            "two",
            step("make", "test.echo", text="${{ inputs.first }}"),
            step("send", "test.switch", text="${{ inputs.second }}"),
            inputs=inputs,
        )
        run = await ran(it, "two", {"first": "tea", "second": "wrong"})
        bench.failing = False
        await tab.visit(f"/runs/{run['id']}")
        await tab.page.get_by_role("button", name="Resume from step 2").click()
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_text("Change inputs of the run").click()
        assert await dialog.get_by_label("First").count() == 0
        await dialog.get_by_label("Second").fill("right")
        assert await tab.violations() == []
        await tab.press("Resume from step 2 with changed inputs", within="dialog")
        await tab.state("Succeeded")
        assert bench.calls_of("test.switch")[-1].input["text"] == "right"
        assert bench.calls("test.echo") == 1
