"""JSON answers of addresses outside GraphQL and MCP; a refusal has the fields of the API's problems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response

from schema.base.issues import hint_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.problems import Problem, ProblemCode
    from runner.failures import JSONValue


def json_answer(status: int, body: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        orjson.dumps(body), status, {"cache-control": "no-store", **(headers or {})}, media_type="application/json"
    )


def problem_fields(
    code: ProblemCode, message: str, *, hint: str | None = None, retryable: bool = False
) -> dict[str, JSONValue]:
    """The fields of a problem, named as in the API."""
    return {"code": code.value, "message": message, "hint": hint, "retryable": retryable}


def problem_answer(status: int, problem: Problem) -> Response:
    """Answer with a problem, and with `Retry-After` if it says when to try again."""
    body = problem_fields(problem.code, problem.message, hint=hint_text(problem.hint), retryable=problem.retryable)
    headers = {}
    wait = getattr(problem, "retry_after_seconds", None)
    if wait is not None:
        body["retryAfterSeconds"] = wait
        headers["retry-after"] = str(math.ceil(wait))
    return json_answer(status, {"problem": body}, headers)
