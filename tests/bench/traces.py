"""What traces cost a step: a server that exports them compared with one that does not, alternating.

Each runs alone on the machine, as far as the other is idle, so that whatever else slows the machine slows both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.bench.figures import Figure
from tests.bench.rows import timed
from tests.bench.server import pipeline_of, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.bench.figures import Counts
    from tests.bench.server import Client, Server

#: Steps of the long run; their cost is that of a run of one step more, divided by these.
_STEPS = 40
#: Accepts every export, in a process of its own as a collector is.
_COLLECTOR = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Accept(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Accept)
print(server.server_port, flush=True)
server.serve_forever()
"""


async def traces(folder: Path, counts: Counts) -> list[Figure]:
    """Marginal cost of a trivial step and its CPU, with traces on, off, and sampled."""
    with _collector() as url:
        on = {"OTEL_EXPORTER_OTLP_ENDPOINT": url}
        sampled = on | {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.05"}
        async with (
            serving(folder / "off") as plain,
            serving(folder / "on", on) as traced,
            serving(folder / "sampled", sampled) as some,
        ):
            sides = [await _Side.of(*each) for each in (plain, traced, some)]
            for number in range(counts.of(10, 1)):
                for side in sides:
                    await side.run(f"warm {number}")
            for side in sides:
                side.forget()
            for number in range(counts.of(120)):
                for side in sides[number % 3 :] + sides[: number % 3]:
                    await side.run(str(number))
            costs, cpus = [side.cost() for side in sides], [side.cpu() for side in sides]
    return [
        Figure("traces", "marginal cost of a trivial step, traces off", costs[0] * 1e3, "ms"),
        Figure("traces", "marginal cost of a trivial step, traces on", costs[1] * 1e3, "ms"),
        Figure("traces", "traces on against off, time", costs[1] / costs[0], "x", 1.02),
        Figure("traces", "5% of traces against off, time", costs[2] / costs[0], "x", 1.02),
        Figure("traces", "CPU of a step in a run alone, traces off", cpus[0] * 1e3, "ms"),
        Figure("traces", "traces on against off, CPU", cpus[1] / cpus[0], "x"),
        Figure("traces", "5% of traces against off, CPU", cpus[2] / cpus[0], "x"),
    ]


class _Side:
    """A server, and what its runs took so far."""

    def __init__(self, server: Server, client: Client, one: str, many: str) -> None:
        self._server, self._client, self._one, self._many = server, client, one, many
        self.forget()

    @classmethod
    async def of(cls, server: Server, client: Client) -> _Side:
        one, many = await pipeline_of(client, "one", 1), await pipeline_of(client, "many", 1 + _STEPS)
        return cls(server, client, one, many)

    def forget(self) -> None:
        self._short: list[float] = []
        self._long: list[float] = []
        self._cpu = self._server.cpu_seconds()

    async def run(self, text: str) -> None:
        self._short.append(await timed(self._client, self._one, f"a{text}"))
        self._long.append(await timed(self._client, self._many, f"b{text}"))

    def cost(self) -> float:
        return (statistics.median(self._long) - statistics.median(self._short)) / _STEPS

    def cpu(self) -> float:
        """The CPU of both runs for each of their steps."""
        return self._server.cpu_seconds_since(self._cpu) / len(self._long) / (_STEPS + 2)


@contextmanager
def _collector() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _COLLECTOR], stdout=subprocess.PIPE, text=True) as collector:
        assert collector.stdout is not None
        try:
            yield f"http://127.0.0.1:{collector.stdout.readline().strip()}"
        finally:
            collector.kill()
