"""What refusals say: in the words of the tools, and of what this caller can do next."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.app.mcp.tools.test_bad_input import refusal
from tests.support.front_door import save, step
from tests.support.mcp_agent import agent, content_of

AUTHOR = "?toolsets=author"
#: Calls that fit their tools' input schemas, and that the use case refuses: what is told of them.
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("run_pipeline", {"pipeline": "brew", "version": 99}),
    ("run_pipeline", {"pipeline": "brow"}),
    ("run_pipeline", {"pipeline": "brew", "from_memory": [{"name": "x", "entry_id": "y"}]}),
    ("run_pack", {"pack": "test.ecko"}),
    ("run_pack", {"pack": "test.echo", "input": {"nonsense": 1}}),
    ("get_run", {"run_id": "nonsense"}),
    ("wait_run", {"run_id": "nonsense", "wait_seconds": 0}),
    ("cancel_run", {"run_id": "nonsense"}),
    ("resume_run", {"run_id": "nonsense"}),
    ("rerun_run", {"run_id": "nonsense"}),
    ("rerun_run", {"run_id": "RUN", "from_step": "nonsense"}),
    ("rerun_run", {"run_id": "RUN", "inputs": {"nonsense": 1}}),
    ("promote_run", {"run_id": "RUN", "include": ["nonsense"]}),
    ("get_artifact", {"artifact_id": "nonsense"}),
    ("get_pipeline", {"pipeline": "brow"}),
    ("get_pack", {"pack": "test.ecko"}),
    ("clone_pipeline", {"pipeline": "brow", "name": "other"}),
    ("clone_pipeline", {"pipeline": "brew", "name": "brew"}),
    ("delete_pipeline", {"pipeline": "brow"}),
    ("update_pipeline", {"pipeline": "brow", "if_version": 1, "fields": {"description": "x"}}),
    ("list_runs", {"cursor": "nonsense"}),
    ("search_catalog", {"accepts": ["nonsense"]}),
    ("get_defaults", {"target": "nonsense"}),
    ("forget_memory", {"scope": "nonsense"}),
    ("create_trigger", {"pipeline": "brow", "name": "x", "cron": "@daily"}),
    ("create_trigger", {"pipeline": "brew", "name": "x"}),
    ("create_trigger", {"pipeline": "brew", "name": "x", "cron": "0 9 31 2 *"}),
    ("create_trigger", {"pipeline": "brew", "name": "x", "interval_seconds": 0}),
    ("create_trigger", {"pipeline": "brew", "name": "x", "cron": "@daily", "time_zone": "nonsense"}),
    ("create_trigger", {"pipeline": "brew", "name": "x", "cron": "@daily", "inputs": {"nonsense": 1}}),
    ("create_trigger", {"pipeline": "brew", "name": "x", "run_states": ["RUNNING"]}),
    ("create_trigger", {"pipeline": "brew", "name": "x", "run_states": ["FAILED"], "run_pipelines": ["nonsense"]}),
    ("create_webhook", {"pipeline": "brew", "name": "x", "preset": "GITHUB", "events": [""]}),
    ("list_triggers", {"cursor": "nonsense"}),
    ("get_trigger", {"trigger_id": "nonsense"}),
    ("pause_trigger", {"trigger_id": "nonsense"}),
    ("resume_trigger", {"trigger_id": "nonsense"}),
    ("fire_trigger", {"trigger_id": "nonsense"}),
    ("delete_trigger", {"trigger_id": "nonsense"}),
]


async def test_refusals_speak_of_arguments_that_the_tool_has(house):
    await save(house, "brew", step("call", "test.echo", text="x"))
    strange, checked = [], 0
    async with agent(house, query=AUTHOR) as client:
        run = content_of(await client.call_tool("run_pack", {"pack": "test.echo", "input": {"text": "tea"}}))["run_id"]
        taken = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
        for name, given in REFUSED:
            arguments = {key: run if value == "RUN" else value for key, value in given.items() if key in taken[name]}
            assert arguments.keys() == given.keys(), name
            result = await client.call_tool(name, arguments)
            if not result.is_error:
                continue
            error = await refusal(client, name, arguments)
            for each in error.get("field_errors", ()):
                checked += 1
                if each["path"].partition(".")[0] not in taken[name]:
                    strange.append((name, arguments, each["path"]))
    assert strange == []
    assert checked >= 15


async def test_inputs_that_no_step_can_get_are_refused_before_a_run_starts(house):
    second = step("again", "test.external", times=0, text="${{ steps.call.output.text }} ${{ inputs.text }}")
    await save(house, "brew", step("call", "test.echo", text="x"), second)
    long = "x" * 1_100_000
    definition = {"steps": [{"id": "call", "pack": "test.echo", "input": {"text": "${{ inputs.text }}"}}]}
    async with agent(house, query=AUTHOR) as client:
        for tool, arguments, path in (
            ("run_pipeline", {"pipeline": "brew", "inputs": {"text": long}}, "inputs.text"),
            ("run_pack", {"pack": "test.external", "input": {"times": 0, "text": long}}, "input.text"),
        ):
            error = await refusal(client, tool, arguments)
            (found,) = error["field_errors"]
            assert (found["path"], found["rule"]) == (path, "too_large")
            assert "1,100,0" in found["problem"]
            assert "1,048,576 bytes" in found["problem"]
            assert "an input that takes an artifact" in found["hint"]
        assert content_of(await client.call_tool("list_runs", {}))["items"] == []
        fits = content_of(
            await client.call_tool("run_pipeline", {"pipeline": "brew", "inputs": {"text": long[:900_000]}})
        )
        assert fits["state"] == "SUCCEEDED"
        definition |= {"key": "tea", "name": "Tea", "inputs": {"type": "object", "properties": {"text": {}}}}
        checked = content_of(
            await client.call_tool("check_pipeline", {"definition": definition, "inputs": {"text": long}})
        )
        assert ["inputs", "text"] in [issue["path"] for issue in checked["issues"]]


async def test_a_wrong_type_has_one_rule_whoever_finds_it(house):
    async with agent(house) as client:
        error = await refusal(client, "run_pack", {"pack": "test.external", "input": {"times": "many", "text": 1}})
        assert {each["rule"] for each in error["field_errors"]} == {"wrong_type"}


async def test_a_version_that_there_is_not_is_told_as_the_argument_it_is(house):
    await save(house, "brew", step("call", "test.echo", text="x"))
    async with agent(house) as client:
        error = await refusal(client, "run_pipeline", {"pipeline": "brew", "version": 99})
        assert [each["path"] for each in error["field_errors"]] == ["version"]
        assert "search_catalog" not in error["hint"], "the pipeline was found"
        error = await refusal(client, "run_pipeline", {"pipeline": "brow"})
        assert "search_catalog" in error["hint"]


async def test_an_argument_is_called_near_only_where_it_is(house):
    async with agent(house) as client:
        (error,) = (await refusal(client, "run_pipeline", {"pipeline": "x", "deadline_seconds": 9}))["field_errors"]
        assert "closest" not in error
        (error,) = (await refusal(client, "run_pipeline", {"pipeline": "x", "wait_second": 9}))["field_errors"]
        assert error["closest"] == "wait_seconds"


@pytest.mark.parametrize(
    ("document", "message", "hint"),
    [
        ("query A { server { version } } query B { server { version } }", "`query` takes one", "once for each"),
        ("", "`query` is empty", "such as `{ server { version } }`"),
        ("fragment F on Query { server { version } }", "holds no operation", "such as `{ server { version } }`"),
        ("mutation { cancelRun(id: 1) { __typename } }", "must be a query", "call the tool for it"),
        ("{ ", "Syntax Error", "`variables`"),
    ],
)
async def test_a_document_that_is_no_query_is_refused_with_what_helps(house, document, message, hint):
    async with agent(house) as client:
        error = await refusal(client, "graphql_query", {"query": document})
        assert message in error["message"]
        assert hint in error["hint"]
        assert "operationName" not in error["message"]
        assert "__type" not in error["hint"]


async def test_a_tool_that_there_is_not_leads_to_the_nearest_of_all(house):
    async with agent(house) as client:
        for name in ("deletePipeline", "delete_pipelin"):
            with pytest.raises(MCPError) as refused:
                await client.call_tool(name, {})
            said = str(refused.value)
            assert "Did you mean `delete_pipeline`?" in said
            assert "belongs to the tool set `author`" in said
            assert "?toolsets=author" in said
        with pytest.raises(MCPError, match=r"Did you mean `run_pipeline`\?$"):
            await client.call_tool("runPipeline", {})
        with pytest.raises(MCPError, match="tools/list"):
            await client.call_tool("nonsense", {})


async def test_a_refusal_names_the_actions_that_this_caller_has_tools_for(house):
    for query, actions in (("", ["RERUN"]), (AUTHOR, ["RERUN", "PROMOTE"])):
        async with agent(house, query=query) as client:
            run = content_of(await client.call_tool("run_pack", {"pack": "test.echo", "input": {"text": "tea"}}))[
                "run_id"
            ]
            for tool in ("resume_run", "cancel_run"):
                error = await refusal(client, tool, {"run_id": run})
                assert (error["code"], error["actions"]) == ("WRONG_STATE", actions)
                assert "Possible now: rerun_run." in error["hint"]
    async with agent(house, query="?packs=test.echo") as client:
        error = await refusal(client, "cancel_run", {"run_id": run})
        assert error["actions"] == []
        assert "rerun_run" not in error["hint"], "it is not shown"
