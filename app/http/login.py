"""Sign a browser in by a one-time link or at an OpenID provider, and out.

The link has its secret after the `#`, which browsers do not send, so no server or proxy logs it. The page reads and
posts it, so a program that prefetches links does not use it up. Somebody who is signed in already goes on with a link
that was used before.
"""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, urlencode

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from app.auth.identity import CALLBACK_PATH, address_of, bearer_token
from app.auth.refusals import SignInError, unauthenticated
from app.http.pages import page
from resolvers.problems import Unavailable
from runner.issues import lacking_scope
from schema.base.scalars import format_instant
from store.states import Scope

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.auth.identity import Authenticator
    from store.access.tokens import NewToken

_BODY_BYTES = 4096
#: How long a sign-in at the provider may take.
_ATTEMPT_SECONDS = 600
_NOT_STORED = {"cache-control": "no-store"}

_SCRIPT = """
try {
  const theme = localStorage.getItem("packline.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
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

_PROVIDER = """
<p><a class="button" href="{base}/login/provider{query}">Sign in with {name}</a></p>
<p class="or">or</p>
"""
_FORM = """
<form method="post" action="{base}/login{query}">
<label for="token">Login link</label>
<div class="row"><input id="token" name="token" type="password" required autocomplete="off" spellcheck="false"
 aria-describedby="where"><button{look}>Sign in</button></div>
