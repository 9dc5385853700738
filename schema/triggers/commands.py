"""Commands on triggers: create, update, pause, resume, fire, delete."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import Annotated

import strawberry

from resolvers.records import KEEP
from resolvers.triggers.triggers import TriggerChange, create, delete, fire, pause, resume, update
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.payloads import as_json
from schema.base.problems import (
    ConflictProblem,
    ForbiddenProblem,
    InvalidProblem,
    LimitedProblem,
    NotFoundProblem,
    UnavailableProblem,
    refusable,
)
from schema.base.scalars import JSON
from schema.runs.commands import DeleteSuccess
from schema.runs.runs import Run, load_run
from schema.triggers.run_ends import RunEndedInput
from schema.triggers.schedules import ScheduleInput
from schema.triggers.triggers import Trigger, changed_trigger
from store.states import Scope

TriggerId = Annotated[strawberry.ID, strawberry.argument(description="The trigger's id.")]


@strawberry.type(description="The trigger was saved.")
class TriggerSuccess:
    trigger: Trigger = strawberry.field(description="The trigger in its current state.")


@strawberry.type(description="The trigger fired.")
class FireTriggerSuccess:
    run: Run | None = strawberry.field(
        description="The run it started. Null if it belongs to the trigger's owner and the caller may not see it."
    )


CreateTriggerResult = Annotated[
    TriggerSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | LimitedProblem
    | UnavailableProblem
    | ForbiddenProblem,
    strawberry.union("CreateTriggerResult", description="The result of createTrigger."),
]
UpdateTriggerResult = Annotated[
    TriggerSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("UpdateTriggerResult", description="The result of updateTrigger."),
]
PauseTriggerResult = Annotated[
    TriggerSuccess | NotFoundProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("PauseTriggerResult", description="The result of pauseTrigger."),
]
ResumeTriggerResult = Annotated[
    TriggerSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("ResumeTriggerResult", description="The result of resumeTrigger."),
]
FireTriggerResult = Annotated[
    FireTriggerSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | LimitedProblem
    | UnavailableProblem
    | ForbiddenProblem,
    strawberry.union("FireTriggerResult", description="The result of fireTrigger."),
]
DeleteTriggerResult = Annotated[
    DeleteSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("DeleteTriggerResult", description="The result of deleteTrigger."),
]


@strawberry.type
class TriggerMutations:
    @strawberry.mutation(
        description="Creates a trigger that starts runs of a pipeline, owned by the caller. Its inputs are checked "
        "now and at each firing. Needs `run` as well.",
        directives=[Requires(scope=Scope.WRITE), published(create)],
    )
    @refusable
    async def create_trigger(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
        name: Annotated[str, strawberry.argument(description="Name for people.")],
        schedule: Annotated[
            ScheduleInput | None, strawberry.argument(description="When it fires. Give this or `runEnded`.")
        ] = None,
        run_ended: Annotated[
            RunEndedInput | None, strawberry.argument(description="The runs that it fires for when they end.")
        ] = None,
        inputs: Annotated[
            JSON | None,
            strawberry.argument(
                description="Inputs of its runs. Texts may contain `${{ trigger.scheduled_at }}`, or "
                "`${{ trigger.run.failure.message }}` and other fields of the run that ended."
            ),
        ] = None,
        version: Annotated[
            int | None,
            strawberry.argument(
                description="Pins a version. Defaults to the current one at each firing; on another caller's "
                "pipeline, to the current one now."
            ),
        ] = None,
        enabled: Annotated[bool, strawberry.argument(description="False: create it paused.")] = True,
    ) -> CreateTriggerResult | None:
        saved = await create(
            info.context.context,
            pipeline=pipeline,
            name=name,
            schedule=None if schedule is None else schedule.record(),
            run_ended=None if run_ended is None else run_ended.record(),
            inputs={} if inputs is None else as_json(inputs),
            version=version,
            enabled=enabled,
        )
        return TriggerSuccess(trigger=changed_trigger(info, saved))

    @strawberry.mutation(
        description="Changes a trigger. Instants before the change no longer fire.",
        directives=[Requires(scope=Scope.WRITE)],
    )
    @refusable
    async def update_trigger(
        self,
        info: Info,
        id: TriggerId,
        name: Annotated[str | None, strawberry.argument(description="The new name.")] = None,
        pipeline: Annotated[
            strawberry.ID | None,
            strawberry.argument(
                description="The pipeline it starts from now on: id, key or alias. Without `version`, a pinned version "
                "is no longer pinned; on another caller's pipeline, the current one is."
            ),
        ] = None,
        schedule: Annotated[ScheduleInput | None, strawberry.argument(description="The new schedule.")] = None,
        run_ended: Annotated[
            RunEndedInput | None, strawberry.argument(description="The runs that it fires for from now on.")
        ] = None,
        inputs: Annotated[JSON | None, strawberry.argument(description="The new inputs; they replace all.")] = None,
        version: Annotated[
            int | None,
            strawberry.argument(
                description="Pins another version. Null: the current one at each firing; on another caller's "
                "pipeline, the current one now."
            ),
        ] = strawberry.UNSET,
    ) -> UpdateTriggerResult | None:
        change = TriggerChange(
            name=name,
            pipeline=pipeline,
            version=KEEP if version is strawberry.UNSET else version,
            schedule=None if schedule is None else schedule.record(),
            run_ended=None if run_ended is None else run_ended.record(),
            inputs=as_json(inputs),
        )
        return TriggerSuccess(trigger=changed_trigger(info, await update(info.context.context, id=id, change=change)))

    @strawberry.mutation(
        description="Stops a trigger from firing until it is resumed. Its runs go on.",
        directives=[Requires(scope=Scope.WRITE), published(pause)],
    )
    @refusable
    async def pause_trigger(self, info: Info, id: TriggerId) -> PauseTriggerResult | None:
        return TriggerSuccess(trigger=changed_trigger(info, await pause(info.context.context, id=id)))

    @strawberry.mutation(
        description="Lets a paused trigger fire again. Instants that passed meanwhile do not fire. If its pipeline was "
        "deleted, it starts the owner's pipeline or the starter that has the key now.",
        directives=[Requires(scope=Scope.WRITE), published(resume)],
    )
    @refusable
    async def resume_trigger(self, info: Info, id: TriggerId) -> ResumeTriggerResult | None:
        return TriggerSuccess(trigger=changed_trigger(info, await resume(info.context.context, id=id)))

    @strawberry.mutation(
        description="Starts a run of a trigger now, as its owner, also when it is paused.",
        directives=[Requires(scope=Scope.RUN), published(fire)],
    )
    @refusable
    async def fire_trigger(self, info: Info, id: TriggerId) -> FireTriggerResult | None:
        run_id = await fire(info.context.context, id=id)
        info.context.clear_loaders()
        return FireTriggerSuccess(run=await load_run(info, run_id))

    @strawberry.mutation(
        description="Deletes a trigger with its firings. The runs it started are kept.",
        directives=[Requires(scope=Scope.WRITE), published(delete)],
    )
    @refusable
    async def delete_trigger(self, info: Info, id: TriggerId) -> DeleteTriggerResult | None:
        return DeleteSuccess(deleted_id=strawberry.ID(await delete(info.context.context, id=id)))
