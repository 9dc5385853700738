"""Runs: state, failure, steps, artifacts, and what can be done with them."""

# mypy: disallow-untyped-decorators=False
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry
from strawberry.utils.str_converters import to_camel_case

from resolvers.artifacts import ArtifactQuery
from resolvers.proposals import DefinitionChoice
from resolvers.resuming import preview_rerun, preview_resume
from resolvers.runs import (
    RunAction,
    RunQuery,
    count_visible_runs,
    get_run,
    list_run_heads,
    list_visible_runs,
    queue_message,
    run_actions,
    wait_run,
)
from schema.artifacts import ArtifactConnection, artifact_page
from schema.context import Info
from schema.cursors import EVENTS, RUNS, event_position
from schema.directives import Cost, Requires, published
from schema.enums import described_enum
from schema.failures import Failure
from schema.learned import LearnedField, LearnedValue
from schema.loading import loaded
from schema.node_interface import Node
from schema.pagination import CountedConnection, PageArguments, page_of
from schema.payloads import Payload, as_json, payload_of
from schema.previews import ResumePreview
from schema.run_events import RunEventConnection, event_page
from schema.run_states import RunCause, RunState
from schema.scalars import JSON, Cursor, Key
from schema.selections import fields_of_items
from schema.spending import SpendingCost
from schema.steps import RunStep, retry_wait
from schema.waits import Wait, WaitReason
from store.run_heads import HEAD_COLUMNS
from store.run_reads import RunRecord
from store.states import Scope, StepState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema.callers import Caller
    from schema.packs import Pack
    from schema.pipelines import Pipeline, PipelineVersion
    from store.dialects import Row

described_enum(
    DefinitionChoice,
    "Which definition a run is to use.",
    {
        "OF_RUN": "The version the run was started on.",
        "CURRENT": "The pipeline's current version; a resume needs its succeeded steps to be identical in it.",
    },
)