</form>
<p id="where" class="soft">Paste the login link that <code>packline up</code> printed, or open it. For a new one, run
<code>packline token login-link</code> on the server's machine.</p>
"""
_ENDS_THERE = """
<p role="status">You are signed out of Packline. <a href="{url}">Sign out of {name}</a> as well if others use this
browser.</p>
"""
_USED = "This link does not work: it was used before, has expired or is incomplete."


def login_routes(authenticator: Authenticator) -> list[Route]:
    pages = _Login(authenticator)
    return [
        Route("/login", pages.show, methods=["GET"]),
        Route("/login", pages.sign_in, methods=["POST"]),
        Route("/login/links", pages.make_link, methods=["POST"]),
        Route("/login/provider", pages.begin_at_provider, methods=["GET"]),
        Route(CALLBACK_PATH, pages.finish_at_provider, methods=["GET"]),
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
        self._attempt_cookie = f"{authenticator.cookie_name}_sign_in"

    async def show(self, request: Request) -> Response:
        note = ""
        single_sign_on = self._authenticator.single_sign_on
        if "signed_out" in request.query_params and single_sign_on is not None:
            url = await single_sign_on.sign_out_url()
            note = "" if url is None else _ENDS_THERE.format(url=html.escape(url), name=self._provider_name)
        return self._page(_next_of(request), note=note)

    async def sign_in(self, request: Request) -> Response:
        """Exchange the link's secret, in a form or as JSON `{"token": …}`, for a cookie."""
        secret = await _secret_of(request)
        address = address_of(request)
        login = await self._authenticator.sign_in(secret, address) if secret else None
        if login is not None:
            return self._signed_in(request, login, _next_of(request))
        caller = await self._authenticator.authenticate(request, None)
        if caller is not None:
            await self._authenticator.note_refusal("sign_in", caller.id, {"address": address})
            return self._redirect(_next_of(request))
        await self._failed(address)
        return self._page(_next_of(request), _USED, 400)

    async def begin_at_provider(self, request: Request) -> Response:
        """Send the browser to the provider."""
        single_sign_on = self._authenticator.single_sign_on
        if single_sign_on is None or not single_sign_on.signs_in_browsers:
            return self._page(_next_of(request), "This server has no single sign-on. Use a login link.", 404)
        try:
            url, attempt = await single_sign_on.begin(_next_of(request))
        except Unavailable as error:
            return self._page(_next_of(request), error.message, 503)
        answer = RedirectResponse(url, 303, _NOT_STORED)
        self._set_cookie(request, answer, self._attempt_cookie, attempt.packed(), _ATTEMPT_SECONDS, "lax")
        return answer

    async def finish_at_provider(self, request: Request) -> Response:
        """Sign in the browser that the provider sent back."""
        single_sign_on = self._authenticator.single_sign_on
        if single_sign_on is None:
            return self._page("/", "This server has no single sign-on. Use a login link.", 404)
        attempt = single_sign_on.read_attempt(request.cookies.get(self._attempt_cookie))
        onward = "/" if attempt is None else _own_path(attempt.onward)
        address = address_of(request)
        try:
            person = await single_sign_on.finish(attempt, request.query_params)
            login = await self._authenticator.sign_in_as(person, address)
        except SignInError as error:
            await self._failed(address)
            answer = self._page(onward, str(error), 400)
        except Unavailable as error:
            answer = self._page(onward, error.message, 503)
        else:
            answer = self._signed_in(request, login, onward)
        answer.delete_cookie(self._attempt_cookie, httponly=True, samesite="lax")
        return answer

    async def sign_out(self, request: Request) -> Response:
        caller = await self._authenticator.authenticate(request, None)
        if caller is not None:
            await self._authenticator.sign_out(caller)
        query = "" if self._authenticator.single_sign_on is None else "?signed_out"
        answer = RedirectResponse(f"{self._authenticator.settings.base}/login{query}", 303, _NOT_STORED)
        answer.delete_cookie(self._authenticator.cookie_name, httponly=True, samesite="strict")
        return answer

    async def make_link(self, request: Request) -> Response:
        """Answer with a new login link as JSON; needs the scope `manage`."""
        token = bearer_token(request.headers.get("authorization"))
        caller = await self._authenticator.authenticate(request, token)
        if caller is None:
            message, headers = unauthenticated(request, token)
            return PlainTextResponse(f"{message}\n", 401, headers)
        if not caller.may(Scope.MANAGE):
            await self._authenticator.note_refusal("make_login_link", caller.id)
            return PlainTextResponse(f"{lacking_scope('A login link', '`manage`')}\n", 403)
        link = await self._authenticator.make_link(caller.id, caller.scopes, is_audited=True)
        settings = self._authenticator.settings
        base = settings.outward if settings.public_url else f"{str(request.base_url).rstrip('/')}{settings.base}"
        assert link.token.expires_at is not None
        return JSONResponse(
            {"url": link_url(base, link), "expires_at": format_instant(link.token.expires_at)},
            201,
            {"cache-control": "no-store"},
        )

    async def _failed(self, address: str) -> None:
        self._authenticator.login_throttle.failed(address)
        await self._authenticator.note_refusal("sign_in", None, {"address": address})

    def _signed_in(self, request: Request, login: NewToken, onward: str) -> Response:
        assert login.token.expires_at is not None, "logins of browsers expire"
        answer = self._redirect(onward)
        left = login.token.expires_at - login.token.created_at
        self._set_cookie(
            request, answer, self._authenticator.cookie_name, login.plaintext, round(left.total_seconds()), "strict"
        )
        return answer

    def _redirect(self, onward: str) -> Response:
        to = f"{self._authenticator.settings.base}/" if onward == "/" else onward
        return RedirectResponse(to, 303, _NOT_STORED)

    def _set_cookie(
        self,
        request: Request,
        answer: Response,
        name: str,
        value: str,
        seconds: int,
        same_site: Literal["lax", "strict"],
    ) -> None:
        public = self._authenticator.settings.public_url or ""
        answer.set_cookie(
            name,
            value,
            max_age=seconds,
            httponly=True,
            samesite=same_site,
            secure=request.url.scheme == "https" or public.startswith("https:"),
        )

    @property
    def _provider_name(self) -> str:
        """Escaped for HTML."""
        return html.escape(self._authenticator.settings.oidc_name)

    def _page(self, onward: str, problem: str = "", status: int = 200, *, note: str = "") -> Response:
        """The sign-in page; the only one, to which the built page leads as well."""
        base = self._authenticator.settings.base
        query = "?" + urlencode({"next": onward}) if onward != "/" else ""
        notice = f'<p class="bad" role="alert">{html.escape(problem)}</p>' if problem else ""
        provider = ""
        single_sign_on = self._authenticator.single_sign_on
        if single_sign_on is not None and single_sign_on.signs_in_browsers:
            provider = _PROVIDER.format(base=base, query=query, name=self._provider_name)
        return page(
            "Sign in",
            notice + note + provider + _FORM.format(base=base, query=query, look=' class="plain"' if provider else ""),
            status=status,
            script=_SCRIPT,
            script_hash=_SCRIPT_HASH,
        )


def _next_of(request: Request) -> str:
    return _own_path(request.query_params.get("next", "/"))


def _own_path(text: str) -> str:
    """A path of this server; the start for what leads elsewhere."""
    if not text.startswith("/") or text.startswith(("//", "/\\")) or any(ord(character) < 32 for character in text):
        return "/"
    return text


async def _secret_of(request: Request) -> str | None:
    """The secret in a request's body, which may give the whole link."""
    given = await _given(request)
    return None if given is None else given.strip().rpartition("#")[2]


async def _given(request: Request) -> str | None:
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
