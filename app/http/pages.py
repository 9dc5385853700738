"""The page at `/`: the built one under a strict content policy, or a plain one that says how to build it.

Also plain pages that need no build, such as the sign-in page, and the health check.
"""

from __future__ import annotations

import html
import re
import stat
from functools import partial
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Match, Mount, Route
from starlette.staticfiles import StaticFiles

from resolvers.problems import refusal_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Scope

BUILT_PAGE = Path(__file__).parent.parent / "ui_dist" / "page"
#: Addresses of the built page. All serve the same file, which routes by address itself.
PAGE_PATHS = (
    "/",
    "/runs",
    "/runs/{id}",
    "/pipelines",
    "/pipelines/new",
    "/pipelines/{id}",
    "/pipelines/{id}/edit",
    "/pipelines/{id}/versions",
    "/pipelines/{id}/run",
    "/catalog",
    "/catalog/{id}",
    "/artifacts",
    "/connect",
    "/credentials",
    "/credentials/{id}",
    "/tokens",
    "/audit",
    "/triggers",
    "/triggers/new",
    "/triggers/{id}",
    "/triggers/{id}/edit",
    "/memory",
    "/proposals",
    "/settings",
)

#: A weight of zero, which refuses a coding (RFC 9110 section 12.4.2).
_REFUSED = re.compile(r"\s*q=0(\.0*)?\s*")
#: The meta element in which the built page finds its base path.
_BASE_META = 'name="packline-base" content=""'

#: No scripts and no outside addresses; a page with a script adds its hash.
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

#: Only the built page's own files and this server: no inline script or style, no `eval`, no framing.
BUILT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; media-src 'self'; "
    "frame-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

#: The colours, sizes and shapes of the built page (`frontend/src/app/styles.css`).
_LIGHT = (
    "color-scheme: light; --page: #ffffff; --panel: #f8f9fa; --hover: #f1f3f5; --ink: #16181d; --soft: #5b6069; "
    "--line: #e3e5e9; --control: #8b8d98; --accent: #0f5c75; --on-accent: #ffffff; --fail: #93191b; "
    "--fail-tint: #f6eded"
)
_DARK = (
    "color-scheme: dark; --page: #111214; --panel: #17191c; --hover: #1f2226; --ink: #eceef1; --soft: #a3a8b3; "
    "--line: #2a2d33; --control: #6b6f7a; --accent: #7cc8df; --on-accent: #0b1a20; --fail: #ee6363; "
    "--fail-tint: #301d1f"
)
_STYLE = f"""
:root {{ {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
:root[data-theme="light"] {{ {_LIGHT} }}
:root[data-theme="dark"] {{ {_DARK} }}
* {{ box-sizing: border-box }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--page);
       color: var(--ink); font: 14px/20px Inter, system-ui, -apple-system, "Segoe UI", sans-serif }}
main {{ width: 100%; max-width: 28rem }}
.brand {{ display: flex; align-items: center; gap: 8px; margin: 0 0 24px; font-size: 16px; line-height: 24px;
         font-weight: 600 }}
.brand svg {{ width: 20px; height: 20px }}
h1 {{ margin: 0 0 8px; font-size: 20px; line-height: 28px; font-weight: 600; letter-spacing: -0.01em }}
p {{ margin: 12px 0 }} .soft {{ color: var(--soft) }}
.bad {{ padding: 8px 12px; border-radius: 4px; background: var(--fail-tint); color: var(--fail) }}
a {{ color: var(--accent) }}
label {{ display: block; margin-bottom: 4px; font-weight: 500 }}
.row {{ display: flex; gap: 8px }}
input {{ font: inherit; flex: 1; min-width: 0; height: 36px; padding: 0 10px; border: 1px solid var(--control);
        border-radius: 4px; background: var(--page); color: var(--ink) }}
code {{ font: 13px/20px "JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace; color: var(--ink);
       overflow-wrap: anywhere }}
dd code {{ white-space: nowrap }}
dl {{ display: grid; grid-template-columns: auto 1fr; gap: 8px 16px; margin: 20px 0 0 }}
dt {{ color: var(--soft) }} dd {{ margin: 0 }}
button, .button {{ font: inherit; font-weight: 500; display: inline-flex; align-items: center; justify-content: center;
                  height: 36px; padding: 0 12px; border: 1px solid var(--accent); border-radius: 4px;
                  background: var(--accent); color: var(--on-accent); text-decoration: none; white-space: nowrap;
                  cursor: pointer }}
.button {{ width: 100% }}
.plain {{ border-color: var(--control); background: var(--page); color: var(--ink) }}
.plain:hover {{ background: var(--hover) }}
.or {{ display: flex; align-items: center; gap: 12px; margin: 20px 0; color: var(--soft) }}
.or::before, .or::after {{ content: ""; flex: 1; border-top: 1px solid var(--line) }}
:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px }}
"""
_BRAND = (
    '<p class="brand"><svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" '
    'fill="var(--accent)"/><g fill="var(--on-accent)"><rect x="3" y="3.2" width="10" height="2.4" rx="1"/>'
    '<rect x="3" y="6.8" width="7.5" height="2.4" rx="1"/><rect x="3" y="10.4" width="5" height="2.4" rx="1"/></g>'
    "</svg>Packline</p>"
)


