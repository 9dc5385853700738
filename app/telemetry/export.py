"""Hands ended spans to a process that exports them.

To build and to encode a span takes the SDK about 50 µs of the interpreter that also executes the steps. In a process of
its own that costs them nothing. A thread writes what has ended to its pipe; nobody else waits for the process, so one
that is slow, hangs or dies costs spans, never time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import IO, TYPE_CHECKING

import structlog

from app.telemetry.records import SENT, frame_of

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

    from app.telemetry.records import Record

log = structlog.get_logger(__name__)

#: How long a stopping process waits for the last spans to be sent.
STOP_SECONDS = 3.0
#: How long a stop waits, when the process has been killed, for the thread to log what is lost.
REPORT_SECONDS = 1.0
#: How long ended spans are collected before they are written.
COLLECT_SECONDS = 0.25
#: Least time between two starts of the process, should it die again and again.
RESTART_SECONDS = 5.0
#: Most ended spans that wait, about 6 MB; the oldest ones are dropped.
MOST_WAITING = 10_000
#: Most spans in a frame: packing them takes 0.2 ms, during which no step goes on.
_AT_ONCE = 500
#: Milliseconds that the SDK collects spans for; they are lost if the process is killed. Its own default is 5,000.
_DEFAULTS = {"OTEL_BSP_SCHEDULE_DELAY": "1000"}
_BOOT = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from app.telemetry.export_process import main; main()"


class SpanExport:
    """Exports spans by a process, which it starts with the first of them and again when it has died.

    Args:
        resource: What all spans belong to.
        version: The release.
        log_level: Lowest level that the process logs.
        log_format: How it logs.
    """

    def __init__(self, resource: Resource, version: str, log_level: str, log_format: str) -> None:
        self._hello = frame_of(
            (dict(resource.attributes), resource.schema_url, version, log_level, log_format, STOP_SECONDS)
        )
        self._waiting: deque[Record] = deque(maxlen=MOST_WAITING)
        self._dropped = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._started = float("-inf")
        self._unconfirmed = 0
        self._lost = 0
        self._stopping = threading.Event()
        self._is_given_up = False
        self._ended: Future[None] = Future()
        threading.Thread(target=self._serve, name="packline-spans", daemon=True).start()

    @property
    def waiting(self) -> int:
        """How many ended spans the process has not been given."""
        return len(self._waiting)

    def put(self, record: Record) -> None:
        """Take an ended span. Never blocks."""
        if len(self._waiting) == MOST_WAITING:
            self._dropped += 1
        self._waiting.append(record)

    async def stop(self) -> None:
        """Send the last spans; give up after `STOP_SECONDS`. Safe to call twice."""
        self._stopping.set()
        ended = [asyncio.wrap_future(self._ended)]
        _, late = await asyncio.wait(ended, timeout=STOP_SECONDS)
        if late:
            self._is_given_up = True
            if (process := self._process) is not None:
                process.kill()
            await asyncio.wait(ended, timeout=REPORT_SECONDS)

    def _serve(self) -> None:
        try:
            while not self._stopping.wait(COLLECT_SECONDS):
                self._send()
            self._send()
            self._end()
        except Exception:
            log.exception("traces are no longer exported because of a bug")
        finally:
            self._ended.set_result(None)

    def _send(self) -> None:
        """Write what waits, unless the process cannot be started."""
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            log.warning("spans were dropped, since the process that exports them is slow", spans=dropped)
        while self._waiting and (process := self._running()) is not None:
            records = [self._waiting.popleft() for _ in range(min(len(self._waiting), _AT_ONCE))]
            try:
                frame = frame_of(records)
            except ValueError:
                records = [record for record in records if _can_be_written(record)]
                frame = frame_of(records)
            self._unconfirmed += len(records)
            try:
                self._write(process, frame)
            except OSError:
                process.kill()
                process.wait()

    def _running(self) -> subprocess.Popen[bytes] | None:
        """Return the process; start it if there is none or it has died. None if that fails or the stop is late."""
        if self._process is not None:
            self._confirm(self._process)
            if self._process.poll() is None:
                return self._process
            log.warning(
                "the process that exports traces has died",
                status=self._process.returncode,
                lost_spans=self._unconfirmed,
            )
            self._close(self._process)
        if self._is_given_up:
            return None
        self._stopping.wait(max(self._started + RESTART_SECONDS - time.monotonic(), 0))
        self._started = time.monotonic()
        try:
            self._process = _start()
            self._write(self._process, self._hello)
        except OSError as error:
            log.warning("the process that exports traces cannot be started", error=str(error))
            return None
        return self._process

    def _end(self) -> None:
        """Let the process send what it has, and end."""
        if (process := self._process) is None:
            return
        with contextlib.suppress(OSError):
            _pipes(process)[0].close()
        process.wait()
        self._confirm(process)
        if lost := self._lost + self._unconfirmed + len(self._waiting):
            log.warning("spans could not be sent before the stop", spans=lost)
        self._close(process)

    def _confirm(self, process: subprocess.Popen[bytes]) -> None:
        """Read how many spans the process has sent or lost, and count those lost since it last sent one."""
        with contextlib.suppress(BlockingIOError):
            while done := os.read(_pipes(process)[1].fileno(), 1 << 16):
                self._unconfirmed -= len(done)
                _, sent, lost = done.rpartition(SENT)
                self._lost = len(lost) + (0 if sent else self._lost)

    def _close(self, process: subprocess.Popen[bytes]) -> None:
        for pipe in _pipes(process):
            with contextlib.suppress(OSError):
                pipe.close()
        self._process, self._unconfirmed = None, 0

    @staticmethod
    def _write(process: subprocess.Popen[bytes], frame: bytes) -> None:
        given, _ = _pipes(process)
        given.write(frame)
        given.flush()


def _start() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _BOOT, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_DEFAULTS | {name: value for name, value in os.environ.items() if not name.startswith("PACKLINE_")},
        start_new_session=True,  # Ctrl-C is for the server, whose last spans are still to come
    )
    os.set_blocking(_pipes(process)[1].fileno(), False)
    return process


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _can_be_written(record: Record) -> bool:
    try:
        frame_of(record)
    except ValueError:
        log.exception("a span cannot be exported", span=record[0])
        return False
    return True
