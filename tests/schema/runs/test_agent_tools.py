"""An agent's calls back to Packline: the tools its step declares, as the run's caller, while it works."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from resolvers.agents.agent_tools import tool_names
from tests.schema.runs.test_agent_steps import AGENT, ATTEMPT, CREATE, RUN, program, run
from tests.support.front_door import save, step
from tests.support.packs import Workbench
from tests.support.ports import free_port
from tests.support.product import product
from tests.support.sandbox import NEEDS_SANDBOX

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product


def said(started: dict[str, Any]) -> dict[str, str]:
    """What the agent printed, by the word before the colon."""
    found = started["run"]
    assert (found["state"], found["failure"]) == ("SUCCEEDED", None)
    text = found["steps"][0]["output"]["json"]["text"]
    return dict(line.split(": ", 1) for line in text.splitlines())


async def content(it: Product, started: dict[str, Any]) -> str:
    document = "query ($id: ID!) { run(id: $id) { artifacts(first: 5) { nodes { downloadUrl } } } }"
    found = (await it.query(document, {"id": started["run"]["id"]}))["run"]["artifacts"]["nodes"][0]
    answer = await it.admin.http.get(it.url(found["downloadUrl"].removeprefix(it.url(""))))
    return answer.text


async def test_an_agent_calls_the_tools_its_step_declares_and_no_other(tmp_path: Path) -> None:
    agents = {"caller": program("tools", "run_none", "search_catalog", "list_runs", "create_token")}
    async with product(tmp_path, port=free_port(), agents=agents) as it:
        started = await run(it, {"use": "caller", "tools": ["search_catalog"], "outputs": ["token.txt"]})
        answers = said(started)
        attempt = (await it.query(ATTEMPT, {"id": started["run"]["id"]}))["run"]["steps"][0]["attempts"][0]
        denials = [entry for entry in attempt["transcript"]["nodes"] if entry["kind"] == "DENIAL"]
        assert [(entry["text"], entry["data"]) for entry in denials] == [
            ("list_runs", {"tool": "list_runs", "by": "tools"})
        ]

        assert answers["listed"] == "search_catalog"
        assert answers["search_catalog"].startswith("ok ")
        assert answers["list_runs"].startswith("refused ")
        assert "is not among the `tools` this agent step declares" in answers["list_runs"]
        assert not answers["create_token"].startswith('ok {"content": [{"type": "text", "text": "{')
        assert answers["graphql"] == "HTTP 401", "the token opens tools and nothing else"
        assert "pkl_" not in answers["token"], "the token is masked wherever it is printed"

        token = (await content(it, started))[::-1]
        assert token.startswith("pkl_")
        answer = await it.admin.http.post(
            it.url("/mcp"),
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"},
        )
        assert answer.status_code == 401, "it ended with the attempt"


async def test_an_agent_sees_what_the_runs_caller_sees(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, port=free_port()) as it:
        await save(it, "other", step("try", "test.echo", text="tea"))
        ours = (await it.mutate(RUN, {"pipeline": "other", "inputs": {}}))["run"]["id"]
        agents = it.services.engine.resources.agents
        from runner.agents.profiles import AgentProfile

        command = (sys.executable, "-I", str(AGENT), "tools", ours, "get_run", "cancel_run")
        agents.profiles["caller"] = AgentProfile("caller", command, read=(str(AGENT.parent),))
        mine = await run(it, {"use": "caller", "tools": ["get_run"], "outputs": ["token.txt"]})
        assert said(mine)["get_run"].startswith("ok ")
        assert said(mine)["cancel_run"].startswith("refused ")

        token = await it.token_for("somebody else", "READ", "RUN")
        pipeline = "ask"
        theirs = (await it.query(RUN, {"pipeline": pipeline, "inputs": {}}, token=token))["runPipeline"]
        assert said(theirs)["get_run"].startswith("refused "), "another caller's run does not exist for it"


async def test_without_tools_there_is_no_token(tmp_path: Path) -> None:
    async with product(tmp_path, port=free_port(), agents={"telling": program("tell")}) as it:
        started = await run(it, {"use": "telling"})
    assert "PACKLINE" not in started["run"]["steps"][0]["output"]["json"]["text"]


@NEEDS_SANDBOX
async def test_tools_without_a_network_are_told_of_and_refused(tmp_path: Path) -> None:
    async with product(tmp_path, port=free_port(), agents={"caller": program("tools", "x")}) as it:
        started = await run(it, {"use": "caller", "tools": ["get_run"], "isolation": "sandbox_offline"})
        assert started["run"]["failure"]["code"] == "POLICY_DENIED"
        assert "it has no network" in started["run"]["failure"]["message"]
        block = {"use": "caller", "prompt": "x", "tools": ["get_run"], "isolation": "sandbox_offline"}
        document = {"name": "x", "steps": [{"id": "a", "agent": block}]}
        check = await it.query(
            "query ($document: JSON!) { checkPipeline(definition: {document: $document}) { issues { rule path } } }",
            {"document": document},
        )
        assert "tools_without_network" in str(check)


CHECK = """query ($document: JSON!) { checkPipeline(definition: {document: $document}) {
    valid issues { rule path message hint } } }"""


async def test_a_tool_there_is_not_is_told_of_when_a_pipeline_is_saved(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        block = {"use": "mock", "prompt": "x", "tools": ["get_run", "serch_catalog", "graphql_query"]}
        document = {"name": "x", "key": "x", "steps": [{"id": "a", "agent": block}]}
        check = (await it.query(CHECK, {"document": document}))["checkPipeline"]
        refused = (await it.query(CREATE, {"document": document}))["createPipeline"]
        listed = (
            await it.admin.http.post(
                it.url("/mcp?toolsets=author"),
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                headers={
                    "authorization": f"Bearer {it.token}",
                    "accept": "application/json, text/event-stream",
                    "mcp-protocol-version": "2025-06-18",
                },
            )
        ).text
    (wrong,) = (issue for issue in check["issues"] if issue["rule"] == "unknown_tool")
    assert (wrong["path"], wrong["hint"]) == (["steps", "0", "agent", "tools", "1"], "Did you mean `search_catalog`?")
    assert not check["valid"]
    assert refused["__typename"] == "InvalidProblem"
    assert sorted(name for name in tool_names() if f'"name":"{name}"' not in listed.replace('": "', '":"')) == []


async def test_a_step_in_a_session_cannot_be_replayed(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        block = {"use": "mock", "prompt": "x", "cache": True, "workspace": "session", "outputs": ["a"]}
        document = {"name": "x", "steps": [{"id": "a", "agent": block}]}
        check = (await it.query(CHECK, {"document": document}))["checkPipeline"]
    assert "cache_with_session" in {issue["rule"] for issue in check["issues"]}