def page(title: str, body: str, *, status: int = 200, script: str = "", script_hash: str = "") -> HTMLResponse:
    """A plain page in the product's style.

    Args:
        title: Text of title and heading; escaped here.
        body: HTML below the heading; the caller escapes foreign text in it.
        status: HTTP status.
        script: Inline script, if any.
        script_hash: Its `sha256-…`, for the content policy.
    """
    heading = html.escape(title)
    content = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading} · Packline</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f"<style>{_STYLE}</style></head><body><main>{_BRAND}<h1>{heading}</h1>{body}</main>"
        f"{f'<script>{script}</script>' if script else ''}</body></html>"
    )
    policy = f"{PAGE_POLICY}; script-src '{script_hash}'" if script_hash else PAGE_POLICY
    return HTMLResponse(content, status, {"content-security-policy": policy, "cache-control": "no-store"})


async def home_without_ui(_request: Request, base: str = "") -> Response:
    """Serve `/` when the web page was not built; `base` is the path prefix."""
    return page(
        "Packline is running",
        "<p>The web page is not part of this installation. To build it from the sources, run "
        "<code>make ui</code> and start the server again. Everything else works without it.</p>"
        f'<dl><dt>GraphQL</dt><dd><a href="{base}/graphiql">{base}/graphiql</a></dd>'
        "<dt>Command line</dt><dd><code>packline pipelines</code> · <code>packline run sample</code></dd>"
        f'<dt>Health</dt><dd><a href="{base}/healthz">{base}/healthz</a></dd></dl>',
    )


def wants_page(request: Request) -> bool:
    """Whether to answer a download address with the page, because a person opened it in a browser.

    A signed address or a token asks for the file itself.
    """
    accepts = request.headers.get("accept", "")
    return "text/html" in accepts and "signature" not in request.query_params and "authorization" not in request.headers


def built_page(files: Path | None = None, *, base: str = "") -> Response | None:
    """The built page, the same for every address; None if it was not built.

    Args:
        files: The folder `npm run build` wrote.
        base: The path prefix, which is inserted here: the build has none.
    """
    index = (files or BUILT_PAGE) / "index.html"
    if not index.is_file():
        return None
    # Read each time, because a rebuild gives the scripts other names.
    base = html.escape(base)
    text = index.read_text("utf-8").replace('="./', f'="{base}/').replace(_BASE_META, f'{_BASE_META[:-1]}{base}"')
    return HTMLResponse(text, headers={"content-security-policy": BUILT_POLICY, "cache-control": "no-cache"})


def redirects(base: str = "") -> list[BaseRoute]:
    """Redirect `/packs`, which people try first, to the catalog."""

    async def packs(request: Request) -> Response:
        pack = request.path_params.get("id")
        where = "/catalog?kind=PACK" if pack is None else f"/catalog/{quote(pack)}"
        return RedirectResponse(base + where, 308)

    return [Route("/packs", packs, methods=["GET"]), Route("/packs/{id}", packs, methods=["GET"])]


