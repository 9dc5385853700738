"""Calls one built-in pack, with real HTTP and real child processes; see `packline.testing`.

harness = Harness(tmp_path)
output = await harness.call(load_pack("doc/parse.py"), {"artifact": ref.artifact_id})
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import multiprocessing
import pickle
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import httpx2

from packline import Pack, PackError
from packline.testing import PackEnvironment, TestContext
from runner.egress.client import Egress
from runner.failures import Failure
from runner.secrets.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from packline import Models

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
class Harness(PackEnvironment):
    """A `PackEnvironment` that reaches the network of this machine.

    Attributes:
        processes_started: Names of the functions given to `run_in_process`.
    """

    network: bool = True
    allow: str = "127.0.0.0/8,localhost"
    processes_started: list[str] = field(default_factory=list)

    def context(
        self,
        pack: Pack | None = None,
        *,
        http: httpx2.AsyncClient | None = None,
        redactor: Redactor | None = None,
        attempt_number: int = 1,
        step_key: str = "step",
    ) -> HarnessContext:
        """A context for one attempt; the caller closes `http` if it passes one."""
        client = http or (self.http if isinstance(self.http, httpx2.AsyncClient) else make_client())
        if self.models is None:
            self.models = without_models()
        known = redactor or Redactor()
        return HarnessContext(self, pack, client, known, step_key=step_key, attempt_number=attempt_number)


def without_models() -> Models:
    """The gateway of a server that has no models set up."""
    from runner.gateway.gateway import Gateway
    from runner.gateway.keys import StaticKeys

    return Gateway({}, {}, StaticKeys({}), Egress()).attempt(lambda _: None, lambda _: None)


def make_client() -> httpx2.AsyncClient:
    """An unguarded client, for contexts made by hand; without certificates, which take 43 ms of CPU to read."""
    return httpx2.AsyncClient(trust_env=False, timeout=60.0, verify=False)


class HarnessContext(TestContext):
    """A `PackContext` over a `Harness`; its processes are forks of the test, which have what the test patched."""

    async def run_in_process(
        self, function: Callable[..., _Result], /, *args: object, timeout_seconds: float | None = None
    ) -> _Result:
        assert isinstance(self.environment, Harness)
        self.environment.processes_started.append(function.__name__)
        pickle.dumps(args)  # what the real worker needs
        return await run_in_process(function, *args, timeout_seconds=timeout_seconds)


async def run_in_process(
    function: Callable[..., _Result], *args: object, timeout_seconds: float | None = None
) -> _Result:
    """Runs `function` in a forked child, killed at time-out and cancellation.

    Libraries that its module names in `PRELOAD` are imported before the fork, as the spawner does.
    """
    for name in getattr(sys.modules[function.__module__], "PRELOAD", ()):
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)
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
        raise PackError.of(value)
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
