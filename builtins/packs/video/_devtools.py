"""A small client of the Chrome DevTools Protocol over a pair of pipes: one JSON message, then a zero byte.

Blocking, with a deadline on every wait; it lives in a worker process. Source of the framing: `--remote-debugging-pipe`
in Chromium's `devtools_pipe_handler.cc`.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: A screenshot of 1080p takes 5 MB at most; more than this is no answer to anything we ask.
MAX_MESSAGE_BYTES = 96 * 1024 * 1024


class DevToolsError(Exception):
    """The browser refused a command; the message is its own."""


class BrowserGoneError(Exception):
    """The browser closed its end: it crashed or was killed."""


class BrowserSlowError(Exception):
    """The browser did not answer in time."""


class DevTools:
    """One browser's connection.

    Args:
        to_browser: Open file to write commands to; closed by `close`, as is the other.
        from_browser: Open file to read answers and events from.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        os.set_blocking(to_browser, False)
        os.set_blocking(from_browser, False)
        self._last_id = 0
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._answers: dict[int, dict[str, Any]] = {}
        self._forgotten: set[int] = set()
        self._listeners: dict[str, Callable[[dict[str, Any], str | None], None]] = {}

    def on(self, event: str, listener: Callable[[dict[str, Any], str | None], None]) -> None:
        """Calls `listener(params, session)` for each event of a name, whenever messages are read."""
        self._listeners[event] = listener

    def send(self, method: str, session: str | None = None, **params: object) -> int:
        """Queues a command; returns the number to wait for."""
        self._last_id += 1
        message: dict[str, object] = {"id": self._last_id, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self._outgoing += json.dumps(message).encode() + b"\0"
        self._write()
        return self._last_id

    def tell(self, method: str, session: str | None = None, **params: object) -> None:
        """Queues a command whose answer does not matter."""
        self._forgotten.add(self.send(method, session, **params))

    def call(self, method: str, session: str | None = None, *, seconds: float = 30.0, **params: object) -> Any:  # noqa: ANN401
        """Sends a command and waits for its answer.

        Raises:
            DevToolsError: the browser refuses.
            BrowserGoneError: it is dead.
            BrowserSlowError: no answer within `seconds`.
        """
        number = self.send(method, session, **params)
        self.wait(lambda: number in self._answers, seconds, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise DevToolsError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def wait(self, is_done: Callable[[], bool], seconds: float, what: str) -> None:
        """Reads messages until `is_done`.

        Raises:
            BrowserGoneError: the browser is dead.
            BrowserSlowError: not done within `seconds`; the message names `what`.
        """
        until = time.monotonic() + seconds
        while not is_done():
            left = until - time.monotonic()
            if left <= 0:
                raise BrowserSlowError(what)
            wanted = [self._to] if self._outgoing else []
            readable, writable, _ = select.select([self._from], wanted, [], left)
            if writable:
                self._write()
            if readable:
                self._read()

    def close(self) -> None:
        """Closes both pipes; the browser ends at that."""
        os.close(self._to)
        os.close(self._from)

    def _write(self) -> None:
        try:
            while self._outgoing:
                written = os.write(self._to, self._outgoing[: 1 << 20])
                del self._outgoing[:written]
        except BlockingIOError:
            pass
        except BrokenPipeError as error:
            raise BrowserGoneError from error

    def _read(self) -> None:
        try:
            part = os.read(self._from, 1 << 20)
        except BlockingIOError:
            return
        if not part:
            raise BrowserGoneError
        start = len(self._incoming)
        self._incoming += part
        if len(self._incoming) > MAX_MESSAGE_BYTES:
            raise BrowserGoneError("the browser sent a message without end")
        begin = 0
        while (end := self._incoming.find(b"\0", max(begin, start))) >= 0:
            message = json.loads(self._incoming[begin:end])
            begin = end + 1
            self._take(message)
        del self._incoming[:begin]

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is not None:
            if number in self._forgotten:
                self._forgotten.discard(number)
            else:
                self._answers[number] = message
            return
        listener = self._listeners.get(message.get("method", ""))
        if listener is not None:
            listener(message.get("params", {}), message.get("sessionId"))
