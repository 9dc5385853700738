"""Signing in at a real OpenID provider, `oidc-provider` from npm: people in a browser, MCP clients by themselves."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from store.access.callers import find_caller_of
from tests.support.openid_provider import signing_key, trusting_product
from tests.support.product import product

pytestmark = pytest.mark.asyncio(loop_scope="module")

PEOPLE = {
    "user-1": {"name": "Ada Lovelace", "email": "ada@example.com", "groups": ["ops"]},
    "user-3": {"name": "Bob", "groups": ["ops"]},
    "user-2": {"name": "Eve", "groups": ["sales"]},
    "admin": {"name": "Mallory", "groups": ["ops"]},
}


class House:
    """The product, the provider that it trusts, and browsers."""

    def __init__(self, it, provider):
        self.it = it
        self.provider = provider

    @asynccontextmanager
    async def browser(self):
        async with httpx2.AsyncClient(base_url=self.it.url("").rstrip("/"), timeout=60, verify=False) as http:
            yield http

    async def sent_back(self, http, account="user-1", onward="/runs?state=failed"):
        """Where the provider sends a browser back to that went to sign in."""
        begun = await http.get("/login/provider", params={"next": onward})
        assert begun.status_code == 303, begun.text
        return await self.provider.sign_in(http, begun.headers["location"], account)

    async def viewer(self, http):
        answer = await http.post(
            "/graphql", json={"query": "{viewer{subject name scopes}}"}, headers={"origin": self.it.url("").rstrip("/")}
        )
        return answer.json()["data"]["viewer"] if answer.status_code == 200 else None


def attempt_cookie(http):
    """What a browser keeps of the sign-in that it began."""
    return next(cookie for cookie in http.cookies.jar if cookie.name.endswith("_sign_in"))


@asynccontextmanager
async def serving(folder, **settings):
    async with trusting_product(folder, PEOPLE, **settings) as (it, provider):
        yield House(it, provider)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory):
    async with serving(tmp_path_factory.mktemp("house")) as serves:
        yield serves


async def test_a_browser_signs_in_and_out(house):
    async with house.browser() as http:
        page = await http.get("/login", params={"next": "/runs"})
        assert 'href="/login/provider?next=%2Fruns">Sign in with Example &amp; Co</a>' in page.text

        back = await house.sent_back(http)
        answer = await http.get(back)
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs?state=failed")
        cookies = answer.headers.get_list("set-cookie")
        assert "Max-Age=43200" in cookies[0]
        assert "samesite=strict" in cookies[0].lower()
        assert await house.viewer(http) == {"subject": "user-1", "name": "Ada Lovelace", "scopes": ["READ", "RUN"]}
        caller = await find_caller_of(house.it.services.store, "user-1")
        assert caller.vouched_at is not None
        listed = '{ callers(filter: {text: "user-1"}) { nodes { scopes fromProvider } } }'
        shown = (await house.it.query(listed))["callers"]["nodes"]
        assert shown == [{"scopes": ["READ", "RUN"], "fromProvider": True}]

        gone = await http.post("/logout", headers={"origin": house.it.url("").rstrip("/")})
        assert gone.headers["location"] == "/login?signed_out"
        page = await http.get("/login?signed_out")
        assert "Sign out of Example &amp; Co</a> as well" in page.text
        assert await house.viewer(http) is None
        assert (await house.it.query(listed))["callers"]["nodes"] == [{"scopes": [], "fromProvider": True}]
    rows = await house.it.query("{ audit(first: 50) { nodes { action accepted actor { subject } } } }")
    done = [(row["action"], row["accepted"]) for row in rows["audit"]["nodes"] if row["actor"]]
    assert ("sign_in", True) in done
    assert ("sign_out", True) in done


async def test_a_client_with_a_secret_signs_in(tmp_path):
    async with serving(tmp_path, oidc_client_secret="s" * 32) as house, house.browser() as http:
        assert (await http.get(await house.sent_back(http))).status_code == 303
        assert (await house.viewer(http))["subject"] == "user-1"


async def test_the_request_to_the_provider_is_protected(house):
    async with house.browser() as http:
        begun = await http.get("/login/provider")
        asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.headers["location"]).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert len(asked["state"]) >= 32
        assert len(asked["nonce"]) >= 32
        cookie = begun.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie


async def test_a_sign_in_counts_once_and_only_in_its_browser(house):
    async with house.browser() as http, house.browser() as other:
        back = await house.sent_back(http)
        kept = attempt_cookie(http)
        stolen = await other.get(back)
        assert (stolen.status_code, await house.viewer(other)) == (400, None)
        assert "started in another browser" in stolen.text

        assert (await http.get(back)).status_code == 303
        again = await http.get(back)
        assert again.status_code == 400
        assert "was already used" in again.text
        # With its cookie as well: the provider takes a code once.
        other.cookies.clear()
        other.cookies.set(kept.name, kept.value)
        replayed = await other.get(back)
        assert (replayed.status_code, await house.viewer(other)) == (400, None)
        assert "Example &amp; Co refused the sign-in" in replayed.text


@pytest.mark.parametrize(
    ("account", "reason"),
    [
        ("user-2", "user-2 has no access to this server: no rule in PACKLINE_OIDC_SCOPES matches."),
        ("admin", "the name of this server&#x27;s own administrator"),
    ],
)
async def test_accounts_that_may_not_sign_in_read_why(house, account, reason):
    async with house.browser() as http:
        answer = await http.get(await house.sent_back(http, account))
        assert answer.status_code == 400
        assert reason in answer.text
        assert await house.viewer(http) is None


async def test_a_disabled_account_does_not_sign_in(house):
    await house.it.token_for("user-3", "READ")
    callers = await house.it.query("{ callers(first: 50) { nodes { id subject } } }")
    caller = next(found["id"] for found in callers["callers"]["nodes"] if found["subject"] == "user-3")
    await house.it.mutate("mutation ($id: String!) { disableCaller(caller: $id) { __typename } }", {"id": caller})
    async with house.browser() as http:
        answer = await http.get(await house.sent_back(http, "user-3"))
        assert answer.status_code == 400
        assert "Your account is disabled here." in answer.text
        assert await house.viewer(http) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"state": "another"}, "started in another browser"),
        ({"iss": "https://evil.example"}, "another provider"),
        ({"code": "invented"}, "refused the sign-in"),
        ({"code": ""}, "refused the sign-in"),
        ({"error": "access_denied", "error_description": "<b>No</b>"}, "refused the sign-in: &lt;b&gt;No&lt;/b&gt;."),
    ],
)
async def test_an_answer_that_was_changed_on_its_way_signs_nobody_in(house, changed, reason):
    async with house.browser() as http:
        back = await house.sent_back(http)
        given = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
        answer = await http.get("/login/callback", params={**given, **changed})
        assert answer.status_code == 400
        assert reason in answer.text
        assert await house.viewer(http) is None


@pytest.mark.parametrize("cookie", ["", "x", "bnVsbA==", "e30=", "W10="])
async def test_a_cookie_that_cannot_be_read_signs_nobody_in(house, cookie):
    async with house.browser() as http:
        back = await house.sent_back(http)
        name = attempt_cookie(http).name
        http.cookies.clear()
        http.cookies.set(name, cookie)
        assert (await http.get(back)).status_code == 400


async def test_signing_in_leads_nowhere_else(house):
    """As if another site of the same domain had set the cookie."""
    async with house.browser() as http:
        back = await house.sent_back(http)
        kept = attempt_cookie(http)
        attempt = house.it.application.authenticator.single_sign_on.read_attempt(kept.value.strip('"'))
        http.cookies.clear()
        http.cookies.set(kept.name, replace(attempt, onward="//evil.example/").packed())
        assert (await http.get(back)).headers["location"] == "/"


async def test_an_id_token_for_another_sign_in_is_refused(house):
    """As if somebody had put the code of one sign-in into another of the same browser."""
    async with house.browser() as http:
        back = await house.sent_back(http)
        single_sign_on = house.it.application.authenticator.single_sign_on
        kept = attempt_cookie(http)
        attempt = single_sign_on.read_attempt(kept.value.strip('"'))
        http.cookies.clear()
        http.cookies.set(kept.name, replace(attempt, nonce="n" * 32).packed())
        answer = await http.get(back)
        assert answer.status_code == 400
        assert "is not for this sign-in" in answer.text


async def test_without_a_provider_there_is_no_button(tmp_path):
    async with product(tmp_path) as it, httpx2.AsyncClient(timeout=60, verify=False) as http:
        assert "/login/provider" not in (await http.get(it.url("/login"))).text
        assert (await http.get(it.url("/login/provider"))).status_code == 404
        assert (await http.get(it.url("/login/callback"))).status_code == 404


# ------------------------------------------------------------------------------------------------ MCP


class Memory:
    """Where an MCP client keeps its tokens."""

    def __init__(self):
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def test_an_mcp_client_finds_the_provider_and_signs_in_by_itself(house):
    """The SDK's own OAuth client: challenge, metadata, registration, PKCE, resource indicator, token."""
    memory, sent = Memory(), {}

    async def redirect(url):
        async with httpx2.AsyncClient(timeout=60, verify=False) as http:
            sent["back"] = await house.provider.sign_in(http, url, "user-1")

    async def callback():
        given = parse_qs(urlsplit(sent["back"]).query)
        return AuthorizationCodeResult(code=given["code"][0], state=given["state"][0], iss=given["iss"][0])

    auth = OAuthClientProvider(
        server_url=house.it.url("/mcp"),
        client_metadata=OAuthClientMetadata(
            client_name="An agent",
            redirect_uris=["http://127.0.0.1:3030/callback"],
            grant_types=["authorization_code"],
            response_types=["code"],
            token_endpoint_auth_method="none",
            application_type="native",
        ),
        storage=memory,
        redirect_handler=redirect,
        callback_handler=callback,
    )
    async with (
        httpx2.AsyncClient(auth=auth, timeout=60, verify=False) as http,
        Client(streamable_http_client(house.it.url("/mcp"), http_client=http)) as client,
    ):
        assert (await client.list_tools()).tools
    assert memory.tokens.access_token.count(".") == 2
    viewer = await house.it.query("{ viewer { subject scopes } }", token=memory.tokens.access_token)
    assert viewer["viewer"] == {"subject": "user-1", "scopes": ["READ", "RUN"]}


