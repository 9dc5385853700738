"""What an agent step lacks is told by a check and by a start, before anything is run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import app.settings.agents
from runner.agents.isolation import Isolation
from tests.schema.runs.test_agent_steps import CREATE, program
from tests.support.front_door import start
from tests.support.product import product
from tests.support.sandbox import NEEDS_SANDBOX
from tests.support.vaults import put

if TYPE_CHECKING:
    from pathlib import Path

CHECK = """query ($document: JSON!) { checkPipeline(definition: {document: $document}) {
    valid preflight { missing { kind name steps message hint } } } }"""
PROFILES: dict[str, dict[str, Any]] = {
    "absent": {"command": ["no-such-agent-program", "-p"]},
    "relative": {"command": ["bin/agent"]},
    "unscripted": {"preset": "mock", "script": "/no/such/script.yaml"},
    "keyed": {"command": ["/bin/true"], "credentials": {"API_KEY": "model.key"}},
    "offline": {"command": ["/bin/true"], "network": False},
    "plain": {"command": ["/bin/true"]},
}
LACKS = [
    ("absent", {}, "AGENT_PROFILE", "absent", "The program `no-such-agent-program`"),
    ("relative", {}, "AGENT_PROFILE", "relative", "`bin/agent`"),
    ("unscripted", {}, "AGENT_PROFILE", "unscripted", "The script script.yaml"),
    ("undeclared", {}, "AGENT_PROFILE", "undeclared", "There is no agent profile `undeclared`"),
    ("keyed", {}, "CREDENTIAL", "model", "needs the credential `model`"),
    ("plain", {"credentials": {"TOKEN": "github.token"}}, "CREDENTIAL", "github", "`github`"),
    ("offline", {}, "ISOLATION", "sandbox_offline", "this server offers `process`"),
    ("plain", {"isolation": "sandbox"}, "ISOLATION", "sandbox", "this server offers `process`"),
    ("plain", {"model": "m-1"}, "AGENT_PROFILE", "plain", "accepts no model"),
    ({"env": "NOT_SET_HERE", "map": {"a": "plain"}}, {}, "AGENT_PROFILE", "plain", "NOT_SET_HERE names none"),
]


@pytest.mark.parametrize(("use", "more", "kind", "name", "said"), LACKS)
async def test_what_is_missing_is_named_with_a_remedy_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Any, more: dict[str, Any], kind: str, name: str, said: str
) -> None:
    monkeypatch.setattr(app.settings.agents, "best_isolation", lambda: Isolation.PROCESS)
    async with product(tmp_path, agents=PROFILES) as it:
        block = {"use": use, "prompt": "x", **more}
        document = {"name": "x", "key": "x", "steps": [{"id": "a", "agent": block}]}
        check = (await it.query(CHECK, {"document": document}))["checkPipeline"]
        await it.query(CREATE, {"document": document})
        refused = await start(it, "x", wait=10)
        runs = (await it.query("{ runs(first: 5) { nodes { id } } }"))["runs"]["nodes"]

    assert check["valid"], "another machine may have it"
    for found in (check["preflight"]["missing"], refused["missing"]):
        assert [(one["kind"], one["name"], one["steps"]) for one in found] == [(kind, name, ["a"])]
        assert said in found[0]["message"]
        assert found[0]["hint"]
    assert runs == []


@NEEDS_SANDBOX
async def test_with_all_it_needs_nothing_is_missing(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"keyed": {**program("tell"), "credentials": {"API_KEY": "model.key"}}}) as it:
        await put(it, "model", "generic", {"key": "a key that is long enough"})
        block = {"use": "keyed", "prompt": "x", "isolation": "sandbox_offline"}
        document = {"name": "x", "key": "x", "steps": [{"id": "a", "agent": block}]}
        check = (await it.query(CHECK, {"document": document}))["checkPipeline"]
    assert (check["valid"], check["preflight"]["missing"]) == (True, [])


async def test_a_credential_that_is_not_granted_names_grantees_there_are(tmp_path: Path) -> None:
    """An agent step is no pack: its pipeline or its caller is granted a credential."""
    block = {"use": "plain", "prompt": "x", "credentials": {"TOKEN": "eyes.value"}, "effects": "none"}
    document = {"name": "x", "key": "x", "steps": [{"id": "a", "agent": block}]}
    async with product(tmp_path, agents={"plain": program("tell")}) as it:
        await it.query(CREATE, {"document": document})
        absent = (await start(it, "x", wait=10))["missing"][0]
        await put(it, "eyes", "generic", {"value": "a value that is long enough"})
        refused = (await start(it, "x", wait=10))["missing"][0]
        named = re.findall(r"`packline credential grant eyes (\S+)`", refused["hint"])
        assert len(named) == 2, refused
        assert "pack agent" not in refused["message"]
        assert f"--grant {named[0]}`" in absent["hint"]
        for grantee in named:
            stored = await put(it, "eyes", "generic", {"value": "a value that is long enough"}, grants=[grantee])
            assert [grant["id"] for grant in stored["grants"]], stored
            assert "missing" not in await start(it, "x", wait=10, force=True)


@pytest.mark.parametrize(("wrong", "rule"), [({"tools": ["nope"]}, "unknown_tool"), ({"outputs": ["../x"]}, "path")])
async def test_a_refused_definition_tells_errors_first_and_the_hint_of_the_first(
    tmp_path: Path, wrong: dict[str, Any], rule: str
) -> None:
    document = {"name": "x", "key": "x", "steps": [{"id": "a", "agent": {"use": "plain", "prompt": "x", **wrong}}]}
    async with product(tmp_path, agents=PROFILES) as it:
        refused = (
            await it.query(
                """mutation ($document: JSON!) { createPipeline(definition: {document: $document}) { __typename
                ... on InvalidProblem { message hint issues { severity rule message hint } } } }""",
                {"document": document},
            )
        )["createPipeline"]
    first, *others = refused["issues"]
    assert (first["severity"], rule in first["rule"]) == ("ERROR", True), first
    assert "WARNING" in [issue["severity"] for issue in others], "or this shows nothing"
    assert first["message"] in refused["message"]
    assert refused["hint"] == first["hint"]


@pytest.mark.parametrize("name", ["PACKLINE_MCP_URL", "PACKLINE_MCP_TOKEN", "packline_x", "TERM", "LD_PRELOAD"])
async def test_a_secret_goes_to_no_variable_that_has_a_meaning_already(tmp_path: Path, name: str) -> None:
    block = {"use": "plain", "prompt": "x", "credentials": {name: "eyes.value"}}
    document = {"name": "x", "key": "x", "steps": [{"id": "a", "agent": block}]}
    async with product(tmp_path, agents=PROFILES) as it:
        check = (await it.query(CHECK, {"document": document}))["checkPipeline"]
    assert not check["valid"]
