"""A real server process on loopback, and a client that speaks to it as scripts do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import httpx2
import psutil
import websockets

from tests.support.ports import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

T = TypeVar("T")

#: A server that takes longer to start or to stop hangs.
_PATIENCE_SECONDS = 60
_TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
TOKEN = "pkl_bench_token_0123456789abcdef"
PROGRAM = (str(Path(sys.executable).parent / "packline"),)
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Server:
    """`packline up` or `packline worker` in a process of its own.

    Attributes:
        settings: Further PACKLINE_ variables.
        program: What is started with `command` and its options.
        command: `up`, or `worker`, which answers `/healthz` alone.
        begun: When the command was given, of `time.perf_counter`.
        begun_at: The same, in seconds since 1970.
    """

    data_dir: Path
    settings: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = PROGRAM
    command: Literal["up", "worker"] = "up"
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    begun: float = 0.0
    begun_at: float = 0.0

    def start(self) -> float:
        """Starts it; seconds until `/healthz` answered 200.

        Raises:
            RuntimeError: it ended, or did not answer within a minute.
        """
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PACKLINE_")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # `make run` and images compile bytecode, too
        environment |= {
            "PACKLINE_BOOTSTRAP_TOKEN": TOKEN,
            "PACKLINE_PACK_PATH": str(Path(__file__).parent / "folder"),
            "PACKLINE_CALLER_CONCURRENT_RUNS": "100000",
            "PACKLINE_QUEUE_LIMIT": "1000000",
            "PACKLINE_HOST": "127.0.0.1",
            "PACKLINE_LOG_LEVEL": "error",
            **self.settings,
        }
        command = [
            *self.program,
            self.command,
            "--port",
            str(self.port),
            "--data-dir",
            str(self.data_dir),
        ]
        self.begun, self.begun_at = time.perf_counter(), time.time()
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                    if b" 200 " in connection.recv(64):
                        return time.perf_counter() - self.begun
            except OSError:
                pass
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}")
            if time.perf_counter() - self.begun > _PATIENCE_SECONDS:
                raise RuntimeError(f"the server did not answer within {_PATIENCE_SECONDS} s")
            time.sleep(0.002)

    def kill(self) -> None:
        """Ends it at once."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Ends it as an operator would, and at once when that takes too long."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise

    def cpu_seconds(self) -> float:
        """CPU time of the server process so far."""
        assert self.process is not None
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def cpu_seconds_since(self, before: float) -> float:
        """CPU time since an earlier reading: at least a tick of its clock, since less cannot be told."""
        return max(self.cpu_seconds() - before, _TICK_SECONDS)

    def children_cpu_seconds(self) -> float:
        """CPU time so far of the processes it has started that are alive."""
        assert self.process is not None
        children = psutil.Process(self.process.pid).children(recursive=True)
        return sum((times := child.cpu_times()).user + times.system for child in children)

    def resident_bytes(self) -> int:
        """Resident memory of the server process."""
        assert self.process is not None
        return int(psutil.Process(self.process.pid).memory_info().rss)


class Client:
    """GraphQL over HTTP and graphql-transport-ws."""

    def __init__(self, server: Server) -> None:
        self._url = f"http://127.0.0.1:{server.port}/graphql"
        self._socket_url = f"ws://127.0.0.1:{server.port}/graphql"
        self.http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {TOKEN}"},
            timeout=120,
            limits=httpx2.Limits(max_connections=64),
            trust_env=False,
        )

    async def ask(self, query: str, **variables: object) -> Any:
        """The data of an operation.

        Raises:
            RuntimeError: it has errors.
        """
        response = await self.http.post(self._url, json={"query": query, "variables": variables})
        answer = response.json()
        if answer.get("errors"):
            raise RuntimeError(json.dumps(answer["errors"])[:500])
        return answer["data"]

    @asynccontextmanager
    async def watch(self, query: str, **variables: object) -> AsyncIterator[AsyncIterator[Any]]:
        """The messages of a subscription."""
        async with websockets.connect(self._socket_url, subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]
            hello = {"type": "connection_init", "payload": {"Authorization": f"Bearer {TOKEN}"}}
            await socket.send(json.dumps(hello))
            await socket.recv()
            payload = {"query": query, "variables": variables}
            await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))

            async def messages() -> AsyncIterator[Any]:
                async for text in socket:
                    message = json.loads(text)
                    if message["type"] == "next":
                        yield message["payload"]["data"]
                    elif message["type"] in ("complete", "error"):
                        if message["type"] == "error":
                            raise RuntimeError(str(message["payload"])[:500])
                        return

            yield messages()

    async def close(self) -> None:
        """Ends its connections."""
        await self.http.aclose()


@asynccontextmanager
async def serving(
    data_dir: Path, settings: dict[str, str] | None = None, *, program: tuple[str, ...] = PROGRAM
) -> AsyncIterator[tuple[Server, Client]]:
    """A running server and a client of it; however the block ends, nothing of them is left."""
    server = Server(data_dir, settings or {}, program)
    client = Client(server)
    try:
        server.start()
        yield server, client
    finally:
        await client.close()
        server.stop()


async def pipeline_of(
    client: Client, key: str, steps: int, pack: str = "bench.noop", *, seconds: float = 0.2, takes_text: bool = False
) -> str:
    """Saves a pipeline of equal steps, of which `bench.steady` takes so many seconds; its id.

    One of `bench.noop` takes a text; `takes_text` makes the first step of another such a one.
    """
    listed: list[dict[str, object]] = []
    for number in range(steps):
        given: dict[str, object]
        if takes_text and number == 0:
            listed.append({"id": "s0", "pack": "bench.noop", "input": {"text": "${{ inputs.text }}"}})
            continue
        if pack == "bench.noop":
            source = "${{ inputs.text }}" if number == 0 else f"${{{{ steps.s{number - 1}.output.text }}}}"
            given = {"text": source}
        else:
            given = {"seconds": seconds}
        listed.append({"id": f"s{number}", "pack": pack, "input": given})
    return await save_pipeline(client, key, listed)


async def save_pipeline(client: Client, key: str, steps: list[dict[str, object]]) -> str:
    """Saves a pipeline; its id."""
    document = {"key": key, "name": key, "steps": steps}
    data = await client.ask(
        "mutation($d: JSON!) { createPipeline(definition: {document: $d}) { __typename "
        "... on PipelineSuccess { pipeline { id } } ... on Problem { message } } }",
        d=document,
    )
    answer = data["createPipeline"]
    if "pipeline" not in answer:
        raise RuntimeError(str(answer))
    return str(answer["pipeline"]["id"])


RUN = (
    "mutation($p: ID!, $i: JSON!, $w: Int!) { runPipeline(pipeline: $p, inputs: $i, waitSeconds: $w) { "
    "__typename ... on StartRunSuccess { run { id state } } ... on Problem { message } } }"
)


async def start_run(client: Client, pipeline: str, text: str, wait: int = 0) -> dict[str, str]:
    """Starts a run; its id and state."""
    inputs = {} if text == "" else {"text": text}
    answer = (await client.ask(RUN, p=pipeline, i=inputs, w=wait))["runPipeline"]
    if "run" not in answer:
        raise RuntimeError(str(answer))
    run: dict[str, str] = answer["run"]
    return run


async def wait_until(condition: Callable[[], Awaitable[T | None]], seconds: float = 60, *, between: float = 0.005) -> T:
    """Asks an async condition quickly until it is true; what it is then."""
    until = time.monotonic() + seconds
    while not (met := await condition()):
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        await asyncio.sleep(between)
    return met
