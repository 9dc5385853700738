"""Every address of the page in both themes: nothing axe objects to, nothing the console complains of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from app.pages import PAGE_PATHS
from tests.support.browser import AXE, BROWSER, browsing
from tests.support.front_door import ran, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = [*BROWSER, pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed; run make ui")]

HOSTILE = "<img src=x onerror=alert(1)> \u202eright to left\u202c 🫖 " + "long" * 300


async def furnished(it: Product, bench: Workbench) -> dict[str, str]:
    """One of everything; the addresses of what was made, by the route they belong to."""
    await save(it, "fine", step("say", "test.echo", text=HOSTILE), step("keep", "test.artifact", content=HOSTILE))
    await save(it, "broken", step("say", "test.echo", text="tea"), step("fail", "test.fail", message=HOSTILE))
    await save(it, "slow", step("tell", "test.progress"), step("wait", "test.slow"))
    fine, broken = await ran(it, "fine"), await ran(it, "broken")
    slow = (await start(it, "slow"))["run"]
    await until_state(it, slow["id"], "RUNNING")
    await bench.started.wait()
    artifact = fine["steps"][1]["artifacts"][0]["id"]
    return {
        "failed run": f"/runs/{broken['id']}",
        "running run": f"/runs/{slow['id']}",
        "log": f"/runs/{slow['id']}?step=tell&tab=log",
        "output": f"/runs/{fine['id']}?step=say&tab=output",
        "artifacts": f"/runs/{fine['id']}?step=keep",
        "file": f"/artifacts/{artifact}",
        "pipeline": "/pipelines/fine",
        "editor": "/pipelines/fine/edit?step=say",
        "editor as YAML": "/pipelines/fine/edit?view=yaml",
        "versions": "/pipelines/fine/versions",
        "form": "/pipelines/slow/run",
        "pack": "/catalog/test.echo",
        "nothing": "/runs/run_nothing",
        **{path: path for path in PAGE_PATHS if "{" not in path},
    }


async def settled(tab: Tab) -> None:
    """Waits until the page has shown what it was asked for."""
    await tab.page.locator("main h1").first.wait_for()
    await tab.page.wait_for_function("() => !document.body.innerText.includes('Loading…')")
    await tab.page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_every_page_is_accessible_and_quiet(tmp_path: Path, theme: Literal["light", "dark"]) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, theme=theme) as tab:
        found: dict[str, list[str]] = {}
        for name, path in (await furnished(it, bench)).items():
            await tab.visit(path)
            await settled(tab)
            found[name] = await tab.violations()
        bench.release.set()
        assert {name: violations for name, violations in found.items() if violations} == {}


async def test_dialogs_are_accessible_and_close_with_escape(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        at = await furnished(it, bench)
        for path, button in ((at["failed run"], "Resume from step 2"), (at["failed run"], "Run again")):
            await tab.visit(path)
            await tab.press(button)
            dialog = tab.page.get_by_role("dialog")
            await dialog.get_by_text("Will run").wait_for()
            assert await tab.violations() == []
            await tab.page.keyboard.press("Escape")
            await dialog.wait_for(state="detached")
        bench.release.set()


async def test_nothing_is_cut_off_on_a_phone(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, size=(360, 740)) as tab:
        at = await furnished(it, bench)
        wide = {}
        for name in ("failed run", "output", "/", "/pipelines", "form", "/settings"):
            path = at[name]
            await tab.visit(path)
            await settled(tab)
            rows = await tab.page.evaluate(
                "[...document.querySelectorAll('tbody tr')].filter(row => row.scrollHeight > row.clientHeight + 1)"
                ".length"
            )
            assert rows == 0, f"{rows} rows of {name} run into the next"
            wide[name] = await tab.page.evaluate("document.documentElement.scrollWidth")
        bench.release.set()
        assert {name: width for name, width in wide.items() if width > 360} == {}


async def test_a_keyboard_alone_walks_a_run(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit((await furnished(it, bench))["failed run"])
        await tab.state("Failed")
        first = tab.page.locator("[data-step=say]")
        await first.focus()
        await tab.page.keyboard.press("ArrowDown")
        assert await tab.page.evaluate("document.activeElement.dataset.step") == "fail"
        await tab.page.keyboard.press("ArrowUp")
        await tab.page.wait_for_url("**step=say*")
        await tab.page.get_by_role("tab", name="Output").focus()
        await tab.page.keyboard.press("ArrowRight")
        await tab.page.wait_for_url("**tab=log*")
        bench.release.set()
