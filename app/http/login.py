"""Sign a browser in by a one-time link, and out.

The link has its secret after the `#`, which browsers do not send, so no server or proxy logs it. The page reads and
posts it, so a program that prefetches links does not use it up.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from app.auth.identity import address_of, bearer_token
from app.http.pages import page
from runner.issues import lacking_scope
from store.states import Scope

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.auth.identity import Authenticator
    from store.access.tokens import NewToken

_BODY_BYTES = 4096

_SCRIPT = """
const form = document.querySelector("form"), box = form.elements.token;
function follow() {
  const found = location.hash.slice(1);
  if (!found) return;
  box.value = decodeURIComponent(found);
  history.replaceState(null, "", location.pathname + location.search);
  form.requestSubmit();
}
addEventListener("hashchange", follow);
follow();
"""
_SCRIPT_HASH = "sha256-" + base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()

_FORM = """
<p>Open the login link that <code>packline up</code> printed. For a new one, run
<code>packline token login-link</code> on the server's machine.</p>
<form method="post" action="login{query}">
<p><label for="token">Or paste the part of the link after <code>#</code>:</label></p>
<p><input id="token" name="token" type="password" required autocomplete="off" spellcheck="false"></p>
<p><button>Sign in</button></p>
</form>
"""


def login_routes(authenticator: Authenticator) -> list[Route]:
    pages = _Login(authenticator)
    return [
        Route("/login", pages.show, methods=["GET"]),
        Route("/login", pages.sign_in, methods=["POST"]),
        Route("/login/links", pages.make_link, methods=["POST"]),
        Route("/logout", pages.sign_out, methods=["POST"]),
    ]


def link_url(url: str, link: NewToken) -> str:
    """The address that signs a browser in, once.

    Args:
        url: Address of the server.
        link: What `Authenticator.make_link` made.
    """
    return f"{url}/login#{link.plaintext}"


class _Login:
    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def show(self, request: Request) -> Response:
        return _form("Sign in to Packline", _next_of(request))

    async def sign_in(self, request: Request) -> Response:
        """Exchange the link's secret, in a form or as JSON `{"token": …}`, for a cookie."""
        secret = await _secret_of(request)
        address = address_of(request)
        login = await self._authenticator.sign_in(secret, address) if secret else None
        if login is None:
            self._authenticator.login_throttle.failed(address)
            await self._authenticator.note_refusal("sign_in", None, {"address": address})
            return _form(
                "Sign in to Packline",
                _next_of(request),
                "This link does not work: it was used before, has expired or is incomplete.",
            )
        answer = RedirectResponse(self._onward(request), 303, {"cache-control": "no-store"})
        public = self._authenticator.settings.public_url or ""
        answer.set_cookie(
            self._authenticator.cookie_name,
            login.plaintext,
            max_age=round(self._authenticator.settings.login_days * 86_400),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https" or public.startswith("https:"),
        )
        return answer

    async def sign_out(self, request: Request) -> Response:
        caller = await self._authenticator.authenticate(request, None)
        if caller is not None:
            await self._authenticator.sign_out(caller)
        answer = RedirectResponse(f"{self._authenticator.settings.base}/login", 303, {"cache-control": "no-store"})
        answer.delete_cookie(self._authenticator.cookie_name, httponly=True, samesite="strict")
        return answer

    async def make_link(self, request: Request) -> Response:
        """Answer with a new login link as JSON; needs the scope `manage`."""
        token = bearer_token(request.headers.get("authorization"))
        caller = await self._authenticator.authenticate(request, token)
        if caller is None:
            return PlainTextResponse(
                "Send a valid token as `Authorization: Bearer …`.\n",
                401,
                {"www-authenticate": 'Bearer realm="packline"'},
            )
        if not caller.may(Scope.MANAGE):
            await self._authenticator.note_refusal("make_login_link", caller.id)
            return PlainTextResponse(f"{lacking_scope('A login link', '`manage`')}\n", 403)
        link = await self._authenticator.make_link(caller.id, caller.scopes, is_audited=True)
        settings = self._authenticator.settings
        base = settings.outward if settings.public_url else f"{str(request.base_url).rstrip('/')}{settings.base}"
        assert link.token.expires_at is not None
        return JSONResponse(
            {"url": link_url(base, link), "expires_at": link.token.expires_at.isoformat()},
            201,
            {"cache-control": "no-store"},
        )

    def _onward(self, request: Request) -> str:
        onward = _next_of(request)
        return f"{self._authenticator.settings.base}/" if onward == "/" else onward


def _form(title: str, onward: str, problem: str = "") -> Response:
    query = "?" + urlencode({"next": onward}) if onward != "/" else ""
    notice = f'<p class="bad" role="alert">{problem}</p>' if problem else ""
    return page(
        title,
        notice + _FORM.format(query=query),
        status=400 if problem else 200,
        script=_SCRIPT,
        script_hash=_SCRIPT_HASH,
    )


def _next_of(request: Request) -> str:
    """Where to go after signing in: a path of this server, never another address."""
    onward = request.query_params.get("next", "/")
    if not onward.startswith("/") or onward.startswith(("//", "/\\")) or any(ord(sign) < 32 for sign in onward):
        return "/"
    return onward


async def _secret_of(request: Request) -> str | None:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_BYTES:
            return None
    if request.headers.get("content-type", "").startswith("application/json"):
        import json

        try:
            data = json.loads(body)
        except ValueError:
            return None
        token = data.get("token") if isinstance(data, dict) else None
        return token if isinstance(token, str) else None
    found = parse_qs(body.decode("utf-8", "replace")).get("token")
    return found[0] if found else None
