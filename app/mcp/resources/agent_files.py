"""Files for agents, rendered per request: `/skill.md`, which needs a token, and `/llms.txt`, which is public."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.auth.identity import bearer_token
from app.auth.refusals import unauthenticated
from app.mcp.resources.skill import PIPELINES, PIPELINES_MAX, llms_text, skill
from app.mcp.session import Selection, SelectionError, Session
from app.mcp.tools.toolbox import Toolbox
from runner.issues import lacking_scope
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.auth.identity import Authenticator
    from resolvers.context import Caller, Context
    from schema.guard.guarded_schema import GuardedSchema

_HEADERS = {"cache-control": "no-store"}


def agent_file_routes(
    authenticator: Authenticator,
    schema: GuardedSchema,
    make_context: Callable[[Caller, Request], Context],
    public_url: str | None,
) -> list[BaseRoute]:
    """The routes of `/skill.md` and `/llms.txt`.

    Args:
        authenticator: Finds the caller.
        schema: The schema behind the tools and the catalog.
        make_context: Makes the context of use cases for a caller and a request.
        public_url: The server's address, if it differs from the request's.
    """

    @cache
    def toolbox() -> Toolbox:
        return Toolbox(schema)

    async def skill_file(request: Request) -> Response:
        token = bearer_token(request.headers.get("authorization"))
        caller = await authenticator.authenticate(request, token)
        if caller is None:
            message, headers = unauthenticated(request, token)
            text = f"{message} `packline token create` makes a token.\n"
            return PlainTextResponse(text, 401, {**_HEADERS, **headers})
        if not caller.may(Scope.READ):
            return PlainTextResponse(f"{lacking_scope('The skill', '`read`')}\n", 403, _HEADERS)
        try:
            selection = Selection.parse(request.url.query, request.headers)
            session = Session(schema, make_context(caller, request), selection)
            session.refuse_unknown_packs()
        except SelectionError as wrong:
            return PlainTextResponse(f"{wrong}\n", 400, _HEADERS)
        pipelines = (await session.execute(PIPELINES, {"first": PIPELINES_MAX}))["catalog"]["nodes"]
        text = skill(toolbox().texts(session), pipelines)
        return PlainTextResponse(text, headers=_HEADERS, media_type="text/markdown")

    async def llms_file(request: Request) -> Response:
        return PlainTextResponse(llms_text((public_url or str(request.base_url)).rstrip("/")))

    return [Route("/skill.md", skill_file, methods=["GET"]), Route("/llms.txt", llms_file, methods=["GET"])]
