"""A bridge from MCP on stdin and stdout to a running server's `/mcp`.

Messages pass unchanged, so tools and answers are the server's, of any version. The headers that HTTP needs (caller,
protocol version, method, name) are read from each message. The only state is the negotiated version, so a restart of
the server breaks no client.

Does not import `mcp`, because clients wait until their servers have started.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import secrets
import shutil
import stat
import sys
import threading
from typing import IO, TYPE_CHECKING, Any, Final, TextIO

import httpx2
import orjson

from app.mcp.transport.endings import CLIENT_HEADER, ENDING_HEADER, GRACE_SECONDS, OPEN_ENDED, too_late
from app.mcp.transport.messages import INVALID_REQUEST, UPLOAD_INSTEAD, is_id
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

#: JSON-RPC codes: malformed JSON, and an unreachable server (the code the SDKs use).
PARSE_ERROR: Final = -32700
UNREACHABLE: Final = -32000
#: Errors for lines that are not messages, for the bridge and the embedded server.
NO_JSON: Final = "The line is not JSON."
NO_MESSAGE: Final = (
    "A message must be one JSON object with a `method`; the `id` of a request must be a string or integer."
)
#: How long to try to connect, and the pauses between tries, in seconds; a restart takes one or two.
RETRY_SECONDS: Final = 20.0
_PAUSES: Final = (0.1, 0.2, 0.5, 1.0)
#: How often to tell the server that the input has ended while calls are open, in seconds.
_END_SECONDS: Final = 0.5
#: Longest message the server accepts, and longest line that is read, in bytes.
MESSAGE_BYTES: Final = 4 << 20
LINE_BYTES: Final = 64 << 20
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
#: The parameter that names a request's subject; HTTP repeats it in `Mcp-Name`.
_NAMES: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


class Bridge:
    """Forward messages between one client and one server.

    Args:
        url: The server's MCP endpoint.
        token: Bearer token for the server.
        write: Receives each message for the client, without a line break.
        trace: Headers of the trace that this process was started in.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        write: Callable[[bytes], None],
        trace: Mapping[str, str] | None = None,
    ) -> None:
        self._url = url
        self._write = write
        self._version: str | None = None
        self._calls: dict[object, asyncio.Task[None]] = {}
        #: Methods of the calls the client waits for, by id.
        self._awaited: dict[object, str] = {}
        #: Ids of the calls that could not be sent yet.
        self._unsent: set[object] = set()
        self._name = secrets.token_hex(16)
        headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            CLIENT_HEADER: self._name,
            **(trace or {}),
        }
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._http = httpx2.AsyncClient(
            headers=headers,
            # No read timeout: waits and streams of updates can be silent for long.
            timeout=httpx2.Timeout(None, connect=5),
            trust_env=False,
            # Without TLS there is nothing to verify, and reading the system's certificates takes 20 ms or more.
            verify=not url.startswith("http://"),
        )

    async def serve(self, lines: AsyncIterator[bytes | None]) -> None:
        """Forward messages until the client has closed its end and the open calls are answered or given up."""
        try:
            async for line in lines:
                if line is None:
                    self._refuse(None, INVALID_REQUEST, f"The message is longer than {LINE_BYTES:,} bytes.")
                elif line.strip():
                    self._receive(line)
            await self._finish()
        finally:
            for call in list(self._calls.values()):
                call.cancel()
            await asyncio.gather(*self._calls.values(), return_exceptions=True)
            await self._http.aclose()

    async def _finish(self) -> None:
        """Wait for the answers of open calls, and end their waits for runs; calls that take too long get an error."""
        calls = {self._calls[key] for key in self._awaited if key in self._calls}
        if not calls:
            return
        until = asyncio.get_running_loop().time() + GRACE_SECONDS
        while calls and (left := until - asyncio.get_running_loop().time()) > 0:
            # Repeated, because this may overtake the calls themselves, which use other connections.
            with contextlib.suppress(httpx2.HTTPError):
                await self._http.post(self._url, headers={ENDING_HEADER: self._name}, timeout=left)
            _, calls = await asyncio.wait(calls, timeout=min(left, _END_SECONDS))
        for key, method in list(self._awaited.items()):
            if not self._calls[key].done():  # one that has just ended is answered, though not forgotten yet
                self._refuse(key, UNREACHABLE, self._unanswered() if key in self._unsent else too_late(method))

    def _receive(self, line: bytes) -> None:
        try:
            message = orjson.loads(line)
        except ValueError:
            self._refuse(None, PARSE_ERROR, NO_JSON)
            return
        if not _is_message(message):
            known = message.get("id") if isinstance(message, dict) else None
            self._refuse(known if is_id(known) else None, INVALID_REQUEST, NO_MESSAGE)
            return
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            # Over HTTP, closing the connection cancels the call.
            request_id = params.get("requestId")
            call = self._calls.get(request_id) if is_id(request_id) else None
            if call is not None:
                call.cancel()
            return
        if len(line) > MESSAGE_BYTES:
            # The server would refuse it unread and close the connection.
            text = f"The message has {len(line):,} bytes; the limit is {MESSAGE_BYTES:,}. {UPLOAD_INSTEAD}"
            self._refuse(message.get("id"), INVALID_REQUEST, text)
            return
        # Nobody waits for the answer to a notification, so it needs no id.
        key = message["id"] if "method" in message and "id" in message else object()
        call = asyncio.create_task(self._forward(message, line))
        self._calls[key] = call
        if "method" in message and "id" in message and message["method"] not in OPEN_ENDED:
            self._awaited[key] = str(message["method"])
        call.add_done_callback(lambda done: self._forget(key, done))

    def _forget(self, key: object, done: asyncio.Task[None]) -> None:
        if self._calls.get(key) is done:
            del self._calls[key]
            self._awaited.pop(key, None)
            self._unsent.discard(key)

    async def _forward(self, message: dict[str, Any], line: bytes) -> None:
        request_id = message.get("id") if "method" in message else None
        answered = False
        try:
            async with self._posted(message, line) as answer:
                answered = await self._relay(message, answer)
        except httpx2.ConnectError:
            self._refuse(request_id, UNREACHABLE, self._unanswered())
        except httpx2.HTTPError as error:
            if not answered:
                self._refuse(
                    request_id,
                    UNREACHABLE,
                    f"The connection to {self._url} broke ({error}). A started run continues: find it with list_runs, "
                    "or repeat the start with the same idempotency_key, which does not start a second run.",
                )
        else:
            if not answered:
                self._refuse(request_id, UNREACHABLE, f"The answer of {self._url} was cut off. Try again.")

    @contextlib.asynccontextmanager
    async def _posted(self, message: dict[str, Any], line: bytes) -> AsyncIterator[httpx2.Response]:
        """Post a message and yield the answer; retry for `RETRY_SECONDS` while the server refuses connections."""
        headers = self._headers(message)
        loop = asyncio.get_running_loop()
        until = loop.time() + RETRY_SECONDS
        tries = 0
        async with contextlib.AsyncExitStack() as stack:
            while True:
                posted = self._http.stream("POST", self._url, content=line.strip(), headers=headers)
                try:
                    answer = await stack.enter_async_context(posted)
                    break
                except httpx2.ConnectError:
                    # Safe to retry: nothing was sent.
                    self._unsent.add(message.get("id"))
                    if loop.time() >= until:
                        raise
                    await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
                    tries += 1
            self._unsent.discard(message.get("id"))
            yield answer

    def _unanswered(self) -> str:
        return f"No Packline server answers at {self._url}. Is it running? `packline up` starts one."

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        stated = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
        headers: dict[str, str] = {}
        if isinstance(stated, str):
            headers["mcp-protocol-version"] = _encoded(stated)
            headers["mcp-method"] = _encoded(str(method))
            name = params.get(_NAMES.get(str(method), ""))
            if isinstance(name, str):
                headers["mcp-name"] = _encoded(name)
        elif self._version is not None and method != "initialize":
            headers["mcp-protocol-version"] = self._version
        return headers

    async def _relay(self, message: dict[str, Any], answer: httpx2.Response) -> bool:
        """Write the server's answer for the client; true once the request itself is answered."""
        is_request = "method" in message and "id" in message
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            done = not is_request
            async for event in httpx2.EventSource(answer, max_event_size=None):
                if event.data:
                    done = self._pass(message, event.data.encode()) or done
            return done
        body = await answer.aread()
        if not is_request:
            return True
        if kind == "application/json" and self._pass(message, body):
            return True
        described = excerpt(body.decode(errors="replace").strip(), 300)
        text = f"{self._url} answered {answer.status_code}"
        self._refuse(message["id"], UNREACHABLE, f"{text}: {described}" if described else f"{text}.")
        return True

    def _pass(self, message: dict[str, Any], body: bytes) -> bool:
        """Write one message of the server for the client; true if it is the answer to `message`."""
        try:
            received = orjson.loads(body)
        except ValueError:
            return False
        if not isinstance(received, dict) or "jsonrpc" not in received:
            return False
        is_answer = "method" not in received
        if is_answer:
            # Without an id if the server refused the request unread.
            received["id"] = message.get("id")
            result = received.get("result")
            if message.get("method") == "initialize" and isinstance(result, dict):
                self._version = str(result.get("protocolVersion"))
        self._write(orjson.dumps(received))
        return is_answer

    def _refuse(self, request_id: object, code: int, text: str) -> None:
        if request_id is None and code == UNREACHABLE:
            return  # nobody waits for an answer to a notification
        self._write(orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}))


