"""GraphiQL at `/graphiql`: the API explorer, served from our own files.

The page is built from `frontend/graphiql`; its content policy keeps it from loading anything from elsewhere. It calls
`/graphql` with the browser's login or with a token typed into it, so the page itself needs no sign-in.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from app.http.pages import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Scope

BUILT_FILES = Path(__file__).parent.parent / "ui_dist" / "graphiql"
#: The editor injects style elements and starts its workers from blobs; everything else comes from this server.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}


class _Files(StaticFiles):
    """The built page; its assets have a digest in their name and never change."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        for name, value in _HEADERS.items():
            response.headers[name] = value
        caching = "public, max-age=31536000, immutable" if path.startswith("assets/") else "no-cache"
        response.headers["cache-control"] = caching
        return response


def graphiql_routes(files: Path = BUILT_FILES) -> list[BaseRoute]:
    """The routes of the explorer; without a build, of a page that says how to build it.

    Args:
        files: The folder `npm run build` wrote; checked once, now.
    """
    if not (files / "index.html").is_file():
        return [Route("/graphiql", _not_built, methods=["GET"]), Route("/graphiql/", _not_built, methods=["GET"])]
    return [
        Route("/graphiql", _with_slash, methods=["GET"]),
        Mount("/graphiql", _Files(directory=files, html=True)),
    ]


async def _with_slash(request: Request) -> Response:
    """Redirect to the page's folder: its addresses are relative, so that it works behind any path prefix."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"graphiql/{query}", 307)


async def _not_built(_request: Request) -> Response:
    return page(
        "The API explorer is not built",
        "<p>GraphiQL is not part of this installation. To build it from the sources, run "
        "<code>cd frontend &amp;&amp; npm ci &amp;&amp; npm run build</code> and start the server again.</p>"
        "<p>The API itself works without it: send queries to <code>/graphql</code>.</p>",
        status=404,
    )
