"""Bearer tokens of an OpenID provider, on every surface; a double makes the tokens as the test likes.

That the real one's are accepted is shown in `test_single_sign_on`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time

import httpx2
import pytest
import pytest_asyncio
from joserfc.jwk import ECKey, OctKey, OKPKey
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from app.auth.provider import Provider
from resolvers.permissions import lost_access
from resolvers.problems import Unavailable
from store.access.callers import find_caller_of
from store.database.errors import StoreError
from store.states import Scope
from tests.support.openid_provider import issuer, signing_key
from tests.support.product import product

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {
    "public_url": "https://pack.example",
    "oidc_scopes": "groups=ops:manage; realm_access.roles=dev:read,run; scope=packline:read",
    "login_attempts_per_minute": 10_000,
}
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_AS_MCP = {"accept": "application/json, text/event-stream"}
_TASKS = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
#: A request to each surface, and the status of its answer to somebody who may make it.
SURFACES = {
    "graphql": ("POST", "/graphql", {"json": {"query": "{viewer{subject}}"}}, 200),
    "events": (
        "POST",
        "/graphql",
        {"json": {"query": "{viewer{subject}}"}, "headers": {"accept": "text/event-stream"}},
        200,
    ),
    "mcp": ("POST", "/mcp", {"json": _INITIALIZE, "headers": _AS_MCP}, 200),
    "a2a": ("POST", "/a2a", {"json": _TASKS, "headers": {"a2a-version": "1.0"}}, 200),
    "upload": ("POST", "/artifacts", {"files": {"file": ("a.txt", b"tea", "text/plain")}}, 201),
    "artifact": ("GET", "/artifacts/art_01J00000000000000000000000", {}, 404),
    "skill": ("GET", "/skill.md", {}, 200),
    "login link": ("POST", "/login/links", {}, 201),
}


class House:
    """The product, and the provider that it trusts."""

    def __init__(self, it, provider, http):
        self.it = it
        self.provider = provider
        self.http = http

    async def ask(self, surface, token):
        method, path, options, _ = SURFACES[surface]
        headers = {**options.get("headers", {}), "authorization": f"Bearer {token}"}
        return await self.http.request(method, self.it.url(path), **{**options, "headers": headers})

    async def refusal(self, token):
        """What GraphQL answers to a token that is not valid."""
        answer = await self.ask("graphql", token)
        assert answer.status_code == 401, answer.text
        return answer.json()["errors"][0]["message"]

    async def viewer(self, token):
        data = await self.it.query("{ viewer { id subject name scopes } }", token=token)
        return data["viewer"]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def house(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    async with issuer() as provider, httpx2.AsyncClient(timeout=60, verify=False) as http:
        given = {**SETTINGS, "oidc_issuer": provider.issuer, "database_url": request.param}
        async with product(folder, **given) as it:
            yield House(it, provider, http)


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_token_counts_on_every_surface(house, surface):
    answer = await house.ask(surface, house.provider.token())
    assert answer.status_code == SURFACES[surface][3], answer.text

    refused = await house.ask(surface, house.provider.token(exp=1))
    assert refused.status_code == 401
    assert "The token has expired." in refused.text
    assert 'error="invalid_token", error_description="The token has expired.' in refused.headers["www-authenticate"]


async def test_a_socket_opens_with_a_token_and_closes_when_it_expires(house):
    # The clocks may differ by a minute, so it counts for a second yet.
    token = house.provider.token(exp=int(time.time()) - 59)
    async with house.it.socket(token) as socket:
        assert await socket.close_code() == 4403

    with pytest.raises(ConnectionClosed) as refused:
        async with house.it.socket(house.provider.token(exp=1)):
            pass
    assert refused.value.rcvd.code == 4403


async def test_the_subject_is_the_caller_whatever_it_presents(house):
    first = await house.viewer(house.provider.token(sub="grace", name="Grace Hopper"))
    again = await house.viewer(house.provider.token(sub="grace", groups=None, scope="openid packline"))
    own = await house.viewer(await house.it.token_for("grace", "RUN"))
    assert first["id"] == again["id"] == own["id"]
    assert (first["name"], first["scopes"]) == ("Grace Hopper", ["READ", "OBSERVE", "RUN", "WRITE", "MANAGE"])
    assert (again["scopes"], own["scopes"]) == (["READ"], ["RUN"])


async def test_what_a_caller_set_up_outlives_its_tokens_if_the_provider_vouches_for_it(house):
    own = await house.it.token_for("trent", "RUN")
    services = house.it.services
    caller = await find_caller_of(services.store, "trent")
    await house.viewer(own)
    assert await lost_access(services, caller, Scope.OBSERVE) is not None
    await house.viewer(house.provider.token(sub="trent"))
    caller = await find_caller_of(services.store, "trent")
    assert await lost_access(services, caller, Scope.OBSERVE) is None


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"name": "Ada\0\u202e\n Lovelace "}, "Ada Lovelace"),
        ({"name": "\0", "preferred_username": 7, "email": "ada@example.com"}, "ada@example.com"),
        ({"name": "x" * 5_000}, f"{'x' * 199}…"),
    ],
)
async def test_names_are_made_fit_to_be_shown(house, claims, name):
    viewer = await house.viewer(house.provider.token(sub=f"of {name[:20]}", **claims))
    assert viewer["name"] == name


async def test_a_rule_looks_into_claims(house):
    viewer = await house.viewer(house.provider.token(groups=None, realm_access={"roles": ["dev"]}))
    assert viewer["scopes"] == ["READ", "RUN"]


async def test_a_disabled_caller_is_refused_with_the_providers_token_too(house):
    token = house.provider.token(sub="bob")
    caller = (await house.viewer(token))["id"]
    disabled = await house.it.mutate(
        "mutation ($id: String!) { disableCaller(caller: $id) { __typename } }", {"id": caller}
    )
    assert disabled["__typename"] == "DisableCallerSuccess"
    assert "its caller is disabled" in await house.refusal(token)


async def test_a_caller_is_disabled_although_its_runs_could_not_be_cancelled(house, monkeypatch):
    caller = (await house.viewer(house.provider.token(sub="carol")))["id"]
    asked = []

    async def fail(caller_id=None):
        asked.append(caller_id)
        raise StoreError("away")

    with monkeypatch.context() as patched:
        patched.setattr(house.it.services.engine.rescue, "cancel_of_disabled", fail)
        disabled = await house.it.mutate(
            """mutation ($id: String!) { disableCaller(caller: $id) {
                __typename ... on DisableCallerSuccess { cancelledRuns caller { disabledAt } } } }""",
            {"id": caller},
        )
    assert disabled["__typename"] == "DisableCallerSuccess"
    assert disabled["cancelledRuns"] == 0
    assert disabled["caller"]["disabledAt"] is not None
    assert asked[0] == caller


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"exp": 1}, "The token has expired."),
        ({"exp": None}, "The token lacks exp."),
        ({"exp": 1e300}, "The token's `exp` is not a time."),
        ({"exp": "tomorrow"}, "The token's `exp` is not valid."),
        ({"nbf": 9_999_999_999}, "The token is not valid yet."),
        ({"iat": 9_999_999_999}, "The token is not valid yet."),
        ({"iss": "https://evil.example"}, "The token is of another issuer"),
        ({"iss": None}, "The token lacks iss."),
        ({"aud": "https://other.example"}, "this server is https://pack.example or https://pack.example/mcp."),
        ({"aud": ["https://other.example", "https://pack.example.evil.example"]}, "for another audience"),
        ({"aud": None}, "The token lacks aud."),
        ({"sub": None}, "The token lacks sub."),
        ({"sub": 7}, "The token's `sub` is not valid."),
        ({"sub": "a\nb"}, "printable characters"),
        ({"sub": "x" * 256}, "printable characters"),
        ({"sub": "admin"}, "the name of this server's own administrator"),
        ({"groups": ["sales"]}, "no rule in PACKLINE_OIDC_SCOPES matches"),
        ({"header": {"kid": "unheard-of"}}, "signed with a key that"),
        ({"header": {"typ": "logout+jwt"}}, "not an access token"),
    ],
)
async def test_what_is_wrong_with_a_token_is_said(house, changed, reason):
    assert reason in await house.refusal(house.provider.token(**changed))


def _coded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


async def test_nobody_forges_a_token(house):
    provider = house.provider
    head, body, signature = provider.token().split(".")
    public = provider.keys[0]
    forged = {
        "another key under the same id": provider.token(key=signing_key("first")),
        "no signature": f"{head}.{body}.",
        "alg none": f"{_coded({'alg': 'none', 'kid': 'first'})}.{body}.",
        "alg none, signed": f"{_coded({'alg': 'NONE', 'kid': 'first'})}.{body}.{signature}",
        "other claims": f"{head}.{_coded(provider.claims(sub='root'))}.{signature}",
        "no JSON": f"{head}.bm90IGpzb24.{signature}",
        "no header": f"bm90IGpzb24.{body}.{signature}",
        "a list for a header": f"{_coded([])}.{body}.{signature}",
        "nothing at all": "..",
        "a very long one": f"{head}.{'x' * 20_000}.{signature}",
    }
    # The public key as the secret of a symmetric signature: as JSON and in both usual encodings.
    for name, secret in {
        "PEM": public.as_pem(private=False),
        "DER": public.as_der(private=False),
        "JSON": json.dumps(public.as_dict(private=False)).encode(),
    }.items():
        forged[f"HS256 with {name}"] = provider.token(
            header={"alg": "HS256", "kid": "first"},
            key=OctKey.import_key(base64.urlsafe_b64encode(secret).rstrip(b"=")),
        )
    for name, token in forged.items():
        assert await house.refusal(token), name


async def test_other_kinds_of_keys_sign_too_and_unusable_ones_do_no_harm(house, monkeypatch):
    monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 0)
    provider = house.provider
    before = list(provider.keys)
    curve = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig"})
    edwards = OKPKey.generate_key("Ed25519", {"kid": "edwards"})
    shared = OctKey.generate_key(256, {"kid": "shared"})
    odd = signing_key("odd")
    try:
        provider.keys += [curve, edwards, shared]
        provider.odd = [{"kty": "AKP", "kid": "tomorrow"}, {"kty": "RSA", "kid": "odd"}, "x", None]
        assert (await house.viewer(provider.token(header={"alg": "ES256"}, key=curve)))["subject"] == "ada"
        assert await house.refusal(provider.token(header={"alg": "Ed25519"}, key=edwards))
        assert await house.refusal(provider.token(header={"alg": "HS256"}, key=shared))
        assert await house.refusal(provider.token(key=odd))
    finally:
        provider.keys, provider.odd = before, []


async def test_a_new_key_counts_at_once_and_invented_ones_cause_no_flood(house, monkeypatch):
    provider = house.provider
    assert await house.viewer(provider.token())
    monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 0)
    provider.keys.insert(0, signing_key("second"))
    try:
        assert (await house.viewer(provider.token()))["subject"] == "ada"
        assert (await house.viewer(provider.token(key=provider.keys[1])))["subject"] == "ada"
        monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 3600)
        before = provider.fetches
        invented = [provider.token(header={"kid": f"invented {number}"}) for number in range(20)]
        assert all(await asyncio.gather(*map(house.refusal, invented)))
        assert provider.fetches == before
    finally:
        provider.keys.pop(0)


async def test_keys_go_on_while_the_provider_is_away_and_it_recovers(house, monkeypatch):
    monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 0)
    monkeypatch.setattr("app.auth.provider.FRESH_SECONDS", 0)
    provider = house.provider
    assert await house.viewer(provider.token())
    provider.answers = False
    provider.keys.insert(0, signing_key("third"))
    try:
        for _ in range(3):
            assert (await house.viewer(provider.token(key=provider.keys[1])))["subject"] == "ada"
        answer = await house.ask("graphql", provider.token())
        assert answer.status_code == 503
        assert answer.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
        provider.answers = True
        assert (await house.viewer(provider.token()))["subject"] == "ada"
    finally:
        provider.answers = True
        provider.keys.pop(0)


async def test_a_server_starts_while_the_provider_is_away(tmp_path, monkeypatch):
    monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 0)
    async with issuer() as provider, httpx2.AsyncClient(timeout=60, verify=False) as http:
        provider.answers = False
        async with product(tmp_path, **SETTINGS, oidc_issuer=provider.issuer) as it:
            house = House(it, provider, http)
            assert await house.viewer(it.token), "other tokens do not need it"
            for surface in SURFACES:
                answer = await house.ask(surface, provider.token())
                assert answer.status_code == 503, surface
                assert "does not answer as it should" in answer.text
            with pytest.raises(ConnectionClosed) as refused:
                async with it.socket(provider.token()):
                    pass
            assert refused.value.rcvd.code == 1011

            provider.answers, provider.padding = True, 10_000_000
            answer = await house.ask("graphql", provider.token())
            assert answer.status_code == 503, "keys of 10 MB are not read"

            provider.padding = 0
            assert (await house.viewer(provider.token()))["subject"] == "ada"


async def test_a_provider_that_calls_itself_otherwise_is_not_believed(tmp_path):
    async with issuer() as provider, httpx2.AsyncClient(timeout=60, verify=False) as http:
        provider.named = "https://id.example"
        async with product(tmp_path, **SETTINGS, oidc_issuer=provider.issuer) as it:
            answer = await House(it, provider, http).ask("graphql", provider.token())
            assert answer.status_code == 503
            assert provider.fetches == 0


class Documents:
    """Egress to a provider with TLS, whose answers are by address."""

    def __init__(self, answers):
        self._answers = answers

    def client(self, *_, **__):
        async def answer(request):
            return self._answers[str(request.url)]

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer), follow_redirects=True)


@pytest.mark.parametrize("name", ["jwks_uri", "token_endpoint", "userinfo_endpoint"])
async def test_a_provider_with_tls_names_no_address_without(name):
    document = {"issuer": "https://id.example", "jwks_uri": "https://id.example/keys", name: "http://id.example/x"}
    keys = httpx2.Response(200, json={"keys": [signing_key("first").as_dict(private=False)]})
    answers = {
        "https://id.example/.well-known/openid-configuration": httpx2.Response(200, json=document),
        "https://id.example/keys": keys,
        "http://id.example/x": keys,
    }
    with capture_logs() as logs, pytest.raises(Unavailable):
        await Provider("https://id.example", Documents(answers), skew_seconds=60).addresses()
    assert logs[0]["error"] == f"its `{name}` is http://id.example/x, which is not https://"


async def test_a_provider_with_tls_leads_nowhere_without():
    answers = {
        "https://id.example/.well-known/openid-configuration": httpx2.Response(
            302, headers={"location": "http://id.example/x"}
        ),
        "http://id.example/x": httpx2.Response(
            200, json={"issuer": "https://id.example", "jwks_uri": "https://id.example/keys"}
        ),
        "https://id.example/keys": httpx2.Response(200, json={"keys": [signing_key("first").as_dict(private=False)]}),
    }
    with capture_logs() as logs, pytest.raises(Unavailable):
        await Provider("https://id.example", Documents(answers), skew_seconds=60).addresses()
    assert logs[0]["error"] == "it redirected to http://id.example/x, which is not https://"


async def test_a_token_that_names_no_key_of_several_is_refused_as_such(house, monkeypatch):
    monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 0)
    monkeypatch.setattr("app.auth.provider.FRESH_SECONDS", 0)
    house.provider.odd.append(signing_key("third").as_dict(private=False))
    try:
        token = house.provider.token(header={"kid": "third"})
        await house.refusal(token)  # the keys are fetched again
        assert await house.refusal(house.provider.token(header={"kid": None})) == "The token names no key (`kid`)."
    finally:
        house.provider.odd.clear()
