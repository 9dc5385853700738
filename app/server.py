"""The server process: bind, start the application, serve, and stop without losing anything.

uvicorn does the HTTP. This module decides what it does not: which socket, what is said at start, how signals are
answered, and that a start that fails ends in one sentence instead of a stack.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import structlog
import uvicorn

from app.addresses import is_loopback, url_of
from app.auth.hosts import refuse
from app.settings.client import cli_address_path, cli_token_path
from app.settings.server import SettingsError
from app.supervisor import READY, STOPPING, notify
from runner.processes import pack_modules
from runner.tracebacks import in_one_line

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator, Iterator
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from app.auth.identity import Authenticator
    from app.settings.server import Settings

log = structlog.get_logger(__name__)

#: Objects after which the youngest are collected, and collections of one generation for one of the next. Python's own
#: 700, 10, 10 takes 5 to 10 % of the time of runs, whose objects go by themselves, cycles being rare.
GARBAGE = (10_000, 20, 50)
#: Exit status of a start that failed for a reason the user can mend.
EXIT_CANNOT_START = 1
#: Exit status of a server whose event loop was stopped by an exception (EX_SOFTWARE of sysexits.h).
EXIT_STOPPED = 70
_ONE_PROCESS = (
    "that needs PostgreSQL, because one process owns the embedded database and executes its runs. Set "
    "PACKLINE_DATABASE_URL, or run `packline up` alone."
)
_CUT_OFF = (
    "The server is stopping and did not wait for this any longer. A mutation may have been executed; check before you "
    "repeat it."
)


class StartError(Exception):
    """The server cannot start; the message says what to do."""


#: Called once with the address of the server, without a slash at the end, when connections are accepted.
Announce = Callable[[str], Awaitable[None]]


async def _nothing(_url: str) -> None:
    pass


def bind(host: str, port: int, *, port_setting: str = "PACKLINE_PORT") -> list[socket.socket]:
    """Binds every address of `host`, all to the same port, without listening yet.

    `port_setting` is the setting that chooses the port, for the message.

    Raises:
        StartError: the name is unknown or the port is taken.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise StartError(
            f"PACKLINE_HOST (--host) is `{host}`, which is not an address of this machine: {error.strerror}."
        ) from error
    bound: list[socket.socket] = []
    try:
        for family, kind, proto, _, address in dict.fromkeys(found):
            listener = socket.socket(family, kind, proto)
            bound.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address[0], port or (bound[0].getsockname()[1] if len(bound) > 1 else 0), *address[2:]))
            listener.setblocking(False)
    except OSError as error:
        for listener in bound:
            listener.close()
        raise StartError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}. Stop the program that uses it, or choose "
            f"another port with --port ({port_setting})."
        ) from error
    return bound


