#!/usr/bin/env python3
"""What `make run` does once everything is installed: start Packline and run a pipeline on a real document.

The server keeps its data in `.packline` (PACKLINE_DATA_DIR) and listens on port 8420 (PACKLINE_PORT). Next to it a
plain file server shows the documents of `builtins/samples` on the loopback address, as a web site would; packs may
reach that one address because PACKLINE_EGRESS_ALLOW names it. On a terminal the server stops with Ctrl-C; otherwise,
or with PACKLINE_RUN_DETACH=1, both go on in the background until `make stop`. A server that already runs is used.

Only the standard library is used; everything about runs goes through the command `packline`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.environment import SOURCES

SAMPLES = ROOT / "builtins" / "samples"
LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 30.0


class RunError(Exception):
    """Raised when the demo cannot continue; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Demo:
    """One pipeline run on one of the documents.

    Attributes:
        pipeline: Id of the starter: its key alone leads to a pipeline of the user's own that was there first.
        field: The input that takes the document's address.
        document: File in `builtins/samples`.
        deck: Name of the resulting deck in the output folder.
    """

    pipeline: str
    field: str
    document: str
    deck: str


DEMOS = (
    Demo("builtin.doc-deck", "source_url", "lighthouses.pdf", "lighthouses-deck.pdf"),
    Demo("builtin.scrape-deck", "url", "fresnel-lens.html", "fresnel-lens-deck.pdf"),
)