@pytest.mark.parametrize("path", ["", "/mcp"])
async def test_the_metadata_names_the_provider(house, path):
    async with house.browser() as http:
        found = (await http.get(f"/.well-known/oauth-protected-resource{path}")).json()
        assert found["resource"] == house.it.url("/mcp")
        assert found["authorization_servers"] == [house.provider.issuer]
        assert found["scopes_supported"] == ["openid", "profile", "email"]
        refused = await http.post("/mcp", json={})
        where = house.it.url("/.well-known/oauth-protected-resource/mcp")
        assert f'resource_metadata="{where}"' in refused.headers["www-authenticate"]


# ------------------------------------------------------------------------------------------------ outages


async def test_the_provider_goes_away_and_comes_back_with_other_keys(house, monkeypatch):
    monkeypatch.setattr("app.auth.provider.RETRY_SECONDS", 0)
    await house.provider.stop()
    try:
        async with house.browser() as http:
            # Its addresses are known yet; what fails is the browser's request to it.
            assert (await http.get("/login/provider")).status_code == 303
    finally:
        house.provider.keys[:] = [signing_key("second")]
        await house.provider.start()
    async with house.browser() as http:
        assert (await http.get(await house.sent_back(http))).status_code == 303
        back = await house.sent_back(http)
        await house.provider.stop()
        try:
            answer = await http.get(back)
            assert answer.status_code == 503
            assert "did not answer as it should while you signed in" in answer.text
        finally:
            await house.provider.start()
