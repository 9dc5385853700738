"""A server with a schedule each second, killed and started again: no instant is missing, and none fired twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.support.databases import prepare_sqlite
from tests.support.servers import Fleet, RealServer, held_calls
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

_SAVE = """mutation ($definition: JSON!) { createPipeline(definition: {document: $definition}) {
    __typename ... on Problem { message } } }"""
_CREATE = """mutation { createTrigger(pipeline: "each-second", name: "Each second",
    schedule: {intervalSeconds: 1, catchUp: ALL}) {
    __typename ... on TriggerSuccess { trigger { id } } ... on Problem { message } } }"""
_FIRINGS = """query ($id: ID!) { trigger(id: $id) { firings(first: 100) { nodes {
    outcome scheduledAt run { id } } } } }"""
_RUNS = '{ runs(filter: {pipelines: ["each-second"]}, first: 100) { nodes { id } } }'


async def test_a_killed_server_neither_loses_nor_repeats_an_instant(tmp_path: Path) -> None:
    prepare_sqlite(tmp_path / "one")
    definition = {
        "key": "each-second",
        "name": "Each second",
        "steps": [{"id": "only", "pack": "held.quick", "input": {"text": "x"}}],
    }
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls)
        try:
            server = await fleet.up("one")
            assert (await server.command(_SAVE, definition=definition))["__typename"] == "PipelineSuccess"
            trigger_id = (await server.command(_CREATE))["trigger"]["id"]
            for kill in range(1, 4):
                await _firings(server, trigger_id, 3 * kill)
                await server.kill()
                server = await fleet.up("one", server.port)
            found = await _firings(server, trigger_id, 12)
            runs = {node["id"] for node in (await server.ask(_RUNS))["runs"]["nodes"]}
        finally:
            await fleet.down()
    instants = [datetime.fromisoformat(one["scheduledAt"]) for one in found]
    assert instants == [instants[0] + timedelta(seconds=second) for second in range(len(instants))]
    assert {one["outcome"] for one in found} <= {"FIRED", "SKIPPED"}
    fired = [one["run"]["id"] for one in found if one["outcome"] == "FIRED"]
    assert len(set(fired)) == len(fired)
    assert set(fired) <= runs


async def _firings(server: RealServer, trigger_id: str, count: int) -> list[dict[str, Any]]:
    """The firings once there are so many, the oldest first."""

    async def found() -> list[dict[str, Any]]:
        listed = (await server.ask(_FIRINGS, id=trigger_id))["trigger"]["firings"]["nodes"]
        return sorted(listed, key=lambda one: str(one["scheduledAt"])) if len(listed) >= count else []

    return await eventually(found)
