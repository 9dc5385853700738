"""One request to a provider of voices or pictures, its failures blamed on the right side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.egress.client import raise_for_status
from runner.excerpts import excerpt
from runner.failures import FailureCode, JSONValue, PackError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

#: Largest answer that is read: six minutes of speech or a picture of 4,096 by 4,096 points take less.
MAX_BYTES = 40 * 1024 * 1024
#: Longest excerpt of what a provider says happened.
_SAID_CHARACTERS = 300
#: What a provider's own word for the failure stands for, where its status says something else. ElevenLabs answers 401
#: when the month's characters are used up, and OpenAI 429 when the account is empty: waiting would not help.
_OWN_WORDS = {
    "quota_exceeded": FailureCode.QUOTA_EXCEEDED,
    "insufficient_quota": FailureCode.QUOTA_EXCEEDED,
    "billing_hard_limit_reached": FailureCode.QUOTA_EXCEEDED,
    "content_policy_violation": FailureCode.POLICY_DENIED,
    "moderation_blocked": FailureCode.POLICY_DENIED,
}
_HINTS = {
    FailureCode.QUOTA_EXCEEDED: "Add credit to the provider's account, or use another provider.",
    FailureCode.POLICY_DENIED: "Say it in other words: the provider refuses this text.",
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
    """The whole answer to a POST.

    Args:
        client: Reaches the provider.
        url: Where.
        body: Sent as JSON.
        headers: Besides the content type; the key is among them.
        provider: For messages.
        asked_for: The model or voice, `provider:name`, for messages.
        seconds: Longest time to the last byte.
        query: Appended to the address.

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
    said, word = _own_words(response)
    code = _OWN_WORDS.get(word, failure.code)
    if code == FailureCode.NOT_FOUND:
        code = FailureCode.INVALID_INPUT  # the address is fixed: what is not there is the model or the voice
    why = f": {said}" if said else "."
    return PackError(
        code,
        f"`{provider}` answered {response.status_code} when asked for `{asked_for}`{why}",
        hint=_HINTS.get(code, failure.hint),
        retry_after_seconds=failure.retry_after_seconds,
        detail=failure.detail,
    )


def _own_words(response: httpx2.Response) -> tuple[str, str]:
    """What the provider says happened, for people and as its code: OpenAI's `error`, ElevenLabs' `detail`."""
    try:
        body = response.json()
    except ValueError:
        return "", ""
    said = body.get("error") or body.get("detail") if isinstance(body, dict) else None
    if isinstance(said, str):
        return excerpt(said, _SAID_CHARACTERS), ""
    if not isinstance(said, dict):
        return "", ""
    message, word = said.get("message"), said.get("code") or said.get("status") or said.get("type")
    return excerpt(message, _SAID_CHARACTERS) if isinstance(message, str) else "", word if isinstance(word, str) else ""
