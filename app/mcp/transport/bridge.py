"""MCP on stdin and stdout, carried on to a running server's `/mcp`.

Messages pass as they are, so tools and answers are the server's, whatever its version. What HTTP wants beside a message
(who calls, the protocol's version, the method, the name) is read off the message. Nothing is kept between two messages
but the version that was agreed on: a server that restarts breaks nobody.

Does not import `mcp`; a client waits for the start of its servers.
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
from app.mcp.transport.messages import INVALID_REQUEST, is_id
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

#: JSON-RPC codes: what is no JSON, what has no method, and a server that is out of reach (the SDKs' own for that).
PARSE_ERROR: Final = -32700
UNREACHABLE: Final = -32000
#: What is said of lines that are no messages, attached and embedded.
NO_JSON: Final = "This is no JSON."
NO_MESSAGE: Final = "A message is one JSON object, with a `method`; the `id` of a request is a text or a whole number."
#: How long a server that does not accept connections is tried, and the pauses, in seconds; a restart takes one or two.
RETRY_SECONDS: Final = 20.0
_PAUSES: Final = (0.1, 0.2, 0.5, 1.0)
#: How often the server is told that the input has ended, while calls are under way, in seconds.
_HURRY_SECONDS: Final = 0.5
#: Longest message that the server takes, in bytes, and longest line that is read to its end.
MESSAGE_BYTES: Final = 4 << 20
LINE_BYTES: Final = 64 << 20
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
#: Parameters that name what a request is about; HTTP repeats them in `Mcp-Name`.
_NAMES: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


class Bridge:
    """Carries messages between one client and one server.

    Args:
        url: The server's MCP endpoint.
        token: Bearer token to show it.
        write: Takes each message for the client, without a line break.
    """

    def __init__(self, url: str, token: str | None, write: Callable[[bytes], None]) -> None:
        self._url = url
        self._write = write
        self._version: str | None = None
        self._calls: dict[object, asyncio.Task[None]] = {}
        #: Methods of the calls that their client waits for, by their ids.
        self._awaited: dict[object, str] = {}
        #: Ids of the calls that no server has taken so far.
        self._unsent: set[object] = set()
        self._name = secrets.token_hex(16)
        headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            CLIENT_HEADER: self._name,
        }
        if token:
            headers["authorization"] = f"Bearer {token}"
        # Waits and streams of updates are silent for long; a server that does not even accept is told soon.
        self._http = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(None, connect=5), trust_env=False)

    async def serve(self, lines: AsyncIterator[bytes | None]) -> None:
        """Carries messages until the client has closed its end, and what is answered soon after."""
        try:
            async for line in lines:
                if line is None:
                    self._refuse(None, INVALID_REQUEST, f"A message of more than {LINE_BYTES:,} bytes is not read.")
                elif line.strip():
                    self._take(line)
            await self._finish()
        finally:
            for call in list(self._calls.values()):
                call.cancel()
            await asyncio.gather(*self._calls.values(), return_exceptions=True)
            await self._http.aclose()

    async def _finish(self) -> None:
        """Lets what is under way be answered, and waits for runs end; what takes too long is told so."""
        calls = {self._calls[key] for key in self._awaited if key in self._calls}
        if not calls:
            return
        until = asyncio.get_running_loop().time() + GRACE_SECONDS
        while calls and (left := until - asyncio.get_running_loop().time()) > 0:
            # Again and again: this may come before the calls themselves, which are carried by other connections.
            with contextlib.suppress(httpx2.HTTPError):
                await self._http.post(self._url, headers={ENDING_HEADER: self._name}, timeout=left)
            _, calls = await asyncio.wait(calls, timeout=min(left, _HURRY_SECONDS))
        for key, method in list(self._awaited.items()):
            self._refuse(key, UNREACHABLE, self._unanswered() if key in self._unsent else too_late(method))

    def _take(self, line: bytes) -> None:
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
            # A connection that closes is how a call is cancelled over HTTP.
            meant = params.get("requestId")
            call = self._calls.get(meant) if is_id(meant) else None
            if call is not None:
                call.cancel()
            return
        if len(line) > MESSAGE_BYTES:
            # Sent, it would be refused before the server has read it, and the connection closed under our hands.
            text = (
                f"The message has {len(line):,} bytes; at most {MESSAGE_BYTES:,} are taken. Upload large inputs with "
                "`POST /artifacts`, and give the artifact's id."
            )
            self._refuse(message.get("id"), INVALID_REQUEST, text)
            return
        # Notifications and answers are calls that nobody waits for.
        key = message["id"] if "method" in message and "id" in message else object()
        call = asyncio.create_task(self._carry(message, line))
        self._calls[key] = call
        if "method" in message and "id" in message and message["method"] not in OPEN_ENDED:
            self._awaited[key] = str(message["method"])
        call.add_done_callback(lambda done: self._forget(key, done))

    def _forget(self, key: object, done: asyncio.Task[None]) -> None:
        if self._calls.get(key) is done:
            del self._calls[key]
            self._awaited.pop(key, None)
            self._unsent.discard(key)

    async def _carry(self, message: dict[str, Any], line: bytes) -> None:
        request_id = message.get("id") if "method" in message else None
        answered = False
        try:
            async with self._posted(message, line) as answer:
                answered = await self._hand_back(message, answer)
        except httpx2.ConnectError:
            self._refuse(request_id, UNREACHABLE, self._unanswered())
        except httpx2.HTTPError as error:
            if not answered:
                self._refuse(
                    request_id,
                    UNREACHABLE,
                    f"The connection to {self._url} broke ({error}). A run that was started goes on: list_runs finds "
                    "it, and a start that is repeated with the same idempotency_key does not start a second one.",
                )
        else:
            if not answered:
                self._refuse(request_id, UNREACHABLE, f"{self._url} ended its answer too early. Try again.")

    @contextlib.asynccontextmanager
    async def _posted(self, message: dict[str, Any], line: bytes) -> AsyncIterator[httpx2.Response]:
        """The server's answer to a message; a server that accepts no connection is tried again for a while."""
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
                    # Nothing was sent, so nothing can happen twice.
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

    async def _hand_back(self, message: dict[str, Any], answer: httpx2.Response) -> bool:
        """Gives the client what the server answers; whether it has had its answer."""
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
        self._refuse(message["id"], UNREACHABLE, _told(self._url, answer.status_code, body))
        return True

    def _pass(self, message: dict[str, Any], body: bytes) -> bool:
        """Gives the client one message of the server's; whether it is the answer to this one."""
        try:
            told = orjson.loads(body)
        except ValueError:
            return False
        if not isinstance(told, dict) or "jsonrpc" not in told:
            return False
        is_answer = "method" not in told
        if is_answer:
            # The server cannot name a request it refuses before it has read it.
            told["id"] = message.get("id")
            result = told.get("result")
            if message.get("method") == "initialize" and isinstance(result, dict):
                self._version = str(result.get("protocolVersion"))
        self._write(orjson.dumps(told))
        return is_answer

    def _refuse(self, request_id: object, code: int, text: str) -> None:
        if request_id is None and code == UNREACHABLE:
            return  # nobody waits for an answer to a notification
        self._write(orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}))


