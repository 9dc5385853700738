"""The form that starts a run: fields in their author's order, what is wrong told beside them, files, copied calls."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

import httpx2

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ended, look, save, step
from tests.support.mcp_agent import agent, content_of
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER

SAID = 'Don\'t say "$HOME" & `run`\nnow'


async def test_fields_stand_in_their_authors_order_and_say_what_is_wrong(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {
        "type": "object",
        "properties": {
            "zeal": {"type": "integer", "minimum": 1},
            "text": {"type": "string", "default": "tea"},
            "angle": {"type": "string"},
            "mood": {"type": "string"},
        },
        "required": ["zeal"],
    }
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "ordered", step("say", "test.echo", text="${{ inputs.text }}"), inputs=inputs)
        await tab.visit("/pipelines/ordered/run")
        zeal = tab.page.get_by_label("Zeal")
        await zeal.wait_for()
        names = await tab.page.evaluate("[...document.querySelectorAll('[data-field]')].map(one => one.dataset.field)")
        assert names == ["zeal", "text", "angle", "mood"]
        await tab.page.get_by_text("More (1)").wait_for()
        assert not await tab.page.get_by_label("Mood").is_visible()

        await zeal.fill("0")
        await zeal.blur()
        await tab.page.get_by_role("alert").get_by_text(re.compile("1")).wait_for()
        assert await zeal.get_attribute("aria-invalid") == "true"
        await zeal.fill("much")
        await tab.sees("This is not a number.")
        await tab.page.keyboard.press("Control+Enter")
        await tab.focuses(zeal)
        assert bench.calls("test.echo") == 0

        await zeal.fill("3")
        await tab.page.keyboard.press("Control+Enter")
        await tab.state("Succeeded")
        assert bench.calls_of("test.echo")[-1].input["text"] == "tea"


async def test_a_link_that_mistypes_an_input_is_told_so(tmp_path: Path) -> None:
    inputs = {"type": "object", "properties": {"topic": {"type": "string"}, "angle": {"type": "string"}}}
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await save(it, "linked", step("say", "test.echo", text="${{ inputs.topic }}"), inputs=inputs)
        await tab.visit("/pipelines/linked/run?input.topik=tea&input.angle=why")
        told = tab.page.get_by_role("status").filter(has_text="There is no input topik; did you mean topic?")
        await told.wait_for()
        await tab.holds(tab.page.get_by_label("Angle"), "why")
        assert await tab.violations() == []
        await tab.visit("/pipelines/linked/run?input.topic=tea")
        await tab.page.get_by_label("Topic").wait_for()
        assert await told.count() == 0


async def test_what_was_edited_is_what_the_server_got(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}}
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "edited", step("say", "test.echo", text="${{ inputs.text }}"), inputs=inputs)
        await tab.visit("/pipelines/edited/run?input.text=coffee&input.count=2")
        text = tab.page.get_by_label("Text")
        await tab.holds(text, "coffee")
        await text.fill("tea")
        # What was typed lies in the address: a reload loses nothing.
        await tab.page.wait_for_url("**input.text=tea*")
        await tab.page.reload()
        await tab.holds(text, "tea")
        await tab.press("Run")
        await tab.state("Succeeded")
        run = await look(it, tab.page.url.rpartition("/")[2].partition("?")[0], select="inputs")
        assert run["inputs"] == {"text": "tea", "count": 2}
        assert bench.calls_of("test.echo")[-1].input["text"] == "tea"


async def test_a_file_is_sent_from_here_or_chosen_from_what_is_kept(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {"type": "object", "properties": {"artifact_id": {"type": "string"}}, "required": ["artifact_id"]}
    paper = tmp_path / "paper.txt"
    paper.write_text("Words.")
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "filed", step("say", "test.echo", text="${{ inputs.artifact_id }}"), inputs=inputs)
        await tab.visit("/pipelines/filed/run")
        field = tab.page.locator("[data-field=artifact_id]")
        await field.wait_for()
        async with tab.page.expect_file_chooser() as chooser:
            await tab.press("Upload…")
        await (await chooser.value).set_files(paper)
        await tab.sees("paper.txt, 6 B")

        async def filled() -> str | None:
            value = await field.input_value()
            return value if value.startswith("art_") else None

        sent = await eventually(filled)
        await tab.press("Run")
        await tab.state("Succeeded")
        assert bench.calls_of("test.echo")[-1].input["text"] == sent

        await tab.visit("/pipelines/filed/run")
        await tab.press("Choose…")
        await tab.page.get_by_label("Search files").fill("paper")
        await tab.page.get_by_role("button", name="paper.txt").click()
        await tab.holds(field, sent)


async def test_copied_calls_do_what_the_button_does(tmp_path: Path) -> None:
    bench = Workbench()
    properties = {"text": {"type": "string", "maxLength": 5000}, "count": {"type": "integer"}}
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        inputs = {"type": "object", "properties": properties}
        await save(it, "copied", step("say", "test.echo", text="${{ inputs.text }}"), inputs=inputs)
        await tab.visit("/pipelines/copied/run")
        await tab.page.get_by_label("Text").fill(SAID)
        await tab.page.get_by_label("Count").fill("3")
        await tab.page.get_by_text("Copy as GraphQL").click()

        async def copied(form: str) -> str:
            await tab.page.get_by_label(form, exact=True).check()
            await tab.page.get_by_role("button", name=f"Copy as {form}").click()
            await tab.page.get_by_role("button", name="Copied").wait_for()
            return str(await tab.page.evaluate("navigator.clipboard.readText()"))

        query, _, variables = (await copied("GraphQL")).partition("# Variables\n")
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            answer = await http.post(
                it.url("/graphql"),
                headers={"authorization": f"Bearer {it.token}"},
                json={"query": query, "variables": json.loads(variables)},
            )
        runs = [answer.json()["data"]["runPipeline"]["run"]["id"]]
        await ended(it, runs[-1])
        runs.append(json.loads(await shell(await copied("curl"), it.token))["data"]["runPipeline"]["run"]["id"])
        await ended(it, runs[-1])

        call = json.loads(await copied("MCP call"))
        async with agent(it) as client:
            answered = content_of(await client.call_tool(call["params"]["name"], call["params"]["arguments"]))
        runs.append(answered["run_id"])
        await ended(it, runs[-1])

        # `packline` as it is here, which need not be on PATH.
        program = shlex.join([sys.executable, "-c", "from app.cli import main; main()"])
        line = (await copied("CLI")).replace("packline", program, 1)
        await shell(line, it.token, PACKLINE_SERVER=it.url())
        assert [call.input["text"] for call in bench.calls_of("test.echo")] == [SAID] * 4
        for run in runs:
            assert (await look(it, run, select="inputs"))["inputs"] == {"text": SAID, "count": 3}


async def test_what_an_agent_is_told_of_a_failure_names_tools_as_they_are(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await save(it, "broken", step("send", "test.switch", text="tea"))
        await tab.visit("/pipelines/broken/run")
        await tab.press("Run")
        await tab.state("Failed")
        await tab.press("Copy for agent what failed")
        await tab.page.get_by_role("button", name="Copied").wait_for()
        text = str(await tab.page.evaluate("navigator.clipboard.readText()"))
        bench.failing = False
        calls = re.findall(r"(\w+) (\{[^}]*\})", text)
        assert [name for name, _ in calls] == ["get_run", "resume_run"]
        async with agent(it) as client:
            answers = [content_of(await client.call_tool(name, json.loads(given))) for name, given in calls]
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert answers[0]["state"] == "FAILED"
        assert "step_input" in tools["resume_run"].input_schema["properties"]
        await tab.state("Succeeded")


async def shell(command: str, token: str, **environment: str) -> str:
    """What a command prints."""
    process = await asyncio.create_subprocess_shell(
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PACKLINE_TOKEN": token, "no_proxy": "*", "NO_PROXY": "*", **environment},
    )
    said, wrong = await process.communicate()
    assert process.returncode == 0, (command, said, wrong)
    return said.decode()
