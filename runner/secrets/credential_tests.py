"""Tests credentials: asks the service whether it accepts one.

Each call reads something small that needs the credential and changes nothing. Messages never quote a service's answer,
which may repeat what it was sent.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from runner.egress.client import raise_for_status
from runner.egress.web_address import read_web_address
from runner.failures import FailureCode, PackError
from runner.gateway.providers import DEFAULT_URLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from runner.egress.client import Egress
    from runner.secrets.credential_kinds import CredentialKind

TIMEOUT_SECONDS = 15.0
_MAX_BYTES = 4 << 20
_LOGIN = re.compile(r"[A-Za-z0-9._@ -]{1,100}\Z")
_GHOST_TOKEN_SECONDS = 300


@dataclass(frozen=True, slots=True)
class CredentialTestResult:
    """Whether a service accepts a credential, with a sentence for people."""

    accepted: bool
    message: str


async def test_credential(
    kind: CredentialKind, fields: Mapping[str, str], egress: Egress, service_urls: Mapping[str, str]
) -> CredentialTestResult:
    """Ask the service of a credential whether it accepts it.

    Args:
        kind: The credential's kind, which has a test.
        fields: The credential's values.
        egress: Makes the HTTP client.
        service_urls: Addresses the operator configured, by service or provider of models.

    Raises:
        PackError: the service could not be asked, so the result is unknown.
    """
    assert kind.test is not None, "the caller has checked"
    if kind.test == "smtp":
        return await _smtp(fields)
    client = egress.client(service_urls.values(), max_bytes=_MAX_BYTES, total_seconds=TIMEOUT_SECONDS)
    # A redirect could send the credential elsewhere.
    client.follow_redirects = False
    key = fields.get("api_key", "")
    async with client:
        match kind.test:
            case "github":
                base = service_urls.get("github", "https://api.github.com").rstrip("/")
                headers = {
                    "authorization": f"Bearer {fields['token']}",
                    "accept": "application/vnd.github+json",
                    "user-agent": "packline",
                }
                answer = await client.get(f"{base}/user", headers=headers)
                return _result_of(answer, "GitHub", _login_of(answer))
            case "ghost":
                return await _ghost(client, fields)
            case "openai":
                base = fields.get("base_url") or service_urls.get("openai", DEFAULT_URLS["openai"])
                answer = await client.get(f"{base.rstrip('/')}/models", headers={"authorization": f"Bearer {key}"})
                return _result_of(answer, _host(answer), _count_of(answer, "data"))
            case "anthropic":
                base = service_urls.get("anthropic", DEFAULT_URLS["anthropic"]).rstrip("/")
                headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
                answer = await client.get(f"{base}/v1/models", headers=headers)
                return _result_of(answer, "Anthropic", _count_of(answer, "data"))
            case "google":
                base = service_urls.get("google", DEFAULT_URLS["google"]).rstrip("/")
                answer = await client.get(f"{base}/v1beta/models", headers={"x-goog-api-key": key})
                # Google answers 400 to an invalid key.
                if answer.status_code == 400 and "API_KEY_INVALID" in answer.text:
                    return CredentialTestResult(False, "Google does not accept it: the key is not valid (HTTP 400).")
                return _result_of(answer, "Google", _count_of(answer, "models"))
            case "elevenlabs":
                base = service_urls.get("elevenlabs", DEFAULT_URLS["elevenlabs"]).rstrip("/")
                answer = await client.get(f"{base}/v1/models", headers={"xi-api-key": key})
                return _result_of(answer, "ElevenLabs", "")
            case _:
                assert_never(kind.test)


def ghost_token(admin_api_key: str, now: float) -> str:
    """Make a token signed with a Ghost Admin API key, valid for five minutes (ghost.org/docs/admin-api)."""
    import jwt

    key_id, _, secret = admin_api_key.partition(":")
    issued = int(now)
    claims = {"iat": issued, "exp": issued + _GHOST_TOKEN_SECONDS, "aud": "/admin/"}
    return jwt.encode(claims, bytes.fromhex(secret), algorithm="HS256", headers={"kid": key_id})


async def _ghost(client: httpx2.AsyncClient, fields: Mapping[str, str]) -> CredentialTestResult:
    # Not `/site/`, which is public: reading posts needs the key, as publishing does.
    answer = await client.get(
        f"{read_web_address(fields['url']).url.rstrip('/').removesuffix('/ghost')}/ghost/api/admin/posts/",
        params={"limit": "1", "fields": "id"},
        headers={
            "authorization": f"Ghost {ghost_token(fields['admin_api_key'], time.time())}",
            "accept-version": "v5.0",
        },
    )
    return _result_of(answer, "Ghost", "")


async def _smtp(fields: Mapping[str, str]) -> CredentialTestResult:
    try:
        import aiosmtplib
    except ImportError as error:
        raise PackError(
            FailureCode.NOT_FOUND,
            "The Python library `aiosmtplib` is not installed.",
            hint="Install it with `pip install 'packline[email]'`.",
        ) from error

    security = fields.get("security", "starttls")
    host, port = fields["host"], int(fields.get("port") or (465 if security == "tls" else 587))
    server = aiosmtplib.SMTP(
        hostname=host,
        port=port,
        use_tls=security == "tls",
        start_tls=security == "starttls",
        tls_context=None if security == "none" else await asyncio.to_thread(ssl.create_default_context),
        timeout=TIMEOUT_SECONDS,
    )
    where = f"{host}:{port}"
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await server.connect()
            if "username" not in fields:
                await server.ehlo()
                return CredentialTestResult(True, f"{where} answers; the credential has no account to sign in with.")
            await server.login(fields["username"], fields.get("password", ""))
            return CredentialTestResult(True, f"{where} accepts the account and password.")
    except aiosmtplib.SMTPAuthenticationError as error:
        return CredentialTestResult(False, f"{where} does not accept the account or its password (SMTP {error.code}).")
    except (aiosmtplib.SMTPException, OSError) as error:  # time-outs are OSErrors
        raise PackError(
            FailureCode.UPSTREAM_UNAVAILABLE,
            f"The mail server {where} cannot be reached: {type(error).__name__}.",
            hint="Check host, port and `security`.",
        ) from error
    finally:
        server.close()


def _result_of(answer: httpx2.Response, service: str, more: str) -> CredentialTestResult:
    status = answer.status_code
    if status < 300:
        return CredentialTestResult(True, f"{service} accepts it{more}.")
    if status == 403 and answer.headers.get("x-ratelimit-remaining") == "0":
        raise PackError(
            FailureCode.RATE_LIMITED,
            f"{service} refused the call because of its rate limit.",
            hint="Try again in an hour.",
        )
    if status in (401, 403):
        return CredentialTestResult(False, f"{service} does not accept it (HTTP {status}).")
    if status < 400:
        raise PackError(
            FailureCode.UPSTREAM_UNAVAILABLE,
            f"{service} answered with a redirect (HTTP {status}), which is not followed with a credential.",
            hint="Give the address it redirects to.",
        )
    raise_for_status(answer)
    raise AssertionError("every status of 400 and above raises")


def _login_of(answer: httpx2.Response) -> str:
    login = _object(answer).get("login")
    return f" and knows it as {login}" if isinstance(login, str) and _LOGIN.match(login) else ""


def _count_of(answer: httpx2.Response, name: str) -> str:
    listed = _object(answer).get(name)
    return f" and lists {len(listed)} models" if isinstance(listed, list) else ""


def _object(answer: httpx2.Response) -> dict[str, object]:
    try:
        found = answer.json() if answer.status_code < 300 else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _host(answer: httpx2.Response) -> str:
    return str(answer.request.url.host)
