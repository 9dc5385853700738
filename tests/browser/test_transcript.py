"""The transcript of an agent step: read, followed live, replayed; nothing axe objects to in either theme."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ran, save, start
from tests.support.product import product

pytestmark = BROWSER

AGENT = Path(__file__).parents[1] / "support" / "agent_program.py"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
SECRET = "correct-horse-battery-staple"


def program(*arguments: str, **more: Any) -> dict[str, Any]:
    return {"command": [sys.executable, "-I", str(AGENT), *arguments], "read": [str(AGENT.parent)], **more}


def agent_step(use: str, **more: Any) -> dict[str, Any]:
    return {"id": "draft", "agent": {"use": use, "prompt": "${{ inputs.text }}", **more}}


async def test_what_an_agent_did_is_read_as_turns(tmp_path: Path) -> None:
    agents = {"claude": program("claude", "Bash", stream="claude")}
    async with product(tmp_path, agents=agents) as it, browsing(it) as tab:
        it.services.redactor.learn({"github.token": SECRET})
        await save(it, "ask", agent_step("claude", stdout_to="answer.jsonl"), inputs=TEXT)
        lines = "\n".join(f"Line {number} of the task." for number in range(1, 10))
        run = await ran(it, "ask", {"text": f"Use {SECRET}.\n{lines}"})
        await tab.visit(f"/runs/{run['id']}")
        await tab.reads(tab.page.get_by_role("tab", selected=True), "Transcript")
        await tab.sees("In a sandbox")
        prompt = tab.page.get_by_role("region", name="Prompt")
        await prompt.get_by_text("Line 5 of the task.").wait_for()
        assert await prompt.get_by_text("Line 6 of the task.").count() == 0
        await prompt.get_by_role("button", name="Show all 10 lines").click()
        await prompt.get_by_text("Line 9 of the task.").wait_for()
        await prompt.get_by_title("A secret was removed here").get_by_text("github.token").wait_for()
        assert SECRET not in await tab.page.content()
        call = tab.page.get_by_role("button", name=re.compile("^Read a.md"))
        assert await call.get_attribute("aria-expanded") == "false"
        await call.click()
        await tab.sees("# A", exact=True)
        await tab.sees("Denied: 1 call (Bash)")
        await tab.sees("120 tokens in, 30 out")
        async with tab.page.expect_download() as downloading:
            await tab.page.get_by_role("link", name="Download as JSON Lines").click()
        assert (await downloading.value).suggested_filename.endswith(".jsonl")
        await tab.page.get_by_role("button", name="Draft Succeeded").get_by_text("agent claude").wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.page.get_by_role("tab", name="Artifacts").click()
        await tab.page.get_by_text("quarantined: it contains a secret").wait_for()  # the answer repeats it
        assert await tab.violations_in_both_themes() == []


async def test_a_transcript_grows_while_it_is_looked_at(tmp_path: Path) -> None:
    agents = {"patient": program("stay")}
    async with product(tmp_path, agents=agents) as it, browsing(it) as tab:
        await save(it, "ask", agent_step("patient"), inputs=TEXT)
        run = (await start(it, "ask", {"text": "Stay a while."}))["run"]
        await tab.visit(f"/runs/{run['id']}")
        await tab.sees("Stay a while.")
        await tab.sees("staying")  # which the program says once it has begun
        assert await tab.violations() == []
        await tab.press("Cancel")
        await tab.press("Cancel the run", within="dialog")
        await tab.state("Cancelled")
        await tab.sees("In a sandbox")


async def test_a_replayed_result_leads_to_the_attempt_that_made_it(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("answers:\n  - {say: fine, files: {draft.md: '# ${prompt}'}}\n")
    agents = {"scripted": {"preset": "mock", "script": str(script)}}
    async with product(tmp_path, agents=agents) as it, browsing(it) as tab:
        await save(it, "ask", agent_step("scripted", outputs=["draft.md"], cache=True), inputs=TEXT)
        first = await ran(it, "ask", {"text": "Tea"})
        again = await ran(it, "ask", {"text": "Tea"})
        await tab.visit(f"/runs/{again['id']}")
        await tab.sees("Nothing ran: reused from")
        await tab.page.get_by_role("link", name=re.compile("^attempt 1 of Draft")).click()
        await tab.page.wait_for_url(f"**/runs/{first['id']}?**")
        await tab.sees("fine")
        await tab.page.get_by_role("tab", name="Artifacts").click()
        await tab.sees("written by an agent, not verified")
        await tab.visit("/pipelines/ask")
        await tab.sees("Writes draft.md. May reuse an earlier result.")
        await tab.visit("/pipelines/ask/edit")
        await tab.page.get_by_role("button", name=re.compile("Draft")).first.click()
        await tab.sees("use: scripted")
