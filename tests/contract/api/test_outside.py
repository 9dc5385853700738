"""Models, mounted MCP servers and agents' programs: what the operations on them promise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.surfaces import Refused, states
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS = Path(__file__).parents[2] / "support" / "mcp_tool_server.py"


def settings(folder: Path) -> dict[str, Any]:
    """A mounted server, and a writer that answers nobody here."""
    (folder / "tools").mkdir()
    return {
        "mcp_commands": (sys.executable,),
        "mcp_servers": {"tools": {"command": [sys.executable, str(TOOLS), "stdio", str(folder / "tools")]}},
        "agents": {"absent": {"command": ["no-such-agent"], "isolation": "process"}},
        "model_roles": {"writer": ("openai:writes-well", "ollama:writes-here")},
    }


@states("model_roles", "models")
async def test_roles_tell_what_they_resolve_to_now(api: Api) -> None:
    (writer,) = [role for role in await api.me.call("model_roles") if role["role"] == "writer"]
    assert [model["key"] for model in writer["chain"]] == ["openai:writes-well", "ollama:writes-here"]
    assert [model["availability"]["usable"] for model in writer["chain"]] == [False, True], "OpenAI has no key here"
    texts = await api.me.call("models", kinds=["TEXT"])
    assert {model["key"] for model in texts} >= {"openai:writes-well", "ollama:writes-here"}
    voices = await api.me.call("models", kinds=["VOICE"])
    assert {model["kind"] for model in voices} == {"VOICE"}


@states("agent_profiles")
async def test_agent_profiles_say_whether_they_can_be_used_here(api: Api) -> None:
    profiles = {profile["key"]: profile for profile in await api.me.call("agent_profiles")}
    assert profiles["mock"]["availability"]["usable"]
    assert (profiles["mock"]["isolation"], profiles["absent"]["isolation"]) == (None, "PROCESS")
    assert profiles["absent"]["availability"] == {
        "usable": False,
        "missing": [{"kind": "AGENT_PROFILE", "name": "absent"}],
    }


@states("mcp_servers", "accept_mcp_tool_change")
async def test_a_tool_that_changed_runs_again_once_it_is_accepted(api: Api) -> None:
    async def server() -> dict[str, Any] | None:
        (found,) = await api.me.call("mcp_servers")
        return found if found["state"] == "CONNECTED" and found["packs"] else None

    async def change() -> dict[str, Any] | None:
        packs = {pack["id"]: pack for pack in ((await server()) or {}).get("packs", ())}
        found = packs.get("mcp.tools.echo", {}).get("toolChange")
        return found if found and found["after"]["description"] == said else None

    await eventually(server)
    said = f"Says it for {api.subject}."
    (api.house.product.folder.parent / "tools" / "description").write_text(said)
    # The server tells that its tools changed while it answers this call.
    await api.admin.call("run_pack", pack="mcp.tools.grow", input={}, waitSeconds=20)
    changed = await eventually(change) or {}

    assert (await api.refusal("accept_mcp_tool_change", pack="mcp.tools.echo", digest=changed["digest"])).code == (
        "FORBIDDEN"
    )
    with pytest.raises(Refused, match="CONFLICT"):
        await api.admin.call("accept_mcp_tool_change", pack="mcp.tools.echo", digest="0" * 64)
    accepted = await api.admin.call("accept_mcp_tool_change", pack="mcp.tools.echo", digest=changed["digest"])
    assert accepted["pack"]["toolChange"] is None
    assert accepted["pack"]["availability"]["usable"]
    with pytest.raises(Refused, match="NOT_FOUND"):
        await api.admin.call("accept_mcp_tool_change", pack="mcp.tools.nothing", digest="0" * 64)


@states("agent_clients")
async def test_every_client_is_told_the_address_and_the_token(api: Api) -> None:
    clients = await api.me.call("agent_clients", serverUrl="https://pack.example:8420/", token="pkl_placeholder")
    assert {client["key"] for client in clients} == {
        "claude-code", "codex", "cursor", "gemini", "opencode", "openclaw"
    }  # fmt: skip
    for client in clients:
        http, stdio = client["setups"]
        assert (http["transport"], stdio["transport"]) == ("HTTP", "STDIO")
        assert "https://pack.example:8420/mcp" in http["text"]
        assert "pkl_placeholder" in http["text"]
        assert "pkl_placeholder" in stdio["text"]
        assert '"--server"' in stdio["text"]
    (http, stdio) = (await api.me.call("agent_clients", serverUrl="http://a", author=True))[0]["setups"]
    assert "http://a/mcp?toolsets=author" in http["text"]
    assert '"--toolsets"' in stdio["text"]
    for address in (
        "ftp://pack.example",
        "pack.example",
        "https://user:secret@pack.example",
        "https://[::1",
        "https://pack.example:99999",
        "http://" + "a" * 600,
    ):
        refused = await api.refusal("agent_clients", serverUrl=address)
        assert refused.code == "INVALID"
    assert (await api.refusal("agent_clients", serverUrl="http://a", token='"\n')).code == "INVALID"
