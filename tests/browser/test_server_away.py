"""The server goes away under an open page, comes back on its port and folder, and the page goes on by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import BROWSER, browsing
from tests.support.servers import Fleet, held_calls

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [*BROWSER, pytest.mark.slow]

_SAVE = "mutation ($definition: JSON!) { createPipeline(definition: {document: $definition}) { __typename } }"
_START = 'mutation { runPipeline(pipeline: "held", inputs: {}) { ... on StartRunSuccess { run { id } } } }'
_STEPS = [{"id": key, "pack": "held.step", "input": {"text": key}} for key in ("first", "second")]


@pytest.mark.parametrize("end", ["kill", pytest.param("stop", marks=pytest.mark.sweep)])
async def test_a_page_sees_a_run_through_a_restart(tmp_path: Path, end: str) -> None:
    refused = ("ERR_CONNECTION_REFUSED", "WebSocket", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE")
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, lease_seconds=3, shutdown_grace_seconds=0.2)
        try:
            server = await fleet.up("one")
            async with browsing(server, expect=refused) as tab:
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
    refused = ("ERR_CONNECTION_REFUSED", "WebSocket", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE")
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, lease_seconds=3, shutdown_grace_seconds=0.2)
        try:
            server = await fleet.up("one")
            async with browsing(server, expect=refused) as tab:
                definition = {"key": "held", "name": "Held", "steps": _STEPS}
                assert (await server.command(_SAVE, definition=definition))["__typename"] == "PipelineSuccess"
                run = (await server.command(_START))["run"]["id"]
                await calls.next(run, step="first")
                await tab.visit(f"/runs/{run}")
                await tab.page.get_by_role("button", name="First Running").wait_for()
                loads: list[str] = []
                tab.page.on("framenavigated", lambda frame: loads.append(frame.url))

                await server.kill()
                await tab.page.get_by_role("button", name="Cancel", exact=True).click()
                away = tab.page.get_by_role("dialog", name="The server cannot be reached")
                await away.wait_for()
                assert await tab.page.get_by_text("An error occurred").count() == 0
                server = await fleet.up("one", port=server.port)
                await away.wait_for(state="detached")
                await (
                    tab.page.get_by_role("dialog")
                    .get_by_role("button", name=re.compile("Cancel|Keep"))
                    .first.wait_for()
                )
                assert loads == []

                # The same for a whole page.
                await tab.page.keyboard.press("Escape")
                await server.kill()
                await tab.page.get_by_role("link", name="Connect", exact=True).click()
                await tab.page.get_by_text("The server cannot be reached.").wait_for()
                server = await fleet.up("one", port=server.port)
                await tab.page.get_by_role("heading", level=1, name="Connect").wait_for()
        finally:
            await fleet.down()
