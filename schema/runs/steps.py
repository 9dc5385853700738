"""Steps of a run: where they stand, what they told, left and gave."""

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
from schema.base.payloads import Payload, payload_of
from schema.base.scalars import Key
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
    "Where a step stands.",
    {
        "PENDING": "Not reached.",
        "RUNNING": "Running.",
        "WAITING": "Waiting for a retry or a session.",
        "SUCCEEDED": "Done; its output is kept through every resume.",
        "FAILED": "Failed.",
        "CANCELLED": "Cancelled while it ran or waited.",
    },
)


@strawberry.type(description="Something a step told about its progress.")
class Milestone:
    at: datetime = strawberry.field(description="When.")
    fraction: float | None = strawberry.field(description="How far along, 0 to 1.")
    message: str = strawberry.field(description="What it was doing.")

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
        "Something a step left for later steps, such as a workspace. Ends with its run or after 15 idle minutes."
    )
)
class Session:
    id: strawberry.ID = strawberry.field(description="Id passed to later steps as `_session_id`.")
    alive: bool = strawberry.field(description="Whether it can still be used.")
    expires_at: datetime | None = strawberry.field(description="When it ends unless it is used.")
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

    @strawberry.field(description="The step that left it.")
    async def produced_by(self, info: Info) -> "RunStep":
        found = await info.context.loaders.step.load(self.step_id)
        if found is None:
            raise LookupError(f"session {self.id} belongs to a step that is gone")
        return RunStep.of(found)


@strawberry.type(description="A step as it fares in one run.")
class RunStep(Node):
    key: Key = strawberry.field(description="Its id in the definition.")
    agent: str | None = strawberry.field(
        description="Profile and model an agent step works with, as `claude@sonnet`; null for packs."
    )
    state: StepState = strawberry.field(description="Where it stands.")
    progress: float | None = strawberry.field(description="How far along, 0 to 1; null when it does not say.")
    started_at: datetime | None = strawberry.field(description="When its first attempt started.")
    ended_at: datetime | None = strawberry.field(description="When it ended.")
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

    @strawberry.field(description="Version of the pack that ran; null before and for agent steps.")
    async def pack_version(self, info: Info) -> str | None:
        """Version of the latest attempt; a resume may use another than the start."""
        if self.record.attempt_id is None or self.record.pack == AGENT:
            return None
        attempt = await info.context.loaders.attempt.load(self.record.attempt_id)
        return attempt.pack_version if attempt is not None else None

    @strawberry.field(description="The run it is part of.")
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")]':
        from schema.runs.runs import get_run_now

        return await get_run_now(info, self.record.run_id)

    @strawberry.field(description="The step as defined; null for a single pack.")
    async def step(self, info: Info) -> 'Annotated[Step, strawberry.lazy("schema.pipelines.pipelines")] | None':
        from schema.pipelines.pipelines import steps_of_version

        run = await info.context.loaders.run.load(self.record.run_id)
        if run is None or run.version_id is None:
            return None
        steps = await steps_of_version(info, run.version_id)
        return next((step for step in steps if step.key == self.key), None)

    @strawberry.field(description="What it waits for while WAITING.")
    async def wait(self, info: Info) -> Wait | None:
        return await retry_wait(info, self.record) if self.state is StepState.WAITING else None

    @strawberry.field(description="What it told about its progress, oldest first; the last 100.")
    async def milestones(self, info: Info) -> list[Milestone]:
        text = await info.context.loaders.milestones.load(self.record.id)
        return [Milestone.read(data) for data in orjson.loads(text or "[]")]

    @strawberry.field(
        description=(
            "Input with templates resolved, secrets masked; null until it starts. Of a reused output, the input that "
            "led to it: null once pruned, or to those who may not see it."
        )
    )
    async def input(
        self,
        info: Info,
        limit_bytes: Annotated[int, strawberry.argument(description="Longest JSON to send, in bytes.")] = 65_536,
    ) -> Payload | None:
        if self.record.attempt_id is None:
            return None
        found = await info.context.loaders.attempt_payload.load(self.record.attempt_id)
        return payload_of(found.input if found is not None else None, limit_bytes)

    @strawberry.field(description="What it returned; null until it succeeds.")
    async def output(
        self,
        info: Info,
        limit_bytes: Annotated[int, strawberry.argument(description="Longest JSON to send, in bytes.")] = 65_536,
    ) -> Payload | None:
        if self.record.attempt_id is None or self.state is not StepState.SUCCEEDED:
            return None
        found = await info.context.loaders.attempt_payload.load(self.record.attempt_id)
        return payload_of(found.output if found is not None else None, limit_bytes)

    @strawberry.field(description="What it produced, all attempts; of a reused output, what came with it.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        loaders = info.context.loaders
        own = [Artifact.of(record) for record in await loaders.artifacts_of_step.load(self.record.id)]
        if own or self.record.attempt_id is None:
            return own
        attempt = await loaders.attempt.load(self.record.attempt_id)
        if attempt is None or attempt.reused_from is None:
            return own
        reused = await loaders.artifacts_of_attempt.load(attempt.reused_from)
        return [Artifact.of(record) for record in reused]

    @strawberry.field(description="Every attempt, first to last, resumes included.")
    async def attempts(self, info: Info) -> list[Attempt]:
        found = await info.context.loaders.attempts.load(self.record.id)
        return [Attempt.of(record) for record in found]

    @strawberry.field(description="The session it used or left; null where it reuses the output of another run.")
    async def session(self, info: Info) -> Session | None:
        session_id = self.record.session_id
        if session_id is None and self.record.attempt_id is not None:
            attempt = await info.context.loaders.attempt.load(self.record.attempt_id)
            session_id = attempt.session_used if attempt is not None else None
        if session_id is None:
            return None
        found = await info.context.loaders.session.load(session_id)
        if found is None or found.run_id != self.record.run_id:  # of the run whose output it reuses
            return None
        return Session.of(info, found)

    @strawberry.field(description="Cost of all attempts.")
    async def cost(self, info: Info) -> SpendingCost:
        spent = await info.context.loaders.run_spending.load(self.record.run_id)
        return SpendingCost.of(spent.by_step.get(self.record.id, NOTHING))

    @strawberry.field(description="What was not quite right although it went on.")
    def warnings(self) -> list[str]:
        return [str(warning) for warning in orjson.loads(self.record.warnings)]

    @strawberry.field(description="What went wrong in the latest attempt.")
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
