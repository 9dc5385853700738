"""The page below a path, and the page of another version than its server."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

import app.run_resources
from tests.support.browser import BROWSER, browsing, login_link
from tests.support.front_door import ran, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from playwright.async_api import Request, Route

pytestmark = BROWSER


async def test_the_page_works_below_a_path(tmp_path: Path) -> None:
    bench = Workbench()
    async with (
        product(tmp_path, bench.packs, base_path="/tools/pipes") as it,
        browsing(it, signed_in=False) as tab,
    ):
        await tab.page.goto(await login_link(it))
        await tab.page.wait_for_url(it.url("/tools/pipes/"))
        await save(it, "below", step("wait", "test.slow"), step("make", "test.artifact", content="tea"))
        run = (await start(it, "below"))["run"]
        sockets = []
        tab.page.on("websocket", lambda socket: sockets.append(socket.url))
        await tab.page.get_by_role("link", name="Runs", exact=True).click()
        await tab.page.wait_for_url("**/tools/pipes/runs")
        await tab.page.get_by_role("table", name="Runs").get_by_text("Running", exact=True).wait_for()
        await tab.visit(f"/tools/pipes/runs/{run['id']}?step=make")
        bench.release.set()
        await tab.state("Succeeded")
        assert any(url.endswith("/tools/pipes/graphql") for url in sockets)
        await tab.page.get_by_role("link", name="note.txt", exact=True).click()
        await tab.sees("tea")
        assert tab.page.url.startswith(it.url("/tools/pipes/artifacts/art_"))
        await tab.page.reload()
        await tab.sees("tea")


async def test_a_page_of_another_version_says_reload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.run_resources, "version", lambda _name: "9.9.9")
    async with product(tmp_path) as it, browsing(it) as tab:
        await tab.visit("/")
        await tab.sees("The server is Packline 9.9.9 now")
        assert await tab.violations() == []
        await tab.page.evaluate("window.same = true")
        await tab.press("Reload")
        await tab.page.wait_for_function("window.same === undefined")


async def test_an_address_that_leads_nowhere_says_so_and_leads_on(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it, expect=("status of 404",)) as tab:
        answer = await tab.page.goto(it.url("/runz/of/mine?state=odd"))
        assert answer is not None
        assert answer.status == 404
        await tab.page.get_by_role("heading", name="There is no such page").wait_for()
        await tab.sees("/runz/of/mine")
        assert await tab.violations() == []
        await tab.page.get_by_role("main").get_by_role("link", name="Catalog").click()
        await tab.page.get_by_role("heading", name="Catalog").wait_for()

        await tab.visit("/packs")
        await tab.page.wait_for_url("**/catalog?kind=PACK")
        await tab.sees("test.echo")
        await tab.visit("/packs/test.echo")
        await tab.page.get_by_role("heading", name="test.echo").wait_for()
        assert tab.page.url == it.url("/catalog/test.echo")


async def test_what_the_address_shows_is_asked_for_at_once_and_once(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await save(it, "once", step("make", "test.echo", text="tea"))
        run = await ran(it, "once")
        asked: list[str] = []
        early = {name: asyncio.Event() for name in ("RunPage", "Runs", "Pipelines", "EditorPipeline", "Catalog")}
        shown = ["RunPage"]

        def note(request: Request) -> None:
            if request.url.endswith("/graphql") and request.method == "POST":
                asked.append(json.loads(request.post_data or "{}")["operationName"])
                if asked[-1] in early:
                    early[asked[-1]].set()

        tab.page.on("request", note)
        await tab.visit("/")
        # And once more when changes are followed, for what came between.
        await eventually(lambda: asked.count("Home") == 2)
        await tab.settles()
        asked.clear()

        async def hold(route: Route) -> None:
            await early[shown[-1]].wait()
            await route.continue_()

        # The script of the page comes only once its data was asked for.
        await tab.page.route("**/assets/index-*.js", hold)
        await tab.visit(f"/runs/{run['id']}")
        await tab.state("Succeeded")
        await tab.sees("tea")
        await tab.settles()
        # What the end of a run has started shows later, and may change meanwhile.
        assert sorted(name for name in asked if name != "StartedRuns") == ["RunPage", "StepDetail", "Viewer"]

        asked.clear()
        await tab.visit("/")
        await tab.page.get_by_role("heading", name="Recent").wait_for()
        await eventually(lambda: asked.count("Home") == 2)
        await tab.settles()
        assert (asked.count("Viewer"), asked.count("Home")) == (1, 2)

        # Runs are asked for again like Home.
        for address, name, row, times in (
            ("/runs", "Runs", "Once", 2),
            ("/pipelines", "Pipelines", "Once", 1),
            ("/catalog", "Catalog", "test.echo", 1),
        ):
            asked.clear()
            shown.append(name)
            await tab.visit(address)
            await tab.page.get_by_role("main").get_by_role("link", name=row).first.wait_for()
            await eventually(partial(lambda name, times: asked.count(name) == times, name, times))
            await tab.settles()
            assert (asked.count("Viewer"), asked.count(name)) == (1, times)

        asked.clear()
        shown.append("EditorPipeline")
        await tab.visit("/pipelines/once/edit")
        await tab.page.get_by_role("button", name="Add a step").first.wait_for()
        await tab.settles()
        assert (asked.count("Viewer"), asked.count("EditorPipeline")) == (1, 1)


_WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver(list => window.shifts.push(...list.getEntries().map(({value}) => value)))
    .observe({type: 'layout-shift', buffered: true});
"""
_PLACES = """within => {
    const shown = [...document.querySelector(within).querySelectorAll('nav a, nav button, svg')];
    return shown.map(one => [one.textContent, one.getBoundingClientRect()])
        .filter(([_, box]) => box.width > 0)
        .map(([word, {left, top, width, height}]) => [word, left, top, width, height].join(' '));
}"""


