"""Runs: state, failure, steps, artifacts and available actions."""

# mypy: disallow-untyped-decorators=False
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.artifacts.artifacts import ArtifactQuery
from resolvers.records import RunRecord
from resolvers.runs.resuming import preview_rerun, preview_resume
from resolvers.runs.runs import RunAction, queue_message, run_actions
from resolvers.runs.target import DefinitionChoice
from runner.packs.fleet import worker_with
from schema.artifacts.lists import ArtifactConnection, artifact_page
from schema.base.context import Info
from schema.base.cursors import EVENTS
from schema.base.directives import Cost, Requires
from schema.base.learned import LearnedField, LearnedValue
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, First, FirstOfLog, Last
from schema.base.payloads import USUAL, LimitBytes, Payload, as_json, payload_of
from schema.base.scalars import JSON, Cursor, Key
from schema.base.text_parts import START, Offset
from schema.runs.arguments import FromStep, RerunDefinition, ResumeDefinition, StepInput, step_input_change
from schema.runs.events import RunEventConnection, event_page
from schema.runs.failures import Failure
from schema.runs.resume_previews import ResumePreview
from schema.runs.spending import SpendingCost
from schema.runs.states import RunCause, RunState
from schema.runs.steps import RunStep, retry_wait
from schema.runs.takeovers import Takeover
from schema.runs.waits import Wait, WaitReason
from store.states import Scope, StepState

if TYPE_CHECKING:
    from schema.access.callers import Caller
    from schema.packs.packs import Pack
    from schema.pipelines.pipelines import Pipeline, PipelineVersion
    from schema.triggers.triggers import Trigger


