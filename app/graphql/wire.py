"""GraphQL over HTTP as bytes: media types, JSON encoding and decoding, bodies, and refusals before execution."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import orjson
from starlette.responses import Response

from app.http.bodies import BodyTooLarge, read_bounded
from resolvers.problems import ProblemCode
from schema.base.masking import public_answer
from schema.guard.documents import QUERY_MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from strawberry.types import ExecutionResult

_HEADERS = {"cache-control": "private, no-store", "vary": "accept", "x-content-type-options": "nosniff"}
#: An escaped U+0000: `\u0000` whose backslash is not itself escaped.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
#: orjson reads whole numbers above 64 bits as floats; `json` reads these exactly.
_LONG_DIGITS = re.compile(rb"[0-9]{19}")


class Media(StrEnum):
    """Media types of answers."""

    #: GraphQL over HTTP: a request that cannot be executed gets 400.
    RESPONSE = "application/graphql-response+json"
    #: For older clients: every answer of GraphQL gets 200.
    JSON = "application/json"
    #: One or more results as server-sent events (graphql-sse, distinct connections).
    STREAM = "text/event-stream"


_ACCEPTED = {
    **{media.value: media for media in Media},
    "*/*": Media.JSON,
    "application/*": Media.JSON,
    "text/*": Media.STREAM,
}


@lru_cache(maxsize=256)
def negotiate(accept: str) -> Media | None:
    """Return the media type for an Accept header (RFC 9110 section 12.5.1), or None if it allows none of ours."""
    best: Media | None = None
    best_quality = 0.0
    for part in accept.split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                try:
                    quality = min(float(value), 1.0)
                except ValueError:
                    quality = 0.0
        found = _ACCEPTED.get(media)
        if found is not None and quality > best_quality:
            best, best_quality = found, quality
    return best


class Refusal(Exception):
    """A request refused before GraphQL executes it.

    Args:
        status: HTTP status.
        code: The code in `extensions.code`, for programs.
        message: The message, for people.
        headers: Headers of the answer.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the answer, as JSON for every Accept header."""
        return error_response(self.status, self.message, {"code": self.code}, self.headers)


def error_response(
    status: int, message: str, extensions: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer with one error, in the shape of GraphQL's."""
    body = orjson.dumps({"errors": [{"message": message, "extensions": dict(extensions)}]})
    return Response(body, status, {**_HEADERS, **(headers or {})}, media_type=Media.JSON)


def unexpected_response(error: Exception, **details: object) -> Response:
    """Return the answer to a request that an exception ended: 503 if the database is away, else 500."""
    message, extensions = public_answer(error, "request failed", **details)
    return error_response(503 if extensions["code"] == ProblemCode.UNAVAILABLE else 500, message, extensions)


def timed_out(seconds: float) -> str:
    """The message for an operation that took too long."""
    return f"No answer within {seconds:g} s. A mutation may have been executed; check before you repeat it."


def result_body(result: ExecutionResult) -> dict[str, object]:
    """Return the members of a result's JSON; a request that was not executed has no `data`."""
    body: dict[str, object] = {}
    if result.errors:
        body["errors"] = [error.formatted for error in result.errors]
    if not is_request_error(result):
        body["data"] = result.data
    if result.extensions:
        body["extensions"] = result.extensions
    return body


def is_request_error(result: ExecutionResult) -> bool:
    """Whether the request was refused before its first resolver ran: no data, and no error has a path."""
    return result.data is None and bool(result.errors) and all(error.path is None for error in result.errors or ())


def result_response(result: ExecutionResult, media: Media) -> Response:
    """Return the answer to a query or mutation."""
    status = 400 if media is Media.RESPONSE and is_request_error(result) else 200
    body = orjson.dumps(result_body(result), option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, _HEADERS, media_type=media)


