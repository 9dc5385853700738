"""What went wrong is told in one shape, over HTTP, sockets, server-sent events and the tool of an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.graphql_client import OperationFailed
from tests.support.mcp_agent import ToolRefused, agent, content_of
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

    from tests.support.product import Product

#: Documents that end badly, with a word that each way has to tell.
CASES = {
    "no such field": ("{ viewer { nmae } runs { nodez { id } } }", "Did you mean 'name'"),
    "no such argument": ("{ runs(filtr: {}) { nodes { id } } }", "Did you mean 'filter'"),
    "no such type": ('{ node(id: "x") { ... on Pipline { id } } }', "Did you mean 'Pipeline'"),
    "no such enum value": (
        "{ runs(filter: {states: [FAILD]}) { nodes { id } } }",
        "Did you mean the enum value 'FAILED'",
    ),
    "no such input field": ("{ runs(filter: {state: FAILED}) { nodes { id } } }", "Did you mean 'states'"),
    "no GraphQL": ("{ viewer { name }", "Syntax Error"),
    "nothing to run": ("fragment F on Query { viewer { name } }", "no operation"),
    "too much": ("{ " + " ".join(f"a{n}: viewer {{ name }}" for n in range(40)) + " }", "too large"),
    "a bad cursor": ('{ runs(after: "nonsense") { nodes { id } } }', "cursor"),
    "too long a wait": ('{ waitRun(id: "run_0", waitSeconds: 999) { timedOut } }', "waitSeconds"),
    "near names": ('{ pipeline(id: "brow") { id } pack(id: "test.ecko") { id } viewer { name } }', "`test.echo`"),
    "a scope that is missing": ("{ settings { name } }", "MANAGE"),
}


async def over_http(it: Product, token: str, query: str) -> dict[str, Any]:
    return (await it.answer(query, token=token)).body


async def over_events(it: Product, token: str, query: str) -> dict[str, Any]:
    frames = [data async for name, data in it.client(token).stream(query) if name == "next"]
    assert len(frames) == 1
    assert frames[0] is not None
    return frames[0]


async def over_socket(it: Product, token: str, query: str) -> dict[str, Any]:
    async with it.socket(token) as socket:
        try:
            answers = [payload async for payload in socket.subscribe(query)]
        except OperationFailed as failed:
            return {"errors": failed.errors}
    assert len(answers) == 1
    return answers[0]


async def refused(client: Client, query: str) -> dict[str, Any]:
    with pytest.raises(ToolRefused) as told_so:
        content_of(await client.call_tool("graphql_query", {"query": query}))
    return told_so.value.error


async def test_every_way_tells_the_same(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        token = await it.token_for("somebody", "READ", "RUN")
        async with agent(it, token=token) as client:
            for case, (query, word) in CASES.items():
                plain = await over_http(it, token, query)
                assert word in json.dumps(plain, ensure_ascii=False), (case, plain)
                assert await over_events(it, token, query) == plain, case
                assert await over_socket(it, token, query) == plain, case
                await agrees(client, query, plain)


async def agrees(client: Client, query: str, plain: dict[str, Any]) -> None:
    """The tool of an agent says the same in its own shape."""
    misses = plain.get("extensions", {}).get("notFound", ())
    if plain.get("data") is None:
        first, *others = plain["errors"]
        error = await refused(client, query)
        assert error["message"] == first["message"]
        assert error["code"] == first.get("extensions", {}).get("code", "INVALID")
        assert [each["problem"] for each in error.get("field_errors", ())] == [other["message"] for other in others]
        return
    answer = content_of(await client.call_tool("graphql_query", {"query": query}))
    assert answer["data"] == plain["data"]
    assert [each["message"] for each in answer["errors"]] == [
        each["message"] for each in (*plain.get("errors", ()), *misses)
    ]


async def test_an_agent_is_told_how_to_ask_for_the_fields_there_are(tmp_path: Path) -> None:
    async with product(tmp_path) as it, agent(it) as client:
        error = await refused(client, "{ runs { nodes { colour } } }")
        asked = error["hint"].split("`")[1]
        answer = content_of(await client.call_tool("graphql_query", {"query": asked}))
    assert "title" in {field["name"] for field in answer["data"]["__type"]["fields"]}
