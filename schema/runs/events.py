"""Events of a run: one type per kind of event, and pages of the history."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.records import EventRecord, PageWindow
from resolvers.visible import count_events_of_run, events_of_run
from schema.artifacts.artifacts import Artifact
from schema.base.context import Info
from schema.base.cursors import EVENTS, event_position
from schema.base.pagination import Connection, PageArguments, page_of
from schema.base.scalars import Cursor, Long
from schema.runs.attempts import Attempt
from schema.runs.states import RunState
from schema.runs.steps import Milestone, RunStep
from store.states import ArtifactStatus, AttemptState, EventType, StepState

if TYPE_CHECKING:
    from schema.runs.runs import Run


@strawberry.interface(
    description=(
        "An event in a run's history, identified by the run and `sequence`. Stored in the same transaction "
        "as the change it describes."
    )
)
class RunEvent:
    sequence: Long = strawberry.field(
        description="Position in the run's history, counted from 1 without gaps across resumes."
    )
    cursor: Cursor = strawberry.field(description="Cursor for continuing after this event.")
    at: datetime = strawberry.field(description="When the event happened.")
    record: strawberry.Private[EventRecord]

    @strawberry.field(description="The run in its current state.")
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")]':
        from schema.runs.runs import get_run_now

        return await get_run_now(info, self.record.run_id)


@strawberry.type(description="The state of the run changed.")
class RunStateChanged(RunEvent):
    previous_run_state: RunState | None = strawberry.field(description="The previous state. Null for the first event.")
    run_state: RunState = strawberry.field(description="The new state.")
    reason: str | None = strawberry.field(description="Why the state changed, for display.")
    worker: str | None = strawberry.field(
        description="Name of the worker that claimed the run, if another worker had it before. Otherwise null."
    )
    previous_worker: str | None = strawberry.field(description="Name of that other worker. Otherwise null.")


@strawberry.type(description="The state of a step changed.")
class StepStateChanged(RunEvent):
    previous_step_state: StepState = strawberry.field(description="The previous state.")
    step_state: StepState = strawberry.field(description="The new state.")
    reason: str | None = strawberry.field(description="Why the state changed, for display.")

    @strawberry.field(description="The step in its current state.")
    async def run_step(self, info: Info) -> RunStep:
        return await _step(info, self.record)


@strawberry.type(description="An attempt started or ended.")
class AttemptStateChanged(RunEvent):
    attempt_state: AttemptState = strawberry.field(description="The new state.")

    @strawberry.field(description="The attempt in its current state.")
    async def attempt(self, info: Info) -> Attempt:
        found = await info.context.loaders.attempt.load(self.record.attempt_id or "")
        if found is None:
            raise LookupError(f"attempt {self.record.attempt_id} is gone")
        return Attempt.of(found)


@strawberry.type(description="A step reported progress.")
class StepProgressed(RunEvent):
    @strawberry.field(description="The step in its current state.")
    async def run_step(self, info: Info) -> RunStep:
        return await _step(info, self.record)

    @strawberry.field(description="The progress that was reported.")
    def milestone(self) -> Milestone:
        return Milestone.read(orjson.loads(self.record.data or "{}"))


@strawberry.type(description="An artifact was stored, verified or quarantined.")
class ArtifactChanged(RunEvent):
    artifact_status: ArtifactStatus = strawberry.field(description="The new status.")

    @strawberry.field(description="The artifact in its current state.")
    async def artifact(self, info: Info) -> Artifact:
        found = await info.context.loaders.artifact.load(self.record.artifact_id or "")
        if found is None:
            raise LookupError(f"artifact {self.record.artifact_id} is gone")
        return Artifact.of(found)


RunEventConnection = Connection[RunEvent]


def event_of(record: EventRecord) -> RunEvent:
    sequence = Long(record.sequence)
    cursor = EVENTS.encode((record.run_id, record.sequence))
    match EventType(record.type):
        case EventType.RUN_STATE:
            workers = orjson.loads(record.data or "{}")
            return RunStateChanged(
                sequence=sequence,
                cursor=cursor,
                at=record.at,
                record=record,
                previous_run_state=RunState(record.before) if record.before else None,
                run_state=RunState(record.after or ""),
                reason=record.reason,
                worker=workers.get("worker"),
                previous_worker=workers.get("previous_worker"),
            )
        case EventType.STEP_STATE:
            return StepStateChanged(
                sequence=sequence,
                cursor=cursor,
                at=record.at,
                record=record,
                previous_step_state=StepState(record.before or ""),
                step_state=StepState(record.after or ""),
                reason=record.reason,
            )
        case EventType.ATTEMPT_STATE:
            return AttemptStateChanged(
                sequence=sequence,
                cursor=cursor,
                at=record.at,
                record=record,
                attempt_state=AttemptState(record.after or ""),
            )
        case EventType.STEP_PROGRESS:
            return StepProgressed(sequence=sequence, cursor=cursor, at=record.at, record=record)
        case EventType.ARTIFACT:
            return ArtifactChanged(
                sequence=sequence,
                cursor=cursor,
                at=record.at,
                record=record,
                artifact_status=ArtifactStatus(record.after or ""),
            )


async def event_page(
    info: Info, run_id: str, first: int | None, after: str | None, last: int | None, before: str | None
) -> RunEventConnection:
    event_position(after, run_id)
    event_position(before, run_id)
    arguments = PageArguments.parse(EVENTS, first=first, after=after, last=last, before=before)
    window = PageWindow(
        arguments.after[1:] if arguments.after else None,
        arguments.before[1:] if arguments.before else None,
        arguments.limit,
        arguments.reverse,
    )
    context = info.context.context
    rows = await events_of_run(context, run_id, window)
    page = page_of(rows, arguments, lambda row: EVENTS.encode((row.run_id, row.sequence)))
    return RunEventConnection.of(page, event_of, lambda: count_events_of_run(context, run_id))


async def _step(info: Info, record: EventRecord) -> RunStep:
    found = await info.context.loaders.step.load(record.step_id or "")
    if found is None:
        raise LookupError(f"step {record.step_id} is gone")
    return RunStep.of(found)
