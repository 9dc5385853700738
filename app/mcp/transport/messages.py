"""What is no message of JSON-RPC, said in words: the SDK drops some such bodies, and tells of others in pydantic's."""

from __future__ import annotations

from typing import Final, NamedTuple

INVALID_REQUEST: Final = -32600


class Fault(NamedTuple):
    """Why something is no message.

    Attributes:
        request_id: Its id, as far as it can be read.
        message: What is wrong with it.
    """

    request_id: str | int | None
    message: str


def find_fault(given: object) -> Fault | None:
    """Why JSON is no message; None where it is a request, a notification or an answer."""
    if isinstance(given, list):
        return Fault(None, "Batches are not taken; send each message in a request of its own.")
    if not isinstance(given, dict):
        return Fault(None, "A message is one JSON object.")
    request_id = given.get("id")
    known = request_id if isinstance(request_id, str | int) and is_id(request_id) else None
    if given.get("jsonrpc") != "2.0":
        return Fault(known, 'A message has `"jsonrpc": "2.0"`.')
    if "method" not in given:
        has_answer = "result" in given or "error" in given
        return None if has_answer else Fault(known, "`method` is missing.")
    if not isinstance(given["method"], str):
        return Fault(known, "`method` is a text.")
    if "id" in given and known is None:
        return Fault(None, "The `id` of a request is a text or a whole number; a notification has none.")
    if not isinstance(given.get("params") or {}, dict):
        return Fault(known, "`params` is an object of parameters by name.")
    return None


def is_id(given: object) -> bool:
    """Whether something can be a request's id; JSON's true is none, though Python takes it for a number."""
    return isinstance(given, str | int) and not isinstance(given, bool)
