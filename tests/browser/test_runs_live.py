"""Runs as they happen: steps come and go, a failure is repaired, a run is cancelled, the server is away for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import look, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import WebSocketRoute

pytestmark = BROWSER


async def test_a_run_is_watched_from_its_start_to_its_end(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "watched", step("wait", "test.slow"), step("say", "test.echo", text="tea"))
        run = (await start(it, "watched"))["run"]
        await tab.visit(f"/runs/{run['id']}")
        await tab.state("Running")
        row = tab.page.get_by_role("button", name="Wait Running")
        await row.wait_for()
        await tab.page.get_by_role("button", name="Say Not reached").wait_for()
        bench.release.set()
        await tab.state("Succeeded")
        await tab.page.get_by_role("button", name="Say Succeeded").click()
        await tab.sees("tea")


async def test_the_list_follows_runs_that_others_start(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "listed", step("wait", "test.slow"))
        await tab.visit("/runs")
        await tab.sees("There are no runs yet.")
        await start(it, "listed")
        table = tab.page.get_by_role("table", name="Runs")
        await table.get_by_text("Running", exact=True).wait_for()
        bench.release.set()
        await table.get_by_text("Succeeded", exact=True).wait_for()


async def test_a_run_is_cancelled_after_asking(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "stopped", step("wait", "test.slow"))
        run = (await start(it, "stopped"))["run"]
        await tab.visit(f"/runs/{run['id']}")
        await tab.state("Running")
        await tab.press("Cancel")
        await tab.sees("Cancel this run?")
        await tab.press("Keep running", within="dialog")
        assert (await look(it, run["id"]))["state"] == "RUNNING"
        await tab.press("Cancel")
        await tab.press("Cancel the run", within="dialog")
        await tab.state("Cancelled")
        await tab.page.get_by_role("button", name="Resume from step 1").wait_for()
        assert bench.cancelled == 1


async def test_a_failed_step_goes_on_with_another_input(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it, "repaired", step("make", "test.echo", text="<b>tea</b>"), step("send", "test.switch", text="wrong")
        )
        run = (await start(it, "repaired"))["run"]
        await tab.visit(f"/runs/{run['id']}")
        await tab.state("Failed")
        await tab.sees("You, with another input.")
        bench.failing = False
        await tab.press("Change input…")
        field = tab.page.get_by_role("dialog").get_by_label("Text")
        await tab.holds(field, "wrong")
        await tab.press("As JSON", within="dialog")
        box = tab.page.get_by_label("Input of the step")
        await box.fill('{"text": ')
        await tab.sees("This is not JSON.")
        await box.fill('{"text": "left"}')
        await tab.press("As a form", within="dialog")
        await tab.holds(field, "left")
        await field.fill("right")
        await tab.press("Resume from step 2 with this input")
        await tab.state("Succeeded")
        assert bench.calls_of("test.switch")[-1].input["text"] == "right"
        assert bench.calls("test.echo") == 1


async def test_running_again_with_changes_is_a_new_run(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {"type": "object", "properties": {"text": {"type": "string"}}}
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "again", step("say", "test.echo", text="${{ inputs.text }}"), inputs=inputs)
        await tab.visit("/pipelines/again/run?input.text=coffee")
        await tab.holds(tab.page.get_by_label("Text"), "coffee")
        await tab.page.get_by_label("Text").fill("tea")
        await tab.press("Run")
        await tab.state("Succeeded")
        first = tab.page.url
        await tab.press("Run again")
        await tab.page.get_by_text("Change the inputs").click()
        await tab.page.get_by_role("dialog").get_by_label("Text").fill("milk")
        await tab.press("Run again with changes", within="dialog")
        await tab.page.wait_for_url(lambda url: "/runs/" in url and url != first)
        await tab.state("Succeeded")
        assert [call.input["text"] for call in bench.calls_of("test.echo")] == ["tea", "milk"]


async def test_without_a_websocket_the_page_is_live_all_the_same(tmp_path: Path) -> None:
    bench = Workbench()
    refused: list[str] = []

    async def refuse(socket: WebSocketRoute) -> None:
        refused.append(socket.url)
        await socket.close(code=1011)

    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.page.route_web_socket("**/graphql", refuse)
        await save(it, "blocked", step("wait", "test.slow"), step("say", "test.echo", text="tea"))
        run = (await start(it, "blocked"))["run"]
        async with tab.page.expect_request(
            lambda request: (
                request.headers.get("accept") == "text/event-stream" and "runEvents" in str(request.post_data)
            )
        ):
            await tab.visit(f"/runs/{run['id']}")
        assert refused
        bench.release.set()
        await tab.state("Succeeded")
