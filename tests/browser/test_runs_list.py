"""Many runs: filters and views in the address, acts on a selection with their dry run, the palette, keys alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from store.models.runs import RUN
from tests.bench.history import grow
from tests.support.browser import BROWSER, browsing
from tests.support.front_door import look, ran, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

pytestmark = BROWSER

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


async def test_filters_and_views_stand_in_the_address(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "fine", step("say", "test.echo", text="tea"))
        await save(it, "broken", step("fail", "test.fail"))
        await ran(it, "fine")
        await ran(it, "broken")
        table = tab.page.get_by_role("table", name="Runs")
        await tab.visit("/runs")
        await table.get_by_role("link", name="Fine").wait_for()
        await tab.page.get_by_label("State", exact=True).select_option("FAILED")
        await tab.page.wait_for_url("**status=FAILED*")
        await table.get_by_role("link", name="Fine").wait_for(state="detached")
        await tab.page.get_by_label("Since").select_option("1h")
        await tab.press("Save view…")
        await tab.page.get_by_role("dialog").get_by_label("Name").fill("Running")
        await tab.sees("A built-in view has this name.")
        await tab.page.get_by_role("dialog").get_by_label("Name").fill("Broken today")
        await tab.press("Save view", within="dialog")
        await tab.page.wait_for_url("**view=Broken*")
        await tab.page.reload()
        await tab.page.get_by_role("link", name="Broken today").and_(tab.page.locator("[aria-current=page]")).wait_for()
        await table.get_by_role("link", name="Broken").wait_for()
        assert await table.get_by_role("link", name="Fine").count() == 0
        await tab.press("Remove filter: Failed")
        await table.get_by_role("link", name="Fine").wait_for()
        await tab.sees("2 runs", exact=True)
        assert await tab.violations() == []

        await tab.visit("/runs?status=BROKEN&colour=red&cause=PERSON")
        await tab.sees("The filter status has no value BROKEN. This list has no filter colour. The list ignores them.")
        await tab.sees("2 runs", exact=True)
        assert await tab.violations() == []
        await tab.press("Dismiss")
        await tab.page.get_by_text("The list ignores them.").wait_for(state="detached")


async def test_many_are_resumed_after_saying_what_it_would_do(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it,
            "mail",
            step("check", "test.switch", text="${{ inputs.text? }}"),
            step("send", "test.external", times=0),
            inputs=TEXT,
        )
        await save(it, "plain", step("check", "test.switch"))
        await save(it, "fine", step("say", "test.echo", text="tea"))
        failed = [await ran(it, "mail", {"text": str(number)}) for number in range(2)] + [await ran(it, "plain")]
        fine = await ran(it, "fine")
        await it.mutate(
            "mutation ($id: ID!) { rerunRun(id: $id, waitSeconds: 10) { __typename } }", {"id": failed[0]["id"]}
        )
        bench.failing = False
        await tab.visit("/runs")
        # One mail failed as its re-run and the other did, and stands with them in one row.
        await tab.press("+2 similar")
        for run in (*failed, fine):
            await tab.page.locator(f"[data-run={run['id']}]").get_by_role("checkbox").check()
        await tab.sees("4 selected")
        await tab.press("Resume…")
        await tab.sees("4 runs selected: 3 resume, 2 change an external system, 1 was already run again, 1 cannot.")
        assert bench.calls("test.external") == 0
        assert await tab.violations() == []
        await tab.press("Resume 3 runs", within="dialog")
        await tab.sees("Resumed: 3 of 3 runs")
        assert await tab.page.get_by_role("list", name="Results").get_by_role("listitem").count() == 3
        await tab.press("Close", within="dialog")
        for run in failed:
            await until_state(it, run["id"], "SUCCEEDED")
        assert bench.calls("test.external") == 2


async def test_many_are_cancelled_acknowledged_and_run_again(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "slow", step("wait", "test.slow", text="${{ inputs.text? }}"), inputs=TEXT)
        await save(it, "broken", step("fail", "test.fail"))
        slow = [(await start(it, "slow", {"text": str(number)}))["run"]["id"] for number in range(2)]
        broken = (await ran(it, "broken"))["id"]
        for run in slow:
            await until_state(it, run, "RUNNING")
        await tab.visit("/runs")
        pick_all = tab.page.get_by_label("Select all on this page")
        await pick_all.check()
        await tab.press("Cancel…")
        await tab.sees("3 runs selected: 2 are cancelled, 1 cannot.")
        await tab.press("Cancel 2 runs", within="dialog")
        await tab.sees("Cancelled: 2 of 2 runs")
        await tab.press("Close", within="dialog")
        for run in slow:
            await until_state(it, run, "CANCELLED")
        await pick_all.check()
        await tab.press("Acknowledge…")
        await tab.page.get_by_text(re.compile("3 runs selected: ")).wait_for()
        await tab.press("Acknowledge 1 run", within="dialog")
        await tab.sees("Acknowledged: 1 of 1 run")
        await tab.press("Close", within="dialog")
        assert "RERUN" in (await look(it, broken))["actions"]
        await tab.page.locator(f"[data-run={broken}]").get_by_role("checkbox").check()
        await tab.press("Run again…")
        await tab.press("Run again 1 run", within="dialog")
        await tab.sees("Re-run: 1 of 1 run")


async def test_two_picked_runs_are_compared(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, theme="dark") as tab:
        await save(it, "pair", step("say", "test.echo", text="${{ inputs.text }}"), inputs=TEXT)
        first, second = await ran(it, "pair", {"text": "tea\nmilk"}), await ran(it, "pair", {"text": "tea\nlemon"})
        await tab.visit("/runs")
        for run in (second, first):
            await tab.page.locator(f"[data-run={run['id']}]").get_by_role("checkbox").check()
        await tab.page.get_by_role("link", name="Compare").click()
        await tab.page.wait_for_url("**/runs/compare?**")
        inputs = tab.page.get_by_role("table", name="Inputs that differ")
        await inputs.get_by_text("milk").wait_for()
        await inputs.get_by_text("lemon").wait_for()


async def test_new_runs_wait_for_a_reader_further_down(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, size=(1280, 500)) as tab:
        await save(it, "many", step("say", "test.echo", text="${{ inputs.text }}"), inputs=TEXT)
        for number in range(60):
            await start(it, "many", {"text": f"run {number}"})
        await tab.visit("/runs")
        rows = tab.page.locator("tr[data-run]")
        await tab.page.wait_for_function("() => document.querySelectorAll('tr[data-run]').length === 50")
        await tab.page.mouse.wheel(0, 900)
        await tab.page.wait_for_function("() => scrollY > 200")
        await start(it, "many", {"text": "the newest"})
        await tab.page.get_by_role("button", name="1 new").click()
        await rows.first.get_by_text("the newest").wait_for()
        assert await rows.count() == 50


@pytest.mark.slow
@pytest.mark.parametrize("many", [300, pytest.param(5_000, marks=pytest.mark.sweep)])
async def test_thousands_of_runs_are_paged_searched_and_acted_on(tmp_path: Path, many: int) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        await save(it, "old", step("fail", "test.fail"))
        await ran(it, "old")
        await eventually(lambda: all_remembered(it))
    grow(tmp_path / "data" / "packline.db", many)
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "new", step("say", "test.echo", text="tea"))
        newest = (await ran(it, "new"))["id"]
        await tab.visit("/runs")
        rows = tab.page.locator("tr[data-run]")
        seen: list[str] = []
        for _ in range(4):
            if seen:
                await tab.page.get_by_role("link", name="Next →").click()
            await tab.page.wait_for_function(
                """last => {
                    const rows = [...document.querySelectorAll('tr[data-run]')];
                    return rows.length > 0 && rows.length <= 2 && rows.every(row => row.dataset.run < last);
                }""",
                arg=seen[-1] if seen else "run_~",
            )
            # All but the newest failed alike: each page has one row for them.
            await tab.page.get_by_role("button", name=re.compile(r"^\+4[89] similar$")).click()
            await tab.page.wait_for_function("() => document.querySelectorAll('tr[data-run]').length === 50")
            seen += await rows.evaluate_all("rows => rows.map(row => row.dataset.run)")
        assert seen[0] == newest
        assert len(seen) == 200
        assert seen == sorted(set(seen), reverse=True), "each run once, newest first"
        assert "after=" in tab.page.url
        await tab.page.reload()
        await rows.first.wait_for()
        assert await rows.first.get_attribute("data-run") == seen[150]
        await tab.page.get_by_role("link", name="← Previous").click()
        await tab.page.locator(f"tr[data-run={seen[100]}]").wait_for()
        await tab.sees("+49 similar")

        await tab.visit("/runs")
        await tab.page.get_by_label("State", exact=True).select_option("SUCCEEDED")
        await tab.page.wait_for_function("() => document.querySelectorAll('tr[data-run]').length === 1")
        await tab.visit("/runs?status=FAILED")
        await tab.page.get_by_label("Select all on this page").check()
        await tab.press("Acknowledge…")
        await tab.sees("50 runs selected: ")
        await tab.press("Acknowledge 50 runs", within="dialog")
        await tab.sees("Acknowledged: 50 of 50 runs")
        await tab.press("Close", within="dialog")
        left = await it.query("{ runs(filter: {needsAttention: true}) { totalCount } }")
        assert left["runs"]["totalCount"] == many + 1 - 50
        assert await tab.violations() == []


async def all_remembered(it: Product) -> bool:
    """Whether nothing is left to be taken up beside requests."""
    return not (await it.services.store.read(select(RUN.c.id).where(RUN.c.memory_due))).all()