def nothing_here(files: Path = BUILT_PAGE, *, base: str = "") -> Callable[[Request, Exception], Awaitable[Response]]:
    """A handler of 404: answers browsers with the page, which has links, and others with one line.

    Args:
        files: The folder `npm run build` wrote.
        base: The path prefix, for links in the page.
    """

    async def answer(request: Request, _error: Exception) -> Response:
        goes_there = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
        shown = built_page(files, base=base) if goes_there else None
        if shown is None:
            return PlainTextResponse(f"There is nothing at {request.url.path}.\n", 404)
        shown.status_code = 404
        return shown

    return answer


async def unavailable(request: Request, error: Exception) -> Response:
    """A handler of what the server cannot do now: 503 while the database or the sign-in provider is away."""
    refusal = refusal_of(error)
    if refusal is None:
        raise error
    if "text/html" in request.headers.get("accept", ""):
        text = f'<p class="bad" role="alert">{html.escape(refusal.message)}</p>'
        return page("Packline is not available", text, status=503)
    return PlainTextResponse(f"{refusal.message}\n", 503, {"cache-control": "no-store", "retry-after": "5"})


async def wrong_method(request: Request, _error: Exception) -> Response:
    """A handler of 405: lists the methods of all routes that share the address."""
    allowed: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            allowed |= getattr(route, "methods", None) or {"GET", "HEAD"}  # mounted files declare no methods
    allow = ", ".join(sorted(allowed))
    return PlainTextResponse(f"{request.url.path} accepts {allow}, not {request.method}.\n", 405, {"allow": allow})


def page_routes(files: Path = BUILT_PAGE, *, base: str = "") -> list[BaseRoute]:
    """The routes of the built page and its files; without a build, of a page at `/` that says how to build it.

    Args:
        files: The folder `npm run build` wrote; checked once, now.
        base: The path prefix, for links in the page.
    """
    if built_page(files) is None:
        return [Route("/", partial(home_without_ui, base=base), methods=["GET"])]

    async def show(_request: Request) -> Response:
        return built_page(files, base=base) or PlainTextResponse("The page is being rebuilt. Try again.\n", 503)

    async def theme(_request: Request) -> Response:
        return FileResponse(files / "theme.js", headers={"cache-control": "no-cache"})

    # The same for everybody, so that its length says nothing of a secret.
    smaller = [Middleware(GZipMiddleware)]
    return [
        *(Route(path, show, methods=["GET"], middleware=smaller) for path in PAGE_PATHS),
        *redirects(base),
        Route("/theme.js", theme, methods=["GET"]),
        Mount("/assets", _Assets(directory=files / "assets")),
    ]


class _Assets(StaticFiles):
    """Files of the built page; they have a digest in their name and never change.

    Clients that accept Brotli get the `.br` file that the build wrote next to each.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = None
        if scope["method"] in ("GET", "HEAD") and _takes_brotli(scope):
            response = await self._compressed(path, scope)
        response = response or await super().get_response(path, scope)
        if response.status_code < 400:
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
            response.headers["vary"] = "accept-encoding"
        return response

    async def _compressed(self, path: str, scope: Scope) -> Response | None:
        full, found = await to_thread.run_sync(self.lookup_path, f"{path}.br")
        if found is None or not stat.S_ISREG(found.st_mode):
            return None
        response = self.file_response(full, found, scope)
        response.headers["content-type"] = f"{guess_type(path)[0] or 'application/octet-stream'}; charset=utf-8"
        response.headers["content-encoding"] = "br"
        return response


def _takes_brotli(scope: Scope) -> bool:
    accepted = Headers(scope=scope).get("accept-encoding", "")
    for offer in accepted.lower().split(","):
        coding, _, weight = offer.partition(";")
        if coding.strip() == "br":
            return _REFUSED.fullmatch(weight) is None
    return False


def health_route(is_ready: Callable[[], bool]) -> Route:
    """`GET /healthz`: 200 while the server accepts work, 503 before that and while it stops; needs no sign-in."""

    async def healthz(_request: Request) -> Response:
        if is_ready():
            return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})
        return PlainTextResponse("not ready\n", 503, {"cache-control": "no-store", "retry-after": "1"})

    return Route("/healthz", healthz, methods=["GET"])
