"""The server goes away under an open page, comes back on its port and folder, and the page goes on by itself."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from app.http.pages import BUILT_PAGE, PAGE_PATHS
from tests.support.browser import BROWSER, PATIENCE_MS, Tab, browsing
from tests.support.installed import Installed
from tests.support.relay import relay
from tests.support.servers import Fleet, held_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.servers import RealServer

pytestmark = [*BROWSER, pytest.mark.slow]

_SAVE = "mutation ($definition: JSON!) { createPipeline(definition: {document: $definition}) { __typename } }"
_START = 'mutation { runPipeline(pipeline: "held", inputs: {}) { ... on StartRunSuccess { run { id } } } }'
_START_OTHER = (
    'mutation { runPipeline(pipeline: "held", inputs: {}, force: true) { ... on StartRunSuccess { run { id } } } }'
)
_SCHEDULE = """mutation { createTrigger(pipeline: "held", name: "Nightly", schedule: {cron: "0 2 * * *"}) {
    ... on TriggerSuccess { trigger { id } } } }"""
_KEEP = """mutation { setCredential(key: "key", kind: "generic", fields: {secret: "correct-horse-battery"}) {
    ... on CredentialSuccess { credential { id } } } }"""
_UNTIL_ENDED = "query ($id: ID!) { waitRun(id: $id) { run { state } } }"
_STEPS = [{"id": key, "pack": "held.step", "input": {"text": key}} for key in ("first", "second")]

#: A list and pages of one thing; `make sweeps` opens every page.
SOME = ("/runs", "/runs/{id}", "/pipelines/{id}", "/triggers/{id}")
#: What the console says of a server that is away, or was killed while it sent a file.
AWAY = (
    "ERR_CONNECTION_REFUSED",
    "WebSocket",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
    "ERR_INCOMPLETE",
    "ERR_CONTENT_LENGTH_MISMATCH",
)
_RECONNECTING = re.compile(r"^Reconnecting\. What you see is from \d")
_UPDATED = "Packline was updated. Reload the page to use the new version."
_BROKEN = re.compile("An error occurred|cannot be shown")
#: The times of the half minute before an instant, in the words of the page.
_JUST_BEFORE = "at => [...Array(30).keys()].map(second => new Date(at - 1000 * (second - 3)).toLocaleTimeString())"
_ALL_LOADED = """wanted => {
    const loaded = performance.getEntriesByType("resource").map(({name}) => new URL(name).pathname);
    return wanted.every(path => loaded.includes(path));
}"""


def _scripts() -> list[str]:
    """The addresses of all scripts of the page that is built."""
    manifest = json.loads((BUILT_PAGE / ".vite" / "manifest.json").read_text("utf-8"))
    return sorted({f"/{part['file']}" for part in manifest.values() if part["file"].endswith(".js")})


async def _ids(server: RealServer, run: str) -> dict[str, str]:
    """Makes one of everything that has a page; their ids, by the first part of its address."""
    return {
        "runs": run,
        "pipelines": "held",
        "catalog": "held.step",
        "credentials": (await server.command(_KEEP))["credential"]["id"],
        "triggers": (await server.command(_SCHEDULE))["trigger"]["id"],
    }


async def _another(tab: Tab, path: str) -> Tab:
    """Another tab of the same browser, at an address of the product; what it complains of counts too."""
    page = await tab.page.context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    opened = Tab(page, tab.it, tab.complaints)
    await opened.visit(path)
    return opened


@asynccontextmanager
async def _held_run(folder: Path, within: tuple[str, ...] = ()) -> AsyncIterator[tuple[Fleet, RealServer, str]]:
    """A server of its own process with a run whose first step is held."""
    async with held_calls() as calls:
        fleet = Fleet(folder, "sqlite", calls, within=within, lease_seconds=3, shutdown_grace_seconds=0.2)
        try:
            server = await fleet.up("one")
            definition = {"key": "held", "name": "Held", "steps": _STEPS}
            assert (await server.command(_SAVE, definition=definition))["__typename"] == "PipelineSuccess"
            run = (await server.command(_START))["run"]["id"]
            await calls.next(run, step="first")
            yield fleet, server, run
        finally:
            await fleet.down()


@pytest.mark.parametrize("end", ["kill", pytest.param("stop", marks=pytest.mark.sweep)])
async def test_a_page_sees_a_run_through_a_restart(tmp_path: Path, end: str) -> None:
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, lease_seconds=3, shutdown_grace_seconds=0.2)
        try:
            server = await fleet.up("one")
            async with browsing(server, ahead=True, expect=AWAY) as tab:
                definition = {"key": "held", "name": "Held", "steps": _STEPS}
                assert (await server.command(_SAVE, definition=definition))["__typename"] == "PipelineSuccess"
                run = (await server.command(_START))["run"]["id"]
                (await calls.next(run, step="first")).go()
                await calls.next(run, step="second")
                await tab.visit(f"/runs/{run}")
                await tab.page.get_by_role("button", name="Second Running").wait_for()
                loads: list[str] = []
                tab.page.on("framenavigated", lambda frame: loads.append(frame.url))

                await (server.kill() if end == "kill" else server.stop())
                await tab.page.get_by_text(re.compile(r"^Reconnecting\. What you see is from \d")).wait_for()
                await tab.page.get_by_role("button", name="Second Running").wait_for()
                server = await fleet.up("one", port=server.port)
                (await calls.next(run, step="second")).go()
                await tab.state("Succeeded")
                await tab.page.get_by_role("button", name="Second Succeeded").wait_for()
                await tab.page.get_by_text("Reconnecting.").wait_for(state="detached")
                assert loads == []
                # Whoever was signed in still is.
                await tab.page.reload()
                await tab.state("Succeeded")
        finally:
            await fleet.down()


async def test_a_part_that_was_never_loaded_opens_once_the_server_is_back(tmp_path: Path) -> None:
    async with _held_run(tmp_path) as (fleet, server, run), browsing(server, expect=AWAY) as tab:
        await tab.visit(f"/runs/{run}")
        await tab.page.get_by_role("button", name="First Running").wait_for()
        loads: list[str] = []
        tab.page.on("framenavigated", lambda frame: loads.append(frame.url))

        await server.kill()
        await tab.page.get_by_role("button", name="Cancel", exact=True).click()
        away = tab.page.get_by_role("dialog", name="The server cannot be reached")
        await away.wait_for()
        assert await tab.page.get_by_text(_BROKEN).count() == 0
        server = await fleet.up("one", port=server.port)
        await away.wait_for(state="detached")
        await tab.page.get_by_role("dialog").get_by_role("button", name=re.compile("Cancel|Keep")).first.wait_for()
        assert loads == []

        # The same for a whole page.
        await tab.page.keyboard.press("Escape")
        await server.kill()
        await tab.page.get_by_role("link", name="Connect", exact=True).click()
        await tab.page.get_by_text("The server cannot be reached.").wait_for()
        server = await fleet.up("one", port=server.port)
        await tab.page.get_by_role("heading", level=1, name="Connect").wait_for()


async def test_a_part_that_failed_to_load_opens_once_the_connection_is_back(tmp_path: Path) -> None:
    refused = (*AWAY, "DISCONNECTED", "ERR_FAILED", "dynamically imported")
    async with _held_run(tmp_path) as (_fleet, server, _run), browsing(server, expect=refused) as tab:
        await tab.visit("/runs")
        await tab.page.get_by_role("table", name="Runs").wait_for()
        await tab.page.route("**/assets/ConnectPage-*.js", lambda route: route.abort())
        await tab.page.get_by_role("link", name="Connect", exact=True).click()
        await tab.page.get_by_role("heading", level=1, name="This page cannot be shown").wait_for()
        assert await tab.violations() == []

        await tab.page.unroute("**/assets/ConnectPage-*.js")
        await tab.page.context.set_offline(True)
        await tab.page.get_by_text(re.compile(r"^Your browser is offline\.")).wait_for()
        await tab.page.context.set_offline(False)
        await tab.page.get_by_role("heading", level=1, name="Connect").wait_for()


@pytest.mark.parametrize("chosen", [SOME, pytest.param(None, marks=pytest.mark.sweep)], ids=["some", "every"])
async def test_every_open_page_outlives_a_server_that_was_killed(
    tmp_path: Path, chosen: tuple[str, ...] | None
) -> None:
    async with (
        _held_run(tmp_path) as (fleet, server, run),
        browsing(server, ahead=chosen is None, expect=AWAY) as tab,
    ):
        ids = await _ids(server, run)
        paths = [path.format(id=ids.get(path.split("/")[1])) for path in chosen or PAGE_PATHS]
        tabs = [await _another(tab, path) for path in paths]
        titles = [await one.page.get_by_role("heading", level=1).inner_text() for one in tabs]

        await server.kill()
        for one in tabs:
            await one.page.get_by_text(_RECONNECTING).wait_for()
        await fleet.up("one", port=server.port)
        for one, title in zip(tabs, titles, strict=True):
            await one.page.get_by_text(_RECONNECTING).wait_for(state="detached")
            assert await one.page.get_by_role("heading", level=1).inner_text() == title
            assert await one.page.get_by_text(_BROKEN).count() == 0


async def test_a_page_opens_what_it_loaded_ahead_while_the_server_is_away(tmp_path: Path) -> None:
    async with _held_run(tmp_path) as (fleet, server, run), browsing(server, ahead=True, expect=AWAY) as tab:
        await tab.visit(f"/runs/{run}")
        await tab.page.get_by_role("button", name="First Running").wait_for()
        await tab.page.wait_for_function(_ALL_LOADED, arg=_scripts())

        await server.kill()
        await tab.page.get_by_role("button", name="Cancel", exact=True).click()
        await tab.page.get_by_role("dialog", name="Cancel").wait_for()
        await tab.page.keyboard.press("Escape")
        for name in ("Pipelines", "Catalog", "Artifacts"):
            await tab.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
            await tab.page.get_by_role("heading", level=1, name=name).wait_for()
            assert await tab.page.get_by_text(_BROKEN).count() == 0
        await fleet.up("one", port=server.port)
        await tab.page.get_by_role("navigation").get_by_role("link", name="Pipelines", exact=True).click()
        await tab.page.get_by_role("link", name="Held", exact=True).wait_for()


@pytest.mark.parametrize("chosen", [SOME[:2], pytest.param(None, marks=pytest.mark.sweep)], ids=["some", "every"])
async def test_a_new_build_is_offered_on_open_pages_and_loses_nothing_typed(
    tmp_path: Path, chosen: tuple[str, ...] | None
) -> None:
    installed = Installed(tmp_path / "installed")
    async with (
        _held_run(tmp_path, installed.within) as (fleet, server, run),
        browsing(server, expect=(*AWAY, "404", "dynamically imported")) as tab,
    ):
        ids = await _ids(server, run)
        # All tabs share the browser's cache, and the scripts of this page must not be in it.
        paths = [path for path in chosen or PAGE_PATHS if path != "/connect"]
        tabs = [await _another(tab, path.format(id=ids.get(path.split("/")[1]))) for path in paths]
        titles = [await one.page.get_by_role("heading", level=1).inner_text() for one in tabs]
        form = await _another(tab, "/triggers/new?pipeline=held")
        name = form.page.get_by_role("textbox", name="Name")
        await name.fill("Half a na")
        await tab.visit(f"/runs/{run}")
        await tab.page.get_by_role("button", name="First Running").wait_for()

        await server.kill()
        installed.update()
        await fleet.up("one", port=server.port)
        for one in (*tabs, form, tab):
            await one.page.get_by_text(_UPDATED).wait_for()
            assert await one.page.get_by_text(_BROKEN).count() == 0
        assert await tab.violations() == []

        # Parts that were not loaded before are gone: a dialog, and a page.
        await tab.page.get_by_role("button", name="Cancel", exact=True).click()
        dialog = tab.page.get_by_role("dialog", name="Packline was updated")
        await dialog.wait_for()
        await dialog.get_by_role("button", name="Close").click()
        await tab.page.get_by_role("link", name="Connect", exact=True).click()
        await tab.sees("Packline was updated. Reload the page to open this part.")
        assert await tab.violations() == []
        await tab.page.get_by_role("main").get_by_role("button", name="Reload the page").click()
        await tab.page.get_by_role("heading", level=1, name="Connect").wait_for()
        await tab.page.get_by_text(_UPDATED).wait_for(state="detached")

        for one, title in zip(tabs, titles, strict=True):
            await one.page.get_by_role("button", name="Reload", exact=True).click()
            await one.page.get_by_text(_UPDATED).wait_for(state="detached")
            await one.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()

        reload = form.page.get_by_role("button", name="Reload", exact=True)
        async with form.page.expect_event("dialog") as asked:
            pressed = asyncio.create_task(reload.click())  # which ends when the question is answered
        question = await asked.value
        assert question.type == "beforeunload"
        await question.dismiss()
        await pressed
        await form.holds(name, "Half a na")
        form.page.once("dialog", lambda again: again.accept())
        await reload.click()
        await form.page.get_by_text(_UPDATED).wait_for(state="detached")
        await form.holds(name, "")


async def test_open_pages_show_the_present_after_a_laptop_slept(tmp_path: Path) -> None:
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls)
        try:
            server = await fleet.up("one")
            definition = {"key": "held", "name": "Held", "steps": [{**_STEPS[0], "pack": "held.logged"}, _STEPS[1]]}
            assert (await server.command(_SAVE, definition=definition))["__typename"] == "PipelineSuccess"
            run = (await server.command(_START))["run"]["id"]
            held = await calls.next(run, step="first")
            async with (
                relay(server.port, server.token) as net,
                browsing(net, expect=(*AWAY, "ERR_CONNECTION_CLOSED", "NOT_CONNECTED")) as tab,
            ):
                await tab.page.context.clock.install()
                await tab.visit(f"/runs/{run}")
                await tab.page.get_by_role("button", name="First Running").wait_for()
                lists = await _another(tab, "/runs")
                row = lists.page.get_by_role("table", name="Runs").get_by_role("row").nth(1)
                await row.get_by_text("Running").wait_for()
                log = await _another(tab, f"/runs/{run}?step=first&tab=log")
                await log.sees("No log lines yet.")
                tabs = (tab, lists, log)
                loads: list[str] = []
                for one in tabs:
                    one.page.on("framenavigated", lambda frame: loads.append(frame.url))

                asleep_at = await tab.page.evaluate("Date.now()")
                frozen = [await one.page.context.new_cdp_session(one.page) for one in tabs]
                for session in frozen:
                    await session.send("Page.setWebLifecycleState", {"state": "frozen"})
                assert net.sleep() == len(tabs)
                held.go()
                (await calls.next(run, step="second")).go()
                assert (await server.command(_UNTIL_ENDED, id=run))["run"]["state"] == "SUCCEEDED"

                # Eight hours pass on the clock of each page: due timers go off once, as behind a closed lid.
                for one, session in zip(tabs, frozen, strict=True):
                    await session.send("Page.setWebLifecycleState", {"state": "active"})
                    await one.page.clock.fast_forward("08:00:00")
                for one in tabs:
                    strip = one.page.get_by_text(_RECONNECTING)
                    await strip.wait_for()
                    shown = (await strip.inner_text()).removesuffix(".").rpartition(" is from ")[2]
                    assert shown in await one.page.evaluate(_JUST_BEFORE, asleep_at)
                    assert "8 h" not in await one.page.get_by_role("main").inner_text()
                net.wake()
                await tab.state("Succeeded")
                await tab.page.get_by_role("button", name="Second Succeeded").wait_for()
                await row.get_by_text("Succeeded").wait_for()
                await log.page.get_by_role("button", name="Second Succeeded").wait_for()
                await log.sees("first was let go")
                for one in tabs:
                    await one.page.get_by_text("Reconnecting.").wait_for(state="detached")
                    assert "8 h" not in await one.page.get_by_role("main").inner_text()
                assert loads == []
        finally:
            await fleet.down()


async def test_a_browser_without_a_network_says_so_and_catches_up(tmp_path: Path) -> None:
    async with _held_run(tmp_path) as (_fleet, server, _run), browsing(server, expect=(*AWAY, "DISCONNECTED")) as tab:
        await tab.visit("/pipelines")
        await tab.page.get_by_role("link", name="Held", exact=True).wait_for()
        second = await _another(tab, "/runs")
        await second.page.get_by_role("table", name="Runs").wait_for()

        await tab.page.context.set_offline(True)
        for one in (tab, second):
            await one.page.get_by_text(re.compile(r"^Your browser is offline\. What you see is from \d")).wait_for()
        assert (await server.command(_START_OTHER))["run"]["id"]
        await tab.page.context.set_offline(False)
        for one in (tab, second):
            await one.page.get_by_text("Your browser is offline.").wait_for(state="detached")
        await second.page.get_by_role("table", name="Runs").get_by_role("row").nth(2).wait_for()
