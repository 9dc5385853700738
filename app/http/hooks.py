"""`POST /hooks/<address>`: deliveries of webhooks.

The answer is JSON: `{"status": "accepted", "run": "run_…"}` (202), `{"status": "duplicate", …}` or
`{"status": "ignored"}` (200), or `{"problem": {…}}` with the fields of the API's problems.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from app.http.answers import json_answer, problem_answer, problem_fields
from app.http.bodies import BodyTooLarge, read_bounded
from resolvers.problems import Limited, Problem, ProblemCode, refusal_of
from resolvers.triggers.deliveries import DeliveryStatus, deliver, find_hook
from runner.triggers.webhooks import UnreadableBodyError, UnverifiedError
from store.database.errors import StoreError

if TYPE_CHECKING:
    from starlette.requests import Request

    from resolvers.context import Services

log = structlog.get_logger(__name__)

#: Largest body; GitHub's payloads have at most 25 MB, and hardly any more than 100 KB.
BODY_BYTES = 1 << 20
#: How long a body may take to arrive.
BODY_SECONDS = 10.0
#: Deliveries that are received at the same time; their bodies are in memory, and not yet verified.
CONCURRENT_MAX = 128
_CLOSE = {"connection": "close"}
_STATUS = {ProblemCode.NOT_FOUND: 404, ProblemCode.LIMITED: 429, ProblemCode.UNAVAILABLE: 503}


class Hooks:
    """Receives deliveries.

    Args:
        services: What use cases work with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._under_way = 0

    def routes(self) -> list[Route]:
        return [Route("/hooks/{address}", self._receive, methods=["POST"])]

    async def _receive(self, request: Request) -> Response:
        if self._under_way >= CONCURRENT_MAX:
            busy = Limited(f"{CONCURRENT_MAX} deliveries are being received.", retry_after_seconds=1.0)
            return problem_answer(429, busy)
        self._under_way += 1
        try:
            return await self._answer(request)
        except Problem as problem:
            return problem_answer(_STATUS.get(problem.code, 422), problem)
        except UnverifiedError as refused:
            return _refused(401, ProblemCode.FORBIDDEN, str(refused))
        except UnreadableBodyError as refused:
            return _refused(415 if refused.is_media_type else 400, ProblemCode.INVALID, str(refused))
        except BodyTooLarge as over:
            message = f"The body is larger than the limit of {BODY_BYTES:,} bytes."
            return _refused(413, ProblemCode.INVALID, message, closes=over.is_unread)
        except TimeoutError:
            message = f"The body did not arrive within {BODY_SECONDS:g} seconds."
            return _refused(408, ProblemCode.LIMITED, message, closes=True)
        except ClientDisconnect:
            return Response(status_code=400)
        except StoreError as failed:
            refusal = refusal_of(failed)
            if refusal is None:
                raise
            return problem_answer(503, refusal)
        finally:
            self._under_way -= 1

    async def _answer(self, request: Request) -> Response:
        hook = await find_hook(self._services, request.path_params["address"])
        async with asyncio.timeout(BODY_SECONDS):
            body = await read_bounded(request, BODY_BYTES)
        answer = await deliver(self._services, hook, dict(request.headers), body)
        match answer.status:
            case DeliveryStatus.ACCEPTED:
                return json_answer(202, {"status": answer.status.value, "run": answer.run_id})
            case DeliveryStatus.DUPLICATE:
                return json_answer(200, {"status": answer.status.value, "run": answer.run_id})
            case DeliveryStatus.IGNORED:
                return json_answer(200, {"status": answer.status.value})
            case DeliveryStatus.FAILED:
                message = (
                    "The delivery is stored, but its run could not be started. Its firing says why. Replay it once "
                    "the cause is gone."
                )
                return _refused(422, ProblemCode.INVALID, message)


def _refused(status: int, code: ProblemCode, message: str, *, closes: bool = False) -> Response:
    return json_answer(status, {"problem": problem_fields(code, message)}, _CLOSE if closes else None)
