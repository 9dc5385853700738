"""Keys and earlier names of starters: nobody takes them over, and what had a key before keeps it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.databases import ready_database
from tests.support.front_door import ran, statements
from tests.support.mcp_surface import McpSurface
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.surfaces import GraphQLSurface, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.product import Product

CONFLICT = "__typename ... on Problem { message hint } ... on ConflictProblem { current { id } }"
CREATE = f"mutation ($d: PipelineDefinitionInput!) {{ createPipeline(definition: $d) {{ {CONFLICT} }} }}"
UPDATE = f"""mutation ($p: ID!, $fields: JSON!, $version: Int!) {{
    updatePipeline(pipeline: $p, change: {{fields: $fields}}, ifVersion: $version) {{ {CONFLICT} }} }}"""
CLONE = f"mutation ($p: ID!, $key: Key) {{ clonePipeline(pipeline: $p, key: $key) {{ {CONFLICT} }} }}"
CHECK = """query ($d: PipelineDefinitionInput!) {
    checkPipeline(definition: $d) { valid issues { path argument rule severity message hint } } }"""
APPLY = f"mutation ($y: String!, $dry: Boolean!) {{ applyPipelines(yaml: $y, dryRun: $dry) {{ {CONFLICT} }} }}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database that outlives a restart."""
    if request.param == "sqlite":
        yield "sqlite"
    else:
        with ready_database() as url:
            yield url


def document(key: str, text: str) -> dict[str, Any]:
    return {"key": key, "name": key, "steps": [{"id": "say", "pack": "test.echo", "input": {"text": text}}]}


def ship(folder: Path, *keys: str, aliases: str = "") -> None:
    """Makes these the starters of the release that `product` finds below `folder`."""
    place = folder / "no_builtins" / "pipelines"
    place.mkdir(parents=True, exist_ok=True)
    for key in keys:
        (place / f"{key}.yaml").write_text(json.dumps(document(key, "shipped")))
    (place / "aliases.yaml").write_text(aliases)


async def said(it: Product, pipeline: str) -> str:
    """What a run of a pipeline ends with."""
    run = await ran(it, pipeline)
    return str(run["output"]["json"]["text"])


async def test_nobody_takes_the_key_or_an_earlier_name_of_a_starter(tmp_path: Path, database_url: str) -> None:
    ship(tmp_path, "greet", "leave", aliases="hello: {key: greet}\n")
    async with product(tmp_path, Workbench().packs, database_url=database_url) as it:
        token = await it.token_for("alice", "READ", "RUN", "WRITE")
        mine = await it.mutate(CREATE, {"d": {"document": document("hers", "hers")}}, token=token)
        assert mine["__typename"] == "PipelineSuccess"
        for key, what in (("greet", "belongs to the starter"), ("hello", "earlier name of the starter")):
            taking = document(key, "taken over")
            attempts = [
                (CREATE, {"d": {"document": taking}}),
                (UPDATE, {"p": "hers", "fields": {"key": key}, "version": 1}),
                (CLONE, {"p": "builtin.leave", "key": key}),
                (APPLY, {"y": json.dumps(taking), "dry": True}),
                (APPLY, {"y": json.dumps(taking), "dry": False}),
            ]
            for mutation, variables in attempts:
                refused = await it.mutate(mutation, variables, token=token)
                assert refused["__typename"] == "ConflictProblem", (key, mutation)
                assert f"`{key}`" in refused["message"]
                assert what in refused["message"]
                assert "another key" in refused["hint"]
                assert "edit a copy of it" in refused["hint"]
                assert refused["current"]["id"] == "builtin.greet"
            assert await said(it, key) == "shipped"


async def test_a_check_tells_whose_a_key_is_and_the_nearest_free_one(tmp_path: Path) -> None:
    ship(tmp_path, "greet", aliases="hello: {key: greet}\n")
    long = "a" * 64
    async with product(tmp_path, Workbench().packs) as it:
        alice, bob = [await it.token_for(name, "READ", "WRITE") for name in ("alice", "bob")]
        for key in ("hers", "hers-2", "greet-2", long):
            saved = await it.mutate(CREATE, {"d": {"document": document(key, "hers")}}, token=alice)
            assert saved["__typename"] == "PipelineSuccess"

        async def check(key: str, token: str | None, **more: Any) -> list[dict[str, Any]]:
            given = {"d": {"document": {**document(key, "x"), **more}}}
            told = (await it.query(CHECK, given, token=token))["checkPipeline"]
            applied = await it.mutate(APPLY, {"y": json.dumps(given["d"]["document"]), "dry": True}, token=token)
            assert told["valid"] is (applied["__typename"] == "ApplyPipelinesSuccess"), (key, told, applied)
            assert all(issue["path"] == ["key"] for issue in told["issues"] if issue["rule"] == "key_taken")
            issues: list[dict[str, Any]] = told["issues"]
            return issues

        for key, what, free in (
            ("greet", "belongs to the starter builtin.greet", "greet-3"),
            ("hello", "earlier name of the starter builtin.greet", "hello-2"),
            ("hers", "belongs to another caller's pipeline", "hers-3"),
            (long, "belongs to another caller's pipeline", "a" * 62 + "-2"),
        ):
            (issue,) = await check(key, bob)
            assert (issue["rule"], issue["severity"]) == ("key_taken", "ERROR")
            assert f"`{key}`" in issue["message"]
            assert what in issue["message"]
            assert f"nearest free key is `{free}`" in issue["hint"]
            assert ("edit a copy of it" in issue["hint"]) is ("starter" in what)
            assert await check(free, bob) == []
        assert await check("hers", alice) == [], "it is hers to change"
        assert await check("hers", None) == [], "who may manage changes it, too"
        for number in range(3, 30):
            named = {"d": {"document": document(f"hers-{number}", "hers")}}
            assert (await it.mutate(CREATE, named, token=alice))["__typename"] == "PipelineSuccess"
        with statements() as asked:
            (issue,) = await check("hers", bob)
        assert "nearest free key is `hers-30`" in issue["hint"]
        assert len([each for each in asked if "FROM pipeline" in each]) < 10, "not one for each number"
        rules = [issue["rule"] for issue in await check("hers", bob, steps=[])]
        assert len(rules) == 2, "told beside what else is wrong"
        assert "key_taken" in rules


