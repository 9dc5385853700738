"""Finding what to run: Home's search, the catalog's two questions, a pack's page; and what this browser is set to."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ran, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import reader

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Route

pytestmark = BROWSER


async def test_home_searches_and_its_checklist_is_put_away_for_good(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "tea", step("say", "test.echo", text="tea"))
        await ran(it, "tea")
        await tab.visit("/")
        await tab.page.get_by_role("heading", name="Next steps").wait_for()
        await tab.page.get_by_role("listitem").filter(has_text="Make your own pipeline").get_by_text("done").wait_for()
        assert await tab.violations() == []
        await tab.press("Dismiss")
        await tab.page.reload()
        await tab.sees("Recent")
        assert await tab.page.get_by_role("heading", name="Next steps").count() == 0
        await tab.page.get_by_label("Ask what to run").fill("repeat after me")
        await tab.page.get_by_role("link", name="Search the catalog instead").click()
        await tab.page.wait_for_url("**/catalog?q=*")
        await tab.page.get_by_role("link", name="test.echo").wait_for()


async def test_a_link_pressed_right_after_typing_is_followed(tmp_path: Path) -> None:
    """What was typed goes into the address a moment later; the link's page may still be on its way by then."""
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await save(it, "tea", step("say", "test.echo", text="tea"))
        await ran(it, "tea")
        let_through = asyncio.Event()

        async def hold(route: Route) -> None:
            await let_through.wait()
            await route.continue_()

        await tab.page.route("**/assets/CatalogPage-*.js", hold)
        await tab.visit("/")
        await tab.sees("Matches your request to pipelines")
        async with tab.page.expect_request(lambda asked: "repeat after me" in (asked.post_data or "")):
            await tab.page.get_by_label("Ask what to run").fill("repeat after me")
            async with tab.page.expect_request("**/assets/CatalogPage-*.js"):
                await tab.page.get_by_role("link", name="Search the catalog instead").click()
        let_through.set()
        await tab.page.wait_for_url("**/catalog?q=*")
        await tab.page.get_by_role("heading", name="Catalog").wait_for()


async def test_the_catalog_answers_what_there_is_and_what_is_wanted(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, reader()]) as it, browsing(it) as tab:
        await tab.visit("/catalog")
        await tab.page.get_by_label("I have").select_option("text")
        await tab.page.get_by_label("I want").select_option("markdown")
        await tab.page.wait_for_url(lambda url: "accepts=text" in url and "produces=markdown" in url)
        await tab.page.get_by_role("link", name="test.slow").wait_for()
        await tab.page.get_by_role("link", name="test.echo").wait_for(state="detached")
        assert await tab.violations() == []
        await tab.page.reload()
        await tab.holds(tab.page.get_by_label("I want"), "markdown")
        await tab.page.get_by_role("link", name="test.slow").click()
        await tab.sees("Not specified by the author.")
        await tab.sees("unknown: no successful run here in the last 30 days")
        assert await tab.violations() == []

        await tab.visit("/catalog/test.reader")
        await tab.page.get_by_role("link", name="Add credential").click()
        await tab.page.wait_for_url("**/credentials?need=key&return=*test.reader*")


async def test_settings_change_this_browser(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit("/settings")
        await tab.page.get_by_label("Theme", exact=True).last.select_option("dark")
        await tab.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        zones = tab.page.get_by_label("Time zone")
        # There are hundreds, listed once somebody reaches for them.
        await zones.focus()
        await zones.select_option("Asia/Tokyo")
        await tab.sees("Concurrent runs per caller")
        assert await tab.violations() == []
        await tab.page.get_by_label("Single-key shortcuts").uncheck()
        await tab.page.keyboard.press("?")
        await tab.page.reload()
        assert not await tab.page.get_by_label("Single-key shortcuts").is_checked()
        assert await tab.page.get_by_role("dialog").count() == 0
        await tab.page.get_by_label("Single-key shortcuts").check()
        await tab.page.keyboard.press("?")
        await tab.page.get_by_role("dialog").get_by_role("heading", name="Keys").wait_for()
        await save(it, "tea", step("say", "test.echo", text="tea"))
        run = await ran(it, "tea")
        await tab.visit("/runs")
        shown = tab.page.locator(f"time[datetime='{run['createdAt']}']").first
        wanted = await tab.page.evaluate(
            "at => new Date(at).toLocaleTimeString([], {timeStyle: 'long', timeZone: 'Asia/Tokyo'})",
            run["createdAt"],
        )
        assert wanted in str(await shown.get_attribute("title"))
        assert await shown.inner_text() == "just now"


async def test_settings_tell_which_agents_can_work_here_and_why_others_cannot(tmp_path: Path) -> None:
    agents = {
        "here": {"command": [sys.executable, "-c", "print(1)"], "model": "large-2", "timeout_seconds": 90},
        "gone": {"command": ["/opt/no-such-agent", "--print"], "network": False},
    }
    async with product(tmp_path, Workbench().packs, agents=agents) as it, browsing(it) as tab:
        await tab.visit("/settings#agents")
        part = tab.page.locator("#agents")
        here, gone, mock = (part.get_by_role("listitem").filter(has_text=name) for name in ("large-2", "gone", "mock"))
        await here.get_by_text("can be used").wait_for()
        await here.get_by_text("model large-2 · in a sandbox if available · at most 1 min 30 s").wait_for()
        await here.get_by_text(sys.executable).click()
        await here.get_by_text("-c print(1)").wait_for()
        await gone.get_by_text("only in a sandbox without network").wait_for()
        await gone.get_by_text("cannot be used").first.wait_for()
        assert "Install /opt/no-such-agent, or correct the profile's command." in await gone.inner_text()
        assert "No program starts" in await mock.inner_text()
        assert await tab.violations_in_both_themes() == []


async def test_a_failure_is_told_by_one_hidden_tab(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.page.context.grant_permissions(["notifications"])
        told: list[str] = []
        await tab.page.context.expose_function("told", lambda title: told.append(title))
        # Tabs of a headless browser are never hidden, and its notifications show nowhere.
        await tab.page.context.add_init_script(
            """Object.defineProperty(document, 'hidden', {get: () => window.away === true});
            window.Notification = class extends EventTarget {
              static permission = 'granted';
              static requestPermission = async () => 'granted';
              constructor(title) { super(); window.told(title); window.shown = this; }
              close() {}
            };"""
        )
        await tab.visit("/settings")
        await tab.press("Notify me about failures")
        await tab.sees("This browser notifies you when one of your runs fails")
        assert await tab.violations() == []
        other = await tab.page.context.new_page()
        await other.goto(it.url("/runs"))
        await tab.visit("/runs")
        await save(it, "broken", step("wait", "test.slow"), step("fail", "test.fail"))
        run = (await start(it, "broken"))["run"]
        for page in (tab.page, other):
            await page.get_by_role("table", name="Runs").get_by_text("Running", exact=True).wait_for()
            await page.evaluate("window.away = true")
        bench.release.set()
        await until_state(it, run["id"], "FAILED")
        # A tab is told in order: once it shows the run as failed, it has had its chance to tell.
        for page in (tab.page, other):
            await page.get_by_role("table", name="Runs").get_by_text("Failed", exact=True).wait_for()
        assert told == ["Broken failed"]
