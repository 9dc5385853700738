"""A server with a schedule each second and a webhook, killed and started again: nothing is lost or done twice.

`tests/soak` does the same to two servers on PostgreSQL.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
_WEBHOOK = """mutation { createWebhook(pipeline: "each-second", name: "Deliveries", preset: BEARER) {
    __typename ... on WebhookSecretSuccess { secret trigger { webhook { url } } } ... on Problem { message } } }"""
_RUNS = '{ runs(filter: {pipelines: ["each-second"]}, first: 100) { nodes { id } } }'


async def test_a_killed_server_neither_loses_nor_repeats_an_instant_or_a_delivery(tmp_path: Path) -> None:
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
            made = await server.command(_WEBHOOK)
            delivered = []
            for kill in range(1, 4):
                await _firings(server, trigger_id, 3 * kill)
                delivered.append(await _deliver(server, made, kill))
                await server.kill()
                server = await fleet.up("one", server.port)
                assert await _deliver(server, made, kill) == (200, delivered[-1][1]), "it is known"
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
    assert {status for status, _ in delivered} == {202}
    assert {run for _, run in delivered} <= runs


async def _deliver(server: RealServer, made: dict[str, Any], number: int) -> tuple[int, str]:
    """The status and the run that a delivery is answered with."""
    headers = {"authorization": f"Bearer {made['secret']}", "idempotency-key": f"delivery-{number}"}
    path = urlsplit(made["trigger"]["webhook"]["url"]).path
    answer = await server.admin.http.post(server.url(path), json={}, headers=headers)
    return answer.status_code, answer.json()["run"]


async def _firings(server: RealServer, trigger_id: str, count: int) -> list[dict[str, Any]]:
    """The firings once there are so many, the oldest first."""

    async def found() -> list[dict[str, Any]]:
        listed = (await server.ask(_FIRINGS, id=trigger_id))["trigger"]["firings"]["nodes"]
        return sorted(listed, key=lambda one: str(one["scheduledAt"])) if len(listed) >= count else []

    return await eventually(found)
