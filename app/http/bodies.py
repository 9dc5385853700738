"""Limits on request bodies, enforced so that the sender gets to read the refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive

#: Read and discard a body up to this many times the limit, so that its sender gets to read the refusal.
_DISCARD_FACTOR: Final = 8


class BodyTooLarge(Exception):
    """A body is larger than the limit.

    Args:
        is_unread: Whether some of it was not read; the connection must be closed then.
    """

    def __init__(self, *, is_unread: bool) -> None:
        super().__init__()
        self.is_unread = is_unread


def announced_over(length: str | None, limit_bytes: int) -> int | None:
    """The announced size of a body if it is above the limit, else None; lets a server refuse before reading.

    The connection may stay open: uvicorn reads and drops the body, and the sender gets to read the refusal.

    Args:
        length: The `Content-Length`, if there is one.
        limit_bytes: The largest size allowed.
    """
    if length is None or not length.isdecimal():
        return None
    size = int(length)
    return size if size > limit_bytes else None


async def read_bounded(request: Request, limit_bytes: int) -> bytes:
    """Read the body, never holding more than the limit in memory.

    Raises:
        BodyTooLarge: it is larger than `limit_bytes`.
        starlette.requests.ClientDisconnect: the client disconnected.
    """
    if announced_over(request.headers.get("content-length"), limit_bytes) is not None:
        raise BodyTooLarge(is_unread=False)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limit_bytes:
            chunks.append(chunk)
            continue
        # Read on: closing at once would reset the connection before the client has read the refusal.
        chunks.clear()
        if size > limit_bytes * _DISCARD_FACTOR:
            break
    if size > limit_bytes:
        raise BodyTooLarge(is_unread=True)
    return b"".join(chunks)


def replaying(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first returns a body that was already read."""
    read = False

    async def receiving() -> Message:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
