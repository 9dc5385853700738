"""Failures of runs: the closed set of codes, the class of each, and the stored record.

This is the only table of failure codes. Runner, GraphQL, MCP, CLI and the page all read `FAILURE_CLASSES` and
`RETRYABLE`; nothing classifies by searching texts. Refused commands are in `resolvers.problems`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from runner.tracebacks import Raised

if TYPE_CHECKING:
    from collections.abc import Mapping

JSONValue: TypeAlias = "bool | int | float | str | list[JSONValue] | dict[str, JSONValue] | None"


class FailureCode(StrEnum):
    """What went wrong in a run."""

    INVALID_INPUT = "invalid_input"
    INVALID_OUTPUT = "invalid_output"
    NOT_FOUND = "not_found"
    SCHEMA_MISMATCH = "schema_mismatch"
    CREDENTIAL_INVALID = "credential_invalid"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    UPSTREAM_UNAVAILABLE = "upstream_unavailable"
    SESSION_UNAVAILABLE = "session_unavailable"
    RESOURCE_EXHAUSTED = "resource_exhausted"
    ARTIFACT_FAILED = "artifact_failed"
    POLICY_DENIED = "policy_denied"
    QUOTA_EXCEEDED = "quota_exceeded"
    OUTCOME_UNKNOWN = "outcome_unknown"
    CANCELLED = "cancelled"
    HANDLER_FAILED = "handler_failed"
    INTERNAL = "internal"


class FailureClass(StrEnum):
    """What to do about a failure."""

    CALLER_FIXABLE = "caller_fixable"
    TRANSIENT = "transient"
    STATE_CHANGED = "state_changed"
    PACK_BUG = "pack_bug"
    CANCELLED = "cancelled"


FAILURE_CLASSES: dict[FailureCode, FailureClass] = {
    FailureCode.INVALID_INPUT: FailureClass.CALLER_FIXABLE,
    FailureCode.INVALID_OUTPUT: FailureClass.PACK_BUG,
    FailureCode.NOT_FOUND: FailureClass.CALLER_FIXABLE,
    FailureCode.SCHEMA_MISMATCH: FailureClass.STATE_CHANGED,
    FailureCode.CREDENTIAL_INVALID: FailureClass.CALLER_FIXABLE,
    FailureCode.RATE_LIMITED: FailureClass.TRANSIENT,
    FailureCode.TIMEOUT: FailureClass.TRANSIENT,
    FailureCode.UPSTREAM_UNAVAILABLE: FailureClass.TRANSIENT,
    FailureCode.SESSION_UNAVAILABLE: FailureClass.TRANSIENT,
    FailureCode.RESOURCE_EXHAUSTED: FailureClass.CALLER_FIXABLE,
    FailureCode.ARTIFACT_FAILED: FailureClass.TRANSIENT,
    FailureCode.POLICY_DENIED: FailureClass.CALLER_FIXABLE,
    FailureCode.QUOTA_EXCEEDED: FailureClass.CALLER_FIXABLE,
    FailureCode.OUTCOME_UNKNOWN: FailureClass.STATE_CHANGED,
    FailureCode.CANCELLED: FailureClass.CANCELLED,
    FailureCode.HANDLER_FAILED: FailureClass.PACK_BUG,
    FailureCode.INTERNAL: FailureClass.PACK_BUG,
}

#: The cause of each code, in one sentence; the page, the API and the reference quote it.
FAILURE_CAUSES: dict[FailureCode, str] = {
    FailureCode.INVALID_INPUT: "The step's input does not fit the pack, or a reference in it has no value.",
    FailureCode.INVALID_OUTPUT: "The pack's output does not fit its declaration, or a post-condition failed.",
    FailureCode.NOT_FOUND: "The provider does not have what the input names.",
    FailureCode.SCHEMA_MISMATCH: "The provider's state or the pack's version has changed, and the step no longer fits.",
    FailureCode.CREDENTIAL_INVALID: "The provider refuses the credential, or requires one.",
    FailureCode.RATE_LIMITED: "The provider limits requests; Packline waits as long as it asks.",
    FailureCode.TIMEOUT: "The step, the run or the provider took longer than allowed.",
    FailureCode.UPSTREAM_UNAVAILABLE: "The provider cannot be reached or answers with a server error.",
    FailureCode.SESSION_UNAVAILABLE: "The workspace of an earlier step is gone.",
    FailureCode.RESOURCE_EXHAUSTED: "A limit of size, memory or disk was reached.",
    FailureCode.ARTIFACT_FAILED: "An artifact cannot be read: it does not exist, was erased, or is another caller's.",
    FailureCode.POLICY_DENIED: "A policy of this server forbids it, such as requests to private addresses.",
    FailureCode.QUOTA_EXCEEDED: "The provider's quota is used up.",
    FailureCode.OUTCOME_UNKNOWN: "An at-most-once step was interrupted; its external change may have happened.",
    FailureCode.CANCELLED: "Somebody cancelled the run.",
    FailureCode.HANDLER_FAILED: "The pack raised an unexpected error or its process died: a defect of the pack.",
    FailureCode.INTERNAL: "A defect of Packline; the log has the details under the id in the message.",
}

#: Codes for which another attempt of the step may succeed.
RETRYABLE = frozenset(
    {
        FailureCode.TIMEOUT,
        FailureCode.RATE_LIMITED,
        FailureCode.SESSION_UNAVAILABLE,
        FailureCode.UPSTREAM_UNAVAILABLE,
    }
)


def code_for_status(status: int) -> FailureCode:
    """Return the failure for an upstream's HTTP status (400 to 599), blaming the right side."""
    match status:
        case 401 | 403:
            return FailureCode.CREDENTIAL_INVALID
        case 404 | 410:
            return FailureCode.NOT_FOUND
        case 408 | 504:
            return FailureCode.TIMEOUT
        case 409 | 412:
            return FailureCode.SCHEMA_MISMATCH
        case 429:
            return FailureCode.RATE_LIMITED
        case _ if status >= 500:
            return FailureCode.UPSTREAM_UNAVAILABLE
        case _:
            return FailureCode.INVALID_INPUT


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a step or run, as stored and shown on every surface.

    Attributes:
        code: What went wrong, for programs.
        message: What happened, one sentence; secrets masked.
        field: The input field at fault, as a dotted path.
        hint: What to do next.
        retry_after_seconds: Shortest wait before another attempt.
        safe_to_repeat: Whether repeating the step cannot cause a second external change.
        step_key: The failed step; None if the run itself failed, for example at its deadline.
        detail: Further data such as a response or exit code.
        exception: The exception that the pack raised, for an attempt's failure.
    """

    code: FailureCode
    message: str
    field: str | None = None
    hint: str | None = None
    retry_after_seconds: float | None = None
    safe_to_repeat: bool = True
    step_key: str | None = None
    detail: JSONValue = None
    exception: Raised | None = None

    @property
    def failure_class(self) -> FailureClass:
        return FAILURE_CLASSES[self.code]

    @property
    def cause(self) -> str:
        return FAILURE_CAUSES[self.code]

    @property
    def retryable(self) -> bool:
        """Whether another attempt may succeed."""
        return self.code in RETRYABLE

    def at_step(self, step_key: str, *, safe_to_repeat: bool) -> Failure:
        """Return the failure with the step that failed."""
        return replace(self, step_key=step_key, safe_to_repeat=safe_to_repeat)

    def to_json(self) -> dict[str, JSONValue]:
        """Return the stored form, which `from_json` reads."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Failure:
        """Read what `to_json` wrote."""
        exception = data.get("exception")
        raised = None if exception is None else Raised.from_json(exception)
        return cls(**{**data, "code": FailureCode(data["code"]), "exception": raised})


class PackError(Exception):
    """Raised by a pack to fail its step with a code and a message.

    Args:
        code: One of `FailureCode`, as text or member.
        message: What happened: one sentence that names the thing and the value.
        field: The input field at fault, as a dotted path.
        hint: What to do next.
        retry_after_seconds: Shortest wait before another attempt.
        detail: Further data as JSON; secrets in it are masked.
    """

    def __init__(
        self,
        code: FailureCode | str,
        message: str,
        *,
        field: str | None = None,
        hint: str | None = None,
        retry_after_seconds: float | None = None,
        detail: JSONValue = None,
    ) -> None:
        super().__init__(message)
        if code not in set(FailureCode):
            raise ValueError(f"{code!r} is not the code of a failure. The codes are {', '.join(FailureCode)}.")
        self.failure = Failure(
            code=FailureCode(code),
            message=message,
            field=field,
            hint=hint,
            retry_after_seconds=retry_after_seconds,
            detail=detail,
        )

    @property
    def code(self) -> FailureCode:
        """What went wrong; equal to its text, such as `invalid_input`."""
        return self.failure.code
