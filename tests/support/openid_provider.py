"""OpenID providers on loopback: the real one of npm, and a double that signs anything.

async with real_provider(clients=[client("page", redirect_uris=[…])], people={"ada": {"groups": ["ops"]}}) as provider:
    settings = {"oidc_issuer": provider.issuer, …}
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joserfc import jws, jwt
from joserfc.jwk import Key, RSAKey

from tests.support.foreign_mcp_servers import installed
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.ports import free_port
from tests.support.product import product
from tests.support.servers import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    import httpx2

    from tests.support.product import Product

_FOLDER = Path(__file__).with_name("npm_openid_provider")


def signing_key(kid: str) -> RSAKey:
    """A new key to sign tokens with."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"})


@dataclass
class Issuer:
    """A double: documents on loopback, and tokens signed as the test likes.

    Attributes:
        keys: The keys that it publishes; the first signs.
        answers: Whether it answers at all; otherwise it says 503.
        padding: Bytes added to its keys.
        odd: What else it publishes among its keys.
        named: The issuer in its configuration, if it is not its own.
    """

    http: LoopbackHttp
    keys: list[Key]
    answers: bool = True
    padding: int = 0
    odd: list[object] = field(default_factory=list)
    named: str | None = None

    @property
    def issuer(self) -> str:
        return self.http.url("")

    @property
    def fetches(self) -> int:
        """How often its keys were asked for."""
        return sum(request.path == "/keys" for request in self.http.requests)

    def claims(self, **changed: object) -> dict[str, Any]:
        """Claims of a valid token for `https://pack.example`, with changes; None leaves one out."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "https://pack.example/mcp",
            "sub": "ada",
            "iat": now,
            "exp": now + 600,
            "groups": ["ops"],
        }
        return {name: value for name, value in {**claims, **changed}.items() if value is not None}

    def token(self, *, header: Mapping[str, object] | None = None, key: Key | None = None, **changed: object) -> str:
        """A token with these changes to its claims and header; None leaves one out."""
        key = key or self.keys[0]
        changes = {"alg": "RS256", "kid": key.kid, "typ": "at+jwt", **(header or {})}
        given = {name: value for name, value in changes.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[str(given["alg"])], strict_check_header=False)
        return jwt.encode(given, self.claims(**changed), key, registry=registry)


@asynccontextmanager
async def issuer() -> AsyncIterator[Issuer]:
    """Runs a double."""
    async with loopback_http({}) as http:
        double = Issuer(http, [signing_key("first")])

        async def configuration(*_: object) -> Reply:
            return _json({"issuer": double.named or double.issuer, "jwks_uri": http.url("/keys")}, double)

        async def keys(*_: object) -> Reply:
            listed = [*double.odd, *(key.as_dict(private=key.key_type == "oct") for key in double.keys)]
            return _json({"keys": listed, "padding": "x" * double.padding}, double)

        http.routes.update({"/.well-known/openid-configuration": configuration, "/keys": keys})
        yield double


def _json(body: object, double: Issuer) -> Reply:
    if not double.answers:
        return Reply(b"gone fishing", 503)
    return Reply(json.dumps(body).encode(), headers={"content-type": "application/json"})


@dataclass
class RealProvider:
    """`oidc-provider`, run by Node.

    Attributes:
        clients: The clients it knows.
        people: By account, which is also their `sub`: their other claims.
    """

    port: int
    clients: Sequence[Mapping[str, object]]
    people: Mapping[str, Mapping[str, object]]
    keys: list[RSAKey] = field(default_factory=lambda: [signing_key("first")])
    access_token_seconds: int = 600
    process: asyncio.subprocess.Process | None = None

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Starts it, at the port of an earlier start."""
        modules = installed(_FOLDER)
        assert modules.is_dir()
        self.process = await asyncio.create_subprocess_exec(
            "node",
            str(_FOLDER / "provider.mjs"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        given = {
            "port": self.port,
            "keys": [key.as_dict(private=True) for key in self.keys],
            "clients": list(self.clients),
            "people": dict(self.people),
            "accessTokenSeconds": self.access_token_seconds,
        }
        self.process.stdin.write(json.dumps(given).encode())
        self.process.stdin.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"ready at" not in (line := await self.process.stdout.readline()):
                assert line, "the provider ended"

    async def stop(self) -> None:
        """Ends it; harmless twice."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            await process.wait()

    async def sign_in(self, http: httpx2.AsyncClient, url: str, account: str) -> str:
        """Sign somebody in at an authorization address as a browser would; where the provider sends the browser to."""
        answer = await http.get(url)
        while True:
            if answer.is_redirect:
                where = answer.headers["location"]
                where = where if where.startswith("http") else f"{self.issuer}{where}"
                if not where.startswith(self.issuer):
                    return where
                answer = await http.get(where)
                continue
            assert answer.status_code == 200, answer.text
            form = re.search(r'action="([^"]+)"', answer.text)
            prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)
            assert form is not None
            assert prompt is not None
            answer = await http.post(form[1], data={"prompt": prompt[1], "login": account, "password": "anything"})


@asynccontextmanager
async def real_provider(
    *,
    clients: Sequence[Mapping[str, object]] = (),
    people: Mapping[str, Mapping[str, object]] | None = None,
    **given: Any,
) -> AsyncIterator[RealProvider]:
    """Runs the real one; without Node the test is skipped, which fails in CI."""
    provider = RealProvider(free_port(), clients, people or {}, **given)
    await provider.start()
    try:
        yield provider
    finally:
        await provider.stop()


@asynccontextmanager
async def trusting_product(
    folder: Path, people: Mapping[str, Mapping[str, object]], **settings: Any
) -> AsyncIterator[tuple[Product, RealProvider]]:
    """Runs the real provider and a product that trusts it; its clients are the page and those that register.

    Args:
        folder: As `product` takes it.
        people: As `RealProvider` has it.
        settings: Further ones; with `oidc_client_secret`, the page is a client with that secret.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    secret = settings.get("oidc_client_secret")
    page = {
        "client_id": "packline",
        "redirect_uris": [f"{url}/login/callback"],
        "post_logout_redirect_uris": [f"{url}/login"],
        "token_endpoint_auth_method": "client_secret_basic" if secret else "none",
        **({"client_secret": secret} if secret else {}),
    }
    async with real_provider(clients=[page], people=people) as provider:
        given = {
            "port": port,
            "public_url": url,
            "oidc_issuer": provider.issuer,
            "oidc_client_id": "packline",
            "oidc_name": "Example & Co",
            "oidc_scopes": "groups=ops:read,run",
            "login_attempts_per_minute": 10_000,
            **settings,
        }
        async with product(folder, **given) as it:
            yield it, provider
