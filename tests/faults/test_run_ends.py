"""A server killed while it fires the triggers of a run that ended: no firing is lost, and none is repeated."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from store.database.dialects import Sql
from store.database.engine import open_store
from tests.support.databases import prepare_sqlite, ready_database
from tests.support.servers import Fleet, RealServer, held_calls
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

#: So many that the server cannot have fired all of them when it is killed.
TRIGGERS = 90
_SAVE = """mutation ($definition: JSON!) { createPipeline(definition: {document: $definition}) {
    __typename ... on Problem { message } } }"""
_CREATE = """mutation ($name: String!) { createTrigger(pipeline: "after", name: $name,
    runEnded: {states: [SUCCEEDED]}, inputs: {text: "${{ trigger.run.output.text }}"}) {
    __typename ... on TriggerSuccess { trigger { id } } ... on Problem { message } } }"""
_START = """mutation { runPipeline(pipeline: "first", waitSeconds: 20) {
    __typename ... on StartRunSuccess { run { id state } } ... on Problem { message } } }"""
_FIRINGS = """{ triggers(first: 100) { nodes { firings(first: 10) { nodes {
    outcome endedRun { id } run { id inputs } } } } } }"""
_RUNS = '{ runs(filter: {pipelines: ["after"]}, first: 100) { nodes { id } } }'
_FIRED = Sql("SELECT count(*) AS found FROM firing")


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_killed_server_neither_loses_nor_repeats_a_firing(tmp_path: Path, database: str) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(ready_database(starters=True)) if database == "postgresql" else database
        if database == "sqlite":
            prepare_sqlite(tmp_path / "one", starters=True)
        async with held_calls() as calls:
            fleet = Fleet(tmp_path, url, calls)
            try:
                server = await fleet.up("one")
                for key, text in (("first", "handed on"), ("after", "${{ inputs.text }}")):
                    step = {"id": "only", "pack": "held.quick", "input": {"text": text}}
                    document = {"key": key, "name": key, "steps": [step]}
                    assert (await server.command(_SAVE, definition=document))["__typename"] == "PipelineSuccess"
                for number in range(TRIGGERS):
                    made = await server.command(_CREATE, name=f"After {number}")
                    assert made["__typename"] == "TriggerSuccess", made
                ended = (await server.command(_START))["run"]
                await eventually(partial(_runs, server))
                await server.kill()
                assert ended["state"] == "SUCCEEDED"
                assert await _fired_so_far(url, tmp_path / "one") < TRIGGERS

                server = await fleet.up("one", server.port)
                firings = await _fired(server)
                runs = await _runs(server)
            finally:
                await fleet.down()
    assert {len(of_one) for of_one in firings} == {1}
    every = [firing for of_one in firings for firing in of_one]
    assert {(one["outcome"], one["endedRun"]["id"]) for one in every} == {("FIRED", ended["id"])}
    assert {one["run"]["inputs"]["text"] for one in every} == {"handed on"}
    assert {one["run"]["id"] for one in every} == runs
    assert len(runs) == TRIGGERS


async def _fired_so_far(url: str, folder: Path) -> int:
    """How many firings there are, while no server runs."""
    store = await open_store(url, folder, migrate=False)
    try:
        found: int = (await store.rows(_FIRED))[0].found
        return found
    finally:
        await store.close()


async def _runs(server: RealServer) -> set[str]:
    """The runs that the triggers started."""
    return {node["id"] for node in (await server.ask(_RUNS))["runs"]["nodes"]}


async def _fired(server: RealServer) -> list[list[dict[str, Any]]]:
    """The firings of each trigger, once all have one."""

    async def found() -> list[list[dict[str, Any]]]:
        nodes = (await server.ask(_FIRINGS))["triggers"]["nodes"]
        firings = [node["firings"]["nodes"] for node in nodes]
        return firings if all(firings) else []

    return await eventually(found)
