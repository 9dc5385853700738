"""Check that JSON is a JSON-RPC message: the SDK drops some other bodies, and reports others in pydantic's words."""

from __future__ import annotations

from typing import Final, NamedTuple

INVALID_REQUEST: Final = -32600
#: What to do about a message over the limit.
UPLOAD_INSTEAD: Final = "Upload large inputs with `POST /artifacts`, and pass the artifact's id."


class Fault(NamedTuple):
    """What is wrong with a message.

    Attributes:
        request_id: Its id, if it has a valid one.
        message: The error.
    """

    request_id: str | int | None
    message: str


def find_fault(given: object) -> Fault | None:
    """What is wrong with a message; None for a request, a notification or an answer."""
    if isinstance(given, list):
        return Fault(None, "Batches are not supported. Send each message in a separate request.")
    if not isinstance(given, dict):
        return Fault(None, "A message must be one JSON object.")
    request_id = given.get("id")
    known = request_id if isinstance(request_id, str | int) and is_id(request_id) else None
    if given.get("jsonrpc") != "2.0":
        return Fault(known, 'A message must have `"jsonrpc": "2.0"`.')
    if "method" not in given:
        has_answer = "result" in given or "error" in given
        return None if has_answer else Fault(known, "`method` is missing.")
    if not isinstance(given["method"], str):
        return Fault(known, "`method` must be a string.")
    if "id" in given and known is None:
        return Fault(None, "The `id` of a request must be a string or integer; a notification has none.")
    if not isinstance(given.get("params") or {}, dict):
        return Fault(known, "`params` must be an object of parameters by name.")
    return None


def is_id(given: object) -> bool:
    """Whether JSON can be a request's id; `true` cannot, though Python's `bool` is an `int`."""
    return isinstance(given, str | int) and not isinstance(given, bool)
