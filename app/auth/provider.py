"""An OpenID provider: its addresses and keys, kept current, and the tokens that it signs.

Both are fetched again every `FRESH_SECONDS`, and when a token names a key that is not known yet. While the provider is
away, the keys fetched before go on. Imports `joserfc`; `app.main` imports this module only when a provider is set.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import orjson
import structlog
from joserfc import errors, jws, jwt
from joserfc.jwk import JWKRegistry, KeySet

from app.auth.refusals import TokenRefusedError
from resolvers.problems import Unavailable
from runner.egress.client import raise_for_status
from runner.egress.web_address import WebAddressError, read_web_address
from runner.excerpts import excerpt
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from httpx2 import AsyncBaseTransport, AsyncClient, Response

    from runner.egress.client import Egress
    from runner.failures import JSONValue

log = structlog.get_logger(__name__)

#: Signatures that nobody can make with a public key; every other algorithm is refused, and so is `none`.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_REGISTRY = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
#: How old addresses and keys may be before they are fetched again, while they go on.
FRESH_SECONDS = 300.0
#: Least time between two fetches, so that tokens with invented key ids make no flood of requests.
RETRY_SECONDS = 5.0
#: Largest answer of the provider; those of large providers have 20 kB.
ANSWER_BYTES = 256 * 1024
#: Longest time of one request to the provider.
ANSWER_SECONDS = 5.0
#: Longest token that is read, in characters; each HTTP header is below 64 KiB anyway.
TOKEN_CHARACTERS = 16_384
#: Types of tokens in their header (RFC 7519 section 5.1, RFC 9068 section 2.1): no logout tokens, no proofs.
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
#: Longest subject (OpenID Connect Core 1.0, section 2).
_SUBJECT_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the provider answers; what it does not offer is None.

    Attributes:
        secret_in_body: Whether it takes a client's secret only in the body of a request for tokens.
    """

    authorization: str | None
    token: str | None
    user_info: str | None
    end_session: str | None
    secret_in_body: bool


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """A token that the provider signed and that is valid now.

    Attributes:
        expires_at: When it is no longer accepted, the skew of clocks included.
    """

    subject: str
    header: dict[str, JSONValue]
    claims: dict[str, JSONValue]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _Fetched:
    addresses: Addresses
    keys: KeySet
    at: float


