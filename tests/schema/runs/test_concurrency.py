"""Pipelines that limit themselves: so many of their runs with one key at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.front_door import command, ended, look, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, bench.packs) as running:
        await save(
            running,
            "deploy",
            step("only", "test.slow", text="${{ inputs.text }} ${{ inputs.repo }}"),
            concurrency={"limit": 1, "key": "${{ inputs.repo }}"},
        )
        yield running
        bench.release.set()


async def test_one_run_at_a_time_of_each_key(it: Product, bench: Workbench) -> None:
    first = (await start(it, "deploy", {"text": "1", "repo": "tea"}))["run"]
    await bench.started.wait()
    ben = await it.token_for("ben", "READ", "RUN")
    second = (await start(it, "deploy", {"text": "2", "repo": "tea"}, token=ben))["run"]
    other = (await start(it, "deploy", {"text": "3", "repo": "milk"}))["run"]

    assert (second["state"], second["wait"]["message"]) == ("QUEUED", "waits for another run of its pipeline")
    assert other["state"] == "RUNNING"
    bench.release.set()
    for run in (first, second, other):
        assert (await ended(it, run["id"]))["state"] == "SUCCEEDED"
    done = [await look(it, run["id"]) for run in (first, second)]
    assert done[1]["startedAt"] >= done[0]["endedAt"]


async def test_a_rerun_counts_with_the_runs_of_its_pipeline(it: Product, bench: Workbench) -> None:
    bench.release.set()
    done = (await start(it, "deploy", {"text": "1", "repo": "tea"}, wait=20))["run"]
    bench.release.clear()
    bench.started.clear()
    await start(it, "deploy", {"text": "2", "repo": "tea"})
    await bench.started.wait()
    again = (await command(it, "rerunRun", id=done["id"]))["run"]
    assert again["state"] == "QUEUED"


async def test_a_key_that_reads_a_step_is_refused_at_save(it: Product) -> None:
    document = {
        "key": "wrong",
        "name": "Wrong",
        "steps": [step("only", "test.echo", text="x")],
        "concurrency": {"limit": 1, "key": "${{ steps.only.output.text }}"},
    }
    answer = await it.mutate(
        """mutation ($d: JSON!) { createPipeline(definition: {document: $d}) {
            __typename ... on InvalidProblem { issues { path rule } } } }""",
        {"d": document},
    )
    assert answer["issues"][0]["rule"] == "not_an_input"
    assert answer["issues"][0]["path"][-2:] == ["concurrency", "key"]