def _is_message(given: object) -> bool:
    """Whether something is a request, a notification or an answer."""
    if not isinstance(given, dict):
        return False
    if "method" in given:
        return "id" not in given or is_id(given["id"])
    return "result" in given or "error" in given


def _told(url: str, status: int, body: bytes) -> str:
    """What to say of an answer that is none of the protocol."""
    described = excerpt(body.decode(errors="replace").strip(), 300)
    return f"{url} answered {status}: {described}" if described else f"{url} answered {status}."


def _encoded(text: str) -> str:
    """A header's value; what ASCII cannot hold in the way the protocol gives."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


async def bridge_stdio(url: str, token: str | None) -> None:
    """Carries messages between this process's stdin and stdout and a server, until stdin ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), _watchable(sys.stdin))
    out = sys.stdout.buffer

    def write(message: bytes) -> None:
        try:
            out.write(message + b"\n")
            out.flush()
        except BrokenPipeError:
            # Nobody listens any more, so nobody asks either. What is held back would be tried again at the exit.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), out.fileno())
            transport.close()

    try:
        await Bridge(url, token, write).serve(_lines(reader))
    finally:
        transport.close()


def _watchable(given: TextIO | None) -> IO[Any]:
    """What is given, as something the event loop can watch.

    It cannot watch a file, nor a device that is no terminal such as `/dev/null`: a thread copies those into a pipe. The
    thread ends with what it copies, or once nobody reads the pipe.
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
    """The lines; None for one longer than the reader's limit, whose text is let go."""
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
