"""Attempts of steps: state, input, output, cost and log."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.records import AttemptRecord, LogLineRecord, LogQuery
from resolvers.visible import count_log_of_attempt, count_transcript_of_attempt, log_of_attempt, transcript_of_attempt
from runner.agents.definition import AGENT
from schema.artifacts.artifacts import Artifact
from schema.base.context import Info
from schema.base.cursors import LOG_LINES, TRANSCRIPT
from schema.base.enums import described_enum
from schema.base.isolation import IsolationLevel
from schema.base.masking import PublicError
from schema.base.node_interface import Node
from schema.base.pagination import (
    After,
    Before,
    Connection,
    FirstOfLog,
    Last,
    PageArguments,
    page_of,
)
from schema.base.payloads import USUAL, LimitBytes, Payload, payload_of
from schema.base.scalars import Cursor
from schema.base.text_parts import START, Offset
from schema.runs.failures import Failure, PackException
from schema.runs.spending import SpendingCost
from schema.runs.transcripts import CacheReceipt, TranscriptEntry, TranscriptEntryConnection
from store.states import AttemptState

if TYPE_CHECKING:
    from schema.runs.steps import RunStep

described_enum(
    AttemptState,
    "The state of an attempt.",
    {
        "RUNNING": "The attempt is running.",
        "SUCCEEDED": "The attempt succeeded.",
        "FAILED": "The attempt failed.",
        "CANCELLED": "The attempt was cancelled.",
        "LOST": "The process ended without a result, for example in a crash.",
    },
)


@strawberry.enum(description="The severity of a log line.")
class LogLevel(Enum):
    DEBUG = strawberry.enum_value("debug", description="Details for debugging.")
    INFO = strawberry.enum_value("info", description="Normal progress.")
    WARNING = strawberry.enum_value("warning", description="Something unexpected that did not stop the step.")
    ERROR = strawberry.enum_value("error", description="Something failed.")


@strawberry.type(description="A line logged by a pack or a process.")
class LogLine:
    number: int = strawberry.field(description="Number of the line in its log, starting at 1.")
    at: datetime = strawberry.field(description="When the line was logged.")
    level: LogLevel = strawberry.field(description="The severity.")
    text: str = strawberry.field(description="The text without the line ending. Secrets are masked.")

    @classmethod
    def of(cls, record: LogLineRecord) -> "LogLine":
        return cls(number=record.sequence, at=record.at, level=LogLevel(record.level), text=record.text)


LogLineConnection = Connection[LogLine]
FromLine = Annotated[
    int | None, strawberry.argument(description="Returns items from the line with this number on; excludes `after`.")
]


@strawberry.input(description="Filters for lines of a log. All given fields must match.")
class LogLineFilter:
    text: str | None = strawberry.field(
        default=None,
        description="Only lines that contain this text. Case is ignored; on SQLite, only that of ASCII letters.",
    )
    levels: list[LogLevel] | None = strawberry.field(default=None, description="Only lines of one of these levels.")

    def query(self) -> LogQuery:
        levels = None if self.levels is None else tuple(str(level.value) for level in self.levels)
        return LogQuery(text=self.text, levels=levels)


@strawberry.type(description="The source of an output that a re-run reused instead of running the step.")
class Reuse:
    attempt_id: strawberry.Private[str]

    @strawberry.field(
        description="The attempt that produced the result. Null once deleted, or if the caller may not see it."
    )
    async def made_by(self, info: Info) -> "Attempt | None":
        return await load_attempt(info, self.attempt_id)


@strawberry.type(description="One execution of a step. Attempts are never overwritten.")
class Attempt(Node):
    number: int = strawberry.field(description="Number of the attempt within its step, starting at 1.")
    state: AttemptState = strawberry.field(description="The state of the attempt.")
    started_at: datetime = strawberry.field(description="When the attempt started.")
    ended_at: datetime | None = strawberry.field(description="When the attempt ended. Null while it is running.")
    pack_version: str | None = strawberry.field(
        description="Version of the pack that ran. For an agent step, the profile and model, such as `claude@sonnet`."
    )
    record: strawberry.Private[AttemptRecord]

    @classmethod
    def of(cls, record: AttemptRecord) -> "Attempt":
        return cls(
            id=strawberry.ID(record.id),
            number=record.number,
            state=record.state,
            started_at=record.started_at,
            ended_at=record.ended_at,
            pack_version=record.pack_version,
            record=record,
        )

    @strawberry.field(description="The step this attempt belongs to.")
    async def run_step(self, info: Info) -> 'Annotated[RunStep, strawberry.lazy("schema.runs.steps")]':
        from schema.runs.steps import RunStep

        found = await info.context.loaders.step.load(self.record.step_id)
        if found is None:
            raise LookupError(f"attempt {self.id} belongs to a step that is gone")
        return RunStep.of(found)

    @strawberry.field(description="What went wrong. Null if nothing did.")
    def failure(self) -> Failure | None:
        return Failure.read(self.record.failure)

    @strawberry.field(
        description="The exception that ended the attempt. Null if none did, and if the pack raised a PackError."
    )
    def exception(self) -> PackException | None:
        return PackException.read(self.record.failure)

    @strawberry.field(
        description=(
            "The resolved input of this attempt, with secrets masked; for a reused output, the input that "
            "produced it. Null once deleted, or if the caller may not see it."
        )
    )
    async def input(self, info: Info, offset: Offset = START, limit_bytes: LimitBytes = USUAL) -> Payload | None:
        found = await info.context.loaders.attempt_payload.load(self.record.id)
        return payload_of(found.input if found is not None else None, offset, limit_bytes)

    @strawberry.field(
        description="What the attempt returned. Secrets are masked before it is stored or used by later steps."
    )
    async def output(self, info: Info, offset: Offset = START, limit_bytes: LimitBytes = USUAL) -> Payload | None:
        found = await info.context.loaders.attempt_payload.load(self.record.id)
        return payload_of(found.output if found is not None else None, offset, limit_bytes)

    @strawberry.field(
        description="Files the attempt produced, oldest first; for a reused output, the files that came with it."
    )
    async def artifacts(self, info: Info) -> list[Artifact]:
        found = await info.context.loaders.artifacts_of_attempt.load(self.record.reused_from or self.record.id)
        return [Artifact.of(record) for record in found]

    @strawberry.field(
        description=(
            "Remarks that need no action, for example that an optional input had no value, or that the "
            "pack version differs from the run's start."
        )
    )
    def notes(self) -> list[str]:
        return [str(note) for note in orjson.loads(self.record.notes)]

    @strawberry.field(description="Models that answered, in order; one entry per response.")
    def models(self) -> list[str]:
        return [str(call["model"]) for call in orjson.loads(self.record.models or "[]")]

    @strawberry.field(description="What the attempt cost.")
    def cost(self) -> SpendingCost:
        return SpendingCost.of_attempt(self.record)

    @strawberry.field(description="What the agent read, said and did, oldest first. Empty for pack steps.")
    async def transcript(
        self,
        info: Info,
        first: FirstOfLog = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> TranscriptEntryConnection:
        arguments = PageArguments.parse(TRANSCRIPT, first=first, after=after, last=last, before=before)
        context, attempt_id = info.context.context, self.record.id
        rows = await transcript_of_attempt(context, attempt_id, arguments.window)
        page = page_of(rows, arguments, lambda entry: TRANSCRIPT.encode((int(str(entry["sequence"])),)))
        return TranscriptEntryConnection.of(
            page, TranscriptEntry.of, lambda: count_transcript_of_attempt(context, attempt_id)
        )

    @strawberry.field(description="URL of the transcript as JSON Lines. Null for pack steps.")
    async def transcript_url(self, info: Info) -> str | None:
        step = await info.context.loaders.step.load(self.record.step_id)
        if step is None or step.pack != AGENT:
            return None
        context = info.context.context
        return context.services.sign_transcript(self.record.id, context.caller.id)

    @strawberry.field(
        description="Isolation of the agent's process. Null for pack steps, and if no process was started."
    )
    def isolation(self) -> IsolationLevel | None:
        return None if self.record.isolation is None else IsolationLevel(self.record.isolation)

    @strawberry.field(description="The source of a cached result. Null if the step ran.")
    def cache_receipt(self) -> CacheReceipt | None:
        return CacheReceipt.read(self.record.receipt)

    @strawberry.field(description="The source of an output reused by a re-run. Null if the step ran.")
    def reuse(self) -> Reuse | None:
        return None if self.record.reused_from is None else Reuse(attempt_id=self.record.reused_from)

    @strawberry.field(description="What the attempt logged, oldest first.")
    async def log(
        self,
        info: Info,
        filter: Annotated[LogLineFilter | None, strawberry.argument(description="Only lines that match.")] = None,
        from_line: FromLine = None,
        first: FirstOfLog = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> LogLineConnection:
        if from_line is not None:
            after = _before_line(from_line, after)
        arguments = PageArguments.parse(LOG_LINES, first=first, after=after, last=last, before=before)
        context, attempt_id = info.context.context, self.record.id
        wanted = LogQuery() if filter is None else filter.query()
        rows = await log_of_attempt(context, attempt_id, arguments.window, wanted)
        page = page_of(rows, arguments, lambda row: LOG_LINES.encode((row.sequence,)))
        return LogLineConnection.of(page, LogLine.of, lambda: count_log_of_attempt(context, attempt_id, wanted))


def _before_line(number: int, after: str | None) -> Cursor:
    """Return the cursor after which a page begins with a line.

    Raises:
        PublicError: INVALID; the number is no line's, or a cursor says where to begin, too.
    """
    if after is not None:
        raise PublicError("Pass `after` or `fromLine`, not both.", "INVALID")
    if number < 1:
        raise PublicError(f"`fromLine` is {number}; lines are numbered from 1.", "INVALID")
    return LOG_LINES.encode((number - 1,))


async def load_attempt(info: Info, attempt_id: str) -> Attempt | None:
    found = await info.context.loaders.attempt.load(attempt_id)
    return None if found is None else Attempt.of(found)
