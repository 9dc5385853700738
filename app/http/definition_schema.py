"""The JSON Schema of pipeline definitions, which editors fetch without a token."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from runner.definitions.editor_schema import SCHEMA_PATH
from runner.triggers.documents import document_schema

if TYPE_CHECKING:
    from starlette.requests import Request


def definition_schema_route(max_steps: int) -> Route:
    """The route of the schema; see `document_schema` for the argument."""

    @cache
    def body() -> str:
        return json.dumps(document_schema(max_steps))

    async def answer(_request: Request) -> Response:
        return Response(body(), media_type="application/schema+json")

    return Route(SCHEMA_PATH, answer, methods=["GET"])
