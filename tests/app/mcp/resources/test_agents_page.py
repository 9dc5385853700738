"""The examples of docs/agents.md do what the page says, in its order, on a server that ships as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.mcp_agent import agent, content_of
from tests.support.product import product

PAGE = (Path(__file__).parents[4] / "docs" / "agents.md").read_text("utf-8")
EXAMPLES = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


@pytest.mark.slow
async def test_the_examples_run_in_their_order(tmp_path):
    known: dict[str, str] = {}
    states: list[str] = []
    async with product(tmp_path, builtins=True) as it:
        token = await it.token_for("reader of the page", "READ", "RUN")
        async with agent(it, token=token) as client:
            for example in EXAMPLES:
                given = {name: known.get(value, value) if isinstance(value, str) else value
                         for name, value in example["arguments"].items()}  # fmt: skip
                answer = content_of(await client.call_tool(example["tool"], given))
                known["RUN"] = answer.get("run_id", known.get("RUN", ""))
                if answer.get("artifacts"):
                    known["ARTIFACT"] = answer["artifacts"][0]["id"]
                if example["tool"] in ("run_pipeline", "resume_run"):
                    states.append(answer["state"])
            listed = {str(one.uri) for one in (await client.list_resources()).resources}
            listed |= {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
            tools = {tool.name for tool in (await client.list_tools()).tools}
    assert states == ["FAILED", "SUCCEEDED"]
    assert set(re.findall(r"`(packline://[^`]+)`", PAGE)) == listed
    named = set(re.findall(r"`((?:get|list|run|wait|resume|search|graphql)_\w+)`", PAGE))
    assert named - tools - {"run_id"} == set()


def test_the_page_runs_commands_there_are():
    from app.cli.commands import cli

    commands = {command.name or command.callback.__name__ for command in cli.registered_commands if command.callback}
    groups = {group.name for group in cli.registered_groups}
    for word in re.findall(r"packline (\w+)", PAGE):
        assert word in commands | groups, word
