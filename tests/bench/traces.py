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
            for number in range(counts.of(240)):
                for side in sides[number % 3 :] + sides[: number % 3]:
                    await side.run(str(number))
            off, all_of_them, few = sides
            cost, cpu = off.cost(), off.cpu()
            added = [side.added_to(off) for side in (all_of_them, few)]
            cpus = [side.cpu() - cpu for side in (all_of_them, few)]
            exporting = all_of_them.children_cpu() - off.children_cpu()
    return [
        Figure("traces", "marginal cost of a trivial step, traces off", cost * 1e3, "ms"),
        Figure("traces", "what traces add to it, time", added[0] * 1e6, "us"),
        Figure("traces", "traces on against off, time", 1 + added[0] / cost, "x", 1.02),
        Figure("traces", "5% of traces against off, time", 1 + added[1] / cost, "x", 1.02),
        Figure("traces", "CPU of a step in a run alone, traces off", cpu * 1e3, "ms"),
        Figure("traces", "what traces add to it, CPU of the server", cpus[0] * 1e6, "us"),
        Figure("traces", "what traces add to it, CPU of the exporting process", exporting * 1e6, "us"),
        Figure("traces", "traces on against off, CPU of the server", 1 + cpus[0] / cpu, "x", 1.02),
        Figure("traces", "5% of traces against off, CPU of the server", 1 + cpus[1] / cpu, "x", 1.02),
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
        self._costs: list[float] = []
        self._cpu, self._children_cpu = self._server.cpu_seconds(), self._server.children_cpu_seconds()

    async def run(self, text: str) -> None:
        short = await timed(self._client, self._one, f"a{text}")
        self._costs.append((await timed(self._client, self._many, f"b{text}") - short) / _STEPS)

    def cost(self) -> float:
        return statistics.median(self._costs)

    def added_to(self, other: _Side) -> float:
        """What a step costs more than that of another side, run by run: both met what else the machine did."""
        return statistics.median(mine - its for mine, its in zip(self._costs, other._costs, strict=True))

    def cpu(self) -> float:
        """The CPU of both runs for each of their steps."""
        return self._for_each_step(self._server.cpu_seconds_since(self._cpu))

    def children_cpu(self) -> float:
        """The same, of the server's child processes."""
        return self._for_each_step(self._server.children_cpu_seconds() - self._children_cpu)

    def _for_each_step(self, seconds: float) -> float:
        return seconds / len(self._costs) / (_STEPS + 2)


@contextmanager
def _collector() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _COLLECTOR], stdout=subprocess.PIPE, text=True) as collector:
        assert collector.stdout is not None
        try:
            yield f"http://127.0.0.1:{collector.stdout.readline().strip()}"
        finally:
            collector.kill()
