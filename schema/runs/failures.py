"""What went wrong inside a run, as the API shows it."""

# mypy: disallow-untyped-decorators=False
import orjson
import strawberry

from runner.failures import Failure as FailureRecord
from runner.failures import FailureClass, FailureCode
from schema.base.enums import described_enum
from schema.base.scalars import JSON, Key

described_enum(
    FailureCode,
    "Everything that can go wrong in a run.",
    {
        "INVALID_INPUT": "The input is wrong; a model name that does not exist, too.",
        "INVALID_OUTPUT": "The output breaks its schema or a post-condition.",
        "NOT_FOUND": "What was asked for does not exist (404).",
        "SCHEMA_MISMATCH": "Something is no longer as the caller thought (409, 412).",
        "CREDENTIAL_INVALID": "A credential is missing, refused or not granted (401, 403).",
        "RATE_LIMITED": "Too many requests (429).",
        "TIMEOUT": "It took too long (408, 504), here or there.",
        "UPSTREAM_UNAVAILABLE": "An outside service failed or refused the connection (5xx).",
        "SESSION_UNAVAILABLE": "The session is gone and cannot be made again.",
        "RESOURCE_EXHAUSTED": "Memory, disk or a size limit.",
        "ARTIFACT_FAILED": "An artifact could not be stored, read or found.",
        "POLICY_DENIED": "A policy forbids it: command rules, network guard, isolation.",
        "QUOTA_EXCEEDED": "A budget is used up.",
        "OUTCOME_UNKNOWN": "It may or may not have happened, and must not be repeated.",
        "CANCELLED": "It was cancelled.",
        "HANDLER_FAILED": "The pack raised something it should not have.",
        "INTERNAL": "Packline itself is at fault.",
    },
)
described_enum(
    FailureClass,
    "What to do about a failure.",
    {
        "CALLER_FIXABLE": "Change the input, credential or settings, then resume.",
        "TRANSIENT": "Resume as it is, now or later.",
        "STATE_CHANGED": "Something moved on meanwhile: look, then resume.",
        "PACK_BUG": "Report it; resume once it is repaired.",
        "CANCELLED": "Nothing went wrong; somebody stopped it.",
    },
)


@strawberry.type(description="What went wrong. The same words on every surface.")
class Failure:
    code: FailureCode = strawberry.field(description="What it was.")
    failure_class: FailureClass = strawberry.field(name="class", description="What sort of thing to do about it.")
    message: str = strawberry.field(description="What happened, one sentence; secrets masked.")
    cause: str = strawberry.field(description="What such a failure mostly comes from, one sentence.")
    field: str | None = strawberry.field(description="The input field at fault.")
    hint: str | None = strawberry.field(description="What to do next.")
    retryable: bool = strawberry.field(description="Whether another attempt may help.")
    retry_after_seconds: float | None = strawberry.field(
        description="Wait at least this long before another attempt, in seconds."
    )
    safe_to_repeat: bool = strawberry.field(description="Whether repeating the step can have no second outside effect.")
    step_key: Key | None = strawberry.field(
        description="The step at fault; null when the run itself failed, for instance at its deadline."
    )
    detail: JSON | None = strawberry.field(
        description="The rest for the curious, secrets masked: response, exit code, stack."
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
            cause=record.cause,
            field=record.field,
            hint=record.hint,
            retryable=record.retryable,
            retry_after_seconds=record.retry_after_seconds,
            safe_to_repeat=record.safe_to_repeat,
            step_key=Key(record.step_key) if record.step_key else None,
            detail=JSON(record.detail) if record.detail is not None else None,
        )
