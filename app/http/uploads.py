"""`POST /artifacts`: stream a caller's file into the artifact store.

The body is a form with one file (`multipart/form-data`), or the file itself with its name in the query
(`POST /artifacts?name=report.pdf`). The answer is JSON: `{"artifact": {…}}`, or `{"problem": {…}}` with the fields of
the API's problems.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from app.auth.identity import bearer_token
from app.auth.refusals import unauthenticated
from app.auth.throttle import Throttle
from app.http.answers import json_answer, problem_answer, problem_fields
from app.http.bodies import announced_over
from app.http.multipart import OVERHEAD_BYTES, FormError, FormFile
from resolvers.artifacts.artifacts import download_address
from resolvers.artifacts.uploads import NoRoom, UploadTooLarge, invalid_upload, upload_artifact
from resolvers.problems import Limited, Problem, ProblemCode, Unavailable, refusal_of
from schema.base.scalars import format_instant
from store.database.errors import StoreError
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from app.auth.identity import Authenticator
    from app.settings.server import Settings
    from resolvers.context import Caller, Context
    from runner.failures import JSONValue
    from store.files.artifacts import ArtifactRecord

log = structlog.get_logger(__name__)

#: Longest pause between two pieces of a file.
PAUSE_SECONDS = 30.0
#: Concurrent uploads of one caller.
CONCURRENT_MAX = 4
_STATUS = {
    ProblemCode.INVALID: 400,
    ProblemCode.FORBIDDEN: 403,
    ProblemCode.LIMITED: 429,
    ProblemCode.UNAVAILABLE: 503,
}


class Uploads:
    """Receive files.

    Args:
        authenticator: Finds the caller.
        settings: The limits on the size of a file and on the files a caller may send in a minute.
        make_context: Makes the context of a use case for a caller and a request.
        pause_seconds: See `PAUSE_SECONDS`.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        settings: Settings,
        make_context: Callable[[Caller, Request], Context],
        *,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._authenticator = authenticator
        self._limit_bytes = settings.upload_bytes
        self._make_context = make_context
        self._pause_seconds = pause_seconds
        self._throttle = Throttle(settings.uploads_per_minute)
        self._under_way: Counter[str] = Counter()

    def routes(self) -> list[Route]:
        return [Route("/artifacts", self._upload, methods=["POST"])]

    async def _upload(self, request: Request) -> Response:
        try:
            return await self._answer(request)
        except (StoreError, Unavailable) as error:
            if (refusal := refusal_of(error)) is None:
                raise
            return _refused(refusal)

    async def _answer(self, request: Request) -> Response:
        token = bearer_token(request.headers.get("authorization"))
        caller = await self._authenticator.authenticate(request, token)
        if caller is None:
            message, headers = unauthenticated(request, token)
            return json_answer(401, {"problem": problem_fields(ProblemCode.FORBIDDEN, message)}, headers)
        context = self._make_context(caller, request)
        try:
            if not caller.may(Scope.RUN):
                raise await upload_artifact.refuse_scope(context, {})
            artifact = await self._admit(request, context)
        except Problem as problem:
            return _refused(problem)
        except TimeoutError:
            message = f"Nothing more of the file arrived for {self._pause_seconds:g} seconds."
            return json_answer(408, {"problem": problem_fields(ProblemCode.LIMITED, message)})
        except ClientDisconnect:
            log.info("the client disconnected during an upload", caller=caller.id)
            return Response(status_code=400)
        answer = _artifact(artifact, download_address(context, artifact))
        return json_answer(201, {"artifact": answer}, {"location": f"/artifacts/{artifact.id}"})

    async def _admit(self, request: Request, context: Context) -> ArtifactRecord:
        """Check the limits, then record the file; a refused or interrupted one leaves nothing behind."""
        caller_id = context.caller.id
        size = announced_over(request.headers.get("content-length"), self._limit_bytes + OVERHEAD_BYTES)
        if size is not None:
            raise UploadTooLarge(
                f"The request has {size} bytes; the limit of an upload is {self._limit_bytes}.",
                hint="Send a smaller file, or have the server's PACKLINE_UPLOAD_BYTES raised.",
            )
        if (wait := self._throttle.wait_seconds(caller_id)) > 0:
            raise Limited("You have uploaded too many files within a minute.", retry_after_seconds=wait)
        if self._under_way[caller_id] >= CONCURRENT_MAX:
            raise Limited(f"{CONCURRENT_MAX} of your uploads are still in progress.", retry_after_seconds=1.0)
        self._throttle.failed(caller_id)
        self._under_way[caller_id] += 1
        try:
            return await self._receive(request, context)
        finally:
            self._under_way[caller_id] -= 1
            if not self._under_way[caller_id]:
                del self._under_way[caller_id]

    async def _receive(self, request: Request, context: Context) -> ArtifactRecord:
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
                        "The request names no file. Send a form with a file, or the file itself to /artifacts?name=…"
                    )
            return await upload_artifact(context, name=name, claimed_type=claimed, chunks=chunks)
        except FormError as error:
            raise invalid_upload(str(error)) from error

    async def _body(self, request: Request) -> AsyncIterator[bytes]:
        pieces = request.stream()
        while True:
            async with asyncio.timeout(self._pause_seconds):
                piece = await anext(pieces, None)
            if piece is None:
                return
            if piece:
                yield piece


def _artifact(artifact: ArtifactRecord, download_url: str | None) -> dict[str, JSONValue]:
    """The artifact, with its fields named as in the API."""
    return {
        "id": artifact.id,
        "name": artifact.name,
        "mediaType": artifact.media_type,
        "sizeBytes": artifact.size_bytes,
        "digest": artifact.digest,
        "status": artifact.status.name,
        "createdAt": format_instant(artifact.created_at),
        "expiresAt": None if artifact.expires_at is None else format_instant(artifact.expires_at),
        "downloadUrl": download_url,
    }


def _refused(problem: Problem) -> Response:
    status = _STATUS.get(problem.code, 400)
    if isinstance(problem, UploadTooLarge):
        status = 413
    elif isinstance(problem, NoRoom):
        status = 507
    return problem_answer(status, problem)