@strawberry.type(description="One execution of a pipeline version or of a single pack.")
class Run(Node):
    title: str = strawberry.field(description="The title, generated from the inputs unless given at the start.")
    state: RunState = strawberry.field(description="The state of the run.")
    cause: RunCause = strawberry.field(description="What started the run.")
    client_name: str | None = strawberry.field(
        description="Name of the client program that started the run, as reported by the client."
    )
    created_at: datetime = strawberry.field(description="When the run was created.")
    start_at: datetime | None = strawberry.field(
        description="Start time that was asked for. Null if the run starts as soon as it can."
    )
    started_at: datetime | None = strawberry.field(description="When the first step started. Null until then.")
    ended_at: datetime | None = strawberry.field(description="When the run ended. Null until then.")
    deadline_at: datetime | None = strawberry.field(
        description="When the run fails with TIMEOUT unless it has ended. By default 30 minutes of run time."
    )
    progress: float = strawberry.field(description="Progress, from 0 to 1.")
    resume_count: int = strawberry.field(description="How many times the run was resumed.")
    acknowledged_at: datetime | None = strawberry.field(
        description="When the failure was acknowledged. Null if it was not."
    )
    record: strawberry.Private[RunRecord]

    @classmethod
    def of(cls, record: RunRecord) -> "Run":
        return cls(
            id=strawberry.ID(record.id),
            title=record.title,
            state=record.state,
            cause=record.cause,
            client_name=record.client_name,
            created_at=record.created_at,
            started_at=record.started_at,
            ended_at=record.ended_at,
            deadline_at=record.deadline_at,
            start_at=record.start_at,
            progress=record.progress,
            resume_count=record.resume_count,
            acknowledged_at=record.acknowledged_at,
            record=record,
        )

    @strawberry.field(description="The pipeline, even after it was deleted. Null for a single pack call.")
    async def pipeline(self, info: Info) -> 'Annotated[Pipeline, strawberry.lazy("schema.pipelines.pipelines")] | None':
        from schema.pipelines.pipelines import Pipeline

        if self.record.pipeline_id is None:
            return None
        found = await info.context.loaders.pipeline.load(self.record.pipeline_id)
        return None if found is None else Pipeline.of(found)

    @strawberry.field(description="The pipeline version that the run executes. Null for a single pack call.")
    async def version(
        self, info: Info
    ) -> 'Annotated[PipelineVersion, strawberry.lazy("schema.pipelines.pipelines")] | None':
        from schema.pipelines.pipelines import PipelineVersion

        if self.record.version_id is None:
            return None
        found = await info.context.loaders.version.load(self.record.version_id)
        return None if found is None else PipelineVersion.of(found)

    @strawberry.field(
        description="The pack of a single pack call. Null for pipelines, or if the pack is no longer installed."
    )
    def pack(self, info: Info) -> 'Annotated[Pack, strawberry.lazy("schema.packs.packs")] | None':
        if self.record.pack is None:
            return None

        from schema.packs.packs import Pack

        found = info.context.context.services.registry.find(self.record.pack)
        return None if found is None else Pack.of(found)

    @strawberry.field(description="What the run is waiting for. Null unless it is QUEUED or WAITING.")
    async def wait(self, info: Info) -> Wait | None:
        may_start = self.record.not_before is None or self.record.not_before <= datetime.now(UTC)
        if self.state in {RunState.QUEUED, RunState.WAITING} and may_start:
            fleet = info.context.context.services.engine.resources.fleet
            if fleet.is_empty:
                return Wait(
                    reason=WaitReason.WORKER, message="waits for a worker that takes runs; there is none", until=None
                )
            if lacked := fleet.lacked(self.record.needs):
                return Wait(reason=WaitReason.WORKER, message=f"waits for {worker_with(lacked)}", until=None)
        if self.state is RunState.WAITING:
            steps = await info.context.loaders.steps.load(self.record.id)
            waiting = next((step for step in steps if step.state is StepState.WAITING), None)
            if waiting is None and self.record.started_at is None and self.record.not_before is not None:
                return Wait(reason=WaitReason.START_TIME, message="starts later", until=self.record.not_before)
            if waiting is None:
                return None  # read between two states; the next event reports the new one
            return await retry_wait(info, waiting)
        if self.state is not RunState.QUEUED:
            return None
        place = await info.context.loaders.queue_place.load(self.record.id)
        return Wait(reason=WaitReason.SLOT, message=queue_message(place), until=None)

    @strawberry.field(description="Name of the worker that holds the run. Null if none does.")
    def worker(self) -> str | None:
        return self.record.owner

    @strawberry.field(
        description="Each time a worker went on with the run that another one had before, oldest first. At most the "
        "last 100."
    )
    async def takeovers(self, info: Info) -> list[Takeover]:
        if self.record.epoch < 2:
            return []
        return [Takeover.of(record) for record in await info.context.loaders.takeovers.load(self.record.id)]

    @strawberry.field(
        description="What went wrong most recently. Null if nothing did, and again once a resume succeeds."
    )
    def failure(self) -> Failure | None:
        return Failure.read(self.record.failure)

    @strawberry.field(description="The caller that started the run.")
    async def caller(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")]':
        from schema.access.callers import Caller

        found = await info.context.loaders.caller.load(self.record.caller_id)
        if found is None:
            raise LookupError(f"run {self.id} belongs to a caller that is gone")
        return Caller.of(found)

    @strawberry.field(
        description="The trigger that started it. Null if none did, it was deleted, or the caller may not see it."
    )
    async def trigger(self, info: Info) -> 'Annotated[Trigger, strawberry.lazy("schema.triggers.triggers")] | None':
        from schema.triggers.triggers import Trigger

        if self.record.trigger_id is None:
            return None
        found = await info.context.loaders.trigger.load(self.record.trigger_id)
        return None if found is None else Trigger.of(found)

    @strawberry.field(description="The inputs as given, with secrets masked.")
    async def inputs(self, info: Info) -> JSON:
        payload = await info.context.loaders.run_payload.load(self.record.id)
        value = orjson.loads(payload.inputs) if payload is not None else {}
        return JSON(info.context.context.services.redactor.value(value))

    @strawberry.field(description="Inputs whose values came from the caller's defaults.")
    async def from_memory(self, info: Info) -> list[LearnedValue]:
        payload = await info.context.loaders.run_payload.load(self.record.id)
        if payload is None or payload.from_memory is None:
            return []
        given = info.context.context.services.redactor.value(orjson.loads(payload.inputs))
        assert isinstance(given, dict), "inputs are an object"
        fields = [LearnedField(name) for name in orjson.loads(payload.from_memory)]
        return [LearnedValue(field=field, value=str(given.get(field.value, ""))) for field in fields]

    @strawberry.field(description="Output of the last step. Null until the run succeeds.")
    async def output(
        self,
        info: Info,
        offset: Offset = START,
        limit_bytes: LimitBytes = USUAL,
    ) -> Payload | None:
        if self.state is not RunState.SUCCEEDED:
            return None
        steps = await info.context.loaders.steps.load(self.record.id)
        if not steps or steps[-1].attempt_id is None:
            return None
        found = await info.context.loaders.attempt_payload.load(steps[-1].attempt_id)
        return payload_of(found.output if found is not None else None, offset, limit_bytes)

    @strawberry.field(description="Total duration of all attempts so far, in seconds.")
    async def work_seconds(self, info: Info) -> float:
        loaders = info.context.loaders
        steps = await loaders.steps.load(self.record.id)
        attempts = await loaders.attempts.load_many([step.id for step in steps])
        now = datetime.now(UTC)
        spans = (
            (attempt.ended_at or now) - attempt.started_at
            for found in attempts
            for attempt in found
            if attempt.reused_from is None
        )
        # Setting the clock back during an attempt would make its duration negative.
        return round(sum(max(0.0, span.total_seconds()) for span in spans), 3)

    @strawberry.field(description="Cost of all attempts so far.")
    async def cost(self, info: Info) -> SpendingCost:
        spent = await info.context.loaders.run_spending.load(self.record.id)
        return SpendingCost.of(spent.total)

    @strawberry.field(
        description="The run that this one repeats. Null if there is none, it was deleted, or "
        "the caller may not see it."
    )
    async def rerun_of(self, info: Info) -> "Run | None":
        return None if self.record.rerun_of is None else await load_run(info, self.record.rerun_of)

    @strawberry.field(
        description="The run whose end made a trigger start this one. Null if none did, it was deleted, or the caller "
        "may not see it."
    )
    async def ended_run(self, info: Info) -> "Run | None":
        return None if self.record.ended_run_id is None else await load_run(info, self.record.ended_run_id)

    @strawberry.field(description=("All steps of the version, in order. A single pack call has one step."))
    async def steps(self, info: Info) -> list[RunStep]:
        info.context.loaders.run.prime(self.record.id, self.record)  # they ask for it
        found = await info.context.loaders.steps.load(self.record.id)
        return [RunStep.of(step) for step in found]

    @strawberry.field(description="A step by its key. Null if there is none with that key.")
    async def step(
        self, info: Info, key: Annotated[Key, strawberry.argument(description="The step's key.")]
    ) -> RunStep | None:
        found = await info.context.loaders.steps.load(self.record.id)
        return next((RunStep.of(step) for step in found if step.key == key), None)

    @strawberry.field(description="The first step that has not succeeded. Null once all have.")
    async def current_step(self, info: Info) -> RunStep | None:
        found = await info.context.loaders.steps.load(self.record.id)
        return next((RunStep.of(step) for step in found if step.state is not StepState.SUCCEEDED), None)

    @strawberry.field(
        description="The run's history, oldest first. The cursors also work with the `runEvents` subscription."
    )
    async def events(
        self,
        info: Info,
        first: FirstOfLog = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> RunEventConnection:
        return await event_page(info, self.record.id, first, after, last, before)

    @strawberry.field(description=("Cursor for subscribing without gaps or repeats after what this response contains."))
    def event_cursor(self) -> Cursor:
        return EVENTS.encode((self.record.id, self.record.next_seq - 1))

    @strawberry.field(description="Artifacts the steps produced, including those of reused outputs.")
    async def artifacts(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> ArtifactConnection:
        query = ArtifactQuery(run=self.record.id, reused=self.record.rerun_of is not None)
        return await artifact_page(info, query, first, after, last, before)

    @strawberry.field(
        description="What a resume would do. Changes nothing. Null unless the run is FAILED or CANCELLED.",
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def resume_preview(
        self,
        info: Info,
        step_input: StepInput = strawberry.UNSET,
        inputs: Annotated[
            JSON | None, strawberry.argument(description="Run inputs to replace; the others keep their values.")
        ] = None,
        definition: ResumeDefinition = DefinitionChoice.OF_RUN,
    ) -> ResumePreview | None:
        if self.state not in {RunState.FAILED, RunState.CANCELLED}:
            return None
        preview = await preview_resume(
            info.context.context,
            id=self.record.id,
            step_input=step_input_change(step_input),
            inputs=as_json(inputs),
            definition=definition,
        )
        return await ResumePreview.of(info, self.record.id, preview)

    @strawberry.field(
        description="What a re-run would do. Changes nothing.",
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def rerun_preview(
        self,
        info: Info,
        inputs: Annotated[
            JSON | None,
            strawberry.argument(description="Inputs to replace; the others keep their values. Null removes an input."),
        ] = None,
        definition: RerunDefinition = DefinitionChoice.OF_RUN,
        from_step: FromStep = None,
    ) -> ResumePreview:
        preview = await preview_rerun(
            info.context.context,
            id=self.record.id,
            inputs=as_json(inputs),
            definition=definition,
            from_step=from_step,
        )
        return await ResumePreview.of(info, self.record.id, preview)

    @strawberry.field(description="What the caller can do with the run now, most useful first.")
    def actions(self, info: Info) -> list[RunAction]:
        return list(run_actions(info.context.context, self.record))


async def load_run(info: Info, run_id: str) -> Run | None:
    found = await info.context.loaders.run.load(run_id)
    return None if found is None else Run.of(found)


async def get_run_now(info: Info, run_id: str) -> Run:
    """Load a run that the caller is known to see.

    Raises:
        LookupError: It has been deleted since.
    """
    found = await load_run(info, run_id)
    if found is None:
        raise LookupError(f"run {run_id} is gone")
    return found
