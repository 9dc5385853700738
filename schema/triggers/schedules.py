"""Schedules of triggers: their types, and what one would fire at before it is saved."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import Annotated

import strawberry

from resolvers.triggers.triggers import NEXT_MAX, preview_schedule
from runner.triggers.schedules import CATCH_UP_MAX, CatchUp, Overlap
from runner.triggers.schedules import Schedule as ScheduleRecord
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.enums import described_enum
from schema.base.issues import Issue
from store.states import Scope

NextCount = Annotated[int, strawberry.argument(description=f"How many; at most {NEXT_MAX}.")]

described_enum(
    Overlap,
    "What happens when a schedule fires while its last run has not ended.",
    {
        "SKIP": "No run is started.",
        "QUEUE": "One run waits for the end of the last one; further ones are skipped.",
        "CANCEL_PREVIOUS": "The last run is cancelled.",
    },
    name="OverlapPolicy",
)
described_enum(
    CatchUp,
    "What happens with instants at which no server was running.",
    {
        "NONE": "They are recorded as missed.",
        "LATEST": "A run is started for the latest one; the others are recorded as missed.",
        "ALL": "A run is started for each of the latest ones, up to `catchUpLimit`, one after the other.",
    },
    name="CatchUpPolicy",
)


@strawberry.type(description="When a trigger fires.")
class Schedule:
    cron: str | None = strawberry.field(description="The cron expression. Null for an interval.")
    interval_seconds: int | None = strawberry.field(description="The interval. Null for a cron expression.")
    time_zone: str = strawberry.field(description="IANA name of the time zone of the cron expression.")
    overlap: Overlap = strawberry.field(description="What happens when the last run has not ended.")
    catch_up: CatchUp = strawberry.field(description="What happens with instants at which no server was running.")
    catch_up_limit: int = strawberry.field(description="Most missed instants that `ALL` starts runs for.")

    @classmethod
    def of(cls, schedule: ScheduleRecord) -> "Schedule":
        return cls(
            cron=schedule.cron,
            interval_seconds=schedule.interval_seconds,
            time_zone=schedule.time_zone,
            overlap=schedule.overlap,
            catch_up=schedule.catch_up,
            catch_up_limit=schedule.catch_up_limit,
        )


@strawberry.input(description="When a trigger fires: by a cron expression, or at an interval.")
class ScheduleInput:
    cron: str | None = strawberry.field(
        default=None,
        description="Cron expression: five fields, six with seconds first, or `@yearly`, `@monthly`, `@weekly`, "
        "`@daily` or `@hourly`.",
    )
    interval_seconds: int | None = strawberry.field(default=None, description="Seconds between firings, at least 1.")
    time_zone: str = strawberry.field(default="UTC", description="IANA name of the time zone of the cron expression.")
    overlap: Overlap = strawberry.field(
        default=Overlap.SKIP, description="What happens when the last run has not ended."
    )
    catch_up: CatchUp = strawberry.field(
        default=CatchUp.LATEST, description="What happens with instants at which no server was running."
    )
    catch_up_limit: int = strawberry.field(
        default=CATCH_UP_MAX, description=f"Most missed instants that `ALL` starts runs for; 1 to {CATCH_UP_MAX}."
    )

    def record(self) -> ScheduleRecord:
        return ScheduleRecord(
            cron=self.cron,
            interval_seconds=self.interval_seconds,
            time_zone=self.time_zone,
            overlap=self.overlap,
            catch_up=self.catch_up,
            catch_up_limit=self.catch_up_limit,
        )


@strawberry.type(description="When a schedule would fire, or why it cannot be saved.")
class SchedulePreview:
    next_firings: list[datetime] = strawberry.field(
        description="The instants it would fire at next, if it were saved now. Empty if there are issues."
    )
    issues: list[Issue] = strawberry.field(description="What is wrong with it. Empty if it can be saved.")


@strawberry.type
class ScheduleQueries:
    @strawberry.field(
        description="The next instants of a schedule, before it is saved. Saves nothing.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def preview_schedule(
        self,
        info: Info,
        schedule: Annotated[ScheduleInput, strawberry.argument(description="The schedule.")],
        count: NextCount = 5,
    ) -> SchedulePreview:
        preview = await preview_schedule(info.context.context, schedule=schedule.record(), count=count)
        return SchedulePreview(next_firings=preview.instants, issues=Issue.all(preview.issues))