async def test_a_key_taken_before_its_starter_came_stays_its_owners(tmp_path: Path, database_url: str) -> None:
    ship(tmp_path, "leave")
    async with product(tmp_path, Workbench().packs, database_url=database_url) as it:
        for key in ("greet", "hello"):
            saved = await it.mutate(CREATE, {"d": {"document": document(key, "mine")}})
            assert saved["__typename"] == "PipelineSuccess"
    ship(tmp_path, "greet", aliases="hello: {key: greet}\n")
    async with product(tmp_path, Workbench().packs, database_url=database_url) as it:
        for key in ("greet", "hello"):
            assert await said(it, key) == "mine"
            changed = await it.mutate(UPDATE, {"p": key, "fields": {"description": "Still mine."}, "version": 1})
            assert changed["__typename"] == "PipelineSuccess"
            applied = await it.mutate(APPLY, {"y": json.dumps(document(key, "mine still")), "dry": False})
            assert applied["__typename"] == "ApplyPipelinesSuccess"
            assert await said(it, key) == "mine still"
        assert await said(it, "builtin.greet") == "shipped"


@pytest.mark.parametrize("surface", [GraphQLSurface, McpSurface])
@pytest.mark.parametrize("ref", ["hello", "builtin.hello"])
async def test_an_earlier_name_leads_to_its_starter_on_every_surface(
    tmp_path: Path, surface: type[GraphQLSurface], ref: str
) -> None:
    ship(tmp_path, "greet", aliases="hello: {key: greet, inputs: {whom: name}}\n")
    greet = {**document("greet", "Hello, ${{ inputs.name }}"), "inputs": {"properties": {"name": {"type": "string"}}}}
    (tmp_path / "no_builtins" / "pipelines" / "greet.yaml").write_text(json.dumps(greet))
    async with product(tmp_path, Workbench().packs) as it:
        speaker = surface(it, it.token)
        found = await speaker.call("pipeline", id=ref)
        assert (found["id"], found["key"]) == ("builtin.greet", "greet")
        ran = await speaker.call("run_pipeline", pipeline=ref, inputs={"whom": "Ada"}, waitSeconds=20)
        assert ran["run"]["output"]["json"]["text"] == "Hello, Ada"
        assert "is an earlier name of `greet`" in ran["warnings"][0]["message"]
        listed = await speaker.call("list_runs", filter={"pipelines": [ref]})
        assert [run["id"] for run in listed["nodes"]] == [ran["run"]["id"]]
        cloned = await speaker.call("clone_pipeline", pipeline=ref, key="mine")
        assert cloned["pipeline"]["currentVersion"]["document"]["steps"] == greet["steps"]
        with pytest.raises(Refused, match="CONFLICT"):
            await speaker.call("delete_pipeline", pipeline=ref, confirmKey="greet")
        pinned = await speaker.call("set_default", target=ref, field="PERSONA", value="executive")
        assert pinned["defaults"]["pipelines"][0]["target"] == "builtin.greet"
        forgotten = await speaker.call("forget_memory", scope=f"pipeline:{ref}", dryRun=True)
        assert forgotten["rows"] == 1
        shared = await speaker.call("list_artifacts", filter={"pipelines": [ref]})
        assert shared["nodes"] == []
        await speaker.close()


async def test_the_runs_of_a_starter_that_is_gone_are_found_by_its_id_although_its_name_leads_on(
    tmp_path: Path, database_url: str
) -> None:
    ship(tmp_path, "hello", "leave")
    listed = "query ($of: [ID!]!) { runs(filter: {pipelines: $of}) { nodes { id pipeline { id } } } }"
    async with product(tmp_path, Workbench().packs, database_url=database_url) as it:
        before = await ran(it, "hello")
    (tmp_path / "no_builtins" / "pipelines" / "hello.yaml").unlink()
    ship(tmp_path, "greet", aliases="hello: {key: greet}\n")
    async with product(tmp_path, Workbench().packs, database_url=database_url) as it:
        after = await ran(it, "builtin.hello")
        assert after["pipeline"]["id"] == "builtin.greet"
        for ref, run in (("builtin.hello", before), ("hello", after)):
            nodes = (await it.query(listed, {"of": [ref]}))["runs"]["nodes"]
            assert [node["id"] for node in nodes] == [run["id"]], ref
