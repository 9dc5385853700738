"""Calls on the newest wire that are answered without the layers of the SDK.

The SDK validates a call and its answer by models six times over, and makes contexts, streams and tasks: half a
millisecond of CPU a call, and a whole one of a call that may wait. What is answered here is a call without any fault;
the same tool box answers it, as `app.mcp.server` would. Whatever is unusual about a request is left to the SDK, from
the beginning: so every refusal of the protocol is the SDK's, and so is every word about it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import mcp_types as types
import orjson
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from app.mcp.answers import wire_answer
from app.mcp.handshake import again, read_whole
from app.mcp.held import Reply, hold, send_json
from app.mcp.server import INTERNAL
from app.mcp.tasks import EXTENSION
from schema.masking import report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server import Server
    from starlette.types import Receive, Scope, Send

    from app.mcp.session import Session
    from app.mcp.toolbox import Toolbox
    from app.mcp.waiting import Progress

_ROUTING: Final = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"content-length", b"accept"})
_VERSIONS: Final = {version.encode(): version for version in MODERN_PROTOCOL_VERSIONS}
_PARAMS: Final = frozenset({"name", "arguments", "_meta"})
#: Envelopes found well, remembered by their bytes: a client sends the same one with every request.
_ENVELOPES_MAX: Final = 512
#: orjson reads whole numbers beyond 64 bits as floats; the SDK reads them exactly. Half the time of `\d{19}`.
_LONG_DIGITS: Final = re.compile(rb"[0-9][0-9]{18}")
_PROGRESS_TOKEN: Final = "progressToken"


class _Call(NamedTuple):
    request_id: str | int
    tool: str
    arguments: Mapping[str, Any] | None
    progress_token: str | int | None


class QuickCalls:
    """Answers calls of tools.

    Args:
        toolbox: Answers them.
        server: Told as who answers.
        session_of: Who a request is from, by its scope.
        otherwise: Answers everything else.
        body_bytes: Longest body.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        server: Server[Any],
        session_of: Callable[[Scope], Session],
        otherwise: Callable[[Scope, Receive, Send], Awaitable[None]],
        body_bytes: int,
    ) -> None:
        self._toolbox = toolbox
        self._session_of = session_of
        self._otherwise = otherwise
        self._body_bytes = body_bytes
        self._stamp = {types.SERVER_INFO_META_KEY: server.server_info_stamp}
        self._names = {name.encode(): name for name in toolbox.names}
        self._waiting = set(filter(toolbox.may_wait, toolbox.names))
        self._envelopes: set[tuple[str, bytes]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        headed = self._headed(scope)
        if headed is None:
            await self._otherwise(scope, receive, send)
            return
        body = await read_whole(receive)
        if body is None:
            return
        call = self._read(body, *headed)
        if call is None:
            await self._otherwise(scope, again(body, receive), send)
            return
        if call.tool in self._waiting:
            reply = Reply(send)
            await hold(receive, reply, self._answer(scope, call, _progress(reply, call.progress_token)))
        else:
            await send_json(send, await self._answer(scope, call, None))

    async def _answer(self, scope: Scope, call: _Call, progress: Progress | None) -> bytes:
        try:
            answer = await self._toolbox.call(self._session_of(scope), call.tool, call.arguments, progress)
            result = wire_answer(answer)
            if answer.data is not None:
                result["structuredContent"] = orjson.Fragment(answer.text)  # the same object, in JSON already
            told: dict[str, Any] = {"result": {**result, "_meta": self._stamp}}
        except Exception as error:
            report(error, "call failed", tool=call.tool)
            told = {"error": INTERNAL}
        return orjson.dumps({"jsonrpc": "2.0", "id": call.request_id, **told})

    def _headed(self, scope: Scope) -> tuple[str, str] | None:
        """The version and the tool that a request's headers name, each said once; None where it is not for us."""
        if scope["method"] != "POST":
            return None
        found: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in _ROUTING:
                if name in found:
                    return None
                found[name] = value
            elif name.startswith(b"mcp-param-"):
                return None
        version = _VERSIONS.get(found.get(b"mcp-protocol-version", b""))
        tool = self._names.get(found.get(b"mcp-name", b""))
        if version is None or tool is None or found.get(b"mcp-method") != b"tools/call":
            return None
        accept, length = found.get(b"accept", b""), found.get(b"content-length", b"")
        if not (b"application/json" in accept or b"*/*" in accept) or b";" in accept:
            return None
        if tool in self._waiting and not (b"text/event-stream" in accept or b"*/*" in accept):
            return None
        if not length.isdigit() or int(length) > self._body_bytes:
            return None
        return version, tool

    def _read(self, body: bytes, version: str, tool: str) -> _Call | None:
        """The call in a body; None where anything is unusual about it."""
        try:
            given = orjson.loads(body)
        except orjson.JSONDecodeError:
            return None
        if type(given) is not dict or given.get("jsonrpc") != "2.0" or given.get("method") != "tools/call":
            return None
        request_id, params = given.get("id"), given.get("params")
        if not isinstance(request_id, str | int) or isinstance(request_id, bool):
            return None
        if not isinstance(params, dict) or not _PARAMS.issuperset(params):
            return None
        arguments, meta = params.get("arguments"), params.get("_meta")
        if (
            params.get("name") != tool
            or not (arguments is None or type(arguments) is dict)
            or type(meta) is not dict
            or not self._is_envelope(meta, version)
            or (tool in self._waiting and _takes_tasks(meta))
            or _LONG_DIGITS.search(body) is not None
        ):
            return None
        return _Call(request_id, tool, arguments, meta.get(_PROGRESS_TOKEN))

    def _is_envelope(self, meta: dict[str, Any], version: str) -> bool:
        """Whether what a request tells of its client is as the protocol has it."""
        if meta.get(types.PROTOCOL_VERSION_META_KEY) != version:
            return False
        if _PROGRESS_TOKEN in meta:
            # Another with each request.
            if type(meta[_PROGRESS_TOKEN]) not in (str, int):
                return False
            meta = {name: value for name, value in meta.items() if name != _PROGRESS_TOKEN}
        key = (version, orjson.dumps(meta))
        if key in self._envelopes:
            return True
        if types.CLIENT_CAPABILITIES_META_KEY not in meta:
            return False
        try:
            methods.validate_client_request("tools/call", version, {"name": "get_run", "_meta": meta})
        except ValidationError:
            return False
        if len(self._envelopes) >= _ENVELOPES_MAX:
            self._envelopes.clear()
        if len(key[1]) <= 4_096:
            self._envelopes.add(key)
        return True


def _takes_tasks(meta: Mapping[str, Any]) -> bool:
    """Whether a client is answered with a task where a run takes long; `app.mcp.tasks` sees to that."""
    capabilities = meta[types.CLIENT_CAPABILITIES_META_KEY]
    return EXTENSION in (capabilities.get("extensions") or {})


def _progress(reply: Reply, token: str | int | None) -> Progress | None:
    """How to tell of progress, when the client asked to be told."""
    if token is None:
        return None

    async def tell(fraction: float, line: str) -> None:
        params = {"progressToken": token, "progress": fraction, "total": 1.0, "message": line}
        await reply.tell(orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))

    return tell
