"""The memory page, done with the hands of somebody who looks at what was learned and lets it go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import audit_rows, command, ran, save, step
from tests.support.mcp_agent import agent, content_of
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

pytestmark = BROWSER


async def taught(it: Product, *personas: str, token: str | None = None) -> None:
    for number, persona in enumerate(personas):
        given = {"persona": persona, "text": f"{persona} {number}"}
        await command(it, "runPack", token, pack="test.style", input=given, waitSeconds=20)


async def rows(it: Product, caller: str | None = None) -> int:
    data: dict[str, Any] = await it.query(
        "query ($caller: ID) { memoryEntries(caller: $caller) { totalCount } }", {"caller": caller}
    )
    return int(data["memoryEntries"]["totalCount"])


async def test_what_is_learned_is_seen_settled_and_forgotten_with_a_way_back(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await taught(it, "engineer", "executive", "executive")
        await tab.visit("/memory")
        persona = tab.page.get_by_role("listitem", name="persona of test.style")
        await persona.get_by_text("executive", exact=True).wait_for()
        await persona.get_by_text("2 of 3").wait_for()
        assert await tab.violations() == []

        await persona.get_by_role("button", name="Use another").click()
        await persona.get_by_role("button", name="engineer").click()
        await persona.get_by_text("You pinned it.").wait_for()
        await persona.get_by_role("button", name="Never learn").click()
        await persona.get_by_text("never learned", exact=True).wait_for()
        await persona.get_by_role("button", name="Learn again").click()
        await persona.get_by_text("2 of 3").wait_for()

        await tab.page.get_by_role("button", name="Forget test.style", exact=True).click()
        await tab.page.get_by_text("There are no suggestions yet.", exact=False).wait_for()
        await tab.press("Undo")
        await persona.get_by_text("2 of 3").wait_for()
        assert await rows(it) == 3

        await tab.press("Forget everything…")
        confirm = tab.page.get_by_role("dialog").get_by_role("button", name="Forget everything")
        assert await confirm.is_disabled()
        assert await tab.violations() == []
        await tab.page.get_by_label("Type 3 to confirm").fill("3")
        await confirm.click()
        await tab.page.get_by_text("Forgetting everything", exact=False).wait_for()
        assert await rows(it) == 3
        await tab.page.get_by_role("link", name="Settings", exact=True).last.click()
        await eventually(lambda: _has_none(it))


async def _has_none(it: Product) -> bool:
    return await rows(it) == 0


async def test_an_administrator_looks_at_somebody_elses_and_is_told_so(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        token = await it.token_for("grace", "READ", "RUN")
        await taught(it, "student", "student", token=token)
        await tab.visit("/memory")
        await tab.page.get_by_label("Whose").select_option("grace")
        await tab.page.get_by_text("You are looking at the memory of grace.", exact=False).wait_for()
        await tab.page.get_by_role("listitem", name="persona of test.style").get_by_text("student").wait_for()
        assert await tab.violations() == []
        await tab.page.get_by_label("Learn from runs").click()
        await eventually(lambda: _paused_for(it, "grace"))
        await tab.press("Back to my own")
        await tab.page.get_by_text("There are no entries.").wait_for()


async def _paused_for(it: Product, name: str) -> bool:
    data = await it.query("{ callers(first: 10) { nodes { id name } } }")
    caller = next(one["id"] for one in data["callers"]["nodes"] if one["name"] == name)
    told = await it.query("query ($c: ID) { myDefaults(caller: $c) { learningPaused } }", {"c": caller})
    return bool(told["myDefaults"]["learningPaused"]) and bool(await audit_rows(it, "set_learning"))


async def told(it: Product, run_id: str) -> dict[str, Any]:
    data: dict[str, Any] = await it.query(
        "query ($id: ID!) { run(id: $id) { inputs fromMemory { field value } } }", {"id": run_id}
    )
    return {"inputs": data["run"]["inputs"], "from_memory": [one["field"] for one in data["run"]["fromMemory"]]}


async def test_a_form_starts_from_what_is_usual_marked_and_under_the_hand(tmp_path: Path) -> None:
    declared = {"type": "object", "properties": {"persona": {"type": "string"}, "text": {"type": "string"}}}
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        style = step("style", "test.style", text="${{ inputs.text }}", persona="${{ inputs.persona }}")
        await save(it, "styled", style, inputs=declared)
        for number in range(2):
            await ran(it, "styled", {"persona": "executive", "text": str(number)})

        await tab.visit("/pipelines/styled/run?input.text=mine")
        persona = tab.page.get_by_label("Persona · optional")
        await tab.sees("from your last 2 runs")
        await tab.holds(persona, "executive")
        assert await tab.violations() == []
        assert "executive" not in tab.page.url, "an address somebody shares holds what was typed alone"
        await tab.press("Run")
        await tab.state("Succeeded")
        taken = await told(it, tab.page.url.split("/runs/")[1].split("?")[0])
        assert taken == {"inputs": {"persona": "executive", "text": "mine"}, "from_memory": ["PERSONA"]}
        await tab.page.get_by_role("link", name="persona executive from memory").wait_for()
        assert await tab.violations() == []

        await tab.visit("/pipelines/styled/run?input.text=mine")
        await tab.sees("from your last 3 runs")
        # The call that an agent would make tells the same.
        await tab.page.get_by_text("Copy as GraphQL").click()
        await tab.page.get_by_label("MCP call", exact=True).check()
        call = json.loads(await tab.page.get_by_role("region", name="MCP call").inner_text())
        async with agent(it) as client:
            answered = content_of(await client.call_tool(call["params"]["name"], call["params"]["arguments"]))
        taken = await told(it, answered["run_id"])
        assert taken == {"inputs": {"persona": "executive", "text": "mine"}, "from_memory": ["PERSONA"]}
        await tab.page.reload()
        await tab.sees("from your last 4 runs")
        await persona.fill("student")
        await tab.page.get_by_text("from your last 4 runs").wait_for(state="detached")
        await tab.press("Run")
        await tab.state("Succeeded")
        taken = await told(it, tab.page.url.split("/runs/")[1].split("?")[0])
        assert taken == {"inputs": {"persona": "student", "text": "mine"}, "from_memory": []}

        await tab.visit("/catalog/test.style")
        await tab.sees("of your last 5 runs")
        await tab.holds(persona, "executive")
        await tab.press("never learn this: Persona")
        await tab.page.get_by_text("of your last 5 runs").wait_for(state="detached")
        await tab.holds(persona, "")
        await eventually(lambda: _excluded(it))


async def _excluded(it: Product) -> bool:
    data = await it.query('{ myDefaults(target: "test.style") { packs { values { field excluded } } } }')
    return {"field": "PERSONA", "excluded": True} in data["myDefaults"]["packs"][0]["values"]


async def test_a_chain_of_pack_calls_is_saved_as_a_pipeline_from_its_last_run(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        text = "a text that is handed on"
        first = await called(it, "test.echo", text=text)
        last = await called(it, "test.style", text=first["output"]["json"]["text"], persona="executive")

        await tab.visit(f"/runs/{last['id']}")
        await tab.page.get_by_role("link", name="Save as a pipeline…").click()
        await tab.sees("It is not saved yet")
        for title in (first["title"], last["title"]):
            await tab.page.get_by_role("status").get_by_role("link", name=title, exact=True).first.wait_for()
        assert await tab.violations() == []
        await tab.press("Save…")
        await tab.page.get_by_role("dialog").get_by_role("button", name="Save", exact=False).last.click()
        await tab.page.wait_for_url("**/edit*")
        key = tab.page.url.split("/pipelines/")[1].split("/")[0]
        again = await ran(it, key, {"text": "another"})
        assert (again["state"], len(again["steps"])) == ("SUCCEEDED", 2)


async def called(it: Product, pack: str, **given: str) -> dict[str, Any]:
    run: dict[str, Any] = (await command(it, "runPack", pack=pack, input=given, waitSeconds=20))["run"]
    return run