@dataclass(frozen=True, slots=True)
class Running:
    """The started processes, recorded in the data folder for the next call.

    Attributes:
        server_pid: Process of the server.
        samples_pid: Process of the file server.
        samples_port: Its port, which the server may reach.
        url: Address of the server.
        sources: Digest of the sources it was started from, see `_sources`.
    """

    server_pid: int
    samples_pid: int
    samples_port: int
    url: str
    sources: str = ""

    @classmethod
    def read(cls, file: Path) -> Running | None:
        """The record of the last start; None when there is none."""
        try:
            return cls(**json.loads(file.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None


class LocalServers:
    """The Packline server, the file server and their data folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        chosen = environment.get("PACKLINE_DATA_DIR")
        self.data = Path(chosen).expanduser().resolve() if chosen else ROOT / ".packline"
        self.port = _port(environment.get("PACKLINE_PORT") or "8420")
        self.out = self.data / "out"
        self.log = self.data / "server.log"
        self._note = self.data / "make-run.json"
        self._command = str(Path(sys.executable).parent / "packline")
        # These three would send our commands to another server, or slow this one down.
        strange = ("PACKLINE_SERVER", "PACKLINE_TOKEN", "PYTHONDONTWRITEBYTECODE")
        self._environment = {key: value for key, value in environment.items() if key not in strange}
        self._environment["PACKLINE_DATA_DIR"] = str(self.data)

    # -- starting and stopping

    def open(self) -> tuple[Running, bool]:
        """Start the servers if needed; return them and whether they were started.

        Raises:
            RunError: they cannot be started.
        """
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = Running.read(self._note)
        if found is not None and self._answers(found.url):
            if found.sources != _sources():
                print("The sources have changed since the server started: restarting it.", flush=True)
            elif _serves(found.samples_port):
                return found, False
            elif (process := self._serve_samples(found.samples_port)) is not None:
                found = replace(found, samples_pid=process.pid)
                self._write(found)
                return found, False
            else:
                print("Another program took the port of the sample documents: restarting.", flush=True)
        self.close()
        if (url := self._address()) and self._answers(url):
            raise RunError(
                f"A server that `make run` did not start uses {_shown(self.data)}, at {url}. Stop it first, or choose "
                "another folder: make run PACKLINE_DATA_DIR=…"
            )
        self._require_free_port()
        return self._start(), True

    def require_place(self) -> None:
        """Refuse early, before anything is installed, what `open` would refuse because of the port.

        Raises:
            RunError: another program uses the port, and no server of an earlier start, which may be using it, runs.
        """
        found = Running.read(self._note)
        if found is None or not _is(found.server_pid, "packline"):
            self._require_free_port()

    def close(self) -> bool:
        """Stop the servers of an earlier start; return whether there were any."""
        found = Running.read(self._note)
        self._note.unlink(missing_ok=True)
        if found is None:
            return False
        stopped = _end(found.server_pid, "packline")
        return _end(found.samples_pid, "http.server") or stopped

    def wait(self, running: Running) -> None:
        """Wait for the server to end."""
        while _is(running.server_pid, "packline"):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(running.server_pid, os.WNOHANG)
            time.sleep(0.2)

    def _start(self) -> Running:
        with contextlib.ExitStack() as undo:  # Ctrl-C in between leaves nothing behind either
            running = self._started(undo)
            undo.pop_all()
        return running

    def _started(self, undo: contextlib.ExitStack) -> Running:
        with _interrupts_held():
            samples = self._serve_samples(0)
            assert samples is not None, "any free port will do"
            undo.callback(_end_own, samples)
        samples_port = _wait_for_port(samples, self.data / "samples.log")
        allowed = [self._environment.get("PACKLINE_EGRESS_ALLOW", ""), f"{LOOPBACK}:{samples_port}"]
        # What an earlier server left must not be taken for the new one's.
        (self.data / "cli-address").unlink(missing_ok=True)
        with _interrupts_held(), self.log.open("wb") as log:
            server = subprocess.Popen(
                [self._command, "up", "--port", str(self.port)],
                cwd=ROOT,
                env={**self._environment, "PACKLINE_EGRESS_ALLOW": ",".join(filter(None, allowed))},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for us; we stop the server.
                start_new_session=True,
            )
            undo.callback(_end_own, server)
        until = time.monotonic() + START_SECONDS
        while server.poll() is None and time.monotonic() < until:
            url = self._address()
            if url and _healthy(url):
                running = Running(server.pid, samples.pid, samples_port, url, _sources())
                self._write(running)
                return running
            time.sleep(0.05)
        said = self.log.read_text("utf-8", "replace").strip()
        raise RunError(f"The server did not start. It said:\n{said or '(nothing)'}")

    def _serve_samples(self, port: int) -> subprocess.Popen[bytes] | None:
        """Serve the sample documents; return None when the port is taken."""
        if port and not _is_free(port):
            return None
        with (self.data / "samples.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-u", "-m", "http.server", "--bind", LOOPBACK, "--directory", str(SAMPLES), str(port)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _require_free_port(self) -> None:
        if not _is_free(self.port):
            raise RunError(
                f"Port {self.port} is taken by another program. Stop that one, or choose another port: "
                f"make run PACKLINE_PORT={self.port + 10}"
            )

    def _write(self, running: Running) -> None:
        self._note.write_text(json.dumps(asdict(running)), "utf-8")

    def _address(self) -> str:
        try:
            return (self.data / "cli-address").read_text("utf-8").strip()
        except OSError:
            return ""

    def _answers(self, url: str) -> bool:
        """Whether the server of this data folder answers: it knows the token in the folder."""
        return _healthy(url) and self._packline("runs", "--limit", "1", "--json").returncode == 0

    # -- running

    def run(self, demo: Demo, running: Running) -> Path:
        """Run a pipeline, print its steps as they change, and return the deck.

        Raises:
            RunError: the run failed or made no PDF.
        """
        fresh = self.out / ".fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        address = f"http://{LOOPBACK}:{running.samples_port}/{demo.document}"
        words = ["run", demo.pipeline, "--input", f"{demo.field}={address}", "--save", str(fresh), "--text"]
        print(f"\n$ packline run {demo.pipeline} --input {demo.field}={address}", flush=True)
        # Through a pipe the command prints a line for every change, which stays on the screen.
        with subprocess.Popen(
            [self._command, *words],
            cwd=ROOT,
            env={**self._environment, "PACKLINE_SERVER": running.url, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if not line.startswith(f"saved {fresh}"):
                    print(f"  {line.rstrip()}".rstrip(), flush=True)
        if process.returncode != 0:
            raise RunError(f"The run of {demo.pipeline} did not succeed. The server's log is {_shown(self.log)}.")
        decks = sorted(fresh.glob("*.pdf"))
        if not decks or decks[0].read_bytes()[:5] != b"%PDF-":
            raise RunError(f"The run of {demo.pipeline} succeeded and left no PDF.")
        deck = self.out / demo.deck
        decks[0].replace(deck)
        shutil.rmtree(fresh)
        return deck

    def login_link(self, running: Running) -> str:
        """Return a login link for one browser.

        Raises:
            RunError: the server gives none.
        """
        made = self._packline("token", "login-link", "--json", server=running.url)
        try:
            return str(json.loads(made.stdout)["url"])
        except (ValueError, KeyError) as error:
            raise RunError(f"No login link: {made.stderr.strip() or made.stdout.strip()}") from error

    def _packline(self, *words: str, server: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**self._environment, **({"PACKLINE_SERVER": server} if server else {})}
        return subprocess.run(
            [self._command, *words],
            check=False,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
        )


def main() -> int:
    """Returns the exit status of the process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stop", action="store_true", help="stop what an earlier `make run` left running")
    parser.add_argument("--check", action="store_true", help="only check that the port is free; needs no environment")
    given = parser.parse_args()
    try:
        servers = LocalServers(os.environ)
        if given.stop:
            print("Stopped." if servers.close() else "Nothing that `make run` started is running.")
            return 0
        if given.check:
            servers.require_place()
            return 0
        return _run(servers)
    except RunError as error:
        print(f"packline: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", flush=True)
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it, as in `make run | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(servers: LocalServers) -> int:
    running, started = servers.open()
    try:
        print(f"Packline {'is running' if started else 'was already running'} at {running.url}")
        print(f"The sample documents are at http://{LOOPBACK}:{running.samples_port}/")
        decks = [servers.run(demo, running) for demo in DEMOS]
        link = servers.login_link(running)
        print("\nMade:")
        for deck in decks:
            print(f"  {_shown(deck)}")
        print(f"\nAddress:  {running.url}")
        print(f"Sign in:  {link}  (works once)")
        print(f"Commands: export PACKLINE_DATA_DIR={servers.data}; {_shown(Path(sys.executable).parent)}/packline runs")
        if not started or not sys.stdin.isatty() or os.environ.get("PACKLINE_RUN_DETACH") == "1":
            print("The server goes on in the background; `make stop` stops it.")
            return 0
        print("Ctrl-C stops the server.", flush=True)
        servers.wait(running)
    except KeyboardInterrupt:
        print("\nStopping.", flush=True)
        if started:
            servers.close()
        return 0
    except BaseException:
        if started:
            servers.close()
        raise
    raise RunError(f"The server has ended. Its log is {_shown(servers.log)}.")


def _sources() -> str:
    """Return a digest of the names, sizes and times of the server's sources."""
    found = hashlib.sha256((ROOT / "requirements.lock").read_bytes())
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                status = file.stat()
                found.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return found.hexdigest()


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 <= int(text) <= 65535:
        raise RunError(f"PACKLINE_PORT is `{text}`; a port is a number up to 65535.")
    return int(text)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def _healthy(url: str) -> bool:
    return _get(f"{url}/healthz")


def _serves(port: int) -> bool:
    """Whether our file server answers, not another program on its port."""
    return _get(f"http://{LOOPBACK}:{port}/{DEMOS[0].document}", method="HEAD")


def _get(url: str, *, method: str = "GET") -> bool:
    # No proxy: this is our own machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, method=method), timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError, ValueError):
        return False


def _wait_for_port(server: subprocess.Popen[bytes], log: Path) -> int:
    """Return the port that the file server prints."""
    until = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        words = log.read_text("utf-8", "replace").split()
        if "port" in words[:-1]:
            return int(words[words.index("port") + 1])
        time.sleep(0.02)
    server.terminate()
    raise RunError(f"The sample documents cannot be served: {log.read_text('utf-8', 'replace').strip()}")


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delays Ctrl-C to the end, when a started process has been recorded and can be stopped."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard and before is not signal.SIG_IGN:
        raise KeyboardInterrupt


def _is(pid: int, word: str) -> bool:
    """Whether the process lives and is the one we started: a process id may be given again to another program."""
    if Path("/proc/self/cmdline").exists():
        try:
            return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
    listing = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], check=False, capture_output=True, text=True)
    return word in listing.stdout


def _end(pid: int, word: str) -> bool:
    """End a process and wait for it; return whether it was running."""
    if not _is(pid, word):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while _is(pid, word):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > until:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    return True


def _end_own(process: subprocess.Popen[bytes]) -> None:
    """End a process we have just started, whose command line is empty until the program is loaded."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


if __name__ == "__main__":
    sys.exit(main())
