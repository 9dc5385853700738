"""Runs: state, failure, steps, artifacts, and what can be done with them."""

# mypy: disallow-untyped-decorators=False
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.artifacts.artifacts import ArtifactQuery
from resolvers.records import RunRecord
from resolvers.runs.proposals import DefinitionChoice
from resolvers.runs.resuming import preview_rerun, preview_resume
from resolvers.runs.runs import RunAction, queue_message, run_actions
from schema.artifacts.lists import ArtifactConnection, artifact_page
from schema.base.context import Info
from schema.base.cursors import EVENTS
from schema.base.directives import Cost, Requires
from schema.base.learned import LearnedField, LearnedValue
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, First, FirstOf500, Last
from schema.base.payloads import Payload, as_json, payload_of
from schema.base.scalars import JSON, Cursor, Key
from schema.runs.arguments import FromStep, RerunDefinition, ResumeDefinition, StepInput, step_input_change
from schema.runs.events import RunEventConnection, event_page
from schema.runs.failures import Failure
from schema.runs.resume_previews import ResumePreview
from schema.runs.spending import SpendingCost
from schema.runs.states import RunCause, RunState
from schema.runs.steps import RunStep, retry_wait
from schema.runs.waits import Wait, WaitReason
from store.states import Scope, StepState

if TYPE_CHECKING:
    from schema.access.callers import Caller
    from schema.packs.packs import Pack
    from schema.pipelines.pipelines import Pipeline, PipelineVersion


