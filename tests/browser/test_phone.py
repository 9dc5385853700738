"""A phone's bar: four places and More, by finger, by keyboard and as it is read out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.browser import AXE, BROWSER, browsing
from tests.support.front_door import save, start, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER

PHONE = (390, 844)


async def test_what_the_bar_has_no_room_for_is_behind_more(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it, size=PHONE, touch=True) as tab:
        await tab.visit("/tokens")
        bar = tab.page.get_by_role("navigation", name="Main")
        await bar.get_by_role("link", name="Runs").wait_for()
        await tab.reads(bar.get_by_role("link"), ["Home", "Runs", "Pipelines", "Catalog"])
        more = bar.get_by_role("button", name=re.compile("More.*Tokens is open"))
        assert await more.get_attribute("aria-current") == "true"
        await more.tap()
        sheet = tab.page.get_by_role("dialog", name="More")
        here = sheet.get_by_role("link", name="Tokens")
        assert await here.get_attribute("aria-current") == "page"
        low = await tab.page.evaluate(
            """[...document.querySelectorAll('dialog a, dialog button')]
                .filter(one => one.getBoundingClientRect().height < 43.5).length"""
        )
        assert low == 0
        await sheet.get_by_role("link", name="Artifacts").tap()
        await tab.page.get_by_role("heading", name="Artifacts").wait_for()
        await sheet.wait_for(state="detached")


async def test_more_is_used_by_keyboard_and_read_out(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it, size=PHONE) as tab:
        await tab.visit("/runs")
        more = tab.page.get_by_role("button", name="More", exact=True)
        await more.focus()
        await tab.page.keyboard.press("Enter")
        sheet = tab.page.get_by_role("dialog", name="More")
        await sheet.wait_for()
        if AXE.is_file():
            assert await tab.violations() == []
        await tab.page.keyboard.press("Escape")
        await sheet.wait_for(state="detached")
        await tab.focuses(more)
        await tab.page.keyboard.press("Enter")
        await sheet.get_by_role("link", name="Connect").focus()
        await tab.page.keyboard.press("Enter")
        await tab.page.wait_for_url("**/connect*")


async def test_a_wide_window_shows_every_place_and_no_more(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await tab.visit("/memory")
        bar = tab.page.get_by_role("navigation", name="Main")
        await bar.get_by_role("link", name="Settings").wait_for()
        places = ["Home", "Runs", "Pipelines", "Catalog", "Artifacts", "Connect", "Settings"]
        await tab.reads(bar.get_by_role("link"), places)
        assert await bar.get_by_role("button").count() == 0
        # An administration page marks the gear.
        assert await bar.get_by_role("link", name="Settings").get_attribute("aria-current") == "true"


async def test_a_running_step_shows_its_progress_in_its_row(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, size=PHONE, touch=True) as tab:
        await save(it, "slow", step("wait", "test.slow"))
        run = (await start(it, "slow"))["run"]
        await tab.visit(f"/runs/{run['id']}")
        row = tab.page.locator("[data-step=wait]")
        await row.locator("[data-progress]").wait_for()
        assert await row.locator("[data-progress]").is_visible()
        bench.release.set()
