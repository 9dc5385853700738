"""Commands on runs: start, resume, re-run, cancel, acknowledge, delete."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import Annotated

import strawberry

from resolvers.permissions import readable_run
from resolvers.problems import NotFound
from resolvers.runs.idempotency import deleted_before_the_answer
from resolvers.runs.resuming import rerun_run, resume_run
from resolvers.runs.runs import acknowledge_run, cancel_run, delete_one_run
from resolvers.runs.starts import Started, run_pack, run_pipeline
from resolvers.runs.target import DefinitionChoice
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
    StartAt,
    StepInput,
    WaitSeconds,
    step_input_change,
)
from schema.runs.runs import Run
from store.states import Scope


@strawberry.type(description="The run was started, or could be started if this was a dry run.")
class StartRunSuccess:
    run: Run | None = strawberry.field(description="The run. Null for a dry run.")
    coalesced: bool = strawberry.field(
        description="Whether the caller already had the same run in progress, with the same version and "
        "inputs; that run is returned."
    )
    replayed: bool = strawberry.field(
        description="Whether an earlier call with the same idempotency key started the run."
    )
    warnings: list[Issue] = strawberry.field(description="Warnings that did not prevent the start.")


@strawberry.type(description="The command was accepted.")
class RunSuccess:
    run: Run = strawberry.field(description="The run in its current state.")


@strawberry.type(description="The object was deleted.")
class DeleteSuccess:
    deleted_id: strawberry.ID = strawberry.field(description="Id of the deleted object, for clearing caches.")


RunPipelineResult = Annotated[
    StartRunSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("RunPipelineResult", description="The result of runPipeline."),
]
RunPackResult = Annotated[
    StartRunSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("RunPackResult", description="The result of runPack."),
]
ResumeRunResult = Annotated[
    RunSuccess
    | NotFoundProblem
    | WrongStateProblem
    | InvalidProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("ResumeRunResult", description="The result of resumeRun."),
]
RerunRunResult = Annotated[
    StartRunSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | UnavailableProblem
    | LimitedProblem
    | ForbiddenProblem,
    strawberry.union("RerunRunResult", description="The result of rerunRun."),
]
CancelRunResult = Annotated[
    RunSuccess | NotFoundProblem | WrongStateProblem | ForbiddenProblem,
    strawberry.union("CancelRunResult", description="The result of cancelRun."),
]
AcknowledgeRunResult = Annotated[
    RunSuccess | NotFoundProblem | WrongStateProblem | ForbiddenProblem,
    strawberry.union("AcknowledgeRunResult", description="The result of acknowledgeRun."),
]
DeleteRunResult = Annotated[
    DeleteSuccess | NotFoundProblem | WrongStateProblem | ForbiddenProblem,
    strawberry.union("DeleteRunResult", description="The result of deleteRun."),
]


async def _started(info: Info, started: Started) -> StartRunSuccess:
    if started.run is not None:
        info.context.clear_loaders()
        run: Run | None = Run.of(started.run)
    else:
        try:
            run = None if started.run_id is None else await _run_now(info, started.run_id)
        except NotFound as gone:
            raise deleted_before_the_answer(gone.ref) from gone
    return StartRunSuccess(
        run=run, coalesced=started.coalesced, replayed=started.replayed, warnings=Issue.all(started.warnings)
    )


async def _run_now(info: Info, run_id: str) -> Run:
    """Load the run as the command left it, bypassing what an earlier command of the operation cached.

    Raises:
        NotFound: It has been deleted since.
    """
    info.context.clear_loaders()
    # Not through a loader, which would wait two turns of the event loop for other keys.
    return Run.of(await readable_run(info.context.context, run_id))


@strawberry.type
class RunMutations:
    @strawberry.mutation(
        description=(
            "Starts a run of a pipeline. If the caller already has a run with the same version and inputs in "
            "progress, returns that run."
        ),
        directives=[Requires(scope=Scope.RUN), published(run_pipeline)],
    )
    @refusable
    async def run_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
        inputs: Annotated[JSON, strawberry.argument(description="Inputs that match Pipeline.inputSchema.")] = JSON({}),  # noqa: B008
        from_memory: FromMemory = [],  # noqa: B006
        version: Annotated[
            int | None,
            strawberry.argument(description="Number of the version to run. Defaults to the current one."),
        ] = None,
        title: Annotated[
            str | None, strawberry.argument(description="Title of the run. Generated from the inputs by default.")
        ] = None,
        deadline_seconds: Annotated[
            float | None,
            strawberry.argument(
                description="Deadline of the run, in seconds. Defaults to that of the pipeline, or else the server."
            ),
        ] = None,
        force: Force = False,
        agent: AgentProfile = None,
        start_at: StartAt = None,
        wait_seconds: WaitSeconds = 0,
        idempotency_key: IdempotencyKey = None,
        dry_run: DryRun = False,
    ) -> RunPipelineResult | None:
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
                start_at=start_at,
                wait_seconds=wait_seconds,
                idempotency_key=idempotency_key,
                dry_run=dry_run,
            ),
        )

    @strawberry.mutation(
        description="Calls one pack. The call is recorded as a run with a single step.",
        directives=[Requires(scope=Scope.RUN), published(run_pack)],
    )
    @refusable
    async def run_pack(
        self,
        info: Info,
        pack: Annotated[
            strawberry.ID, strawberry.argument(description="The pack's id, which is its name, such as `web.scrape`.")
        ],
        input: Annotated[JSON, strawberry.argument(description="Input that matches Pack.inputSchema.")] = JSON({}),  # noqa: B008
        from_memory: FromMemory = [],  # noqa: B006
        version: Annotated[
            str | None, strawberry.argument(description="Version of the pack. Defaults to the version in use.")
        ] = None,
        force: Annotated[
            bool, strawberry.argument(description="Ignore cached results of the pack and replace them.")
        ] = False,
        start_at: StartAt = None,
        wait_seconds: WaitSeconds = 0,
        idempotency_key: IdempotencyKey = None,
        dry_run: DryRun = False,
    ) -> RunPackResult | None:
        return await _started(
            info,
            await run_pack(
                info.context.context,
                pack=pack,
                input=as_json(input),
                from_memory=from_memory,
                version=version,
                force=force,
                start_at=start_at,
                wait_seconds=wait_seconds,
                idempotency_key=idempotency_key,
                dry_run=dry_run,
            ),
        )

    @strawberry.mutation(
        description=(
            "Continues a run at the first step that has not succeeded, reusing the outputs of the succeeded "
            "steps. Run.resumePreview shows what would happen."
        ),
        directives=[Requires(scope=Scope.RUN), published(resume_run)],
    )
    @refusable
    async def resume_run(
        self,
        info: Info,
        id: Annotated[
            strawberry.ID, strawberry.argument(description="Id of the run, which must be FAILED or CANCELLED.")
        ],
        step_input: StepInput = strawberry.UNSET,
        inputs: Annotated[
            JSON | None,
            strawberry.argument(
                description="Run inputs to replace; the others keep their values. Inputs "
                "that a succeeded step has read cannot be replaced."
            ),
        ] = None,
        definition: ResumeDefinition = DefinitionChoice.OF_RUN,
        wait_seconds: WaitSeconds = 0,
    ) -> ResumeRunResult | None:
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
        description="Starts a new run with the same or changed inputs, from the first step or a later one.",
        directives=[Requires(scope=Scope.RUN), published(rerun_run)],
    )
    @refusable
    async def rerun_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="Id of the run to repeat.")],
        inputs: Annotated[
            JSON,
            strawberry.argument(description="Inputs to replace; the others keep their values. Null removes an input."),
        ] = JSON({}),  # noqa: B008
        from_memory: FromMemory = [],  # noqa: B006
        definition: RerunDefinition = DefinitionChoice.OF_RUN,
        from_step: FromStep = None,
        force: Force = False,
        agent: AgentProfile = None,
        wait_seconds: WaitSeconds = 0,
        idempotency_key: IdempotencyKey = None,
    ) -> RerunRunResult | None:
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
        description="Cancels a run. Answers immediately; the run stays CANCELLING until its steps have stopped.",
        directives=[Requires(scope=Scope.RUN), published(cancel_run)],
    )
    @refusable
    async def cancel_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
        reason: Annotated[
            str | None, strawberry.argument(description="Reason for cancelling, recorded with the run.")
        ] = None,
    ) -> CancelRunResult | None:
        run_id = await cancel_run(info.context.context, id=id, reason=reason)
        return RunSuccess(run=await _run_now(info, run_id))

    @strawberry.mutation(
        description="Marks a failed run as handled, so that it no longer needs attention.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def acknowledge_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
        acknowledged: Annotated[bool, strawberry.argument(description="False removes the mark.")] = True,
    ) -> AcknowledgeRunResult | None:
        run_id = await acknowledge_run(info.context.context, id=id, acknowledged=acknowledged)
        return RunSuccess(run=await _run_now(info, run_id))

    @strawberry.mutation(
        description="Deletes a run that has ended and its artifacts. Pinned artifacts are kept.",
        directives=[Requires(scope=Scope.WRITE)],
    )
    @refusable
    async def delete_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
    ) -> DeleteRunResult | None:
        run_id = await delete_one_run(info.context.context, id=id)
        return DeleteSuccess(deleted_id=strawberry.ID(run_id))