@strawberry.type(description="One execution of a pipeline version, or of a single pack.")
class Run(Node):
    title: str = strawberry.field(description="Title made from its inputs, shown to people.")
    state: RunState = strawberry.field(description="Where it stands.")
    cause: RunCause = strawberry.field(description="What started it.")
    client_name: str | None = strawberry.field(description="Program it was started with, as it called itself.")
    created_at: datetime = strawberry.field(description="When it was created.")
    started_at: datetime | None = strawberry.field(description="When the first step started.")
    ended_at: datetime | None = strawberry.field(description="When it ended.")
    deadline_at: datetime | None = strawberry.field(
        description="When it fails with TIMEOUT unless it has ended; 30 minutes of run time by default."
    )
    progress: float = strawberry.field(description="How far along, 0 to 1.")
    resume_count: int = strawberry.field(description="How often it was resumed.")
    acknowledged_at: datetime | None = strawberry.field(description="When somebody dealt with its failure.")
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
            progress=record.progress,
            resume_count=record.resume_count,
            acknowledged_at=record.acknowledged_at,
            record=record,
        )

    @strawberry.field(description="The pipeline, also once deleted; null for a single pack.")
    async def pipeline(self, info: Info) -> 'Annotated[Pipeline, strawberry.lazy("schema.pipelines.pipelines")] | None':
        from schema.pipelines.pipelines import Pipeline

        if self.record.pipeline_id is None:
            return None
        found = await info.context.loaders.pipeline.load(self.record.pipeline_id)
        return None if found is None else Pipeline.of(found)

    @strawberry.field(description="The exact version it executes; null for a single pack.")
    async def version(
        self, info: Info
    ) -> 'Annotated[PipelineVersion, strawberry.lazy("schema.pipelines.pipelines")] | None':
        from schema.pipelines.pipelines import PipelineVersion

        if self.record.version_id is None:
            return None
        found = await info.context.loaders.version.load(self.record.version_id)
        return None if found is None else PipelineVersion.of(found)

    @strawberry.field(description="The pack, when it is a single pack call and still installed.")
    def pack(self, info: Info) -> 'Annotated[Pack, strawberry.lazy("schema.packs.packs")] | None':
        if self.record.pack is None:
            return None

        from schema.packs.packs import Pack

        found = info.context.context.services.registry.find(self.record.pack)
        return None if found is None else Pack.of(found)

    @strawberry.field(description="What it waits for while QUEUED or WAITING.")
    async def wait(self, info: Info) -> Wait | None:
        if self.state is RunState.WAITING:
            steps = await info.context.loaders.steps.load(self.record.id)
            waiting = next((step for step in steps if step.state is StepState.WAITING), None)
            if waiting is None:
                return None  # read between two states: the next event tells
            return await retry_wait(info, waiting)
        if self.state is not RunState.QUEUED:
            return None
        place = await info.context.loaders.queue_place.load(self.record.id)
        return Wait(reason=WaitReason.SLOT, message=queue_message(place), until=None)

    @strawberry.field(description="What went wrong; of the latest attempt, null again once a resume succeeds.")
    def failure(self) -> Failure | None:
        return Failure.read(self.record.failure)

    @strawberry.field(description="The caller that started it.")
    async def caller(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")]':
        from schema.access.callers import Caller

        found = await info.context.loaders.caller.load(self.record.caller_id)
        if found is None:
            raise LookupError(f"run {self.id} belongs to a caller that is gone")
        return Caller.of(found)

    @strawberry.field(description="Inputs as given, known secrets masked.")
    async def inputs(self, info: Info) -> JSON:
        payload = await info.context.loaders.run_payload.load(self.record.id)
        value = orjson.loads(payload.inputs) if payload is not None else {}
        return JSON(info.context.context.services.redactor.value(value))

    @strawberry.field(description="Inputs whose values were taken from the caller's defaults.")
    async def from_memory(self, info: Info) -> list[LearnedValue]:
        payload = await info.context.loaders.run_payload.load(self.record.id)
        if payload is None or payload.from_memory is None:
            return []
        given = info.context.context.services.redactor.value(orjson.loads(payload.inputs))
        assert isinstance(given, dict), "inputs are an object"
        fields = [LearnedField(name) for name in orjson.loads(payload.from_memory)]
        return [LearnedValue(field=field, value=str(given.get(field.value, ""))) for field in fields]

    @strawberry.field(description="Output of the last step; null until it succeeds.")
    async def output(
        self,
        info: Info,
        limit_bytes: Annotated[int, strawberry.argument(description="Longest JSON to send, in bytes.")] = 65_536,
    ) -> Payload | None:
        if self.state is not RunState.SUCCEEDED:
            return None
        steps = await info.context.loaders.steps.load(self.record.id)
        if not steps or steps[-1].attempt_id is None:
            return None
        found = await info.context.loaders.attempt_payload.load(steps[-1].attempt_id)
        return payload_of(found.output if found is not None else None, limit_bytes)

    @strawberry.field(description="Time its attempts took together, up to now, in seconds.")
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
        # An attempt during which the clock was set back took some time, and no negative one.
        return round(sum(max(0.0, span.total_seconds()) for span in spans), 3)

    @strawberry.field(description="Cost of all attempts so far.")
    async def cost(self, info: Info) -> SpendingCost:
        spent = await info.context.loaders.run_spending.load(self.record.id)
        return SpendingCost.of(spent.total)

    @strawberry.field(description="The run this one repeats.")
    async def rerun_of(self, info: Info) -> "Run | None":
        return None if self.record.rerun_of is None else await load_run(info, self.record.rerun_of)

    @strawberry.field(
        description=("Its steps in order, always one for each step of the version; a single pack is one step.")
    )
    async def steps(self, info: Info) -> list[RunStep]:
        found = await info.context.loaders.steps.load(self.record.id)
        return [RunStep.of(step) for step in found]

    @strawberry.field(description="One step by key.")
    async def step(
        self, info: Info, key: Annotated[Key, strawberry.argument(description="The step's key.")]
    ) -> RunStep | None:
        found = await info.context.loaders.steps.load(self.record.id)
        return next((RunStep.of(step) for step in found if step.key == key), None)

    @strawberry.field(description="The step under way, failed, or next.")
    async def current_step(self, info: Info) -> RunStep | None:
        found = await info.context.loaders.steps.load(self.record.id)
        return next((RunStep.of(step) for step in found if step.state is not StepState.SUCCEEDED), None)

    @strawberry.field(description="The history, oldest first. Cursors are the same as the subscription's.")
    async def events(
        self,
        info: Info,
        first: FirstOf500 = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> RunEventConnection:
        return await event_page(info, self.record.id, first, after, last, before)

    @strawberry.field(
        description=(
            "Subscribe after this position: nothing read in this response is sent again and nothing is missed."
        )
    )
    def event_cursor(self) -> Cursor:
        return EVENTS.encode((self.record.id, self.record.next_seq - 1))

    @strawberry.field(description="What its steps produced, and what came with outputs it reuses.")
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
        description="What a resume would do; null unless it FAILED or was CANCELLED. Changes nothing.",
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def resume_preview(
        self,
        info: Info,
        step_input: StepInput = strawberry.UNSET,
        inputs: Annotated[JSON | None, strawberry.argument(description="Run inputs to replace, those alone.")] = None,
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
        description="What running it again would do. Changes nothing.",
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def rerun_preview(
        self,
        info: Info,
        inputs: Annotated[
            JSON | None, strawberry.argument(description="Inputs to replace, those alone; null removes one.")
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

    @strawberry.field(description="What the caller may do with it now; the first is what most people want.")
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
