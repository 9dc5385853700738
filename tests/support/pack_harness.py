"""Calls one pack the way the executor does, with a real file store, real HTTP and real child processes.

    harness = Harness(tmp_path)
    output = await harness.call(load_pack("doc/parse.py"), {"artifact": ref.artifact_id})

What the executor adds on top (attempts, redaction, quotas, leases) has tests of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import multiprocessing
import pickle
import sys
import time
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx2
from pydantic import ValidationError

from packline import ArtifactFile, ArtifactRef, Pack, PackError, PackSession
from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from runner.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from multiprocessing.connection import Connection

    from packline import Models
    from runner.failures import JSONValue

REPOSITORY = Path(__file__).resolve().parents[2]
BUILTIN_PACKS = REPOSITORY / "builtins" / "packs"
SAMPLES = REPOSITORY / "builtins" / "samples"

_PACKAGE = "packline_builtin_packs"
_Result = TypeVar("_Result")


def load_module(relative_path: str) -> types.ModuleType:
    """The module at `relative_path` under `builtins/packs`, loaded as part of that folder so `from . import` works.

    Loaded once per process: patching an attribute is seen by every test until it is undone.
    """
    if _PACKAGE not in sys.modules:
        package = types.ModuleType(_PACKAGE)
        package.__path__ = [str(BUILTIN_PACKS)]
        sys.modules[_PACKAGE] = package
    return importlib.import_module(f"{_PACKAGE}.{relative_path.removesuffix('.py').replace('/', '.')}")


def load_pack(relative_path: str) -> Pack:
    """The one pack declared in a file under `builtins/packs`, such as `web/scrape.py`."""
    module = load_module(relative_path)
    packs = [value for value in vars(module).values() if isinstance(value, Pack)]
    assert len(packs) == 1, f"{relative_path} declares {len(packs)} packs, one was expected"
    return packs[0]


@dataclass
class Harness:
    """One step's surroundings, and what the pack did to them.

    Attributes:
        folder: Where artifacts and sessions are kept; a test's `tmp_path`.
        services: Configured services, name to URL, as `PACKLINE_SERVICE_<NAME>_URL` would give.
        allow: What the guarded client may reach besides the public internet, as `PACKLINE_EGRESS_ALLOW` is written.
        http: Client handed to packs instead of the guarded one; whoever made it closes it.
        artifacts: Everything saved or put in, by id, in order.
        warnings: Texts given to `ctx.warn`.
        logs: Lines given to `ctx.log`, as (level, text).
        progress_calls: Arguments of `ctx.progress`.
        cache: What `ctx.cached` keeps: key to (monotonic expiry, value). Clear it to force.
        session: The session the next context carries.
        sessions: Sessions that packs started.
        processes_started: Names of the functions given to `run_in_process`.
        credentials: What the vault holds and grants: key to fields.
        models: The gateway handed to packs; None for one without any model.
    """

    folder: Path
    services: dict[str, str] = field(default_factory=dict)
    allow: str = "127.0.0.0/8,localhost"
    http: httpx2.AsyncClient | None = None
    artifacts: dict[str, ArtifactFile] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    logs: list[tuple[str, str]] = field(default_factory=list)
    progress_calls: list[tuple[float | None, str]] = field(default_factory=list)
    cache: dict[str, tuple[float, JSONValue]] = field(default_factory=dict)
    session: PackSession | None = None
    sessions: list[PackSession] = field(default_factory=list)
    processes_started: list[str] = field(default_factory=list)
    credentials: dict[str, dict[str, str]] = field(default_factory=dict)
    models: Models | None = None

    def context(
        self, *, http: httpx2.AsyncClient | None = None, attempt_number: int = 1, step_key: str = "step"
    ) -> HarnessContext:
        """A context for one attempt; the caller closes `http` if it passes one."""
        return HarnessContext(self, http or self.http or make_client(), attempt_number, step_key)

    def add_artifact(self, name: str, content: bytes, media_type: str = "application/octet-stream") -> ArtifactRef:
        """Puts a file into the store, as an upload or an earlier step would."""
        digest = hashlib.sha256(content).hexdigest()
        artifact_id = f"art_{len(self.artifacts) + 1:026d}"
        path = self.folder / "artifacts" / artifact_id
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        ref = ArtifactRef(
            artifact_id=artifact_id, name=name, media_type=media_type, size_bytes=len(content), digest=digest
        )
        self.artifacts[artifact_id] = ArtifactFile(ref, path)
        return ref

    def saved_bytes(self, artifact_id: str) -> bytes:
        """Content of an artifact."""
        return self.artifacts[artifact_id].path.read_bytes()

    async def call(self, pack: Pack, input: dict[str, Any]) -> dict[str, Any]:
        """Checks the input, runs the handler within its time-out, checks the output, returns it as JSON would be.

        Raises:
            PackError: the pack's own; `invalid_input` for input its model refuses; `invalid_output` for an output
                that its model or a post-condition refuses; `timeout`.
        """
        try:
            checked = pack.input_model.model_validate(input)
        except ValidationError as error:
            first = error.errors()[0]
            raise PackError(
                "invalid_input", first["msg"], field=".".join(str(part) for part in first["loc"])
            ) from error
        known = set(self.artifacts)
        egress = Egress(EgressPolicy.parse(self.allow))
        try:
            async with egress.client(self.services.values()) as client, asyncio.timeout(pack.timeout_seconds):
                result = await pack.handler(self.context(http=self.http or client), checked)
        except TimeoutError as error:
            raise PackError("timeout", f"{pack.name} took longer than {pack.timeout_seconds} s.") from error
        finally:
            await egress.aclose()
        assert isinstance(result, pack.output_model), f"{pack.name} returned {type(result)}"
        files = [file for artifact_id, file in self.artifacts.items() if artifact_id not in known]
        for condition in pack.post_conditions:
            if problem := condition.check(result, files):
                raise PackError("invalid_output", f"{condition.description}: {problem}")
        output: dict[str, Any] = result.model_dump(mode="json")
        pack.output_model.model_validate(output)
        return output


def without_models() -> Models:
    """The gateway of a server that has no models set up."""
    from runner.gateway.gateway import Gateway
    from runner.gateway.keys import StaticKeys

    return Gateway({}, {}, StaticKeys({}), Egress()).attempt(lambda _: None, lambda _: None)


def make_client() -> httpx2.AsyncClient:
    """An unguarded client, for contexts made by hand; without certificates, which take 43 ms of CPU to read."""
    return httpx2.AsyncClient(trust_env=False, timeout=60.0, verify=False)


class HarnessContext:
    """A `PackContext` over a `Harness`."""

    caller = "tester"
    run_id = "run_01J00000000000000000000000"

    def __init__(self, harness: Harness, http: httpx2.AsyncClient, attempt_number: int, step_key: str) -> None:
        self._harness = harness
        self.http = http
        self.step_key = step_key
        self.attempt_number = attempt_number
        self.idempotency_key = f"{self.run_id}/{step_key}"
        self.session = harness.session

    @property
    def models(self) -> Models:
        if self._harness.models is None:
            self._harness.models = without_models()
        return self._harness.models

    async def credential(self, key: str) -> Mapping[str, str]:
        if key not in self._harness.credentials:
            raise PackError("credential_invalid", f"The vault holds no credential `{key}`.")
        return self._harness.credentials[key]

    async def find_credential(self, key: str) -> Mapping[str, str] | None:
        return self._harness.credentials.get(key)

    def progress(self, fraction: float | None, message: str) -> None:
        assert fraction is None or 0 <= fraction <= 1, f"progress {fraction} is not within 0 and 1"
        self._harness.progress_calls.append((fraction, message))

    def log(self, message: str, level: str = "info") -> None:
        self._harness.logs.append((level, message))

    def warn(self, message: str) -> None:
        self._harness.warnings.append(message)

    async def save_artifact(self, name: str, content: bytes | Path, media_type: str) -> ArtifactRef:
        if not name or len(name) > 200 or "/" in name or "\\" in name or name in (".", ".."):
            raise PackError("invalid_output", f"`{name}` is not a plain file name.")
        data = content if isinstance(content, bytes) else await asyncio.to_thread(content.read_bytes)
        return self._harness.add_artifact(name, data, media_type)

    async def open_artifact(self, artifact_id: str) -> ArtifactFile:
        if artifact_id not in self._harness.artifacts:
            raise PackError("artifact_failed", f"There is no artifact `{artifact_id}`.")
        return self._harness.artifacts[artifact_id]

    async def start_session(self) -> PackSession:
        session_id = f"ses_{len(self._harness.sessions) + 1:026d}"
        path = self._harness.folder / "sessions" / session_id
        path.mkdir(parents=True)
        session = PackSession(session_id, path)
        self._harness.sessions.append(session)
        return session

    async def cached(self, key: str, ttl_seconds: float, make: Callable[[], Awaitable[JSONValue]]) -> JSONValue:
        kept = self._harness.cache.get(key)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        value = await make()
        self._harness.cache[key] = (time.monotonic() + ttl_seconds, value)
        return value

    async def run_in_process(
        self, function: Callable[..., _Result], /, *args: object, timeout_seconds: float | None = None
    ) -> _Result:
        self._harness.processes_started.append(function.__name__)
        pickle.dumps(args)  # what the real worker needs
        return await run_in_process(function, *args, timeout_seconds=timeout_seconds)

    def service_url(self, name: str) -> str | None:
        return self._harness.services.get(name)


async def run_in_process(
    function: Callable[..., _Result], *args: object, timeout_seconds: float | None = None
) -> _Result:
    """Runs `function` in a forked child, killed at time-out and cancellation."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(writer, function, args), daemon=True)
    child.start()
    writer.close()
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(reader.fileno(), ready.set)
    try:
        async with asyncio.timeout(timeout_seconds):
            await ready.wait()
        loop.remove_reader(reader.fileno())
        value = pickle.loads(reader.recv_bytes())
    except TimeoutError as error:
        raise PackError("timeout", f"{function.__name__} took longer than {timeout_seconds} s.") from error
    except EOFError as error:
        child.join()
        raise PackError(
            "handler_failed",
            f"The process of {function.__name__} died.",
            detail={"signal": -(child.exitcode or 0)},
        ) from error
    finally:
        loop.remove_reader(reader.fileno())
        reader.close()
        child.kill()
        child.join()
    if isinstance(value, Failure):
        raise PackError(
            value.code,
            value.message,
            field=value.field,
            hint=value.hint,
            retry_after_seconds=value.retry_after_seconds,
            detail=value.detail,
        )
    return cast("_Result", value)


def _child(writer: Connection, function: Callable[..., object], args: tuple[object, ...]) -> None:
    answer: object
    try:
        answer = function(*args)
    except PackError as error:
        answer = error.failure
    except MemoryError:
        answer = PackError("resource_exhausted", "The worker ran out of memory.").failure
    except Exception as error:
        answer = PackError("handler_failed", f"{type(error).__name__}: {error}").failure
    writer.send_bytes(pickle.dumps(answer))
    writer.close()
