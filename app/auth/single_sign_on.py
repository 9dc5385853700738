"""People who prove to an OpenID provider who they are: by a bearer token, or in the browser.

The browser signs in by the authorization code flow with PKCE (RFC 7636), `state` and `nonce`. What an attempt needs at
its end is in a cookie of the browser that began it, so any server can finish it and no other browser can; the provider
takes each code once. Imports `authlib`, which speaks to the provider, and `joserfc`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import httpx2
import orjson
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from app.auth.identity import CALLBACK_PATH
from app.auth.provider import ANSWER_SECONDS, UnusableError
from app.auth.refusals import SignInError, TokenRefusedError
from resolvers.problems import Unavailable
from runner.egress.client import raise_for_status
from runner.excerpts import excerpt
from runner.failures import PackError
from store.access.callers import ADMIN_SUBJECT
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from app.auth.provider import Provider, VerifiedToken
    from app.settings.server import Settings
    from runner.failures import JSONValue

#: Longest address that a sign-in leads back to; a longer one leads to the start.
_ONWARD_CHARACTERS = 2000
_NAME_CHARACTERS = 200
#: Claims with a name for people, in this order (OpenID Connect Core 1.0, section 5.1).
_NAMES = ("name", "preferred_username", "email")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the provider vouches for.

    Attributes:
        expires_at: When the token they sent stops working.
    """

    subject: str
    name: str
    scopes: frozenset[Scope]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that a browser has begun."""

    state: str
    nonce: str
    verifier: str
    onward: str

    def packed(self) -> str:
        """Return it as the value of a cookie."""
        return base64.urlsafe_b64encode(orjson.dumps(asdict(self))).decode()


class SingleSignOn:
    """Finds out who somebody is, and begins and ends sign-ins of browsers.

    Args:
        provider: The provider.
        settings: The client, the audiences and the rules for scopes.
    """

    def __init__(self, provider: Provider, settings: Settings) -> None:
        self.provider = provider
        self._settings = settings
        self._rules = settings.oidc_scopes
        self._audiences = settings.oidc_audience or (settings.outward, f"{settings.outward}/mcp")

    async def person_of(self, token: str) -> Person:
        """Return whom a bearer token of the provider stands for.

        Raises:
            TokenRefusedError: it is not valid here.
            Unavailable: the provider does not answer, and without it the token cannot be checked.
        """
        verified = await self.provider.verify(token, self._audiences)
        return self._person(verified, verified.claims)

    @property
    def signs_in_browsers(self) -> bool:
        """Whether the provider knows Packline's page as a client."""
        return self._settings.oidc_client_id is not None

    async def begin(self, onward: str) -> tuple[str, Attempt]:
        """Return the provider's address to send the browser to, and what to keep in its cookie.

        Args:
            onward: A path of this server to lead to afterwards.

        Raises:
            Unavailable: the provider does not answer.
        """
        addresses = await self.provider.addresses()
        if addresses.authorization is None:
            raise Unavailable(f"{self.provider.issuer} offers no sign-in for browsers.")
        attempt = Attempt(
            state=generate_token(32),
            nonce=generate_token(32),
            verifier=generate_token(64),
            onward=onward if len(onward) <= _ONWARD_CHARACTERS else "/",
        )
        async with self._client(secret_in_body=False) as client:
            url, _ = client.create_authorization_url(
                addresses.authorization,
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return url, attempt

    def read_attempt(self, cookie: str | None) -> Attempt | None:
        """Return the attempt in the cookie of a browser; None without a valid one."""
        try:
            attempt = Attempt(**orjson.loads(base64.urlsafe_b64decode(cookie or "")))
        except (ValueError, TypeError, binascii.Error):
            return None
        return attempt if all(isinstance(part, str) and part for part in asdict(attempt).values()) else None

    async def finish(self, attempt: Attempt | None, answer: Mapping[str, str]) -> Person:
        """Return who signed in, from what the provider sent the browser back with.

        Args:
            attempt: What the browser's cookie holds; None without one.
            answer: The parameters of the address.

        Raises:
            SignInError: the sign-in failed; nothing is signed in.
            Unavailable: the provider does not answer.
        """
        if attempt is None or not hmac.compare_digest(attempt.state.encode(), answer.get("state", "").encode()):
            raise SignInError(
                "This sign-in expired, was already used or was started in another browser. Sign in again."
            )
        if answer.get("iss", self.provider.issuer) != self.provider.issuer:  # RFC 9207
            raise SignInError("The answer came from another provider. Sign in again.")
        if (error := answer.get("error")) is not None:
            why = excerpt(answer.get("error_description") or error, 300)
            raise SignInError(f"{self._settings.oidc_name} refused the sign-in: {why}.")
        try:
            return await self._redeem(attempt, answer.get("code", ""))
        except TokenRefusedError as refused:
            raise SignInError(str(refused)) from refused

    async def sign_out_url(self) -> str | None:
        """Return the provider's address that ends the browser's session there; None if it has none or is away."""
        if not self.signs_in_browsers:
            return None
        try:
            addresses = await self.provider.addresses()
        except Unavailable:
            return None
        if addresses.end_session is None:
            return None
        query = urlencode(
            {
                "client_id": self._settings.oidc_client_id,
                "post_logout_redirect_uri": f"{self._settings.outward}/login",
            }
        )
        return f"{addresses.end_session}{'&' if '?' in addresses.end_session else '?'}{query}"

    async def _redeem(self, attempt: Attempt, code: str) -> Person:
        addresses = await self.provider.addresses()
        if addresses.token is None:
            raise SignInError(f"{self.provider.issuer} has no token endpoint.")
        try:
            async with (
                asyncio.timeout(2 * ANSWER_SECONDS),
                self._client(secret_in_body=addresses.secret_in_body) as client,
            ):
                tokens = await client.fetch_token(
                    addresses.token, grant_type="authorization_code", code=code, code_verifier=attempt.verifier
                )
        except OAuthError as error:
            why = excerpt(error.description or error.error or "no reason given", 300)
            raise SignInError(f"{self._settings.oidc_name} refused the sign-in: {why}. Sign in again.") from error
        except (PackError, httpx2.HTTPError, ValueError, TimeoutError) as error:
            raise Unavailable(
                f"{self.provider.issuer} did not answer as it should while you signed in. Try again in a moment."
            ) from error
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise SignInError(f"{self.provider.issuer} sent no ID token. Add `openid` to PACKLINE_OIDC_REQUEST_SCOPES.")
        assert self._settings.oidc_client_id is not None, "begin needs it, too"
        verified = await self.provider.verify(id_token, [self._settings.oidc_client_id])
        params = {
            "nonce": attempt.nonce,
            "client_id": self._settings.oidc_client_id,
            "access_token": tokens.get("access_token"),
        }
        try:
            CodeIDToken(verified.claims, verified.header, {}, params).validate(
                leeway=self._settings.oidc_clock_skew_seconds
            )
        except JoseError as error:
            raise SignInError(
                f"The ID token of {self.provider.issuer} is not for this sign-in. Sign in again."
            ) from error
        more = await self._user_info(addresses.user_info, tokens.get("access_token"), verified.subject)
        return self._person(verified, {**more, **verified.claims})

    async def _user_info(self, url: str | None, access_token: object, subject: str) -> dict[str, JSONValue]:
        """Return the claims that the provider gives only on request; groups are often among them."""
        if url is None or not isinstance(access_token, str):
            return {}
        try:
            async with self.provider.client() as http:
                answer = raise_for_status(await http.get(url, headers={"authorization": f"Bearer {access_token}"}))
            self.provider.require_secure(answer)
            claims = orjson.loads(answer.content)
        except (PackError, UnusableError, ValueError) as error:
            raise Unavailable(f"{self.provider.issuer} did not say who you are. Try again in a moment.") from error
        if not isinstance(claims, dict) or claims.get("sub") != subject:
            raise SignInError(f"{self.provider.issuer} returned a different account. Sign in again.")
        return claims

    def _person(self, verified: VerifiedToken, claims: Mapping[str, JSONValue]) -> Person:
        if verified.subject == ADMIN_SUBJECT:
            raise TokenRefusedError(
                f"The `sub` of this account is `{ADMIN_SUBJECT}`, the name of this server's own administrator. Use "
                "another account."
            )
        scopes = frozenset[Scope]().union(*(rule.scopes for rule in self._rules if rule.matches(claims)))
        if not scopes:
            raise TokenRefusedError(
                f"{excerpt(verified.subject, 100)} has no access to this server: no rule in PACKLINE_OIDC_SCOPES "
                "matches. Ask the administrator."
            )
        names = (_one_line(claims.get(name)) for name in _NAMES)
        name = next(filter(None, names), verified.subject)
        return Person(verified.subject, excerpt(name, _NAME_CHARACTERS), scopes, verified.expires_at)

    def _client(self, *, secret_in_body: bool) -> AsyncOAuth2Client:
        secret = self._settings.oidc_client_secret
        method = "none" if secret is None else "client_secret_post" if secret_in_body else "client_secret_basic"
        return AsyncOAuth2Client(
            client_id=self._settings.oidc_client_id,
            client_secret=None if secret is None else secret.get_secret_value(),
            token_endpoint_auth_method=method,
            scope=self._settings.oidc_request_scopes,
            redirect_uri=f"{self._settings.outward}{CALLBACK_PATH}",
            code_challenge_method="S256",
            transport=self.provider.transport(),
            headers={"accept-encoding": "identity", "user-agent": "packline"},
            timeout=ANSWER_SECONDS,
            trust_env=False,
        )


def _one_line(claim: JSONValue) -> str:
    """A claim for people to read, without characters that no database or terminal should be given."""
    if not isinstance(claim, str):
        return ""
    return " ".join("".join(character if character.isprintable() else " " for character in claim).split())
