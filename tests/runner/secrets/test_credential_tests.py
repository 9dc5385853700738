"""Test calls of each kind, over loopback services that check what they are given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from runner.failures import PackError
from runner.secrets import credential_tests
from runner.secrets.credential_kinds import KINDS
from tests.support.ghost_server import ADMIN_API_KEY, GhostDouble
from tests.support.loopback_http import Reply, loopback_http
from tests.support.scripted_http import serving
from tests.support.smtp_server import PASSWORD, SILENCE, USERNAME, SmtpDouble, serving_mail

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator

    from runner.secrets.credential_tests import CredentialTestResult
    from tests.support.loopback_http import Request

KEY = "the-right-key-0123456789"


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    way = Egress(EgressPolicy.parse("127.0.0.0/8,localhost"))
    yield way
    await way.aclose()


async def ask(egress: Egress, kind: str, fields: dict[str, str], **services: str) -> CredentialTestResult:
    return await credential_tests.test_credential(KINDS[kind], fields, egress, services)


def service(header: str, expected: str, body: dict[str, Any]) -> Any:
    async def answer(request: Request, _: asyncio.StreamWriter) -> Reply:
        if request.headers.get(header) != expected:
            return Reply(b"no", 401)
        return Reply(json.dumps(body).encode(), headers={"content-type": "application/json"})

    return answer


@pytest.mark.parametrize(
    ("kind", "path", "header", "expected", "body", "message"),
    [
        (
            "github",
            "/user",
            "authorization",
            f"Bearer {KEY}",
            {"login": "octo"},
            "GitHub accepts it and knows it as octo.",
        ),
        ("openai", "/models", "authorization", f"Bearer {KEY}", {"data": [1, 2]}, "accepts it and lists 2 models."),
        ("anthropic", "/v1/models", "x-api-key", KEY, {"data": [1]}, "Anthropic accepts it and lists 1 models."),
        ("google", "/v1beta/models", "x-goog-api-key", KEY, {"models": []}, "Google accepts it and lists 0 models."),
        ("elevenlabs", "/v1/models", "xi-api-key", KEY, {}, "ElevenLabs accepts it."),
    ],
)
async def test_a_key_is_accepted_or_refused_by_its_service(
    egress: Egress, kind: str, path: str, header: str, expected: str, body: dict[str, Any], message: str
) -> None:
    name = "token" if kind == "github" else "api_key"
    async with loopback_http({path: service(header, expected, body)}) as server:
        base = {kind: server.url("")}
        good = await ask(egress, kind, {name: KEY}, **base)
        assert good.accepted
        assert good.message.endswith(message)
        bad = await ask(egress, kind, {name: "another-key-0123456789"}, **base)
    assert not bad.accepted
    assert "does not accept it (HTTP 401)" in bad.message
    assert "another-key" not in bad.message
    assert all(KEY not in request.path for request in server.requests), "addresses are logged by proxies"


async def test_any_server_of_openais_protocol_is_asked_at_its_own_address(egress: Egress) -> None:
    async with loopback_http({"/v1/models": service("authorization", f"Bearer {KEY}", {"data": []})}) as server:
        verdict = await ask(egress, "openai-compatible", {"api_key": KEY, "base_url": server.url("/v1/")})
    assert verdict.accepted


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(b"", 500), "upstream_unavailable"),
        (Reply(b"", 429, {"retry-after": "7"}), "rate_limited"),
        (Reply(b"", 403, {"x-ratelimit-remaining": "0"}), "rate_limited"),
        (Reply(b"", 302, {"location": "http://elsewhere.example/"}), "upstream_unavailable"),
        (Reply(b"", 404), "not_found"),
    ],
)
async def test_what_does_not_come_from_the_credential_says_nothing_about_it(
    egress: Egress, reply: Reply, code: str
) -> None:
    async with loopback_http({"/user": reply}) as server:
        with pytest.raises(PackError) as failed:
            await ask(egress, "github", {"token": KEY}, github=server.url(""))
    assert failed.value.failure.code == code
    assert len(server.requests) == 1, "no redirect is followed with a credential"


async def test_an_answer_that_is_no_json_or_hostile_is_not_repeated(egress: Egress) -> None:
    for body in (b"<html>", b"[]", b'{"login": "<script>"}', b'{"login": 7}'):
        async with loopback_http({"/user": Reply(body)}) as server:
            assert (await ask(egress, "github", {"token": KEY}, github=server.url(""))).message == "GitHub accepts it."


async def test_googles_word_for_a_wrong_key_is_understood(egress: Egress) -> None:
    body = b'{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}'
    async with loopback_http({"/v1beta/models": Reply(body, 400)}) as server:
        verdict = await ask(egress, "google", {"api_key": KEY}, google=server.url(""))
    assert not verdict.accepted


async def test_a_ghost_key_signs_what_ghost_verifies(egress: Egress) -> None:
    async with serving(GhostDouble()) as ghost:
        url = ghost.http.url("")
        assert (await ask(egress, "ghost", {"url": url, "admin_api_key": ADMIN_API_KEY})).accepted
        wrong = ADMIN_API_KEY[:-4] + "0000"
        assert not (await ask(egress, "ghost", {"url": url, "admin_api_key": wrong})).accepted


async def test_a_private_address_is_refused_unless_the_operator_says_so() -> None:
    way = Egress()
    try:
        with pytest.raises(PackError, match="refused"):
            await ask(way, "ghost", {"url": "http://127.0.0.1:9", "admin_api_key": ADMIN_API_KEY})
    finally:
        await way.aclose()


async def test_a_mail_account_signs_in(egress: Egress) -> None:
    async with serving_mail(SmtpDouble()) as server:
        fields = {"host": "127.0.0.1", "port": str(server.port), "security": "none"}
        account = {"username": USERNAME, "password": PASSWORD}
        assert (await ask(egress, "smtp", {**fields, **account})).accepted
        refused = await ask(egress, "smtp", {**fields, **account, "password": "not the password"})
        assert not refused.accepted
        assert "not the password" not in refused.message
        assert "has no account to sign in with" in (await ask(egress, "smtp", fields)).message
        assert server.mails == []
        with pytest.raises(PackError) as failed:
            await ask(egress, "smtp", {**fields, **account, "security": "starttls"})
        assert failed.value.failure.code == "upstream_unavailable"


async def test_a_mail_server_that_is_silent_or_absent_is_not_waited_for(
    egress: Egress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credential_tests, "TIMEOUT_SECONDS", 0.2)
    async with serving_mail(SmtpDouble(script={"CONNECT": SILENCE})) as server:
        fields = {"host": "127.0.0.1", "port": str(server.port), "security": "none"}
        with pytest.raises(PackError, match="cannot be reached"):
            await ask(egress, "smtp", fields)
    with pytest.raises(PackError, match="cannot be reached"):
        await ask(egress, "smtp", fields)


def test_every_kind_with_a_test_is_tested_here() -> None:
    assert {kind.test for kind in KINDS.values()} == {
        *("github", "ghost", "smtp", "openai", "anthropic", "google", "elevenlabs", None)
    }