@strawberry.type(description="One execution of a pipeline version, or of a single pack.")
class Run(Node):
    """Make one with `of`."""

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
        """The run of a row."""
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

    @classmethod
    def of_head(cls, row: "Row", columns: "Sequence[str]") -> "Run":
        """A run of which only some plain fields are known, and no others may be asked for."""
        run = object.__new__(cls)
        for name, value in zip(columns, row, strict=True):
            setattr(run, name, value)
        return run

    @strawberry.field(description="The pipeline, also once deleted; null for a single pack.")
    @loaded
    async def pipeline(self, info: Info) -> 'Annotated[Pipeline, strawberry.lazy("schema.pipelines")] | None':
        """Its pipeline."""
        from schema.pipelines import Pipeline

        if self.record.pipeline_id is None:
            return None
        found = await info.context.loaders.pipeline.load(self.record.pipeline_id)
        return None if found is None else Pipeline.of(found)

    @strawberry.field(description="The exact version it executes; null for a single pack.")
    @loaded
    async def version(self, info: Info) -> 'Annotated[PipelineVersion, strawberry.lazy("schema.pipelines")] | None':
        """Its version."""
        from schema.pipelines import PipelineVersion

        if self.record.version_id is None:
            return None
        found = await info.context.loaders.version.load(self.record.version_id)
        return None if found is None else PipelineVersion.of(found)

    @strawberry.field(description="The pack, when it is a single pack call and still installed.")
    def pack(self, info: Info) -> 'Annotated[Pack, strawberry.lazy("schema.packs")] | None':
        """Its pack."""
        from schema.packs import Pack

        if self.record.pack is None:
            return None
        found = info.context.context.services.registry.find(self.record.pack)
        return None if found is None else Pack.of(found)

    @strawberry.field(description="What it waits for while QUEUED or WAITING.")
    @loaded
    async def wait(self, info: Info) -> Wait | None:
        """Its wait."""
        if self.state is RunState.WAITING:
            steps = await info.context.loaders.steps.load(self.record.id)
            waiting = next((step for step in steps or () if step.state is StepState.WAITING), None)
            if waiting is None:
                return None  # read between two states: the next event tells
            return await retry_wait(info, waiting)
        if self.state is not RunState.QUEUED:
            return None
        place = await info.context.loaders.queue_place.load(self.record.id)
        return Wait(reason=WaitReason.SLOT, message=queue_message(place), until=None)

    @strawberry.field(description="What went wrong; of the latest attempt, null again once a resume succeeds.")
    def failure(self) -> Failure | None:
        """Its failure."""
        return Failure.read(self.record.failure)

    @strawberry.field(description="Who started it; for a trigger, its owner.")
    @loaded
    async def caller(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.callers")]':
        """Its caller."""
        from schema.callers import Caller

        found = await info.context.loaders.caller.load(self.record.caller_id)
        if found is None:
            raise LookupError(f"run {self.id} belongs to a caller that is gone")
        return Caller.of(found)

    @strawberry.field(description="Inputs as given, known secrets masked.")
    @loaded
    async def inputs(self, info: Info) -> JSON:
        """Its inputs."""
        payload = await info.context.loaders.run_payload.load(self.record.id)
        value = orjson.loads(payload.inputs) if payload is not None else {}
        return JSON(info.context.context.services.redactor.value(value))

    @strawberry.field(description="Inputs whose values were taken from the caller's defaults.")
    @loaded
    async def from_memory(self, info: Info) -> list[LearnedValue]:
        """What memory filled in, as whoever started the run said."""
        payload = await info.context.loaders.run_payload.load(self.record.id)
        if payload is None or payload.from_memory is None:
            return []
        given = info.context.context.services.redactor.value(orjson.loads(payload.inputs))
        assert isinstance(given, dict), "inputs are an object"
        fields = [LearnedField(name) for name in orjson.loads(payload.from_memory)]
        return [LearnedValue(field=field, value=str(given.get(field.value, ""))) for field in fields]

    @strawberry.field(description="Output of the last step; null until it succeeds.")
    @loaded
    async def output(
        self,
        info: Info,
        limit_bytes: Annotated[int, strawberry.argument(description="Longest JSON to send, in bytes.")] = 65_536,
    ) -> Payload | None:
        """Its output."""
        if self.state is not RunState.SUCCEEDED:
            return None
        steps = await info.context.loaders.steps.load(self.record.id)
        if not steps or steps[-1].attempt_id is None:
            return None
        found = await info.context.loaders.attempt_payload.load(steps[-1].attempt_id)
        return payload_of(found.output if found is not None else None, limit_bytes)

    @strawberry.field(description="Time its attempts took together, up to now, in seconds.")
    @loaded
    async def work_seconds(self, info: Info) -> float:
        """Sum over attempts."""
        loaders = info.context.loaders
        steps = await loaders.steps.load(self.record.id)
        attempts = await loaders.attempts.load_many([step.id for step in steps or ()])
        now = datetime.now(UTC)
        spans = (
            (attempt.ended_at or now) - attempt.started_at
            for found in attempts
            for attempt in found or ()
            if attempt.reused_from is None
        )
        return round(sum(span.total_seconds() for span in spans), 3)

    @strawberry.field(description="Cost of all attempts so far.")
    @loaded
    async def cost(self, info: Info) -> SpendingCost:
        """What the models of all its attempts were paid for."""
        return SpendingCost.of(await info.context.loaders.run_spending.load(self.record.id))

    @strawberry.field(description="The run this one repeats.")
    @loaded
    async def rerun_of(self, info: Info) -> "Run | None":
        """The repeated run, while it is kept and visible."""
        return None if self.record.rerun_of is None else await load_run(info, self.record.rerun_of)

    @strawberry.field(
        description=("Its steps in order, always one for each step of the version; a single pack is one step.")
    )
    @loaded
    async def steps(self, info: Info) -> list[RunStep]:
        """Its steps."""
        found = await info.context.loaders.steps.load(self.record.id)
        return [RunStep.of(step) for step in found or ()]

    @strawberry.field(description="One step by key.")
    @loaded
    async def step(
        self, info: Info, key: Annotated[Key, strawberry.argument(description="The step's key.")]
    ) -> RunStep | None:
        """The step."""
        found = await info.context.loaders.steps.load(self.record.id)
        return next((RunStep.of(step) for step in found or () if step.key == key), None)

    @strawberry.field(description="The step under way, failed, or next.")
    @loaded
    async def current_step(self, info: Info) -> RunStep | None:
        """The first step that has not succeeded."""
        found = await info.context.loaders.steps.load(self.record.id)
        return next((RunStep.of(step) for step in found or () if step.state is not StepState.SUCCEEDED), None)

    @strawberry.field(description="The history, oldest first. Cursors are the same as the subscription's.")
    async def events(
        self,
        info: Info,
        first: Annotated[int | None, strawberry.argument(description="From the front, at most 500.")] = None,
        after: Annotated[Cursor | None, strawberry.argument(description="After this item.")] = None,
        last: Annotated[int | None, strawberry.argument(description="From the back.")] = None,
        before: Annotated[Cursor | None, strawberry.argument(description="Before this item.")] = None,
    ) -> RunEventConnection:
        """A page of its events."""
        return await event_page(info, self.record.id, first, after, last, before)

    @strawberry.field(
        description=(
            "Subscribe after this position: nothing read in this response is sent again and nothing is missed."
        )
    )
    def event_cursor(self) -> Cursor:
        """Position of its last event when it was read."""
        return EVENTS.encode((self.record.id, self.record.next_seq - 1))

    @strawberry.field(description="What its steps produced.")
    @loaded
    async def artifacts(
        self,
        info: Info,
        first: Annotated[int | None, strawberry.argument(description="From the front, at most 100.")] = None,
        after: Annotated[Cursor | None, strawberry.argument(description="After this item.")] = None,
        last: Annotated[int | None, strawberry.argument(description="From the back.")] = None,
        before: Annotated[Cursor | None, strawberry.argument(description="Before this item.")] = None,
    ) -> ArtifactConnection:
        """A page of its artifacts."""
        return await artifact_page(info, ArtifactQuery(run=self.record.id), first, after, last, before)

    @strawberry.field(
        description="What a resume would do; null unless it FAILED or was CANCELLED. Changes nothing.",
        directives=[Cost(weight=10)],
    )
    async def resume_preview(
        self,
        info: Info,
        step_input: Annotated[
            JSON | None, strawberry.argument(description="Input to replace the failed step's resolved one.")
        ] = None,
        inputs: Annotated[JSON | None, strawberry.argument(description="Run inputs to replace, those alone.")] = None,
        definition: Annotated[
            DefinitionChoice, strawberry.argument(description="Which definition to go on with.")
        ] = DefinitionChoice.OF_RUN,
    ) -> ResumePreview | None:
        """The preview."""
        if self.state not in {RunState.FAILED, RunState.CANCELLED}:
            return None
        preview = await preview_resume(
            info.context.context,
            id=self.record.id,
            step_input=as_json(step_input),
            inputs=as_json(inputs),
            definition=definition,
        )
        return await ResumePreview.of(info, self.record.id, preview)

    @strawberry.field(
        description="What running it again would do. Changes nothing.",
        directives=[Cost(weight=10)],
    )
    async def rerun_preview(
        self,
        info: Info,
        inputs: Annotated[
            JSON | None, strawberry.argument(description="Inputs to replace, those alone; null removes one.")
        ] = None,
        definition: Annotated[
            DefinitionChoice, strawberry.argument(description="Which definition to run.")
        ] = DefinitionChoice.OF_RUN,
        from_step: Annotated[
            Key | None,
            strawberry.argument(
                description="Reuse the recorded outputs of the steps before this one; every step runs when absent."
            ),
        ] = None,
    ) -> ResumePreview:
        """The preview of a re-run."""
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
        """Its actions."""
        return list(run_actions(info.context.context, self.record))


RunConnection = CountedConnection[Run]


@strawberry.input(description="Which runs. Fields are joined by and, values within a field by or.")
class RunFilter:
    """Fields left out do not ask."""

    states: list[RunState] | None = strawberry.field(default=None, description="Standing in one of these.")
    pipelines: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Of one of these pipelines, by id, key or alias."
    )
    packs: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Single calls of one of these packs."
    )
    callers: list[strawberry.ID] | None = strawberry.field(default=None, description="Started by one of these callers.")
    causes: list[RunCause] | None = strawberry.field(default=None, description="Started by one of these.")
    rerun_of: strawberry.ID | None = strawberry.field(default=None, description="Repeating this run.")
    needs_attention: bool | None = strawberry.field(
        default=None,
        description="FAILED, not acknowledged and not succeeded by a later re-run; or all others.",
    )
    text: str | None = strawberry.field(default=None, description="Words in title, inputs or failure message.")
    created_from: datetime | None = strawberry.field(default=None, description="Created at or after.")
    created_before: datetime | None = strawberry.field(default=None, description="Created before.")

    def query(self) -> RunQuery:
        """The same as the use case takes it."""
        return RunQuery(
            states=tuple(self.states) if self.states is not None else None,
            pipelines=tuple(self.pipelines) if self.pipelines is not None else None,
            packs=tuple(self.packs) if self.packs is not None else None,
            callers=tuple(self.callers) if self.callers is not None else None,
            causes=tuple(self.causes) if self.causes is not None else None,
            rerun_of=self.rerun_of,
            needs_attention=self.needs_attention,
            text=self.text,
            created_from=self.created_from,
            created_before=self.created_before,
        )


