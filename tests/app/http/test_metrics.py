"""Metrics as Prometheus scrapes them: over HTTP, of a server that has executed runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from runner.metrics import NAMES_MAX, OTHER, Metrics
from store.states import RunState
from tests.support.front_door import command, ran, save, start, step
from tests.support.graphql_client import GraphQLSocket
from tests.support.packs import Workbench
from tests.support.product import ADMIN_TOKEN, product

if TYPE_CHECKING:
    from tests.support.product import Product

TOKEN = "a-token-of-prometheus"
DEPLOY = Path(__file__).parents[3] / "deploy"
_WATCH = "subscription ($id: ID!) { runEvents(id: $id) { __typename } }"


async def scraped(it: Product, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=it.url(""), verify=False) as http:
        return await http.get("/metrics", headers=headers)


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Values by name and the values of labels, in the order of their names."""
    return {
        (sample.name, *dict(sorted(sample.labels.items())).values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_a_scrape_has_what_was_executed_and_what_waits(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        await save(it, "fine", step("say", "test.echo", text="tea"))
        await save(it, "broken", step("fail", "test.fail", message="no"))
        for pipeline in ("fine", "fine", "broken"):
            await ran(it, pipeline)
        answer = await scraped(it)
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = samples(answer.text)
    assert found["packline_runs_ended_total", "succeeded", "fine"] == 2
    assert found["packline_runs_ended_total", "failed", "broken"] == 1
    assert found["packline_run_duration_seconds_count", "fine"] == 2
    assert found["packline_step_attempts_total", "succeeded", "test.echo"] == 2
    assert found["packline_step_attempts_total", "failed", "test.fail"] == 1
    assert found["packline_step_duration_seconds_count", "test.echo"] == 2
    assert found["packline_commit_duration_seconds_count",] > 3
    assert found["packline_workers", "alive"] == 1
    assert found["packline_database_up",] == found["packline_accepting",] == 1
    assert found["packline_runs", "queued"] == found["packline_queue_oldest_seconds",] == 0
    assert found["process_resident_memory_bytes",] > 0


async def test_who_follows_a_run_is_counted(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        await save(it, "slow", step("wait", "test.slow"))
        run = (await start(it, "slow"))["run"]["id"]
        await bench.started.wait()
        assert samples((await scraped(it)).text)["packline_watchers",] == 0
        async with GraphQLSocket.open(it.served.ws_url("/graphql"), token=ADMIN_TOKEN) as socket:
            watching = aiter(socket.subscribe(_WATCH, {"id": run}))
            await anext(watching)
            assert samples((await scraped(it)).text)["packline_watchers",] == 1
        bench.release.set()


async def test_waits_for_a_slot_do_not_count_as_waits_for_a_worker_and_cancelled_waits_are_counted(
    tmp_path: Path,
) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1) as it:
        await save(it, "slow", step("wait", "test.slow", text="${{ inputs.text }}"))
        await start(it, "slow", {"text": "a"})
        await bench.started.wait()
        queued = (await start(it, "slow", {"text": "b"}))["run"]["id"]
        # Without moving the clock: a wait of any length shows in the one and not in the other.
        waits = samples((await scraped(it)).text)
        await command(it, "cancelRun", id=queued)
        found = samples((await scraped(it)).text)
        bench.release.set()
    assert waits["packline_queue_oldest_seconds",] > 0
    assert waits["packline_queue_no_worker_seconds",] == 0
    assert found["packline_runs_ended_total", "cancelled", "slow"] == 1


async def test_firings_are_counted_by_kind_and_outcome(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        await save(it, "says", step("say", "test.echo"))
        made = await it.mutate(
            """mutation { createTrigger(pipeline: "says", name: "Hourly", schedule: {cron: "@hourly"}) {
                ... on TriggerSuccess { trigger { id } } } }"""
        )
        fire = "mutation ($id: ID!) { fireTrigger(id: $id) { __typename } }"
        for _ in range(2):
            assert (await it.mutate(fire, {"id": made["trigger"]["id"]}))["__typename"] == "FireTriggerSuccess"
        found = samples((await scraped(it)).text)
    assert found["packline_trigger_firings_total", "schedule", "fired"] == 2


async def test_only_this_machine_may_scrape_unless_a_token_is_set(tmp_path: Path) -> None:
    async with product(tmp_path, []) as it:
        assert (await scraped(it)).status_code == 200
        async with httpx2.AsyncClient(base_url=it.url(""), verify=False) as http:
            assert (await http.get("/metrics", headers={"host": "rebound.example"})).status_code in {400, 403}
        for header in ("x-forwarded-for", "forwarded", "x-real-ip"):
            refused = await scraped(it, **{header: "for=203.0.113.9"})
            assert (refused.status_code, "PACKLINE_METRICS_TOKEN" in refused.text) == (403, True), header


async def test_with_a_token_nobody_scrapes_without_it(tmp_path: Path) -> None:
    async with product(tmp_path, [], metrics_token=TOKEN) as it:
        assert (await scraped(it, authorization=f"Bearer {TOKEN}")).status_code == 200
        for headers in ({}, {"authorization": f"Bearer {ADMIN_TOKEN}"}, {"authorization": TOKEN}):
            refused = await scraped(it, **headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert "packline_" not in refused.text
        shown = (await it.query("{ settings { name value } }"))["settings"]
        assert {"name": "PACKLINE_METRICS_TOKEN", "value": None} in shown


def test_names_beyond_the_limit_are_counted_together() -> None:
    metrics = Metrics()
    for number in range(NAMES_MAX + 5):
        metrics.run_ended(f"pipeline-{number}", RunState.SUCCEEDED, 1.0)
    metrics.run_ended("pipeline-0", RunState.FAILED, 1.0)
    value = metrics.registry.get_sample_value
    assert value("packline_runs_ended_total", {"target": OTHER, "state": "succeeded"}) == 5
    assert value("packline_runs_ended_total", {"target": "pipeline-0", "state": "failed"}) == 1
    assert value("packline_runs_ended_total", {"target": f"pipeline-{NAMES_MAX}", "state": "succeeded"}) is None


def test_the_dashboard_and_the_alerts_ask_for_metrics_that_exist() -> None:
    board = json.loads((DEPLOY / "grafana" / "packline.json").read_text())
    [group] = YAML(typ="safe").load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += [rule["expr"] for rule in group["rules"]]
    asked = {name for query in queries for name in re.findall(r"\bpackline_\w+", query)}
    sources = "".join((DEPLOY.parent / file).read_text() for file in ("runner/metrics.py", "app/http/metrics.py"))
    known = set(re.findall(r'"(packline_\w+)"', sources))
    assert len(known) > 15
    assert {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in asked} <= known
    assert all({"summary", "description"} == rule["annotations"].keys() for rule in group["rules"])
