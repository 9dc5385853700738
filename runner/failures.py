"""Failures of runs: the closed set of codes, the class of each, and the stored record.

This is the only table of failure codes. Runner, GraphQL, MCP, CLI and the page all read `FAILURE_CLASSES`,
`FAILURE_WORDS` and `RETRYABLE`; nothing classifies by searching texts. Refused commands are in `resolvers.problems`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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


class Remedy(StrEnum):
    """The first thing to do about a failure."""

    RESUME = "resume"
    CHANGE_INPUT = "change_input"
    SET_CREDENTIAL = "set_credential"
    RAISE_QUOTA = "raise_quota"
    ASK_OPERATOR = "ask_operator"
    CHECK_CHANGES = "check_changes"
    REPORT = "report"


class FailureWords(NamedTuple):
    """What every surface says of a failure, unless the pack knows better.

    Attributes:
        cause: The likely cause, one sentence.
        hint: What to do, at most two sentences.
        remedy: The first thing to do, for programs.
    """

    cause: str
    hint: str
    remedy: Remedy


FAILURE_WORDS: dict[FailureCode, FailureWords] = {
    FailureCode.INVALID_INPUT: FailureWords(
        "The step's input does not fit the pack, or a reference in it has no value.",
        "Correct the input, then resume.",
        Remedy.CHANGE_INPUT,
    ),
    FailureCode.INVALID_OUTPUT: FailureWords(
        "The pack's output does not fit its declaration, or a post-condition failed.",
        "Report it to the author of the pack. Resume when the pack is fixed.",
        Remedy.REPORT,
    ),
    FailureCode.NOT_FOUND: FailureWords(
        "The provider does not have what the input names.",
        "Correct the name or address in the input, then resume.",
        Remedy.CHANGE_INPUT,
    ),
    FailureCode.SCHEMA_MISMATCH: FailureWords(
        "The provider's state or the pack's version has changed, and the step no longer fits.",
        "Check what changed, then resume.",
        Remedy.CHECK_CHANGES,
    ),
    FailureCode.CREDENTIAL_INVALID: FailureWords(
        "The provider refuses the credential, or requires one.",
        "Set a credential that the provider accepts, then resume.",
        Remedy.SET_CREDENTIAL,
    ),
    FailureCode.RATE_LIMITED: FailureWords(
        "The provider limits requests; Packline waits as long as it asks.",
        "Wait a few minutes, then resume.",
        Remedy.RESUME,
    ),
    FailureCode.TIMEOUT: FailureWords(
        "The step, the run or the provider took longer than allowed.",
        "Resume. If it takes too long again, raise the time limit or give the step less to do.",
        Remedy.RESUME,
    ),
    FailureCode.UPSTREAM_UNAVAILABLE: FailureWords(
        "The provider cannot be reached or answers with a server error.",
        "Resume when the provider answers again.",
        Remedy.RESUME,
    ),
    FailureCode.SESSION_UNAVAILABLE: FailureWords(
        "The workspace of an earlier step is gone.",
        "Resume: the step that makes the workspace runs again.",
        Remedy.RESUME,
    ),
    FailureCode.RESOURCE_EXHAUSTED: FailureWords(
        "A limit of size, memory or disk was reached.",
        "Give the step less to do, or raise the limit. Then resume.",
        Remedy.CHANGE_INPUT,
    ),
    FailureCode.ARTIFACT_FAILED: FailureWords(
        "An artifact cannot be read: it does not exist, was erased, or is another caller's.",
        "Check that the artifact exists and that its storage works, then resume.",
        Remedy.RESUME,
    ),
    FailureCode.POLICY_DENIED: FailureWords(
        "A policy of this server forbids it, such as requests to private addresses.",
        "Ask the operator of this server to permit it, then resume.",
        Remedy.ASK_OPERATOR,
    ),
    FailureCode.QUOTA_EXCEEDED: FailureWords(
        "The account has used up what its plan with the provider includes.",
        "Raise the quota at the provider or use another account, then resume.",
        Remedy.RAISE_QUOTA,
    ),
    FailureCode.OUTCOME_UNKNOWN: FailureWords(
        "An at-most-once step was interrupted; its external change may have happened.",
        "Check in the external system whether the change happened. Resume only if it did not.",
        Remedy.CHECK_CHANGES,
    ),
    FailureCode.CANCELLED: FailureWords(
        "The run was cancelled.", "Resume to continue where the run stopped.", Remedy.RESUME
    ),
    FailureCode.HANDLER_FAILED: FailureWords(
        "The pack raised an unexpected error or its process died: a defect of the pack.",
        "Report it to the author of the pack, with its traceback if it has one. Resume when the pack is fixed.",
        Remedy.REPORT,
    ),
    FailureCode.INTERNAL: FailureWords(
        "A defect of Packline; the log has the details under the id in the message.",
        "Report it to the developers of Packline, with the details from the log. Resume when it is fixed.",
        Remedy.REPORT,
    ),
}

#: Who can fix a failure, by what is to be done.
WHO_CAN_FIX: dict[Remedy, str] = {
    Remedy.RESUME: "Usually nobody needs to: it often passes by itself.",
    Remedy.CHANGE_INPUT: "You, with another input.",
    Remedy.SET_CREDENTIAL: "You, or the owner of the credential.",
    Remedy.RAISE_QUOTA: "The owner of the account at the provider.",
    Remedy.ASK_OPERATOR: "The operator of this server.",
    Remedy.CHECK_CHANGES: "You, after checking what changed.",
    Remedy.REPORT: "The developers; send them the report.",
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
        cause: The likely cause, if the code's usual one does not fit.
        hint: What to do next, if the code's usual hint does not fit.
        remedy: The first thing to do, if the code's usual remedy does not fit.
        retry_after_seconds: Shortest wait before another attempt.
        safe_to_repeat: Whether repeating the step cannot cause a second external change.
        step_key: The failed step; None if the run itself failed, for example at its deadline.
        detail: Further data such as a response or exit code.
        exception: The exception that the pack raised, for an attempt's failure.
    """

    code: FailureCode
    message: str
    field: str | None = None
    cause: str | None = None
    hint: str | None = None
    remedy: Remedy | None = None
    retry_after_seconds: float | None = None
    safe_to_repeat: bool = True
    step_key: str | None = None
    detail: JSONValue = None
    exception: Raised | None = None

    @property
    def failure_class(self) -> FailureClass:
        return FAILURE_CLASSES[self.code]

    @property
    def likely_cause(self) -> str:
        return self.cause or FAILURE_WORDS[self.code].cause

    @property
    def what_to_do(self) -> str:
        return self.hint or FAILURE_WORDS[self.code].hint

    @property
    def first_remedy(self) -> Remedy:
        return self.remedy or FAILURE_WORDS[self.code].remedy

    @property
    def who_can_fix(self) -> str:
        return WHO_CAN_FIX[self.first_remedy]

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
        """Read what `to_json` wrote, here or in a newer release: what this one does not know is left out.

        During a rolling upgrade, older servers read what newer ones store.
        """
        code, remedy, exception = data["code"], data.get("remedy"), data.get("exception")
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        read = {
            "code": FailureCode(code) if code in set(FailureCode) else FailureCode.INTERNAL,
            "remedy": Remedy(remedy) if remedy in set(Remedy) else None,
            "exception": None if exception is None else Raised.from_json(exception),
        }
        return cls(**{**known, **read})


