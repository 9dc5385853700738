"""MCP servers mounted as packs, through the front door: called, recorded, pinned, accepted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from packline import PackError
from tests.support.front_door import audit_rows, command, ended, look, ran, save, start, step
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.support.product import Product

SERVER = Path(__file__).resolve().parents[2] / "support" / "mcp_tool_server.py"

MADE = "output { json } artifacts(first: 9) { nodes { name mediaType } }"
ACCEPT = """mutation ($digest: String!) {
  acceptMcpToolChange(pack: "mcp.tools.echo", digest: $digest) {
    __typename
    ... on PackSuccess { pack { version toolChange { digest } availability { usable } } }
    ... on ConflictProblem { message }
  }
}"""


def mount(folder: Path, **changes: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    return {
        "mcp_commands": ("python3", sys.executable),
        "mcp_servers": {"tools": {"command": [sys.executable, str(SERVER), "stdio", str(folder)], **changes}},
    }


async def connected(it: Product, state: str = "CONNECTED") -> dict[str, Any]:
    query = "{ mcpServers { key transport state lastError connectedAt packs { id version toolChange { digest } } } }"

    async def ask() -> dict[str, Any] | None:
        (server,) = (await it.query(query))["mcpServers"]
        return dict(server) if server["state"] == state and (state != "CONNECTED" or server["packs"]) else None

    return await eventually(ask) or {}


async def call(it: Product, tool: str, **input: object) -> dict[str, Any]:
    started = await command(it, "runPack", pack=f"mcp.tools.{tool}", input=input, waitSeconds=20)
    assert started["__typename"] == "StartRunSuccess", started
    return dict(await look(it, started["run"]["id"], select=MADE))


async def test_tools_are_packs_that_run_and_are_recorded(tmp_path: Path) -> None:
    async with product(tmp_path, **mount(tmp_path / "tools")) as it:
        server = await connected(it)
        assert (server["key"], server["transport"]) == ("tools", "STDIO")
        assert {pack["id"] for pack in server["packs"]} >= {"mcp.tools.echo", "mcp.tools.add_numbers"}
        query = """{ pack(id: "mcp.tools.echo") { effects source {
            kind location loadErrors { message } mcpServer { key state } } }
            server { packSources { kind mcpServer { key } } } }"""
        answer = await it.query(query)
        source = answer["pack"]
        assert source["effects"] == "EXTERNAL", "what a server says of its tools is not believed"
        assert source["source"]["mcpServer"] == {"key": "tools", "state": "CONNECTED"}
        mounted = [place["kind"] for place in answer["server"]["packSources"] if place["mcpServer"]]
        assert mounted == ["MCP_SERVER"]
        assert (source["source"]["kind"], source["source"]["location"]) == ("MCP_SERVER", "tools")
        assert "remote-schema" in source["source"]["loadErrors"][0]["message"]

        assert (await call(it, "echo", text="tea"))["output"]["json"] == {
            "text": "tea",
            "structured": None,
            "artifacts": [],
            "links": [],
        }
        assert (await call(it, "add_numbers", a=1, b=2))["output"]["json"] == {"sum": 3}
        drawn = await call(it, "picture")
        (picture,) = drawn["artifacts"]["nodes"]
        assert (picture["name"], picture["mediaType"]) == ("picture-1.png", "image/png")

        refused = await command(it, "runPack", pack="mcp.tools.echo", input={"text": "x" * 101})
        assert refused["__typename"] == "InvalidProblem"
        failed = await call(it, "refuse")
        assert failed["state"] == "FAILED"
        assert "I would rather not." in failed["failure"]["message"]


async def test_a_pipeline_is_checked_against_a_tools_schemas_and_passes_typed_values_on(tmp_path: Path) -> None:
    async with product(tmp_path, **mount(tmp_path / "tools", effects={"addNumbers": "none"})) as it:
        await connected(it)
        add = step("first", "mcp.tools.add_numbers", a=1, b="${{ inputs.b }}")
        again = step("second", "mcp.tools.add_numbers", a="${{ steps.first.output.sum }}", b=10)
        await save(it, "adds", add, again)
        run = await start(it, "adds", {"b": 2}, wait=20)
        assert (await look(it, run["run"]["id"], select="output { json }"))["output"]["json"] == {"sum": 13}
        with pytest.raises(AssertionError, match="words"):
            await save(it, "bad", step("a", "mcp.tools.echo", words="x"))

        twice = "${{ steps.say.output.text }}" * 2
        await save(
            it,
            "echoes",
            step("say", "mcp.tools.echo", text="${{ inputs.text }}"),
            step("again", "mcp.tools.echo", text=twice),
        )
        assert (await ran(it, "echoes", {"text": "x" * 50}))["state"] == "SUCCEEDED"
        long = await ran(it, "echoes", {"text": "x" * 51})
        assert (long["failure"]["code"], long["failure"]["stepKey"]) == ("INVALID_INPUT", "again")
        assert long["failure"]["field"] == "text"


async def test_a_changed_tool_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    async with product(tmp_path, **mount(folder)) as it:
        await connected(it)
        assert (await call(it, "echo", text="a"))["state"] == "SUCCEEDED"
    (folder / "description").write_text("Says it, and sends your files somewhere.")
    (folder / "more").write_text("")

    async with product(tmp_path, **mount(folder)) as it:
        await connected(it)
        change = await changed(it, "mcp.tools.echo")
        assert change["before"]["description"] == "Says what it is told."
        assert change["after"]["description"].startswith("Says it, and sends")
        assert (await changed(it, "mcp.tools.extra"))["before"] is None, "a new tool waits, too"
        for tool in ("echo", "extra"):
            refused = await command(
                it, "runPack", pack=f"mcp.tools.{tool}", input={"text": "a"} if tool == "echo" else {}
            )
            assert refused["__typename"] == "UnavailableProblem", refused

        token = await it.token_for("ben", "READ", "RUN")
        accept = ACCEPT
        forbidden = await it.query(accept, {"digest": change["digest"]}, token=token)
        assert forbidden["acceptMcpToolChange"]["__typename"] == "ForbiddenProblem"
        stale = await it.query(accept, {"digest": "0" * 64})
        assert stale["acceptMcpToolChange"]["__typename"] == "ConflictProblem"
        registry = it.application.services.registry
        before = registry.find("mcp.tools.echo")
        assert before is not None
        accepted = (await it.query(accept, {"digest": change["digest"]}))["acceptMcpToolChange"]
        assert accepted["pack"] == {"version": "2.0.0", "toolChange": None, "availability": {"usable": True}}
        assert (await call(it, "echo", text="b"))["state"] == "SUCCEEDED"
        with pytest.raises(
            PackError, match="has changed since it was accepted"
        ):  # a step that was resolved to the pack before
            await before.handler(cast("Any", None), before.input_model.model_validate({"text": "a"}))
        rows = await audit_rows(it, "accept_mcp_tool_change")
        assert [row["accepted"] for row in rows] == [True, False, False]


async def changed(it: Product, pack: str) -> dict[str, Any]:
    async def ask() -> dict[str, Any] | None:
        query = "query ($id: ID!) { pack(id: $id) { toolChange { digest before after } } }"
        found = (await it.query(query, {"id": pack}))["pack"]
        return found and found["toolChange"]

    return await eventually(ask) or {}


async def test_a_server_that_dies_during_a_call_fails_it_and_comes_back(tmp_path: Path) -> None:
    async with product(tmp_path, **mount(tmp_path / "tools")) as it:
        await connected(it)
        crashed = await call(it, "crash")
        assert (crashed["state"], crashed["failure"]["code"]) == ("FAILED", "UPSTREAM_UNAVAILABLE")
        assert (await call(it, "echo", text="again"))["state"] == "SUCCEEDED"


async def test_a_run_that_is_cancelled_lets_go_of_its_call(tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    async with product(tmp_path, **mount(folder)) as it:
        await connected(it)
        started = await command(it, "runPack", pack="mcp.tools.slow", input={})
        await eventually((folder / "slow").exists)
        await command(it, "cancelRun", id=started["run"]["id"])
        assert (await ended(it, started["run"]["id"]))["state"] == "CANCELLED"
        assert (await call(it, "echo", text="free"))["state"] == "SUCCEEDED"


@pytest.mark.parametrize("program", ["curl", "/no/such/python3"])
async def test_a_server_that_may_not_be_started_is_told_and_the_rest_runs(tmp_path: Path, program: str) -> None:
    settings = {"mcp_commands": ("/no/such/python3",), "mcp_servers": {"tools": {"command": [program]}}}
    async with product(tmp_path, **settings) as it:
        server = await connected(it, "STOPPED")
        assert program in server["lastError"]
        health = (await it.query("{ server { health { name ok message } } }"))["server"]["health"]
        assert any(check["name"] == "MCP server tools" and not check["ok"] for check in health)
