"""Agent steps: what a mocked one costs, cold and replayed; how fast output is masked, and what much of it takes."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.agents.streams import RawReader
from runner.secrets.redaction import Redactor
from tests.bench.figures import Figure
from tests.bench.server import serving

if TYPE_CHECKING:
    from runner.agents.transcript import Transcript
    from tests.bench.figures import Counts
    from tests.bench.server import Client, Server

PROGRAM = Path(__file__).parents[1] / "support" / "agent_program.py"
SETTINGS = """[agents.scripted]
preset = "mock"
script = "{script}"

[agents.flood]
command = ["{python}", "-I", "{program}", "flood", "{megabytes}"]
read = ["{folder}"]
"""
_CREATE = """mutation($document: JSON!) { createPipeline(definition: {document: $document}) {
    ... on PipelineSuccess { pipeline { id } } ... on InvalidProblem { message } } }"""
_RUN = """mutation($pipeline: ID!, $inputs: JSON!) {
    runPipeline(pipeline: $pipeline, inputs: $inputs, waitSeconds: 30) { ... on StartRunSuccess { run { state } } } }"""


async def agents(folder: Path, counts: Counts) -> list[Figure]:
    """CPU time of the server for each mocked step, beyond a run without; masking; much output."""
    steps, runs, megabytes = counts.of(20), counts.of(15), counts.of(100, 1)
    data, script = folder / "data", folder / "script.yaml"
    data.mkdir()
    script.write_text("answers: [{say: fine, files: {draft.md: '# A draft'}}]\n")
    (data / "packline.toml").write_text(
        SETTINGS.format(
            script=script, python=sys.executable, program=PROGRAM, folder=PROGRAM.parent, megabytes=megabytes
        )
    )
    async with serving(data) as (server, client):
        one = await _saved(client, "one", 1)
        many = await _saved(client, "many", 1 + steps)
        await _cpu(client, server, many, "warm", counts.of(3))
        cold = await _cpu(client, server, many, "cold", runs) - await _cpu(client, server, one, "cold", runs)
        await _run(client, many, "same")
        await _run(client, one, "same")
        cached = await _cpu(client, server, many, "same", runs, fixed=True)
        cached -= await _cpu(client, server, one, "same", runs, fixed=True)
        flood = await _saved(client, "flood", 1, agent={"use": "flood", "prompt": "Go on.", "stdout_to": "flood.txt"})
        before = server.resident_bytes()
        begun = time.perf_counter()
        await _run(client, flood, "flood")
        seconds = time.perf_counter() - begun
        grown = max(server.resident_bytes() - before, 0)
    return [
        Figure("agents", "CPU of a mocked step, persistence included", cold / steps * 1e3, "ms", 8),
        Figure("agents", "CPU of a replayed step", cached / steps * 1e3, "ms", 3),
        Figure("agents", "masking of output with 80 secrets", _masking(counts.of(300)), "MB/s", 50, True),
        Figure("agents", f"{megabytes} MB of output, taken and kept", megabytes / seconds, "MB/s"),
        Figure("agents", f"memory more after {megabytes} MB of output", grown / 1e6, "MB", 30),
    ]


async def _saved(client: Client, key: str, steps: int, agent: dict[str, Any] | None = None) -> str:
    given = agent or {"use": "scripted", "prompt": "${{ inputs.text }}", "outputs": ["draft.md"], "cache": True}
    document = {
        "key": key,
        "name": key,
        "inputs": {"type": "object", "properties": {"text": {"type": "string"}}},
        "steps": [{"id": f"s{number}", "agent": _numbered(given, number)} for number in range(steps)],
    }
    return str((await client.ask(_CREATE, document=document))["createPipeline"]["pipeline"]["id"])


def _numbered(agent: dict[str, Any], number: int) -> dict[str, Any]:
    """Each step asks something else, so that none replays another's result."""
    return agent if "outputs" not in agent else {**agent, "prompt": f"{number} {agent['prompt']}"}


async def _run(client: Client, pipeline: str, text: str) -> None:
    run = (await client.ask(_RUN, pipeline=pipeline, inputs={"text": text}))["runPipeline"]["run"]
    assert run["state"] == "SUCCEEDED", run


async def _cpu(client: Client, server: Server, pipeline: str, text: str, runs: int, *, fixed: bool = False) -> float:
    """CPU seconds of the server for one run."""
    begun = server.cpu_seconds()
    for number in range(runs):
        await _run(client, pipeline, text if fixed else f"{text} {number} {pipeline}")
    return (server.cpu_seconds() - begun) / runs


class _Nowhere:
    """Stands for a transcript that is not kept."""

    def add(self, *_: object, **__: object) -> None:
        """Takes an entry."""


def _masking(parts: int) -> float:
    """Megabytes of ordinary output in a second, as it comes from a pipe."""
    redactor = Redactor({f"service{number}.token": f"secret-value-of-{number:04}-xyz" for number in range(80)})
    line = "2026-01-01 12:00:00 INFO worker.py:120 Fetched 42 rows from the table of orders in 0.31 s\n"
    data = (line * 200).encode()
    times = []
    for _ in range(5):
        nowhere: Transcript = _Nowhere()  # type: ignore[assignment]
        reader = RawReader(nowhere, redactor, "output")
        begun = time.process_time()
        for _part in range(parts):
            reader.feed(data)
        reader.close()
        times.append(time.process_time() - begun)
    return parts * len(data) / 1e6 / statistics.median(times)