class PackError(Exception):
    """Raised by a pack to fail its step with a code and a message.

    Args:
        code: One of `FailureCode`, as text or member.
        message: What happened: one sentence that names the thing and the value.
        field: The input field at fault, as a dotted path.
        cause: The likely cause, one sentence; by default the code's usual one.
        hint: What to do next, at most two sentences; by default the code's usual hint.
        remedy: One of `Remedy`, as text or member: the first thing to do; by default the code's usual one.
        retry_after_seconds: Shortest wait before another attempt.
        detail: Further data as JSON; secrets in it are masked.
    """

    def __init__(
        self,
        code: FailureCode | str,
        message: str,
        *,
        field: str | None = None,
        cause: str | None = None,
        hint: str | None = None,
        remedy: Remedy | str | None = None,
        retry_after_seconds: float | None = None,
        detail: JSONValue = None,
    ) -> None:
        super().__init__(message)
        if code not in set(FailureCode):
            raise ValueError(f"{code!r} is not the code of a failure. The codes are {', '.join(FailureCode)}.")
        if remedy is not None and remedy not in set(Remedy):
            raise ValueError(f"{remedy!r} is not a remedy. The remedies are {', '.join(Remedy)}.")
        self.failure = Failure(
            code=FailureCode(code),
            message=message,
            field=field,
            cause=cause,
            hint=hint,
            remedy=None if remedy is None else Remedy(remedy),
            retry_after_seconds=retry_after_seconds,
            detail=detail,
        )

    @classmethod
    def of(cls, failure: Failure) -> PackError:
        """Return the error that fails a step with this failure."""
        error = cls(failure.code, failure.message)
        error.failure = failure
        return error

    @property
    def code(self) -> FailureCode:
        """What went wrong; equal to its text, such as `invalid_input`."""
        return self.failure.code
