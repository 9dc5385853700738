"""Commands on runs: start, resume, repeat, cancel, acknowledge, delete."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import Annotated

import strawberry

from resolvers.permissions import readable_run
from resolvers.runs.proposals import DefinitionChoice
from resolvers.runs.resuming import rerun_run, resume_run
from resolvers.runs.runs import acknowledge_run, cancel_run, delete_one_run
from resolvers.runs.starts import Started, run_pack, run_pipeline
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.issues import Issue
from schema.base.payloads import as_json
from schema.base.problems import (
    ConflictProblem,
    ForbiddenProblem,
    InvalidProblem,
    LimitedProblem,
    NotFoundProblem,
    UnavailableProblem,
    WrongStateProblem,
    refusable,
)
from schema.base.scalars import JSON
from schema.runs.arguments import (
    AgentProfile,
    DryRun,
    Force,
    FromMemory,
    FromStep,
    IdempotencyKey,
    RerunDefinition,
    ResumeDefinition,
    StepInput,
    WaitSeconds,
    step_input_change,
)
from schema.runs.runs import Run
from store.states import Scope


@strawberry.type(description="A run was started, or could be.")
class StartRunSuccess:
    run: Run | None = strawberry.field(description="The run; null for a dry run.")
    coalesced: bool = strawberry.field(
        description="Whether the caller had it under way already, with the same version and inputs."
    )
    replayed: bool = strawberry.field(
        description="Whether an earlier call with the same idempotency key had started it."
    )
    warnings: list[Issue] = strawberry.field(description="Things worth knowing.")


@strawberry.type(description="The command on a run was accepted.")
class RunSuccess:
    run: Run = strawberry.field(description="The run as it is now.")


@strawberry.type(description="Something is gone.")
class DeleteSuccess:
    deleted_id: strawberry.ID = strawberry.field(description="Id of what was deleted, for caches.")


RunPipelineResult = Annotated[
    StartRunSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("RunPipelineResult", description="What came of runPipeline."),
]
RunPackResult = Annotated[
    StartRunSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("RunPackResult", description="What came of runPack."),
]
ResumeRunResult = Annotated[
    RunSuccess
    | NotFoundProblem
    | WrongStateProblem
    | InvalidProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("ResumeRunResult", description="What came of resumeRun."),
]
RerunRunResult = Annotated[
    StartRunSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("RerunRunResult", description="What came of rerunRun."),
]
CancelRunResult = Annotated[
    RunSuccess | NotFoundProblem | WrongStateProblem | ForbiddenProblem,
    strawberry.union("CancelRunResult", description="What came of cancelRun."),
]
AcknowledgeRunResult = Annotated[
    RunSuccess | NotFoundProblem | WrongStateProblem | ForbiddenProblem,
    strawberry.union("AcknowledgeRunResult", description="What came of acknowledgeRun."),
]
DeleteRunResult = Annotated[
    DeleteSuccess | NotFoundProblem | WrongStateProblem | ForbiddenProblem,
    strawberry.union("DeleteRunResult", description="What came of deleteRun."),
]


async def _started(info: Info, started: Started) -> StartRunSuccess:
    if started.run is not None:
        info.context.fresh()
        run: Run | None = Run.of(started.run)
    else:
        run = None if started.run_id is None else await _run_now(info, started.run_id)
    return StartRunSuccess(
        run=run, coalesced=started.coalesced, replayed=started.replayed, warnings=Issue.all(started.warnings)
    )


async def _run_now(info: Info, run_id: str) -> Run:
    """Load the run as the command left it, bypassing what an earlier command of the operation cached.

    Raises:
        NotFound: It has been deleted since.
    """
    info.context.fresh()
    # Read by itself: a loader would wait two turns of the event loop for others to join it.
    return Run.of(await readable_run(info.context.context, run_id))


@strawberry.type
class RunMutations:
    @strawberry.mutation(
        description=(
            "Starts a run and answers at once, or after some seconds. The same start twice while one is under way "
            "leads to the same run."
        ),
        directives=[Requires(scope=Scope.RUN), published(run_pipeline)],
    )
    @refusable
    async def run_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="Its id, key or alias.")],
        inputs: Annotated[JSON, strawberry.argument(description="What Pipeline.inputSchema asks for.")] = JSON({}),  # noqa: B008
        from_memory: FromMemory = [],  # noqa: B006
        version: Annotated[
            int | None,
            strawberry.argument(description="Number of the version to run; the current one when absent."),
        ] = None,
        title: Annotated[
            str | None, strawberry.argument(description="Title of the run; made from the inputs when absent.")
        ] = None,
        deadline_seconds: Annotated[
            float | None,
            strawberry.argument(
                description="Deadline for this run, in seconds; the pipeline's or the server's when absent."
            ),
        ] = None,
        force: Force = False,
        agent: AgentProfile = None,
        wait_seconds: WaitSeconds = 0,
        idempotency_key: IdempotencyKey = None,
        dry_run: DryRun = False,
    ) -> RunPipelineResult:
        return await _started(
            info,
            await run_pipeline(
                info.context.context,
                pipeline=pipeline,
                inputs=as_json(inputs),
                from_memory=from_memory,
                version=version,
                title=title,
                deadline_seconds=deadline_seconds,
                force=force,
                agent=agent,
                wait_seconds=wait_seconds,
                idempotency_key=idempotency_key,
                dry_run=dry_run,
            ),
        )

    @strawberry.mutation(
        description="Calls a single pack; recorded like a run of one step.",
        directives=[Requires(scope=Scope.RUN), published(run_pack)],
    )
    @refusable
    async def run_pack(
        self,
        info: Info,
        pack: Annotated[strawberry.ID, strawberry.argument(description="Its name.")],
        input: Annotated[JSON, strawberry.argument(description="What Pack.inputSchema asks for.")] = JSON({}),  # noqa: B008
        from_memory: FromMemory = [],  # noqa: B006
        version: Annotated[
            str | None, strawberry.argument(description="Version to use; the one in use when absent.")
        ] = None,
        force: Annotated[
            bool, strawberry.argument(description="Take nothing from the pack's cache; it is filled anew.")
        ] = False,
        wait_seconds: WaitSeconds = 0,
        idempotency_key: IdempotencyKey = None,
        dry_run: DryRun = False,
    ) -> RunPackResult:
        return await _started(
            info,
            await run_pack(
                info.context.context,
                pack=pack,
                input=as_json(input),
                from_memory=from_memory,
                version=version,
                force=force,
                wait_seconds=wait_seconds,
                idempotency_key=idempotency_key,
                dry_run=dry_run,
            ),
        )

    @strawberry.mutation(
        description=(
            "Goes on in the same run at the first step that has not succeeded; outputs of succeeded steps are reused. "
            "See Run.resumePreview."
        ),
        directives=[Requires(scope=Scope.RUN), published(resume_run)],
    )
    @refusable
    async def resume_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run; FAILED or CANCELLED.")],
        step_input: StepInput = strawberry.UNSET,
        inputs: Annotated[
            JSON | None,
            strawberry.argument(description="Run inputs to replace, those alone; none that a succeeded step has read."),
        ] = None,
        definition: ResumeDefinition = DefinitionChoice.OF_RUN,
        wait_seconds: WaitSeconds = 0,
    ) -> ResumeRunResult:
        run_id = await resume_run(
            info.context.context,
            id=id,
            step_input=step_input_change(step_input),
            inputs=as_json(inputs),
            definition=definition,
            wait_seconds=wait_seconds,
        )
        return RunSuccess(run=await _run_now(info, run_id))

    @strawberry.mutation(
        description="Runs again: a new run with the same inputs or changed ones, from the first step or a later one.",
        directives=[Requires(scope=Scope.RUN), published(rerun_run)],
    )
    @refusable
    async def rerun_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run to repeat.")],
        inputs: Annotated[
            JSON, strawberry.argument(description="Inputs to replace, those alone; null removes one.")
        ] = JSON({}),  # noqa: B008
        from_memory: FromMemory = [],  # noqa: B006
        definition: RerunDefinition = DefinitionChoice.OF_RUN,
        from_step: FromStep = None,
        force: Force = False,
        agent: AgentProfile = None,
        wait_seconds: WaitSeconds = 0,
        idempotency_key: IdempotencyKey = None,
    ) -> RerunRunResult:
        return await _started(
            info,
            await rerun_run(
                info.context.context,
                id=id,
                inputs=as_json(inputs),
                from_memory=from_memory,
                definition=definition,
                from_step=from_step,
                force=force,
                agent=agent,
                wait_seconds=wait_seconds,
                idempotency_key=idempotency_key,
            ),
        )

    @strawberry.mutation(
        description="Stops a run. Answers at once; the run is CANCELLING until its steps have let go.",
        directives=[Requires(scope=Scope.RUN), published(cancel_run)],
    )
    @refusable
    async def cancel_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run.")],
        reason: Annotated[str | None, strawberry.argument(description="Why, kept with the run.")] = None,
    ) -> CancelRunResult:
        run_id = await cancel_run(info.context.context, id=id, reason=reason)
        return RunSuccess(run=await _run_now(info, run_id))

    @strawberry.mutation(
        description="Marks a failure as dealt with, so that it no longer needs attention.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def acknowledge_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run.")],
        acknowledged: Annotated[bool, strawberry.argument(description="False takes the mark off.")] = True,
    ) -> AcknowledgeRunResult:
        run_id = await acknowledge_run(info.context.context, id=id, acknowledged=acknowledged)
        return RunSuccess(run=await _run_now(info, run_id))

    @strawberry.mutation(
        description="Deletes a run that has ended, with its artifacts; pinned artifacts stay.",
        directives=[Requires(scope=Scope.WRITE)],
    )
    @refusable
    async def delete_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run.")],
    ) -> DeleteRunResult:
        run_id = await delete_one_run(info.context.context, id=id)
        return DeleteSuccess(deleted_id=strawberry.ID(run_id))