def encode_json(value: object) -> str:
    """Encode as text: Strawberry would send bytes as a binary frame, which graphql-ws clients refuse."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def decode_json(data: str | bytes) -> object:
    """Decode JSON strictly: no NaN, lone surrogates or U+0000, nesting up to 1024, whole numbers exact.

    Raises:
        json.JSONDecodeError: It is not JSON, or JSON that could not be stored.
    """
    try:
        value: object = orjson.loads(data)
    except json.JSONDecodeError:
        if _is_unicode(data):
            raise
        raise json.JSONDecodeError("it is not valid UTF-8", "", 0) from None
    text = data.encode() if isinstance(data, str) else data
    if _NUL.search(text):
        raise json.JSONDecodeError("it contains the character U+0000, which is not allowed", "", 0)
    if _LONG_DIGITS.search(text):
        try:
            return json.loads(text)
        except RecursionError:
            raise json.JSONDecodeError("it is nested too deep", "", 0) from None
    return value


def _is_unicode(data: str | bytes) -> bool:
    try:
        data.encode() if isinstance(data, str) else data.decode()
    except UnicodeError:
        return False
    return True


class Operation(NamedTuple):
    """The operation of one request."""

    query: str
    variables: dict[str, object] | None
    name: str | None
    extensions: dict[str, object] | None = None


def read_operation(members: object) -> Operation:
    """Check the members of a request.

    Raises:
        Refusal: 400; one is missing or of the wrong type.
    """
    if isinstance(members, list):
        raise _bad("Batches are not supported. Send each operation in a separate request.")
    if not isinstance(members, dict):
        raise _bad("The body must be a JSON object with a string `query`.")
    query = members.get("query")
    if not isinstance(query, str):
        raise _bad(QUERY_MISSING)
    variables = members.get("variables")
    if variables is not None and not isinstance(variables, dict):
        raise _bad("`variables` must be an object or null.")
    name = members.get("operationName")
    if name is not None and not isinstance(name, str):
        raise _bad("`operationName` must be a string or null.")
    extensions = members.get("extensions")
    if extensions is not None and not isinstance(extensions, dict):
        raise _bad("`extensions` must be an object or null.")
    return Operation(query, variables, name or None, extensions)


def _bad(message: str) -> Refusal:
    return Refusal(400, "BAD_REQUEST", message)


def read_query_string(request: Request) -> Operation:
    """Read the operation of a GET request.

    Raises:
        Refusal: 400.
    """
    members: dict[str, object] = dict(request.query_params)
    for name in ("variables", "extensions"):
        text = members.get(name)
        if isinstance(text, str):
            try:
                members[name] = decode_json(text) if text else None
            except json.JSONDecodeError as error:
                raise _bad(f"`{name}` cannot be read as JSON: {error.msg}.") from None
    return read_operation(members)


@lru_cache(maxsize=256)
def _refused_type(content_type: str) -> str | None:
    """The refusal of a body with this Content-Type; None if it is accepted."""
    media, *parameters = (piece.strip().lower() for piece in content_type.split(";"))
    if media != Media.JSON:
        return "Send the request as application/json."
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip('" ') not in ("utf-8", "utf8"):
            return "Send JSON as UTF-8."
    return None


async def read_body(request: Request, limit_bytes: int) -> Operation:
    """Read the operation of a POST request.

    Raises:
        Refusal: 400, 413 or 415.
        starlette.requests.ClientDisconnect: The client disconnected.
    """
    refused = _refused_type(request.headers.get("content-type", ""))
    if refused is not None:
        raise Refusal(415, "UNSUPPORTED_MEDIA_TYPE", refused)
    if (request.headers.get("content-encoding") or "identity").strip().lower() != "identity":
        raise Refusal(415, "UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not supported. Send the body uncompressed.")
    try:
        body = await read_bounded(request, limit_bytes)
    except BodyTooLarge as over:
        raise Refusal(
            413,
            "BODY_TOO_LARGE",
            f"The body is larger than the limit of {limit_bytes:,} bytes (PACKLINE_REQUEST_BODY_BYTES).",
            {"connection": "close"} if over.is_unread else None,
        ) from None
    try:
        return read_operation(decode_json(body))
    except json.JSONDecodeError as error:
        raise _bad(f"The body cannot be read as JSON: {error.msg}.") from None
