"""Responses for stored files: ranges, conditional requests, and headers that make any content harmless.

Files come from packs that read the internet, or from uploads. The headers keep browsers from guessing their type and
from running anything in them. Ranges and conditions follow RFC 9110, sections 13 and 14.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import PlainTextResponse, Response, StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from store.files.blob_port import Content

_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})\Z")
_MEDIA_TYPE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}(; ?[\x20-\x7e]*)?\Z"
)
#: Types a browser shows; it saves all others. None of these can run scripts.
_SHOWN = re.compile(
    r"(image/(png|jpeg|gif|webp|avif)|audio/[\w.+-]+|video/[\w.+-]+|application/json|text/(plain|markdown|csv))(;|\Z)"
)
#: Limit of a name in `filename*`, in bytes, as in file systems.
_NAME_BYTES = 255
_HTML = re.compile(r"text/html(;|\Z)")
_PDF = re.compile(r"application/pdf(;|\Z)")
#: A web page in a frame of ours: it may use its styles, but run nothing and request nothing.
_FRAMED_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; "
    "frame-ancestors 'self'"
)
_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
}


async def send(request: Request, content: Content, *, digest: str, name: str, media_type: str) -> Response:
    """Answer a GET or HEAD for a file; the answer closes `content`.

    Args:
        request: Its Range, If-Range and If-None-Match are honoured. With `?download` the browser saves the file, with
            `?frame` it shows a web page or a PDF, which it otherwise saves.
        content: The file.
        digest: Digest of the content, sent as the strong ETag.
        name: The file's name; any text.
        media_type: The stored media type; a malformed one is sent as `application/octet-stream`.
    """
    etag = f'"{digest}"'
    headers = {**_HEADERS, "etag": etag, "content-disposition": _disposition(request, name, media_type)}
    if is_framed(request) and _HTML.match(media_type):
        headers["content-security-policy"] = _FRAMED_POLICY
    if _is_known(request.headers.get("if-none-match", ""), etag):
        await content.close()
        return Response(status_code=304, headers=headers)
    size = content.size_bytes
    start, end, status = 0, size, 200
    wanted = request.headers.get("range")
    # A weak or foreign If-Range, or a date, which we never send, means the whole file (RFC 9110 section 13.1.5).
    if wanted is not None and request.headers.get("if-range", etag) == etag:
        try:
            found = _byte_range(wanted, size)
        except _OutsideError:
            await content.close()
            return plain(
                416,
                f"The range is outside the artifact, which has {size} bytes.",
                {"content-range": f"bytes */{size}"},
            )
        if found is not None:
            start, end = found
            status = 206
            headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    headers["content-length"] = str(end - start)
    headers["content-type"] = _sent_type(media_type)
    if request.method == "HEAD":
        await content.close()
        return Response(status_code=status, headers=headers)
    return StreamingResponse(_read(content, start, end), status, headers)


def send_lines(request: Request, parts: AsyncIterator[bytes], *, name: str) -> Response:
    """Answer a GET or HEAD with JSON Lines, streamed as they are read; browsers save them."""
    headers = {key: value for key, value in _HEADERS.items() if key != "accept-ranges"}
    headers |= {"content-type": "application/jsonl", "content-disposition": f'attachment; filename="{name}"'}
    return Response(headers=headers) if request.method == "HEAD" else StreamingResponse(parts, headers=headers)


def send_whole(content: bytes, media_type: str) -> Response:
    """Answer a GET or HEAD with a small picture rendered from a file; browsers cache it for 10 minutes."""
    headers = {key: value for key, value in _HEADERS.items() if key != "accept-ranges"}
    return Response(content, headers={**headers, "cache-control": "private, max-age=600"}, media_type=media_type)


async def _read(content: Content, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        async with aclosing(content.read(start, end)) as pieces:
            async for piece in pieces:
                yield piece
    finally:
        await content.close()


def _is_known(if_none_match: str, etag: str) -> bool:
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return etag in tags or "*" in tags


class _OutsideError(Exception):
    """The range is outside the file."""


def _byte_range(text: str, size: int) -> tuple[int, int] | None:
    """Parse a Range header; the end is exclusive.

    Returns:
        None for a header to ignore: several ranges, other units or malformed (RFC 9110 section 14.2).

    Raises:
        _OutsideError: the range contains no byte of the file.
    """
    match = _RANGE.match(text.replace(" ", ""))
    if match is None or match.group(1) == match.group(2) == "":
        return None
    if match.group(1) == "":
        last = int(match.group(2))
        if not last or not size:
            raise _OutsideError
        return max(0, size - last), size
    start = int(match.group(1))
    end = size if match.group(2) == "" else min(size, int(match.group(2)) + 1)
    if match.group(2) != "" and int(match.group(2)) < start:
        return None
    if start >= size:
        raise _OutsideError
    return start, end


def _sent_type(stored: str) -> str:
    if not _MEDIA_TYPE.match(stored):
        return "application/octet-stream"
    return f"{stored}; charset=utf-8" if stored.startswith("text/") and "charset" not in stored else stored


def is_framed(request: Request) -> bool:
    """Whether the page asks for the file to show it in a frame."""
    return "frame" in request.query_params


def is_pdf(media_type: str) -> bool:
    """Whether it is a PDF, which `runner.files.pdf_actions` must clean before it is shown."""
    return _PDF.match(media_type) is not None


def _disposition(request: Request, name: str, media_type: str) -> str:
    """The Content-Disposition (RFC 6266), with the name in ASCII for old clients and in UTF-8."""
    shown = _SHOWN.match(media_type) or (is_framed(request) and (_HTML.match(media_type) or is_pdf(media_type)))
    save = "download" in request.query_params or not shown
    name = name.replace("\\", "/").rpartition("/")[2] or "artifact"
    old = "".join(sign if sign.isascii() and sign.isprintable() and sign not in '"\\;%' else "_" for sign in name)
    # Cut before escaping, at a whole character: half an escape makes browsers drop the name.
    exact = name.encode("utf-8", "replace")[:_NAME_BYTES].decode("utf-8", "ignore")
    return f"{'attachment' if save else 'inline'}; filename=\"{old[:200]}\"; filename*=UTF-8''{quote(exact, safe='')}"


def plain(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Answer with a sentence of plain text that browsers do not cache."""
    return PlainTextResponse(f"{message}\n", status, {"cache-control": "no-store", **(headers or {})})
