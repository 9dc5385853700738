"""`/artifacts/<id>`, its `/preview` and `/attempts/<id>/transcript`, for callers who may see the run.

Signed addresses work without a token for some minutes, so that pages can show pictures and agents can pass on links.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import structlog
from starlette.routing import Route

from app.auth.identity import address_of, bearer_token
from app.auth.refusals import unauthenticated
from app.http.pages import built_page, wants_page
from app.http.ranges import is_framed, is_pdf, plain, send, send_lines, send_whole
from resolvers.permissions import visible_to
from runner.excerpts import excerpt
from runner.failures import PackError
from runner.files.page_strips import PageStrips
from runner.files.pdf_actions import SafePdfs
from runner.issues import lacking_scope
from store.files.artifacts import ArtifactRecord, find_artifact
from store.files.blob_port import NOT_HERE, BlobError
from store.runs.step_reads import find_attempts
from store.runs.transcripts import transcript_parts
from store.states import ArtifactStatus, Scope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from app.auth.identity import Authenticator
    from app.settings.server import Settings
    from resolvers.context import Caller
    from runner.files.previews import Previews
    from store.database.engine import Store
    from store.files.blob_port import Blobs

log = structlog.get_logger(__name__)

#: How long a request waits for a preview to be rendered, in seconds.
PREVIEW_SECONDS = 20.0


class Downloads:
    """Serve artifacts and transcripts.

    Args:
        store: The records of artifacts.
        blobs: Their contents.
        previews: Renders and caches previews.
        authenticator: Finds the caller.
        settings: The lifetime of signed addresses, and the public address.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        previews: Previews,
        authenticator: Authenticator,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._previews = previews
        self._strips = PageStrips(blobs)
        self._pdfs = SafePdfs(blobs)
        self._authenticator = authenticator
        self._settings = settings
        self._clock = clock
        self._key = signing_key(settings.data_dir)

    def routes(self) -> list[Route]:
        methods = ["GET", "HEAD"]
        return [
            Route("/artifacts/{id}", self._serve, methods=methods),
            Route("/artifacts/{id}/preview", self._serve_preview, methods=methods),
            Route("/attempts/{id}/transcript", self._serve_transcript, methods=methods),
        ]

    def sign(self, artifact_id: str, caller_id: str) -> str:
        """An address that serves an artifact without a token for some minutes; the caller must be allowed to see it.

        With `<id>/preview` it serves the artifact's preview. It is a path, or a whole address if PACKLINE_PUBLIC_URL
        is set.
        """
        return self._signed(f"artifacts/{artifact_id}", artifact_id, caller_id)

    def sign_transcript(self, attempt_id: str, caller_id: str) -> str:
        """An address as `sign` makes it, of an attempt's transcript."""
        path = f"attempts/{attempt_id}/transcript"
        return self._signed(path, path, caller_id)

    def _signed(self, path: str, signed: str, caller_id: str) -> str:
        # Rounded to whole minutes: a reloaded page gets the same address, and the browser uses its cache.
        expires = (int(self._clock() + self._settings.download_link_minutes * 60) // 60 + 1) * 60
        query = urlencode(
            {
                "caller": caller_id,
                "expires": expires,
                "signature": self._signature(signed, caller_id, str(expires)),
            }
        )
        return f"{self._settings.outward}/{path}?{query}"

    async def _serve(self, request: Request) -> Response:
        artifact_id: str = request.path_params["id"]
        if wants_page(request) and (shown := built_page(base=self._settings.base)) is not None:
            return shown
        found = await self._find(request, artifact_id, artifact_id)
        if not isinstance(found, ArtifactRecord):
            return found
        if is_framed(request) and is_pdf(found.media_type):
            return await self._send_shown(request, found)
        return await self._send(request, found.digest, found.name, found.media_type)

    async def _send_shown(self, request: Request, artifact: ArtifactRecord) -> Response:
        """Send a PDF without the actions a browser's viewer would run."""
        try:
            digest = await self._pdfs.digest_of(artifact)
        except PackError as error:
            return plain(415, f"{artifact.name} cannot be shown here; download it instead. {error.failure.message}")
        except FileNotFoundError:
            return plain(410, f"The content of {artifact.name} {NOT_HERE}")
        except (BlobError, OSError) as error:
            return plain(
                503,
                f"{artifact.name} cannot be shown now; download it instead. {_text_of(error)}",
                {"retry-after": "5"},
            )
        return await self._send(request, digest, artifact.name, artifact.media_type)

    async def _serve_preview(self, request: Request) -> Response:
        artifact_id: str = request.path_params["id"]
        found = await self._find(request, artifact_id, f"{artifact_id}/preview")
        if not isinstance(found, ArtifactRecord):
            return found
        if "pages" in request.query_params:
            return await self._send_strip(found, only_first=request.query_params["pages"] == "first")
        preview = await self._previews.made(found, wait_seconds=PREVIEW_SECONDS)
        if preview is None:
            return plain(503, f"The preview of {found.name} is not ready yet. Try again.", {"retry-after": "2"})
        if preview.image_digest is None or preview.image_type is None:
            return plain(404, f"There is no picture of {found.name}. {preview.reason or 'It is shown as text.'}")
        return await self._send(request, preview.image_digest, f"{found.name} preview", preview.image_type)

    async def _send_strip(self, artifact: ArtifactRecord, *, only_first: bool) -> Response:
        """Send all pages in one picture, or the first: `?pages` or `?pages=first` of a preview."""
        try:
            strip = await self._strips.of(artifact, only_first=only_first)
        except PackError as error:
            return plain(404, f"There is no picture of the pages of {artifact.name}: {error.failure.message}")
        except FileNotFoundError:
            return plain(410, f"The content of {artifact.name} {NOT_HERE}")
        except BlobError as error:
            return plain(503, _text_of(error), {"retry-after": "5"})
        return send_whole(strip, "image/webp")

    async def _serve_transcript(self, request: Request) -> Response:
        attempt_id: str = request.path_params["id"]
        refused = await self._refusal(request, f"attempts/{attempt_id}/transcript")
        if refused is not None:
            return refused
        if attempt_id not in await find_attempts(self._store, [attempt_id], visible_to=_sees(request)):
            return plain(404, f"There is no attempt {attempt_id}, or you may not see it.")
        return send_lines(request, transcript_parts(self._store, attempt_id), name=f"{attempt_id}.jsonl")

    async def _find(self, request: Request, artifact_id: str, signed: str) -> ArtifactRecord | Response:
        """The artifact, or the refusal to send it."""
        refused = await self._refusal(request, signed)
        if refused is not None:
            return refused
        artifact = await find_artifact(self._store, artifact_id, visible_to=_sees(request))
        if artifact is None:
            return plain(404, f"There is no artifact {artifact_id}, or you may not see it.")
        if artifact.status is ArtifactStatus.QUARANTINED:
            return plain(
                403,
                f"{artifact.name} is quarantined, because it seems to contain a secret. A caller with the scope "
                "`manage` can release it.",
            )
        if artifact.erased_at is not None:
            return plain(410, f"{artifact.name} was erased at {artifact.erased_at:%Y-%m-%d %H:%M} UTC.")
        return artifact

    async def _send(self, request: Request, digest: str, name: str, media_type: str) -> Response:
        try:
            content = await self._blobs.content(digest)
        except FileNotFoundError:
            log.exception("the content of an artifact is missing", path=request.url.path, digest=digest)
            return plain(410, f"The content of {name} {NOT_HERE}")
        except BlobError as error:
            log.warning("could not read the content of an artifact", path=request.url.path, error=str(error))
            return plain(503, _text_of(error), {"retry-after": "5"})
        return await send(request, content, digest=digest, name=name, media_type=media_type)

    async def _refusal(self, request: Request, signed: str) -> Response | None:
        """The refusal of this request; None if its signature, token or login is valid."""
        signature = request.query_params.get("signature")
        if signature is not None:
            caller, expires = request.query_params.get("caller", ""), request.query_params.get("expires", "")
            wanted = self._signature(signed, caller, expires)
            if not hmac.compare_digest(wanted.encode(), signature.encode()):
                self._authenticator.throttle.failed(address_of(request))
                return plain(403, "This address is incomplete, or this server did not sign it.")
            if not expires.isascii() or not expires.isdigit() or self._clock() >= int(expires):
                return plain(403, "This address has expired. Request a new one.")
            return None
        token = bearer_token(request.headers.get("authorization"))
        found = await self._authenticator.authenticate(request, token)
        if found is None:
            return plain(401, *unauthenticated(request, token))
        if not found.may(Scope.READ):
            return plain(403, lacking_scope("A download", "`read`"))
        request.state.caller = found
        return None

    def _signature(self, signed: str, caller_id: str, expires: str) -> str:
        text = "\n".join((signed, caller_id, expires)).encode()
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()


def _text_of(error: Exception) -> str:
    return excerpt(str(error), 1000)


def _sees(request: Request) -> str | None:
    """The caller to whose files this request is limited; None if it may read everybody's."""
    caller: Caller | None = getattr(request.state, "caller", None)
    # A signed address was made for a caller who may see the file.
    return None if caller is None else visible_to(caller)


def signing_key(data_dir: Path) -> bytes:
    """The key of signed addresses, created at first use; only the server's user can read its file."""
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
        # Two servers that start at once on one folder both use the key that was written first.
        os.link(partial, path)
    except FileExistsError:
        pass
    finally:
        partial.unlink()
    return path.read_bytes()
