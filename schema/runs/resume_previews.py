"""What a resume or re-run would do, step by step."""

# mypy: disallow-untyped-decorators=False
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import strawberry

from schema.base.enums import described_enum
from schema.base.issues import Issue
from schema.base.pack_effects import PackEffects
from schema.base.payloads import Payload, payload_of
from schema.runs.steps import RunStep

if TYPE_CHECKING:
    from resolvers.runs.resuming import Preview
    from schema.base.context import Info


class ResumeAction(Enum):
    REUSE = "reuse"
    RUN_AGAIN = "run_again"
    RUN = "run"


described_enum(
    ResumeAction,
    "What a resume does with a step.",
    {
        "REUSE": "Its output is reused untouched.",
        "RUN_AGAIN": "It runs again although it succeeded: its session or an artifact is gone, or cannot be shared.",
        "RUN": "It runs.",
    },
)


class StepInputSource(Enum):
    DEFINITION = "definition"
    STEP_INPUT = "given"
    EARLIER_STEP_INPUT = "given_earlier"


described_enum(
    StepInputSource,
    "Where the input of a step comes from.",
    {
        "DEFINITION": "Its input in the definition.",
        "STEP_INPUT": "`stepInput` of this resume.",
        "EARLIER_STEP_INPUT": "`stepInput` of an earlier resume, which this one keeps; `stepInput: null` drops it.",
    },
)


@strawberry.type(description="What a resume would do with one step.")
class ResumePreviewStep:
    run_step: RunStep | None = strawberry.field(
        description="The step; null for one that only the definition to go on with has."
    )
    key: str = strawberry.field(description="Its id in the definition to go on with.")
    action: ResumeAction = strawberry.field(description="What would be done.")
    reason: str = strawberry.field(description="Why, for people.")
    effects: PackEffects = strawberry.field(description="What it changes outside.")
    may_repeat_effects: bool = strawberry.field(description="Whether an outside effect may happen a second time.")
    input_source: StepInputSource | None = strawberry.field(
        description="Where its input comes from; null when it does not run."
    )
    input_text: strawberry.Private[str | None]

    @strawberry.field(
        description="What it would be given, secrets masked; null when it does not run, or reads what is not known yet."
    )
    def input(
        self,
        limit_bytes: Annotated[int, strawberry.argument(description="Longest JSON to send, in bytes.")] = 65_536,
    ) -> Payload | None:
        return payload_of(self.input_text, limit_bytes)


@strawberry.type(description="What a resume or re-run would do, step by step.")
class ResumePreview:
    allowed: bool = strawberry.field(description="Whether it would be accepted.")
    issues: list[Issue] = strawberry.field(description="What is wrong or questionable, missing services included.")
    steps: list[ResumePreviewStep] = strawberry.field(description="Every step, in order.")
    definition_changed: bool = strawberry.field(description="Whether the pipeline has a newer version than the run's.")

    @classmethod
    async def of(cls, info: "Info", run_id: str, preview: "Preview") -> "ResumePreview":
        rows = {row.key: row for row in await info.context.loaders.steps.load(run_id)}
        return cls(
            allowed=preview.allowed,
            issues=Issue.all(preview.issues),
            steps=[
                ResumePreviewStep(
                    run_step=RunStep.of(rows[step.key]) if step.key in rows else None,
                    key=step.key,
                    action=ResumeAction(step.action),
                    reason=step.reason,
                    effects=PackEffects(step.effects),
                    may_repeat_effects=step.may_repeat_effects,
                    input_source=StepInputSource(step.input_source) if step.input_source else None,
                    input_text=preview.inputs.get(step.key),
                )
                for step in preview.steps
            ],
            definition_changed=preview.definition_changed,
        )
