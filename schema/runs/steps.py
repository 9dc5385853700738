"""Steps of a run: state, progress, session, input and output."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.pipelines.versions import compiled
from resolvers.records import NOTHING, StepRecord
from runner.agents.definition import AGENT
from runner.definitions.models import RetryPolicy
from schema.artifacts.artifacts import Artifact
from schema.base.context import Info
from schema.base.enums import described_enum
from schema.base.node_interface import Node
from schema.base.payloads import USUAL, LimitBytes, Payload, payload_of
from schema.base.scalars import Key
from schema.base.text_parts import START, Offset
from schema.runs.attempts import Attempt
from schema.runs.failures import Failure
from schema.runs.spending import SpendingCost
from schema.runs.waits import Wait, WaitReason
from store.states import StepState

if TYPE_CHECKING:
    from resolvers.records import SessionRecord
    from schema.pipelines.definitions import Step
    from schema.runs.runs import Run

described_enum(
    StepState,
    "The state of a step.",
    {
        "PENDING": "Not reached yet.",
        "RUNNING": "An attempt is running.",
        "WAITING": "Waiting for a retry or a session.",
        "SUCCEEDED": "Succeeded. Its output is kept through all resumes.",
        "FAILED": "Failed, and not retried automatically.",
        "CANCELLED": "Cancelled while running or waiting.",
    },
)


@strawberry.type(description="A progress report of a step.")
class Milestone:
    at: datetime = strawberry.field(description="When the progress was reported.")
    fraction: float | None = strawberry.field(description="Progress from 0 to 1. Null if the step did not report it.")
    message: str = strawberry.field(description="What the step was doing.")

    @classmethod
    def read(cls, data: dict[str, object]) -> "Milestone":
        fraction = data.get("fraction")
        return cls(
            at=datetime.fromisoformat(str(data["at"])),
            fraction=float(fraction) if isinstance(fraction, int | float) else None,
            message=str(data["message"]),
        )


@strawberry.type(
    description=(
        "Resources that a step leaves for later steps, such as a workspace. Ends with its run, or by default "
        "after 15 minutes without use."
    )
)
class Session:
    id: strawberry.ID = strawberry.field(description="Id that later steps receive as `_session_id`.")
    alive: bool = strawberry.field(description="Whether the session can still be used.")
    expires_at: datetime | None = strawberry.field(description="When the session ends unless it is used before.")
    step_id: strawberry.Private[str]

    @classmethod
    def of(cls, info: Info, record: "SessionRecord") -> "Session":
        services = info.context.context.services
        alive = record.ended_at is None and record.machine == services.store.machine
        idle = timedelta(seconds=services.limits.session_idle_seconds)
        return cls(
            id=strawberry.ID(record.id),
            alive=alive,
            expires_at=record.last_used_at + idle if alive else None,
            step_id=record.step_id,
        )

    @strawberry.field(description="The step that created the session.")
    async def produced_by(self, info: Info) -> "RunStep":
        found = await info.context.loaders.step.load(self.step_id)
        if found is None:
            raise LookupError(f"session {self.id} belongs to a step that is gone")
        return RunStep.of(found)


@strawberry.type(description="The state of one step within a run.")
class RunStep(Node):
    key: Key = strawberry.field(description="Key of the step in the definition.")
    agent: str | None = strawberry.field(
        description="Profile and model of an agent step, such as `claude@sonnet`. Null for pack steps."
    )
    state: StepState = strawberry.field(description="The state of the step.")
    progress: float | None = strawberry.field(description="Progress from 0 to 1. Null if the step does not report it.")
    started_at: datetime | None = strawberry.field(description="When the first attempt started. Null until then.")
    ended_at: datetime | None = strawberry.field(description="When the step ended. Null until then.")
    record: strawberry.Private[StepRecord]

    @classmethod
    def of(cls, record: StepRecord) -> "RunStep":
        return cls(
            id=strawberry.ID(record.id),
            key=Key(record.key),
            agent=record.pack_version if record.pack == AGENT else None,
            state=record.state,
            progress=record.progress,
            started_at=record.started_at,
            ended_at=record.ended_at,
            record=record,
        )

    @strawberry.field(description="Version of the pack that ran. Null until then, and for agent steps.")
    async def pack_version(self, info: Info) -> str | None:
        """Version of the latest attempt; a resume may use another than the start."""
        if self.record.attempt_id is None or self.record.pack == AGENT:
            return None
        attempt = await info.context.loaders.attempt.load(self.record.attempt_id)
        return attempt.pack_version if attempt is not None else None

    @strawberry.field(description="The run this step belongs to.")
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")]':
        from schema.runs.runs import get_run_now

        return await get_run_now(info, self.record.run_id)

    @strawberry.field(description="The step's definition. Null for a single pack call.")
    async def step(self, info: Info) -> 'Annotated[Step, strawberry.lazy("schema.pipelines.pipelines")] | None':
        from schema.pipelines.pipelines import steps_of_version

        run = await info.context.loaders.run.load(self.record.run_id)
        if run is None or run.version_id is None:
            return None
        steps = await steps_of_version(info, run.version_id)
        return next((step for step in steps if step.key == self.key), None)

    @strawberry.field(description="What the step is waiting for. Null unless it is WAITING.")
    async def wait(self, info: Info) -> Wait | None:
        return await retry_wait(info, self.record) if self.state is StepState.WAITING else None

    @strawberry.field(description="The last 100 progress reports, oldest first.")
    async def milestones(self, info: Info) -> list[Milestone]:
        text = await info.context.loaders.milestones.load(self.record.id)
        return [Milestone.read(data) for data in orjson.loads(text or "[]")]

    @strawberry.field(
        description=(
            "The resolved input, with secrets masked; for a reused output, the input that produced it. Null "
            "until the step starts, once deleted, or if the caller may not see it."
        )
    )
    async def input(
        self,
        info: Info,
        offset: Offset = START,
        limit_bytes: LimitBytes = USUAL,
    ) -> Payload | None:
        if self.record.attempt_id is None:
            return None
        found = await info.context.loaders.attempt_payload.load(self.record.attempt_id)
        return payload_of(found.input if found is not None else None, offset, limit_bytes)

    @strawberry.field(description="What the step returned. Null until it succeeds.")
    async def output(
        self,
        info: Info,
        offset: Offset = START,
        limit_bytes: LimitBytes = USUAL,
    ) -> Payload | None:
        if self.record.attempt_id is None or self.state is not StepState.SUCCEEDED:
            return None
        found = await info.context.loaders.attempt_payload.load(self.record.attempt_id)
        return payload_of(found.output if found is not None else None, offset, limit_bytes)

    @strawberry.field(description="Artifacts produced by all attempts, including those that came with a reused output.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        loaders = info.context.loaders
        own = [Artifact.of(record) for record in await loaders.artifacts_of_step.load(self.record.id)]
        if own or self.record.attempt_id is None:
            return own
        run = await loaders.run.load(self.record.run_id)
        if run is not None and run.rerun_of is None:
            return own  # only a re-run reuses outputs
        attempt = await loaders.attempt.load(self.record.attempt_id)
        if attempt is None or attempt.reused_from is None:
            return own
        reused = await loaders.artifacts_of_attempt.load(attempt.reused_from)
        return [Artifact.of(record) for record in reused]

    @strawberry.field(description="All attempts, oldest first, including those of resumes.")
    async def attempts(self, info: Info) -> list[Attempt]:
        found = await info.context.loaders.attempts.load(self.record.id)
        return [Attempt.of(record) for record in found]

    @strawberry.field(
        description="The session the step used or created. Null if there is none, or if the "
        "output was reused from another run."
    )
    async def session(self, info: Info) -> Session | None:
        session_id = self.record.session_id
        if session_id is None and self.record.attempt_id is not None:
            attempt = await info.context.loaders.attempt.load(self.record.attempt_id)
            session_id = attempt.session_used if attempt is not None else None
        if session_id is None:
            return None
        found = await info.context.loaders.session.load(session_id)
        if found is None or found.run_id != self.record.run_id:  # it belongs to the run whose output is reused
            return None
        return Session.of(info, found)

    @strawberry.field(description="Cost of all attempts.")
    async def cost(self, info: Info) -> SpendingCost:
        spent = await info.context.loaders.run_spending.load(self.record.run_id)
        return SpendingCost.of(spent.by_step.get(self.record.id, NOTHING))

    @strawberry.field(description="Problems that did not stop the step.")
    def warnings(self) -> list[str]:
        return [str(warning) for warning in orjson.loads(self.record.warnings)]

    @strawberry.field(description="What went wrong in the latest attempt. Null if nothing did.")
    async def failure(self, info: Info) -> Failure | None:
        if self.record.attempt_id is None or self.state is StepState.SUCCEEDED:
            return None
        found = await info.context.loaders.attempt.load(self.record.attempt_id)
        return Failure.read(found.failure if found is not None else None)


async def retry_wait(info: Info, step: StepRecord) -> Wait:
    """The wait of a step for its next attempt: its number of the total, and until when."""
    policy = RetryPolicy()
    run = await info.context.loaders.run.load(step.run_id)
    if run is not None and run.version_id is not None:
        body = await info.context.loaders.version_body.load(run.version_id)
        if body is not None:
            definition = await compiled(info.context.context, body.document, body.input_schema)
            policy = definition.step(step.key).retry
    message = f"retry {step.stretch_attempts + 1} of {policy.max_attempts}"
    return Wait(reason=WaitReason.RETRY, message=message, until=step.wait_until)


async def load_step(info: Info, step_id: str) -> RunStep | None:
    found = await info.context.loaders.step.load(step_id)
    return None if found is None else RunStep.of(found)
