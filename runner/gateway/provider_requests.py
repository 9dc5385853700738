"""Sends a request to a provider of voices or pictures, and converts its failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.egress.client import raise_for_status
from runner.excerpts import excerpt
from runner.failures import FailureCode, JSONValue, PackError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

#: Largest answer: six minutes of speech, or a picture of 4,096 by 4,096 pixels, are smaller.
MAX_BYTES = 40 * 1024 * 1024
#: Longest excerpt of a provider's error message.
_MESSAGE_CHARACTERS = 300
#: Failure codes by a provider's own error codes, where the HTTP status is misleading. ElevenLabs answers 401 when the
#: month's characters are used up, and OpenAI 429 when the account has no credit: waiting would not help.
_ERROR_CODES = {
    "quota_exceeded": FailureCode.QUOTA_EXCEEDED,
    "insufficient_quota": FailureCode.QUOTA_EXCEEDED,
    "billing_hard_limit_reached": FailureCode.QUOTA_EXCEEDED,
    "content_policy_violation": FailureCode.POLICY_DENIED,
    "moderation_blocked": FailureCode.POLICY_DENIED,
}
_HINTS = {
    FailureCode.QUOTA_EXCEEDED: "Add credit to the provider's account, or use another provider.",
    FailureCode.POLICY_DENIED: "Rephrase the text: the provider refuses it.",
    FailureCode.CREDENTIAL_INVALID: "Check the provider's key and what it may be used for.",
    FailureCode.INVALID_INPUT: "Check the name of the model or voice, and what it can do.",
}


async def post_json(
    client: httpx2.AsyncClient,
    url: str,
    body: Mapping[str, JSONValue],
    *,
    headers: Mapping[str, str],
    provider: str,
    asked_for: str,
    seconds: float,
    query: Mapping[str, str] | None = None,
) -> bytes:
    """POST JSON to a provider; return the body of the answer.

    Args:
        client: The HTTP client.
        url: The address.
        body: The JSON.
        headers: The headers besides the content type, with the key.
        provider: The provider's name, for messages.
        asked_for: The model or voice, `provider:name`, for messages.
        seconds: Timeout of the whole answer.
        query: Query parameters.

    Raises:
        PackError: with the code for the answer. A model or voice that does not exist is `invalid_input`.
    """
    import httpx2

    try:
        response = await client.post(
            url,
            json=dict(body),
            params=query,
            headers=headers,
            timeout=seconds,
            extensions={"max_bytes": MAX_BYTES, "total_seconds": seconds},
        )
    except httpx2.TimeoutException as error:
        raise PackError(
            FailureCode.TIMEOUT, f"`{provider}` did not answer within {seconds:g} seconds when asked for `{asked_for}`."
        ) from error
    except httpx2.HTTPError as error:
        raise PackError(
            FailureCode.UPSTREAM_UNAVAILABLE,
            f"`{provider}` cannot be reached: {str(error) or type(error).__name__}.",
            hint="Check the provider's address and the network.",
        ) from error
    if response.is_error:
        raise _refusal(response, provider, asked_for)
    return response.content


def _refusal(response: httpx2.Response, provider: str, asked_for: str) -> PackError:
    try:
        raise_for_status(response)
    except PackError as error:
        failure = error.failure
    message, error_code = _provider_error(response)
    code = _ERROR_CODES.get(error_code, failure.code)
    if code == FailureCode.NOT_FOUND:
        code = FailureCode.INVALID_INPUT  # the path is fixed, so the model or voice is missing
    why = f": {message}" if message else "."
    return PackError(
        code,
        f"`{provider}` answered {response.status_code} when asked for `{asked_for}`{why}",
        cause="The provider does not permit what the text asks for." if code == FailureCode.POLICY_DENIED else None,
        hint=_HINTS.get(code, failure.hint),
        remedy="change_input" if code == FailureCode.POLICY_DENIED else None,
        retry_after_seconds=failure.retry_after_seconds,
        detail=failure.detail,
    )


def _provider_error(response: httpx2.Response) -> tuple[str, str]:
    """Return a provider's error message and error code, from OpenAI's `error` or ElevenLabs' `detail`."""
    try:
        body = response.json()
    except ValueError:
        return "", ""
    error = body.get("error") or body.get("detail") if isinstance(body, dict) else None
    if isinstance(error, str):
        return excerpt(error, _MESSAGE_CHARACTERS), ""
    if not isinstance(error, dict):
        return "", ""
    message, code = error.get("message"), error.get("code") or error.get("status") or error.get("type")
    return excerpt(message, _MESSAGE_CHARACTERS) if isinstance(message, str) else "", code if isinstance(
        code, str
    ) else ""