class Provider:
    """Keeps a provider's addresses and keys current, and verifies its tokens.

    Args:
        issuer: Its address, as its tokens spell it.
        egress: Fetches its documents; the issuer's own origin may be private.
        skew_seconds: How far its clock may differ from ours.
        clock: The time, aware UTC.
        ticks: A monotonic clock in seconds.
    """

    def __init__(
        self,
        issuer: str,
        egress: Egress,
        *,
        skew_seconds: float,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.issuer = issuer
        address = read_web_address(issuer)
        self._origins = (address.origin,)
        self._is_secure = address.scheme == "https"
        self._egress = egress
        self._skew = timedelta(seconds=skew_seconds)
        self._clock = clock
        self._ticks = ticks
        self._fetched: _Fetched | None = None
        self._failure: str | None = None
        self._tried_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to fetch addresses and keys; the log says if that fails, and the server starts nevertheless."""
        self._begin()

    async def stop(self) -> None:
        """End a fetch under way; harmless twice."""
        fetching, self._fetching = self._fetching, None
        if fetching is not None:
            fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)

    async def addresses(self) -> Addresses:
        """Return where the provider answers.

        Raises:
            Unavailable: it does not answer and never has.
        """
        return (await self._known()).addresses

    async def verify(self, token: str, audiences: Sequence[str]) -> VerifiedToken:
        """Check a token's signature, issuer, audience and times.

        Raises:
            TokenRefusedError: it is not valid.
            Unavailable: the key it names is unknown here, and the provider does not answer.
        """
        if len(token) > TOKEN_CHARACTERS:
            raise TokenRefusedError(f"The token has more than {TOKEN_CHARACTERS:,} characters.")
        try:
            return self._verified(token, audiences, (await self._known()).keys)
        except errors.InvalidKeyIdError:
            pass  # the provider may have new keys
        try:
            return self._verified(token, audiences, (await self._newer()).keys)
        except errors.InvalidKeyIdError as error:
            raise TokenRefusedError(f"The token is signed with a key that {self.issuer} does not have.") from error

    def client(self) -> AsyncClient:
        """Make a client that may send requests to the provider; its failures are `PackError`s."""
        return self._egress.client(self._origins, max_bytes=ANSWER_BYTES, total_seconds=ANSWER_SECONDS, max_redirects=3)

    def transport(self) -> AsyncBaseTransport:
        """Make a transport like that of `client`, for a library's own client."""
        return self._egress.transport(self._origins, max_bytes=ANSWER_BYTES)

    # ------------------------------------------------------------------------------------------ tokens

    def _verified(self, token: str, audiences: Sequence[str], keys: KeySet) -> VerifiedToken:
        try:
            decoded = jwt.decode(token, keys, registry=_REGISTRY)
        except errors.InvalidKeyIdError:
            if _names_no_key(token):
                raise TokenRefusedError("The token names no key (`kid`).") from None
            raise
        except errors.UnsupportedAlgorithmError as error:
            raise TokenRefusedError(
                f"The token is not signed as it must be; accepted are {', '.join(ALGORITHMS)}."
            ) from error
        except errors.BadSignatureError as error:
            raise TokenRefusedError("The token's signature is not valid.") from error
        except (errors.JoseError, ValueError, TypeError, AttributeError, RecursionError) as error:
            # joserfc lets errors of Python through for headers of other types than JSON objects.
            raise TokenRefusedError("The token is malformed, or its signature does not fit its key.") from error
        kind = decoded.header.get("typ")
        if kind is not None and (not isinstance(kind, str) or kind.lower() not in _TYPES):
            raise TokenRefusedError(f"The token is a `{excerpt(str(kind), 50)}`, not an access token.")
        self._check_claims(decoded.claims, audiences)
        subject = decoded.claims["sub"]
        if not (0 < len(subject) <= _SUBJECT_CHARACTERS and subject.isprintable() and subject.strip() == subject):
            raise TokenRefusedError(
                f"The token's `sub` is not a text of 1 to {_SUBJECT_CHARACTERS} printable characters."
            )
        try:
            expires_at = datetime.fromtimestamp(decoded.claims["exp"], UTC) + self._skew
        except (OverflowError, ValueError, OSError) as error:
            raise TokenRefusedError("The token's `exp` is not a time.") from error
        return VerifiedToken(subject, decoded.header, decoded.claims, expires_at)

    def _check_claims(self, claims: dict[str, JSONValue], audiences: Sequence[str]) -> None:
        registry = jwt.JWTClaimsRegistry(
            now=self._now,
            leeway=round(self._skew.total_seconds()),
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "values": list(audiences)},
            sub={"essential": True},
            exp={"essential": True},
        )
        try:
            registry.validate(claims)
        except errors.ExpiredTokenError as error:
            raise TokenRefusedError("The token has expired. Sign in again for a new one.") from error
        except errors.MissingClaimError as error:
            raise TokenRefusedError(f"The token lacks {error.claim}.") from error
        except errors.InvalidClaimError as error:
            raise TokenRefusedError(self._reason(error.claim, audiences)) from error

    def _reason(self, claim: str, audiences: Sequence[str]) -> str:
        match claim:
            case "iss":
                return f"The token is of another issuer; this server accepts those of {self.issuer}."
            case "aud":
                return f"The token is for another audience; this server is {' or '.join(audiences)}."
            case "nbf" | "iat":
                return f"The token is not valid yet. If it is new, compare the clocks of this server and {self.issuer}."
            case _:
                return f"The token's `{claim}` is not valid."

    def _now(self) -> int:
        return int(self._clock().timestamp())

    # ------------------------------------------------------------------------------------------ documents

    async def _known(self) -> _Fetched:
        """What was fetched, however old; begins a fetch if it is not fresh, and waits only for the first."""
        known = self._fetched
        if known is None:
            return await self._newer()
        if self._ticks() - known.at >= FRESH_SECONDS:
            self._begin()
        return known

    async def _newer(self) -> _Fetched:
        """Fetch, or wait for the fetch under way; if one began less than `RETRY_SECONDS` ago, its result counts."""
        fetching = self._begin()
        if fetching is not None:
            await asyncio.shield(fetching)
        if self._failure is not None or self._fetched is None:
            raise Unavailable(
                f"The sign-in provider {self.issuer} does not answer as it should. Try again in a moment."
            )
        return self._fetched

    def _begin(self) -> asyncio.Task[None] | None:
        """Return the fetch under way, which this may begin; None if the last is too recent."""
        if self._fetching is not None and not self._fetching.done():
            return self._fetching
        now = self._ticks()
        if self._tried_at is not None and now - self._tried_at < RETRY_SECONDS:
            return None
        self._tried_at = now
        self._fetching = asyncio.create_task(self._fetch(), name="OpenID provider")
        return self._fetching

    async def _fetch(self) -> None:
        try:
            fetched = await self._read()
        except (PackError, UnusableError) as error:
            why = excerpt(str(error), 500)
            if why != self._failure:  # once per cause, not every few seconds
                log.warning("could not read the OpenID provider", issuer=self.issuer, error=why)
            self._failure = why
        except Exception as error:
            log.exception("could not read the OpenID provider", issuer=self.issuer)
            self._failure = str(error)
        else:
            if self._failure is not None:
                log.info("the OpenID provider answers again", issuer=self.issuer)
            self._failure = None
            self._fetched = fetched

    async def _read(self) -> _Fetched:
        async with self.client() as http:
            document = await self._get(http, f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
            if (name := document.get("issuer")) != self.issuer:
                raise UnusableError(f"it calls itself {excerpt(str(name), 200)}: set PACKLINE_OIDC_ISSUER to that")
            keys_at = self._address(document, "jwks_uri")
            if keys_at is None:
                raise UnusableError("its configuration names no `jwks_uri`")
            keys = _keys(await self._get(http, keys_at))
        addresses = Addresses(
            authorization=self._address(document, "authorization_endpoint"),
            token=self._address(document, "token_endpoint"),
            user_info=self._address(document, "userinfo_endpoint"),
            end_session=self._address(document, "end_session_endpoint"),
            secret_in_body=_wants_secret_in_body(document),
        )
        return _Fetched(addresses, keys, self._ticks())

    def require_secure(self, answer: Response) -> None:
        """Refuse what came over plain HTTP after redirects, unless the issuer itself does.

        Raises:
            UnusableError: it did.
        """
        for hop in (*answer.history, answer):
            if self._is_secure and hop.url.scheme != "https":
                raise UnusableError(f"it redirected to {excerpt(str(hop.url), 200)}, which is not https://")

    async def _get(self, http: AsyncClient, url: str) -> dict[str, JSONValue]:
        answer = raise_for_status(await http.get(url, headers={"accept": "application/json"}))
        self.require_secure(answer)
        try:
            document = orjson.loads(answer.content)
        except ValueError as error:
            raise UnusableError(f"{url} is not JSON") from error
        if not isinstance(document, dict):
            raise UnusableError(f"{url} is not a JSON object")
        return document

    def _address(self, document: dict[str, JSONValue], name: str) -> str | None:
        value = document.get(name)
        if value is None:
            return None
        try:
            address = read_web_address(str(value))
        except WebAddressError as error:
            raise UnusableError(f"its `{name}` is not usable: {error}") from error
        if self._is_secure and address.scheme != "https":
            raise UnusableError(f"its `{name}` is {excerpt(address.url, 200)}, which is not https://")
        return address.url


class UnusableError(Exception):
    """The provider's documents cannot be used; the message says why."""


def _names_no_key(token: str) -> bool:
    return jws.extract_compact(token.encode()).headers().get("kid") is None


def _wants_secret_in_body(document: dict[str, JSONValue]) -> bool:
    methods = document.get("token_endpoint_auth_methods_supported")
    return isinstance(methods, list) and "client_secret_basic" not in methods and "client_secret_post" in methods


def _keys(document: dict[str, JSONValue]) -> KeySet:
    """Read the keys; kinds that are unknown, and malformed ones, are left out."""
    listed = document.get("keys")
    keys = []
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict):
            continue
        try:
            keys.append(JWKRegistry.import_key(cast("dict[str, str | list[str]]", entry)))
        except (errors.JoseError, ValueError, TypeError, KeyError) as error:
            log.warning("left out a key of the OpenID provider", kid=str(entry.get("kid")), error=str(error))
    if not keys:
        raise UnusableError("it publishes no usable key")
    return KeySet(keys)
