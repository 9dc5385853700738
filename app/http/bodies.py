"""Bodies of requests that are too large: refused in a way that their senders get to see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.requests import Request

#: A body up to so many times the limit is read to its end, unkept, so that its sender gets to see the refusal.
_PATIENCE: Final = 8


class BodyTooLarge(Exception):
    """A body has more bytes than are taken.

    Args:
        is_unread: Whether some of it has not been read; the connection is to be closed then.
    """

    def __init__(self, *, is_unread: bool) -> None:
        super().__init__()
        self.is_unread = is_unread


def announced_over(length: str | None, limit_bytes: int) -> int | None:
    """The size of a body that is announced as too large: it is refused at once, without waiting for any of it.

    The connection may stay open: uvicorn reads the body and drops it, and the sender gets to see the refusal.

    Args:
        length: Its `Content-Length`, if it has one.
        limit_bytes: The most that is taken.
    """
    if length is None or not length.isdecimal():
        return None
    size = int(length)
    return size if size > limit_bytes else None


async def read_bounded(request: Request, limit_bytes: int) -> bytes:
    """The whole body; one that is too large is never held in memory whole.

    Raises:
        BodyTooLarge: it has more than `limit_bytes`.
        starlette.requests.ClientDisconnect: the client went away.
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
        # Read on: closing at once would reset the connection before the client has read why.
        chunks.clear()
        if size > limit_bytes * _PATIENCE:
            break
    if size > limit_bytes:
        raise BodyTooLarge(is_unread=True)
    return b"".join(chunks)
