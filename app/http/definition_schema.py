"""The JSON Schema of pipeline definitions, which editors fetch without a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Route

from runner.definitions.editor_schema import SCHEMA_PATH, definition_schema

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def definition_schema_route(max_steps: int) -> Route:
    """The route of the schema; see `definition_schema` for the argument."""

    async def answer(_request: Request) -> Response:
        return JSONResponse(definition_schema(max_steps), media_type="application/schema+json")

    return Route(SCHEMA_PATH, answer, methods=["GET"])
