"""Converts failed calls of models to failure codes, by type and status, never by text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.excerpts import BODY_CHARACTERS, excerpt
from runner.failures import FailureCode, PackError, code_for_status
from runner.gateway.providers import DEFAULT_URLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.failures import JSONValue
    from runner.gateway.providers import ModelRef, Provider

#: Failures after which no further model of the chain is called: this one has answered.
FINAL_CODES = frozenset({FailureCode.INVALID_OUTPUT, FailureCode.CANCELLED, FailureCode.POLICY_DENIED})
#: Failures that somebody has to fix: falling back over them is worth a warning.
WARNED_CODES = frozenset(
    {FailureCode.CREDENTIAL_INVALID, FailureCode.INVALID_INPUT, FailureCode.NOT_FOUND, FailureCode.QUOTA_EXCEEDED}
)
#: Failures that may pass by themselves.
TRANSIENT_CODES = frozenset({FailureCode.RATE_LIMITED, FailureCode.UPSTREAM_UNAVAILABLE, FailureCode.TIMEOUT})


def failure_of_status(
    status: int, ref: ModelRef, provider: Provider, retry_after_seconds: float | None, detail: str | None = None
) -> PackError:
    """Return the failure for an HTTP status of a provider.

    Args:
        status: 400 to 599.
        ref: The model.
        provider: Its provider.
        retry_after_seconds: The wait that the provider asks for.
        detail: The body of the answer.
    """
    details: dict[str, JSONValue] | None = (
        None if detail is None else {"status": status, "body": excerpt(detail, BODY_CHARACTERS)}
    )
    match code_for_status(status):
        case FailureCode.CREDENTIAL_INVALID:
            return PackError(
                FailureCode.CREDENTIAL_INVALID,
                f"Provider `{provider.name}` refused its key for {ref} (status {status}).",
                hint=key_hint(provider),
                detail={**(details or {}), "credential": provider.credential},
            )
        case FailureCode.NOT_FOUND:
            return PackError(
                FailureCode.INVALID_INPUT,
                f"Provider `{provider.name}` has no model `{ref.name}` (status {status}).",
                hint=f"Correct the name in the setting of the role, or the address {provider.base_url}.",
                detail=details,
            )
        case _ if status == 402:
            return quota_exceeded(ref, details)
        case FailureCode.RATE_LIMITED:
            return PackError(
                FailureCode.RATE_LIMITED,
                f"{ref} refused the call because of its rate limit (status {status}).",
                hint="Wait, or name another model after it in the role's setting.",
                retry_after_seconds=retry_after_seconds,
                detail=details,
            )
        case FailureCode.INVALID_INPUT:
            return PackError(
                FailureCode.INVALID_INPUT,
                f"{ref} does not accept this request (status {status}).",
                hint="It may be too long for this model, or use what the model cannot do: see the detail.",
                detail=details,
            )
        case code:
            return PackError(
                code,
                f"{ref} could not answer (status {status}).",
                hint="Try again later, or name another model after it in the role's setting.",
                retry_after_seconds=retry_after_seconds,
                detail=details,
            )


def quota_exceeded(ref: ModelRef, detail: JSONValue = None) -> PackError:
    """Return the failure of an account that has used up its quota."""
    return PackError(
        FailureCode.QUOTA_EXCEEDED,
        f"The account behind {ref} has used up its quota.",
        hint="Raise the account's limit, or name a model of another provider in the role's setting.",
        detail=detail,
    )


def about(ref: ModelRef, error: PackError) -> PackError:
    """Return a failure of the connection with the model's name added."""
    failure = error.failure
    hint = failure.hint or "Try again later, or name another model after it in the role's setting."
    return PackError.of(replace(failure, message=f"{ref}: {failure.message}", hint=hint))


def inner_pack_error(error: BaseException) -> PackError | None:
    """Return the failure of our HTTP client that a library's exception wraps, if any."""
    return next((cause for cause in _causes(error) if isinstance(cause, PackError)), None)


def key_hint(provider: Provider) -> str:
    variable = f", or set {provider.api_key_env}" if provider.api_key_env else ""
    is_vendor = provider.base_url == DEFAULT_URLS[provider.kind] and provider.kind != "ollama"
    kind = provider.kind if is_vendor else "openai-compatible"
    return f"Store a key with `packline credential set {provider.credential} --kind {kind}`{variable}."


def no_model(role: str) -> PackError:
    return PackError(
        FailureCode.NOT_FOUND,
        f"No model is configured for the role `{role}`.",
        hint=f"Set PACKLINE_MODEL_{role.upper()} to a model, such as `openai:gpt-5-mini`.",
    )


def most_useful(role: str, errors: Sequence[PackError]) -> PackError:
    """Choose the failure to report when no model of a chain answered.

    A transient one is preferred, since a retry of the step may then help; it has a wait only if all transient failures
    have one, and then the shortest.

    Args:
        role: The role.
        errors: The failure of each model, in their order; at least one.
    """
    if len(errors) == 1:
        return errors[0]
    transient = [error for error in errors if error.failure.code in TRANSIENT_CODES]
    chosen = (transient or list(errors))[-1].failure
    waits = [error.failure.retry_after_seconds for error in transient]
    waits_given = [wait for wait in waits if wait is not None]
    messages = " ".join(error.failure.message for error in errors)
    return PackError(
        chosen.code,
        f"No model of the role `{role}` answered. {messages}",
        hint=chosen.hint,
        retry_after_seconds=min(waits_given) if waits_given and len(waits_given) == len(waits) else None,
        detail=chosen.detail,
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
