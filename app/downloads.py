"""`/artifacts/<id>`: downloads with ranges, harmless whatever the file holds.

Artifacts are made by packs out of what the internet gave them. They are sent so that a browser neither guesses their
type nor runs anything in them, and only to those who may see the run they come from (CONTRACT 1.10, 4.5).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import structlog
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from app.auth import address_of, bearer_token
from store.artifacts import find_artifact
from store.blobs import NOT_HERE
from store.states import ArtifactStatus, Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path
    from typing import BinaryIO

    from starlette.requests import Request

    from app.auth import Authenticator
    from app.settings import Settings
    from store.artifacts import ArtifactRecord
    from store.blobs import BlobStore
    from store.engine import Store

log = structlog.get_logger(__name__)

_CHUNK = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})\Z")
_MEDIA_TYPE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}(; ?[\x20-\x7e]*)?\Z"
)
#: Shown in the browser when asked for; everything else is saved. Nothing here runs scripts by itself.
_SHOWN = re.compile(
    r"(image/(png|jpeg|gif|webp|avif)|audio/[\w.+-]+|video/[\w.+-]+|application/(pdf|json)|text/(plain|markdown|csv))(;|\Z)"
)
_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
}


class Downloads:
    """Serves artifacts.

    Args:
        store: Where artifacts are recorded.
        blobs: Where their content is.
        authenticator: Who may call.
        settings: How long signed addresses work, and where the server is reached.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        blobs: BlobStore,
        authenticator: Authenticator,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._authenticator = authenticator
        self._settings = settings
        self._clock = clock
        self._key = signing_key(settings.data_dir)

    def routes(self) -> list[Route]:
        """The route `/artifacts/{id}`."""
        return [Route("/artifacts/{id}", self._serve, methods=["GET", "HEAD"])]

    def sign(self, artifact_id: str, caller_id: str) -> str:
        """An address that serves an artifact without a token for some minutes; made for who may see it.

        A path, or a whole address when the settings say where people reach the server.
        """
        # Whole minutes, so that a page that is read again gets the same address and the browser its cached file.
        expires = (int(self._clock() + self._settings.download_link_minutes * 60) // 60 + 1) * 60
        query = urlencode(
            {
                "caller": caller_id,
                "expires": expires,
                "signature": self._signature(artifact_id, caller_id, str(expires)),
            }
        )
        return f"{self._settings.public_url or ''}/artifacts/{artifact_id}?{query}"

    async def _serve(self, request: Request) -> Response:
        artifact_id: str = request.path_params["id"]
        refused = await self._refusal(request, artifact_id)
        if refused is not None:
            return refused
        artifact = await self._visible(request, artifact_id)
        if artifact is None:
            return _plain(404, f"There is no artifact {artifact_id}, or you may not see it.")
        if artifact.status is ArtifactStatus.QUARANTINED:
            return _plain(
                403,
                f"{artifact.name} is in quarantine, because it seems to hold a secret. Somebody with the scope "
                "`manage` can release it.",
            )
        if artifact.erased_at is not None:
            return _plain(410, f"{artifact.name} was erased at {artifact.erased_at:%Y-%m-%d %H:%M} UTC.")
        try:
            file = await asyncio.to_thread(self._blobs.open, artifact.digest)
        except FileNotFoundError:
            log.exception("the content of an artifact is missing", artifact=artifact.id, digest=artifact.digest)
            return _plain(410, f"The content of {artifact.name} {NOT_HERE}")
        return _answer(request, artifact, file)

    async def _refusal(self, request: Request, artifact_id: str) -> Response | None:
        """Why this request may not go on; None when its signature, token or login is good."""
        signature = request.query_params.get("signature")
        if signature is not None:
            caller, expires = request.query_params.get("caller", ""), request.query_params.get("expires", "")
            wanted = self._signature(artifact_id, caller, expires)
            if not hmac.compare_digest(wanted.encode(), signature.encode()):
                self._authenticator.throttle.failed(address_of(request))
                return _plain(403, "This address is not complete, or was not made by this server.")
            if not expires.isascii() or not expires.isdigit() or self._clock() >= int(expires):
                return _plain(403, "This address has expired. Ask for the artifact again to get a new one.")
            return None
        token = bearer_token(request.headers.get("authorization"))
        found = await self._authenticator.authenticate(request, token)
        if found is None:
            return _plain(401, "Sign in, or send a token as `Authorization: Bearer …`.", {"www-authenticate": "Bearer"})
        if not found.may(Scope.READ):
            return _plain(403, "Downloads need a token with the scope `read`.")
        request.state.caller = found
        return None

    async def _visible(self, request: Request, artifact_id: str) -> ArtifactRecord | None:
        async with self._store.read() as connection:
            artifact = await find_artifact(connection, artifact_id)
        caller = getattr(request.state, "caller", None)
        # A signed address was made for somebody who could see it.
        if artifact is None or caller is None or artifact.caller_id == caller.id or caller.may(Scope.OBSERVE):
            return artifact
        return None

    def _signature(self, artifact_id: str, caller_id: str, expires: str) -> str:
        text = "\n".join((artifact_id, caller_id, expires)).encode()
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()


def signing_key(data_dir: Path) -> bytes:
    """The key of signed addresses; made at first use, readable by the server's user only."""
    path = data_dir / "download.key"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = data_dir / f".download.key.{secrets.token_hex(4)}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(32))
    try:
        # Of two servers that start at once on one folder, both use the key that was there first.
        os.link(partial, path)
    except FileExistsError:
        pass
    finally:
        partial.unlink()
    return path.read_bytes()


def _answer(request: Request, artifact: ArtifactRecord, file: BinaryIO) -> Response:
    etag = f'"{artifact.digest}"'
    headers = {**_HEADERS, "etag": etag, "content-disposition": _disposition(request, artifact)}
    if etag in (tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")):
        file.close()
        return Response(status_code=304, headers=headers)
    size = os.fstat(file.fileno()).st_size
    start, end, status = 0, size, 200
    wanted = request.headers.get("range")
    if wanted is not None and request.headers.get("if-range", etag) == etag:
        try:
            found = _byte_range(wanted, size)
        except _OutsideError:
            file.close()
            return _plain(416, f"The artifact has {size} bytes.", {"content-range": f"bytes */{size}"})
        if found is not None:
            start, end = found
            status = 206
            headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    headers["content-length"] = str(end - start)
    media_type = _media_type(artifact.media_type)
    if request.method == "HEAD":
        file.close()
        return Response(status_code=status, headers={**headers, "content-type": media_type})
    return StreamingResponse(_read(file, start, end), status, {**headers, "content-type": media_type})


async def _read(file: BinaryIO, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        if start:
            file.seek(start)
        left = end - start
        while left > 0:
            chunk = await asyncio.to_thread(file.read, min(_CHUNK, left))
            if not chunk:
                raise OSError("The content became shorter while it was sent.")
            left -= len(chunk)
            yield chunk
    finally:
        file.close()


class _OutsideError(Exception):
    """The range lies outside the file."""


def _byte_range(text: str, size: int) -> tuple[int, int] | None:
    """The stretch a Range header asks for, end exclusive.

    Returns:
        None when the header is to be ignored: several ranges, other units, nonsense (RFC 9110 section 14.2).

    Raises:
        _OutsideError: nothing of the file lies in it.
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


def _media_type(stored: str) -> str:
    if not _MEDIA_TYPE.match(stored):
        return "application/octet-stream"
    return f"{stored}; charset=utf-8" if stored.startswith("text/") and "charset" not in stored else stored


def _disposition(request: Request, artifact: ArtifactRecord) -> str:
    """Shown or saved, and under which name (RFC 6266): a plain one for old clients, the true one in UTF-8."""
    save = "download" in request.query_params or _SHOWN.match(artifact.media_type) is None
    name = artifact.name.replace("\\", "/").rpartition("/")[2] or "artifact"
    plain = "".join(sign if sign.isascii() and sign.isprintable() and sign not in '"\\;%' else "_" for sign in name)
    exact = quote(name.encode("utf-8", "replace"), safe="")
    return f"{'attachment' if save else 'inline'}; filename=\"{plain[:200]}\"; filename*=UTF-8''{exact[:600]}"


def _plain(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{message}\n", status, {"cache-control": "no-store", **(headers or {})})