@strawberry.type(description="What waiting for a run came to.")
class WaitRunAnswer:
    """What `waitRun` answers."""

    run: Run = strawberry.field(description="The run as it is now.")
    timed_out: bool = strawberry.field(description="Whether time ran out first.")
    cursor: Cursor = strawberry.field(description="Position to wait on after.")


#: Fields of a run that are columns of its row, by their name in the schema.
_PLAIN = {to_camel_case(column): column for column in HEAD_COLUMNS}


async def run_page(
    info: Info, query: RunQuery, first: int | None, after: str | None, last: int | None, before: str | None
) -> RunConnection:
    """A page of the runs the caller may see, newest first."""
    arguments = PageArguments.parse(RUNS, first=first, after=after, last=last, before=before)
    context = info.context.context

    async def count() -> int:
        return await count_visible_runs(context, query)

    fields = fields_of_items(info._raw_info)
    if query == RunQuery() and fields <= _PLAIN.keys():
        columns = ("id", *(_PLAIN[field] for field in fields if field != "id"))
        heads = await list_run_heads(context, columns=columns, window=arguments.window)
        head_page = page_of(heads, arguments, lambda row: RUNS.encode((row[0],)))
        return RunConnection.counted(head_page, lambda row: Run.of_head(row, columns), count)
    rows = await list_visible_runs(context, query=query, window=arguments.window)
    if "pipeline" in fields:
        pipelines = {row.pipeline_id for row in rows if row.pipeline_id is not None}
        await info.context.loaders.pipeline.load_many(pipelines)
    page = page_of(rows, arguments, lambda row: RUNS.encode((row.id,)))
    return RunConnection.counted(page, Run.of, count)


