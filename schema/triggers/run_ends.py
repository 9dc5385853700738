"""Triggers that fire when runs end: which runs they fire for."""

# mypy: disallow-untyped-decorators=False
import strawberry

from runner.triggers.run_ends import PIPELINES_MAX, RunEndedSettings, RunsOf
from schema.base.context import Info
from schema.base.enums import described_enum
from schema.pipelines.pipelines import Pipeline, load_pipeline
from schema.runs.states import RunState

described_enum(
    RunsOf,
    "Whose runs a trigger fires for when they end.",
    {
        "OWNER": "The runs of the trigger's owner.",
        "ALL": "The runs of all callers. Its owner needs `observe`, also whenever it fires for another caller's run.",
    },
)


@strawberry.type(description="Which runs a trigger fires for when they end.")
class RunEnded:
    states: list[RunState] = strawberry.field(description="How they end.")
    runs_of: RunsOf = strawberry.field(description="Whose they are.")
    settings: strawberry.Private[RunEndedSettings]

    @classmethod
    def of(cls, settings: RunEndedSettings) -> "RunEnded":
        return cls(states=list(settings.states), runs_of=settings.runs_of, settings=settings)

    @strawberry.field(
        description="Their pipelines, without deleted ones. Null: all pipelines but the one that the trigger starts."
    )
    async def pipelines(self, info: Info) -> list[Pipeline] | None:
        if not self.settings.pipelines:
            return None
        found = [await load_pipeline(info, pipeline_id) for pipeline_id in self.settings.pipelines]
        return [pipeline for pipeline in found if pipeline is not None]


@strawberry.input(description="Which runs a trigger fires for when they end. Runs of its own pipeline never fire it.")
class RunEndedInput:
    states: list[RunState] = strawberry.field(description="How they end: `SUCCEEDED`, `FAILED` or `CANCELLED`.")
    pipelines: list[strawberry.ID] | None = strawberry.field(
        default=None,
        description=f"Ids, keys or aliases of their pipelines, at most {PIPELINES_MAX}. Defaults to all but the one "
        "that the trigger starts.",
    )
    runs_of: RunsOf = strawberry.field(default=RunsOf.OWNER, description="Whose they are. `ALL` needs `observe`.")

    def record(self) -> RunEndedSettings:
        return RunEndedSettings(
            states=tuple(dict.fromkeys(self.states)), pipelines=tuple(self.pipelines or ()), runs_of=self.runs_of
        )