def _is_message(given: object) -> bool:
    """Whether JSON is a request, a notification or an answer."""
    if not isinstance(given, dict):
        return False
    if "method" in given:
        return "id" not in given or is_id(given["id"])
    return "result" in given or "error" in given


def _encoded(text: str) -> str:
    """A header's value; in Base64, as the protocol prescribes, if it is not printable ASCII."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


async def bridge_stdio(url: str, token: str | None, trace: Mapping[str, str]) -> None:
    """Forward messages between this process's stdin and stdout and a server, until stdin ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), _watchable(sys.stdin))
    out = sys.stdout.buffer

    def write(message: bytes) -> None:
        try:
            out.write(message + b"\n")
            out.flush()
        except BrokenPipeError:
            # The client is gone, so stop reading. Redirect stdout, or Python would flush its buffer again at exit.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), out.fileno())
            transport.close()

    try:
        await Bridge(url, token, write, trace).serve(_lines(reader))
    finally:
        transport.close()


def _watchable(given: TextIO | None) -> IO[Any]:
    """The input, or a pipe a thread copies it into.

    The event loop cannot watch a file, nor a device other than a terminal, such as `/dev/null`. The thread ends with
    its input, or once nobody reads the pipe.
    """
    if given is not None:
        mode = os.fstat(given.fileno()).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or given.isatty():
            return given
    end, start = os.pipe()

    def copy() -> None:
        with contextlib.suppress(OSError), os.fdopen(start, "wb") as into:
            if given is not None:
                shutil.copyfileobj(given.buffer, into)

    threading.Thread(target=copy, name="stdin", daemon=True).start()
    return os.fdopen(end, "rb")


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes | None]:
    """The lines; None for one longer than the reader's limit, which is discarded."""
    cut = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as over:
            await reader.readexactly(over.consumed)
            cut = True
            continue
        except asyncio.IncompleteReadError as end:
            line = end.partial
            if not line:
                return
        yield None if cut else line
        cut = False