async def newest_runs_page(info: Info, pipeline_id: str, first: int | None) -> RunConnection:
    """The first page of a pipeline's runs, as `run_page` has it; one query for all pipelines of a list."""
    arguments = PageArguments.parse(RUNS, first=first)
    context = info.context.context

    async def count() -> int:
        return await count_visible_runs(context, RunQuery(pipelines=(pipeline_id,)))

    rows = await info.context.loaders.newest_runs.load((pipeline_id, arguments.limit + 1))
    return RunConnection.counted(page_of(rows, arguments, lambda row: RUNS.encode((row.id,))), Run.of, count)


async def load_run(info: Info, run_id: str) -> Run | None:
    """A run the caller may see."""
    found = await info.context.loaders.run.load(run_id)
    return None if found is None else Run.of(found)


async def get_run_now(info: Info, run_id: str) -> Run:
    """A run that the caller is known to see.

    Raises:
        LookupError: it is gone by now.
    """
    found = await load_run(info, run_id)
    if found is None:
        raise LookupError(f"run {run_id} is gone")
    return found


@strawberry.type
class RunQueries:
    """Reads of runs."""

    @strawberry.field(
        description="One run: state, failure, steps, artifacts and what can be done with it.",
        directives=[Requires(scope=Scope.READ), published(get_run)],
    )
    async def run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
    ) -> Run | None:
        """A run."""
        found = await get_run(info.context.context, id=id)
        return None if found is None else Run.of(found)

    @strawberry.field(
        description="Runs, newest first.",
        directives=[Requires(scope=Scope.READ), published(list_visible_runs)],
    )
    async def runs(
        self,
        info: Info,
        filter: Annotated[RunFilter | None, strawberry.argument(description="Only those that match.")] = None,
        first: Annotated[int | None, strawberry.argument(description="From the front, at most 100.")] = None,
        after: Annotated[Cursor | None, strawberry.argument(description="After this item.")] = None,
        last: Annotated[int | None, strawberry.argument(description="From the back.")] = None,
        before: Annotated[Cursor | None, strawberry.argument(description="Before this item.")] = None,
    ) -> RunConnection:
        """A page of runs."""
        return await run_page(info, (filter or RunFilter()).query(), first, after, last, before)

    @strawberry.field(
        description=(
            "Waits until a run has ended or changed, at most some seconds. Running out of time is a normal answer; "
            "call again."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=20), published(wait_run)],
    )
    async def wait_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
        wait_seconds: Annotated[int, strawberry.argument(description="Longest wait, 0 to 50.")] = 45,
        until_change: Annotated[
            bool, strawberry.argument(description="Answer at the first change instead of at the end.")
        ] = False,
        after: Annotated[
            Cursor | None,
            strawberry.argument(description="Changes after this position count; after the call when absent."),
        ] = None,
    ) -> WaitRunAnswer | None:
        """The wait's answer."""
        waited = await wait_run(
            info.context.context,
            id=id,
            wait_seconds=wait_seconds,
            until_change=until_change,
            after=event_position(after, id),
        )
        if waited is None:
            return None
        return WaitRunAnswer(
            run=Run.of(waited.run), timed_out=waited.timed_out, cursor=EVENTS.encode((id, waited.sequence))
        )