async def test_the_shell_is_painted_before_the_scripts_where_they_paint_it(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await save(it, "once", step("make", "test.echo", text="tea"))
        await ran(it, "once")
        await tab.page.add_init_script(_WATCH_SHIFTS)
        await tab.page.set_viewport_size({"width": 390, "height": 800})
        await tab.visit("/")
        await tab.page.get_by_role("heading", name="Next steps").wait_for()
        await tab.page.get_by_role("heading", name="Recent").wait_for()
        await tab.settles()
        assert await tab.page.evaluate("window.shifts") == []

        released = asyncio.Event()

        async def hold(route: Route) -> None:
            await released.wait()
            await route.continue_()

        await tab.page.route("**/assets/index-*.js", hold)
        for width in (390, 1280):
            released.clear()
            await tab.page.set_viewport_size({"width": width, "height": 800})
            await tab.page.goto(it.url("/catalog"), wait_until="commit")
            await tab.page.locator("#skeleton a:visible", has_text="Catalog").wait_for()
            before = await tab.page.evaluate(_PLACES, "#skeleton")
            assert await tab.page.get_by_role("link").count() == 0, "a picture that seems to be usable"
            released.set()
            await tab.page.get_by_role("link", name="test.echo").first.wait_for()
            assert await tab.page.locator("#skeleton").is_hidden()
            after = await tab.page.evaluate(_PLACES, "#root header")
            assert len(before) >= 10
            assert before == after
            # On a wide window choices move a few pixels when theirs arrive.
            assert sum(await tab.page.evaluate("window.shifts")) < 0.005
        # A file fills the window from the start.
        released.clear()
        await tab.page.goto(it.url("/artifacts/art_1"), wait_until="commit")
        await tab.page.locator("#skeleton").wait_for(state="attached")
        await tab.page.wait_for_function("document.documentElement.dataset.theme !== undefined")
        assert await tab.page.locator("#skeleton").is_hidden()
        released.set()
