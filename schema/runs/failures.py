"""Failures of runs, steps and attempts."""

# mypy: disallow-untyped-decorators=False
import orjson
import strawberry

from runner.failures import Failure as FailureRecord
from runner.failures import FailureClass, FailureCode, Remedy
from runner.tracebacks import Frame, Raised
from schema.base.enums import described_enum
from schema.base.scalars import JSON, Key

described_enum(
    FailureCode,
    "Why a run, step or attempt failed.",
    {
        "INVALID_INPUT": "The input is invalid, or names a model that does not exist.",
        "INVALID_OUTPUT": "The output does not match its schema, or a post-condition failed.",
        "NOT_FOUND": "The requested resource does not exist (404).",
        "SCHEMA_MISMATCH": "A resource was changed in the meantime (409, 412).",
        "CREDENTIAL_INVALID": "A credential is missing, not granted or was rejected (401, 403).",
        "RATE_LIMITED": "Too many requests (429).",
        "TIMEOUT": "The step or an external service timed out (408, 504).",
        "UPSTREAM_UNAVAILABLE": "An external service failed or refused the connection (5xx).",
        "SESSION_UNAVAILABLE": "The session has ended and cannot be recreated.",
        "RESOURCE_EXHAUSTED": "Memory, disk space or a size limit was exhausted.",
        "ARTIFACT_FAILED": "An artifact could not be stored, read or found.",
        "POLICY_DENIED": "A policy denied it: command rules, network guard or isolation.",
        "QUOTA_EXCEEDED": "A budget or quota is used up.",
        "OUTCOME_UNKNOWN": "It is unknown whether the step took effect, and the step must not be repeated.",
        "CANCELLED": "The run was cancelled.",
        "HANDLER_FAILED": "The pack raised an unexpected error.",
        "INTERNAL": "Packline had an internal error.",
    },
)
described_enum(
    FailureClass,
    "What to do about a failure.",
    {
        "CALLER_FIXABLE": "Change the input, credential or settings, then resume.",
        "TRANSIENT": "Resume without changes, now or later.",
        "STATE_CHANGED": "The source has changed: review it, then resume.",
        "PACK_BUG": "A bug: report it, and resume once it is fixed.",
        "CANCELLED": "Nothing failed; the run was cancelled.",
    },
)
described_enum(
    Remedy,
    "The first thing to do about a failure.",
    {
        "RESUME": "Resume without changes, now or later.",
        "CHANGE_INPUT": "Change the input of the step, then resume.",
        "SET_CREDENTIAL": "Set or replace the credential, then resume.",
        "RAISE_QUOTA": "Raise the quota at the provider, or use another account. Then resume.",
        "ASK_OPERATOR": "Ask the operator of the server to change its settings, then resume.",
        "CHECK_CHANGES": "Check what changed outside of the run, then decide whether to resume.",
        "REPORT": "Report the defect, and resume once it is fixed.",
    },
    name="FailureRemedy",
)


@strawberry.type(description="Why a run, step or attempt failed.")
class Failure:
    code: FailureCode = strawberry.field(description="What went wrong, for programs.")
    failure_class: FailureClass = strawberry.field(name="class", description="What to do about it.")
    message: str = strawberry.field(description="What happened, in one sentence. Secrets are masked.")
    cause: str = strawberry.field(
        description="The likely cause, in one sentence: what the pack says of it, or the usual cause for the code."
    )
    field: str | None = strawberry.field(description="The input field at fault. Null if not known.")
    hint: str = strawberry.field(
        description="What to do next, for display: what the pack says, or the usual hint for the code."
    )
    remedy: Remedy = strawberry.field(description="The first thing to do, for programs.")
    fixable_by: str = strawberry.field(description="Who can fix it, for display.")
    retryable: bool = strawberry.field(description="Whether another attempt may succeed.")
    retry_after_seconds: float | None = strawberry.field(
        description="Minimum wait before another attempt, in seconds. Null if unknown."
    )
    safe_to_repeat: bool = strawberry.field(
        description="Whether repeating the step cannot cause a second change in an external system."
    )
    step_key: Key | None = strawberry.field(
        description="Key of the step that failed. Null if the run itself failed, for example at its deadline."
    )
    detail: JSON | None = strawberry.field(
        description="Technical details such as the response or exit code. Secrets are masked. If a credential is "
        "missing or was refused, `credential` is its key."
    )

    @classmethod
    def read(cls, text: str | None) -> "Failure | None":
        if text is None:
            return None
        record = FailureRecord.from_json(orjson.loads(text))
        return cls(
            code=record.code,
            failure_class=record.failure_class,
            message=record.message,
            cause=record.likely_cause,
            field=record.field,
            hint=record.what_to_do,
            remedy=record.first_remedy,
            fixable_by=record.who_can_fix,
            retryable=record.retryable,
            retry_after_seconds=record.retry_after_seconds,
            safe_to_repeat=record.safe_to_repeat,
            step_key=Key(record.step_key) if record.step_key else None,
            detail=JSON(record.detail) if record.detail is not None else None,
        )


@strawberry.type(description="A call in the traceback of an exception.")
class TracebackFrame:
    file: str = strawberry.field(description="Path of the file on the server.")
    line: int = strawberry.field(description="The line in the file, starting at 1.")
    function: str = strawberry.field(description="Name of the function.")
    source: str = strawberry.field(
        description="The line of code, without indentation; empty if it cannot be read. Secrets are masked."
    )
    own: bool = strawberry.field(description="Whether the code is the pack's, not Packline's or a library's.")

    @classmethod
    def of(cls, frame: Frame) -> "TracebackFrame":
        return cls(file=frame.file, line=frame.line, function=frame.function, source=frame.source, own=frame.own)


@strawberry.type(description="An exception that a pack raised, other than a PackError.")
class PackException:
    type: str = strawberry.field(description="Name of its class.")
    message: str = strawberry.field(description="Its message. Secrets are masked.")
    file: str | None = strawberry.field(
        description="Path of the file where it left the pack's own code, on the server. Null if unknown."
    )
    line: int | None = strawberry.field(description="The line in that file. Null if unknown.")
    frames: list[TracebackFrame] = strawberry.field(
        description="The calls from the pack's handler to where it was raised, outermost first. The middle of a deep "
        "recursion is left out."
    )
    traceback: list[str] = strawberry.field(
        description="The lines of the traceback as Python prints it, followed by the exceptions that caused it. "
        "Secrets are masked."
    )
    folded_traceback: list[str] = strawberry.field(
        description="The same, with successive calls outside of the pack's own code as one line."
    )

    @classmethod
    def of(cls, raised: Raised) -> "PackException":
        place = raised.place
        return cls(
            type=raised.type,
            message=raised.message,
            file=None if place is None else place.file,
            line=None if place is None else place.line,
            frames=[TracebackFrame.of(frame) for frame in raised.frames],
            traceback=raised.lines(),
            folded_traceback=raised.lines(folded=True),
        )

    @classmethod
    def read(cls, text: str | None) -> "PackException | None":
        raised = None if text is None else FailureRecord.from_json(orjson.loads(text)).exception
        return None if raised is None else cls.of(raised)