class Lifespan:
    """Starts and stops an ASGI application; uvicorn would log what the start raises, and raise SystemExit instead."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._started = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def startup(self) -> None:
        """Runs the application's start to its end.

        Raises:
            Exception: whatever the start raised.
        """
        self._task = asyncio.create_task(self._run(), name="application")
        await self._inbox.put({"type": "lifespan.startup"})
        started = asyncio.create_task(self._started.wait())
        await asyncio.wait({self._task, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if self._task.done():
            await self._task
            raise StartError("The application ended while it was starting.")

    async def shutdown(self) -> None:
        """Runs the application's stop to its end; without a start, or a second time, does nothing."""
        task, self._task = self._task, None
        if task is None:
            return
        await self._inbox.put({"type": "lifespan.shutdown"})
        await task

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}}
        await self._app(scope, self._inbox.get, self._send)

    async def _send(self, message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            self._started.set()


class _Server(uvicorn.Server):
    """uvicorn's server, with our signals and a call once it accepts connections."""

    def __init__(self, config: uvicorn.Config, on_accepting: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._on_accepting = on_accepting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._on_accepting()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # `run_app` answers signals, on the event loop.
        yield


async def run_app(
    app: ASGIApp,
    settings: Settings,
    *,
    announce: Announce,
    before_listening: Announce = _nothing,
    on_stopping: Callable[[], None] = lambda: None,
    stop: asyncio.Event | None = None,
    port_setting: str = "PACKLINE_PORT",
) -> None:
    """Serves `app` until SIGTERM, SIGINT or `stop`.

    `before_listening`, given this machine's own address of the server, runs when the application has started and
    nothing is listened on yet; what it raises ends the start. At the first signal no new connection is accepted,
    `on_stopping` is called, requests under way get `shutdown_grace_seconds`, then the application is stopped. A second
    signal does not wait for requests.

    Raises:
        StartError: the address cannot be listened on.
        Exception: whatever the application's start raised.
    """
    from app.http.uvicorn_protocols import HttpProtocol, SocketProtocol

    sockets = bind(settings.host, settings.port, port_setting=port_setting)
    local_url = url_of(settings.host, sockets[0].getsockname()[1])
    lifespan = Lifespan(app)

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if scope["type"] != "http" or not server.should_exit:
                raise
            # uvicorn lets go of what took longer than the grace; from it, it would be a 500 and a stack in the log.
            with contextlib.suppress(RuntimeError):  # the answer has begun: it is cut off
                await refuse(scope, receive, send, 503, _CUT_OFF, [(b"retry-after", b"5")])

    config = uvicorn.Config(
        served,
        http=HttpProtocol,
        ws=SocketProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=settings.public_url is not None,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=max(1, round(settings.shutdown_grace_seconds)),
        timeout_keep_alive=60,
        ws_max_size=settings.request_body_bytes,
        ws_per_message_deflate=False,
    )

    async def accepting() -> None:
        # What start-up made lives as long as the process: take it out of every later collection.
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        gc.enable()
        await announce(settings.outward if settings.public_url else f"{local_url}{settings.base}")
        notify(READY)

    server = _Server(config, accepting)

    def leave() -> None:
        if server.should_exit:
            server.force_exit = True
            return
        log.info("stopping", grace_seconds=settings.shutdown_grace_seconds)
        notify(STOPPING)
        server.should_exit = True
        on_stopping()

    waiting = asyncio.create_task(_when(stop, leave)) if stop is not None else None
    with _signals(leave):
        try:
            await lifespan.startup()
            await before_listening(local_url)
            await server.serve(sockets=sockets)
        finally:
            if waiting is not None:
                waiting.cancel()
            for listener in sockets:
                listener.close()
            await lifespan.shutdown()


def serve(settings: Settings, *, announce: Announce | None = None) -> int:
    """Runs the server until a signal stops it; returns the exit status for the process."""
    from app.http.login import link_url
    from app.main import create_app

    if not settings.worker and settings.database_url == "sqlite":
        return _cannot_start(f"`packline up --no-worker` (PACKLINE_WORKER=off) leaves runs to workers: {_ONE_PROCESS}")
    app = create_app(settings)
    address = CliAddress(settings.data_dir)

    async def prepare(local_url: str) -> None:
        assert app.authenticator is not None
        await require_set_up(app.authenticator, settings)
        await leave_cli_token(app.authenticator, settings.data_dir)
        address.leave(local_url)

    async def say(url: str) -> None:
        assert app.authenticator is not None
        # Elsewhere, standard output is kept as a log that others read, and the link would sign them in.
        link = await app.authenticator.first_link() if sys.stdout.isatty() else None
        print_start(url, link=link_url(url, link) if link else None, host=settings.host)

    serving = partial(
        run_app, app, settings, announce=announce or say, before_listening=prepare, on_stopping=app.begin_stopping
    )
    try:
        return _run(settings, serving)
    finally:
        address.give_back()


def work(settings: Settings) -> int:
    """Runs a worker, which answers only `/healthz` and `/metrics`, until a signal stops it; returns the exit status."""
    from app.main import create_app

    if settings.database_url == "sqlite":
        return _cannot_start(f"`packline worker` shares the runs of servers: {_ONE_PROCESS}")
    app = create_app(settings, answers=False)

    async def say(url: str) -> None:
        assert app.services is not None
        print(f"Packline worker {app.services.engine.worker.name} is running; health at {url}/healthz", flush=True)

    # The public address is the server's; the worker needs it for agents only.
    listening = settings.model_copy(update={"port": settings.worker_port, "public_url": None, "base_path": None})
    return _run(settings, partial(run_app, app, listening, announce=say, port_setting="PACKLINE_WORKER_PORT"))


def _run(settings: Settings, main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Runs the process's main coroutine; what keeps it from starting is one sentence on standard error."""
    from app.logging import configure_logging

    configure_logging(settings.log_level, settings.log_format)
    for warning in settings.warnings:
        log.warning(warning)
    try:
        # What people put into runs lies there: nobody else on this machine needs to look.
        settings.data_dir.mkdir(mode=0o700, parents=True)
        is_new = True
    except FileExistsError:
        if not settings.data_dir.is_dir():
            return _cannot_start(f"The data folder {settings.data_dir} is a file. Choose another `--data-dir`.")
        is_new = False
    except OSError as error:
        return _cannot_start(f"The data folder {settings.data_dir} cannot be made: {error.strerror}.")
    status = _run_in_folder(settings, main)
    if is_new and status:
        with contextlib.suppress(OSError):  # it holds something
            settings.data_dir.rmdir()
    return status


def _run_in_folder(settings: Settings, main: Callable[[], Coroutine[Any, Any, None]]) -> int:
    import uvloop

    from runner.egress.policy import EgressPolicyError
    from store.database.errors import DataFolderInUseError, StoreError

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            try:
                runner.run(main())
            except (SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
                end_process(error)
    except DataFolderInUseError as error:
        return _cannot_start(f"{error} Stop it, or give this one another `--data-dir` (PACKLINE_DATA_DIR).")
    except (StartError, StoreError, SettingsError, EgressPolicyError) as error:
        return _cannot_start(str(error))
    return 0


def _cannot_start(why: str) -> int:
    print(f"packline: {why}", file=sys.stderr)
    return EXIT_CANNOT_START


def end_process(error: BaseException) -> NoReturn:
    """End the process at once after its event loop was stopped by an exception; logs which and where it was raised.

    Tasks cannot be awaited any more, threads may wait for them for ever, and the lock of the data folder must go.
    Everything that was acknowledged is stored, and the next server continues the runs.
    """
    what = " from ".join(in_one_line(one, pack_modules.ROOT) for one in (error, error.__cause__) if one is not None)
    log.critical("the server ends: an exception stopped its event loop", error=what)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(EXIT_STOPPED)


async def require_set_up(authenticator: Authenticator, settings: Settings) -> None:
    """Refuses to let other machines in before anybody can prove who they are.

    Raises:
        StartError: the server would listen wider than this machine, and nobody has a login or token.
    """
    if not settings.is_loopback and not await authenticator.is_set_up():
        raise StartError(
            f"PACKLINE_HOST (--host) is `{settings.host}`, which other machines can reach, and nobody can sign in yet. "
            "Start once without --host and open the login link or run `packline token create`, or set "
            "PACKLINE_BOOTSTRAP_TOKEN."
        )


async def leave_cli_token(authenticator: Authenticator, data_dir: Path) -> None:
    """Leaves a token for the commands of the user the server runs as, unless a valid one lies there."""
    path = cli_token_path(data_dir)
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
        if await authenticator.knows(path.read_text("ascii").strip()):
            return
    made = await authenticator.make_cli_token()
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{made.plaintext}\n")
    partial.replace(path)


class CliAddress:
    """The address that the commands of this user call, as the last server of a data folder left it."""

    def __init__(self, data_dir: Path) -> None:
        self._path = cli_address_path(data_dir)
        self._before = self._left = ""

    def leave(self, url: str) -> None:
        """Leave the address of this server."""
        self._before, self._left = self._read(), f"{url}\n"
        self._path.write_text(self._left, "utf-8")

    def give_back(self) -> None:
        """Leave the address that was there before, unless another server has left its own since."""
        if self._before and self._left and self._read() == self._left:
            self._path.write_text(self._before, "utf-8")

    def _read(self) -> str:
        try:
            return self._path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""


def print_start(url: str, *, link: str | None, host: str) -> None:
    """Says on standard output where the server is and how to sign in."""
    lines = [f"Packline is running at {url}"]
    if link:
        lines.append(f"Sign in, once, with   {link}")
    else:
        lines.append("For a login link, run  packline token login-link")
    if not is_loopback(host):
        lines.append("Other machines can reach it: every request needs a token or a login.")
    print("\n".join(lines), flush=True)


@contextlib.contextmanager
def _signals(leave: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    taken = []
    for number in (signal.SIGTERM, signal.SIGINT):
        # Only the main thread may take signals; elsewhere (tests, embedding) `stop` ends the server.
        with contextlib.suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, leave)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)


async def _when(event: asyncio.Event, call: Callable[[], None]) -> None:
    await event.wait()
    call()
