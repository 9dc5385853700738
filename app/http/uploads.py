"""`POST /artifacts`: a file of a caller's, streamed to where artifacts are kept.

The body is a form with one file (`multipart/form-data`), or the file itself with its name in the query
(`POST /artifacts?name=report.pdf`). The answer is JSON: `{"artifact": {…}}`, or `{"problem": {…}}` with the fields
problems have in the API.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import TYPE_CHECKING

import orjson
import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from app.auth.identity import bearer_token
from app.auth.throttle import Throttle
from app.http.bodies import announced_over
from app.http.multipart import BESIDE_BYTES, FormError, FormFile
from resolvers.artifacts.artifacts import download_address
from resolvers.artifacts.uploads import NoRoom, UploadTooLarge, invalid_upload, upload_artifact
from resolvers.problems import Limited, Problem, ProblemCode
from schema.base.issues import hint_text
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.requests import Request

    from app.auth.identity import Authenticator
    from app.settings.server import Settings
    from resolvers.context import Caller, Context
    from runner.failures import JSONValue
    from store.files.artifacts import ArtifactRecord

log = structlog.get_logger(__name__)

#: A sender that is silent for so long has gone.
SILENCE_SECONDS = 30.0
#: Uploads of one caller under way at a time.
AT_ONCE = 4
_STATUS = {
    ProblemCode.INVALID: 400,
    ProblemCode.FORBIDDEN: 403,
    ProblemCode.LIMITED: 429,
    ProblemCode.UNAVAILABLE: 503,
}


class Uploads:
    """Takes files.

    Args:
        authenticator: Who may call.
        settings: How large a file may be, and how many a caller may send in a minute.
        make_context: What a use case is given, for a caller and a request.
        silence_seconds: See `SILENCE_SECONDS`.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        settings: Settings,
        make_context: Callable[[Caller, Request], Context],
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self._authenticator = authenticator
        self._limit_bytes = settings.upload_bytes
        self._make_context = make_context
        self._silence_seconds = silence_seconds
        self._throttle = Throttle(settings.uploads_per_minute)
        self._under_way: Counter[str] = Counter()

    def routes(self) -> list[Route]:
        """The route `/artifacts`."""
        return [Route("/artifacts", self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        token = bearer_token(request.headers.get("authorization"))
        caller = await self._authenticator.authenticate(request, token)
        if caller is None:
            return _json(
                401,
                {"problem": _told(ProblemCode.FORBIDDEN, "Sign in, or send a token as `Authorization: Bearer …`.")},
                {"www-authenticate": "Bearer"},
            )
        context = self._make_context(caller, request)
        try:
            if not caller.may(Scope.RUN):
                raise await upload_artifact.refuse_scope(context, {})
            artifact = await self._taken(request, context)
        except Problem as problem:
            return _refused(problem)
        except TimeoutError:
            return _json(408, {"problem": _told(ProblemCode.LIMITED, _SILENT.format(self._silence_seconds))})
        except ClientDisconnect:
            log.info("an upload was cut off", caller=caller.id)
            return Response(status_code=400)
        answer = _artifact(artifact, download_address(context, artifact))
        return _json(201, {"artifact": answer}, {"location": f"/artifacts/{artifact.id}"})

    async def _taken(self, request: Request, context: Context) -> ArtifactRecord:
        """The recorded file; nothing is left of one that is refused or cut off."""
        caller_id = context.caller.id
        size = announced_over(request.headers.get("content-length"), self._limit_bytes + BESIDE_BYTES)
        if size is not None:
            raise UploadTooLarge(
                f"{size} bytes are more than the {self._limit_bytes} bytes an upload may have.",
                hint="Send a smaller file, or have the server's PACKLINE_UPLOAD_BYTES raised.",
            )
        if (wait := self._throttle.wait_seconds(caller_id)) > 0:
            raise Limited("You have sent many files in a short time.", retry_after_seconds=wait)
        if self._under_way[caller_id] >= AT_ONCE:
            raise Limited(f"{AT_ONCE} uploads of yours are under way.", retry_after_seconds=1.0)
        self._throttle.failed(caller_id)
        self._under_way[caller_id] += 1
        try:
            return await self._received(request, context)
        finally:
            self._under_way[caller_id] -= 1
            if not self._under_way[caller_id]:
                del self._under_way[caller_id]

    async def _received(self, request: Request, context: Context) -> ArtifactRecord:
        body = self._body(request)
        content_type = request.headers.get("content-type", "")
        try:
            if content_type.lower().startswith("multipart/form-data"):
                form = FormFile(body, content_type)
                await form.begin()
                name, claimed, chunks = form.name, form.media_type, form.pieces()
            else:
                name, claimed, chunks = request.query_params.get("name", ""), content_type or None, body
                if not name:
                    raise invalid_upload(
                        "The request names no file: send a form with one, or the file itself to /artifacts?name=…"
                    )
            return await upload_artifact(context, name=name, claimed_type=claimed, chunks=chunks)
        except FormError as error:
            raise invalid_upload(str(error)) from error

    async def _body(self, request: Request) -> AsyncIterator[bytes]:
        pieces = request.stream()
        while True:
            async with asyncio.timeout(self._silence_seconds):
                piece = await anext(pieces, None)
            if piece is None:
                return
            if piece:
                yield piece


_SILENT = "Nothing more of the file arrived for {:g} seconds."


def _artifact(artifact: ArtifactRecord, download_url: str | None) -> dict[str, JSONValue]:
    """The artifact with the names its fields have in the API."""
    return {
        "id": artifact.id,
        "name": artifact.name,
        "mediaType": artifact.media_type,
        "sizeBytes": artifact.size_bytes,
        "digest": artifact.digest,
        "status": artifact.status.name,
        "createdAt": artifact.created_at.isoformat(),
        "expiresAt": None if artifact.expires_at is None else artifact.expires_at.isoformat(),
        "downloadUrl": download_url,
    }


def _refused(problem: Problem) -> Response:
    status = _STATUS.get(problem.code, 400)
    if isinstance(problem, UploadTooLarge):
        status = 413
    elif isinstance(problem, NoRoom):
        status = 507
    told = _told(problem.code, problem.message, hint=hint_text(problem.hint), retryable=problem.retryable)
    headers = {}
    wait = getattr(problem, "retry_after_seconds", None)
    if wait is not None:
        told["retryAfterSeconds"] = wait
        headers["retry-after"] = str(math.ceil(wait))
    return _json(status, {"problem": told}, headers)


def _told(code: ProblemCode, message: str, *, hint: str | None = None, retryable: bool = False) -> dict[str, JSONValue]:
    return {"code": code.value, "message": message, "hint": hint, "retryable": retryable}


def _json(status: int, body: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        orjson.dumps(body), status, {"cache-control": "no-store", **(headers or {})}, media_type="application/json"
    )
