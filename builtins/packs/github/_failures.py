"""What GitHub's refusals mean for a step (docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api)."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from packline import PackError, excerpt, raise_for_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

#: What the documentation asks for when a secondary limit comes without a time: "wait for at least one minute".
SECONDARY_WAIT_SECONDS = 60.0
#: Sections of the documentation that a refusal for too many requests links to; one for each age of the pages.
_LIMIT_SECTIONS = frozenset({"about-secondary-rate-limits", "secondary-rate-limits", "abuse-rate-limits"})
_FIELDS_SHOWN = 5


def raise_for_answer(
    response: httpx2.Response, *, what: str, with_token: bool, fields: Mapping[str, str], field: str | None
) -> None:
    """Raises unless the answer is a success.

    Args:
        response: Read to its end.
        what: The thing asked for, such as `issue 7 of octo/lights`.
        with_token: Whether a credential was presented.
        fields: GitHub's names of fields to ours.
        field: The input field that says what was asked for.

    Raises:
        PackError: with the code for the status; limits are `rate_limited` although GitHub sends them as 403.
    """
    try:
        raise_for_status(response)
    except PackError as error:
        failure = error.failure
    else:
        return
    status, said = response.status_code, _said(response)
    detail: dict[str, Any] = {"status": status, "message": said}
    if request_id := response.headers.get("x-github-request-id"):
        detail["request_id"] = request_id
    if status in (403, 429) and _is_limit(response):
        raise PackError(
            "rate_limited",
            f"GitHub's rate limit is reached (HTTP {status}){_quoted(said)}.",
            hint="Packline retries it after the wait."
            if with_token
            else "Store a credential `github`: without one GitHub allows 60 requests an hour.",
            retry_after_seconds=_wait_seconds(response, failure.retry_after_seconds),
            detail=detail,
        ) from None
    at_fault, hint = field, failure.hint
    if failure.code == "credential_invalid":
        detail["credential"] = "github"
    match status:
        case 401:
            message, at_fault = f"GitHub does not accept the credential `github`{_quoted(said)}", None
            hint = "It was revoked, has expired or is incomplete: store a new token as `github`."
        case 403:
            message, at_fault = f"GitHub refused access to {what}{_quoted(said)}", None
            hint = _access_hint(response, with_token)
        case 404:
            message = f"GitHub has no {what}, or does not show it to this caller"
            hint = "Check the name; private repositories need a credential `github` that may read them."
        case 410:
            message = f"GitHub no longer has {what}{_quoted(said)}"
            hint = "It was deleted, or the repository has that part switched off."
        case 422:
            message, named = _validation(response, fields)
            message, at_fault = f"GitHub did not accept the request for {what}: {message}", named or field
            hint = "Change the input and try again."
        case _:
            message = f"GitHub answered HTTP {status} for {what}{_quoted(said)}"
    raise PackError(
        failure.code,
        f"{message}.",
        field=at_fault,
        hint=hint,
        retry_after_seconds=failure.retry_after_seconds,
        detail=detail,
    ) from None


def _is_limit(response: httpx2.Response) -> bool:
    """Whether it is a limit, not a lack of rights, judged by headers and the linked section, never by the text."""
    headers = response.headers
    if response.status_code == 429 or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0":
        return True
    link = _json(response).get("documentation_url")
    return isinstance(link, str) and link.partition("#")[2] in _LIMIT_SECTIONS


def _wait_seconds(response: httpx2.Response, retry_after: float | None) -> float:
    if retry_after is not None:
        return retry_after
    reset = response.headers.get("x-ratelimit-reset", "")
    if response.headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
        return max(1.0, float(reset[:12]) - _server_time(response))
    return SECONDARY_WAIT_SECONDS


def _server_time(response: httpx2.Response) -> float:
    """Now by the server's clock, which the reset time uses; ours may be off."""
    try:
        return parsedate_to_datetime(response.headers.get("date", "")).timestamp()
    except ValueError:
        return time.time()


def _access_hint(response: httpx2.Response, with_token: bool) -> str:
    if not with_token:
        return "Store a credential `github` and grant it to this pack."
    if sign_on := response.headers.get("x-github-sso"):
        return f"The organisation asks for single sign-on for this token ({excerpt(sign_on, 200)})."
    needed = response.headers.get("x-accepted-github-permissions") or response.headers.get("x-accepted-oauth-scopes")
    if needed:
        return f"The token needs one of these permissions: {excerpt(needed, 200)}."
    return "Give the token the permission for this, or use another one."


def _validation(response: httpx2.Response, fields: Mapping[str, str]) -> tuple[str, str | None]:
    """GitHub's reasons in one line, and our field that the first of them is about."""
    data = _json(response)
    reasons: list[str] = []
    named: str | None = None
    errors = data.get("errors")
    for entry in errors[:_FIELDS_SHOWN] if isinstance(errors, list) else []:
        if isinstance(entry, str):
            reasons.append(entry)
        if not isinstance(entry, dict):
            continue
        place, code, message = entry.get("field"), entry.get("code"), entry.get("message")
        if isinstance(place, str) and named is None:
            named = fields.get(place)
        if isinstance(message, str) and message:
            reasons.append(message)
        elif isinstance(place, str) and isinstance(code, str):
            reasons.append(f"`{place}` is {code.replace('_', ' ')}")
    text = "; ".join(" ".join(reason.split()) for reason in reasons) or _said(response) or "no reason was given"
    return excerpt(text, 600).rstrip("."), named


def _json(response: httpx2.Response) -> dict[str, Any]:
    try:
        data = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _said(response: httpx2.Response) -> str:
    message = _json(response).get("message")
    return excerpt(" ".join(message.split()), 300).rstrip(".") if isinstance(message, str) else ""


def _quoted(text: str) -> str:
    return f": {text}" if text else ""
