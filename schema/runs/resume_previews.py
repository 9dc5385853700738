"""What a resume or re-run would do, step by step."""

# mypy: disallow-untyped-decorators=False
from enum import Enum
from typing import TYPE_CHECKING

import strawberry

from schema.base.enums import described_enum
from schema.base.issues import Issue
from schema.base.pack_effects import PackEffects
from schema.base.payloads import USUAL, LimitBytes, Payload, payload_of
from schema.base.text_parts import START, Offset
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
    "How a resume treats a step.",
    {
        "REUSE": "Reuse its output without running it.",
        "RUN_AGAIN": "Run it again although it succeeded, because its session or an artifact is no longer "
        "available or cannot be shared.",
        "RUN": "Run it.",
    },
)


class StepInputSource(Enum):
    DEFINITION = "definition"
    STEP_INPUT = "given"
    EARLIER_STEP_INPUT = "given_earlier"


described_enum(
    StepInputSource,
    "The source of a step's input.",
    {
        "DEFINITION": "The input in the definition.",
        "STEP_INPUT": "The `stepInput` of this resume.",
        "EARLIER_STEP_INPUT": "The `stepInput` of an earlier resume. Pass `stepInput: null` to discard it.",
    },
)


@strawberry.type(description="How a resume would treat one step.")
class ResumePreviewStep:
    run_step: RunStep | None = strawberry.field(
        description="The step in this run. Null if only the new definition has it."
    )
    key: str = strawberry.field(description="Key of the step in the definition that would run.")
    action: ResumeAction = strawberry.field(description="What would happen to the step.")
    reason: str = strawberry.field(description="Why, for display.")
    effects: PackEffects = strawberry.field(description="How the step changes external systems.")
    may_repeat_effects: bool = strawberry.field(
        description="Whether a change in an external system may happen a second time."
    )
    input_source: StepInputSource | None = strawberry.field(
        description="The source of the step's input. Null if the step would not run."
    )
    input_text: strawberry.Private[str | None]

    @strawberry.field(
        description="The input of the step, with secrets masked. Null if the step would not run or its input "
        "is not known yet."
    )
    def input(self, offset: Offset = START, limit_bytes: LimitBytes = USUAL) -> Payload | None:
        return payload_of(self.input_text, offset, limit_bytes)


@strawberry.type(description="What a resume or re-run would do, step by step.")
class ResumePreview:
    allowed: bool = strawberry.field(description="Whether the command would be accepted.")
    issues: list[Issue] = strawberry.field(description="Errors and warnings, including missing services.")
    steps: list[ResumePreviewStep] = strawberry.field(description="All steps, in order.")
    definition_changed: bool = strawberry.field(description="Whether the pipeline has a newer version than the run.")

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
