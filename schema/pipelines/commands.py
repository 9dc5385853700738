"""Commands on pipelines: create, update, clone, delete, apply."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from enum import Enum
from typing import Annotated

import strawberry

from resolvers.applying import AppliedDocument, apply
from resolvers.pipelines.definitions import DefinitionText
from resolvers.pipelines.pipelines import SavedPipeline, clone, create, delete, update
from resolvers.triggers.documents import AppliedTrigger
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.issues import Issue
from schema.base.problems import (
    ConflictProblem,
    ForbiddenProblem,
    InvalidProblem,
    LimitedProblem,
    NotFoundProblem,
    UnavailableProblem,
    refusable,
)
from schema.base.scalars import Key
from schema.pipelines.definitions import PipelineChangeInput, PipelineDefinitionInput
from schema.pipelines.pipelines import Pipeline, get_pipeline_now
from schema.runs.commands import DeleteSuccess
from store.states import Scope


@strawberry.type(description="The pipeline was saved.")
class PipelineSuccess:
    pipeline: Pipeline = strawberry.field(description="The pipeline in its current state.")
    new_version: bool = strawberry.field(description="Whether a new version was created. False if nothing differed.")
    warnings: list[Issue] = strawberry.field(description="Warnings that did not prevent saving.")


@strawberry.enum(description="The effect of applying a document.")
class ApplyAction(Enum):
    CREATE = strawberry.enum_value("create", description="Creates a pipeline.")
    UPDATE = strawberry.enum_value("update", description="Creates a new version.")
    KEEP = strawberry.enum_value("keep", description="Changes nothing, because it is identical.")


@strawberry.enum(description="The effect of applying a document on a trigger.")
class ApplyTriggerAction(Enum):
    CREATE = strawberry.enum_value("create", description="Creates a trigger.")
    UPDATE = strawberry.enum_value("update", description="Changes it. Instants before the change no longer fire.")
    KEEP = strawberry.enum_value("keep", description="Changes nothing.")
    DELETE = strawberry.enum_value("delete", description="Deletes it with its firings, because the list lacks it.")


@strawberry.type(description="The change of one trigger made by a document.")
class TriggerChange:
    name: str = strawberry.field(description="Its name.")
    action: ApplyTriggerAction = strawberry.field(description="The effect of applying the document.")
    trigger_id: strawberry.ID | None = strawberry.field(description="Its id. Null if it does not exist yet.")
    secret: str | None = strawberry.field(
        description="The secret of a webhook that was created. It is not shown again. Otherwise null."
    )

    @classmethod
    def of(cls, applied: AppliedTrigger) -> "TriggerChange":
        return cls(
            name=applied.name,
            action=ApplyTriggerAction(applied.action),
            trigger_id=None if applied.trigger_id is None else strawberry.ID(applied.trigger_id),
            secret=applied.secret,
        )


@strawberry.type(description="The change made by one document.")
class PipelineChange:
    key: Key = strawberry.field(description="Key of the document.")
    action: ApplyAction = strawberry.field(description="The effect of applying it on the pipeline.")
    diff: str = strawberry.field(
        description="Unified diff of the YAML, or a remark if no line differs; then that of the triggers."
    )
    triggers: list[TriggerChange] = strawberry.field(
        description="The effect on the caller's triggers of the pipeline. Empty if the document has no `triggers`."
    )
    pipeline: Pipeline | None = strawberry.field(
        description="The pipeline in its current state. Null if it does not exist yet."
    )
    warnings: list[Issue] = strawberry.field(description="Warnings that do not prevent saving.")

    @classmethod
    async def of(cls, info: Info, applied: AppliedDocument) -> "PipelineChange":
        pipeline = None if applied.pipeline_id is None else await get_pipeline_now(info, applied.pipeline_id)
        return cls(
            key=Key(applied.key),
            action=ApplyAction(applied.action),
            diff=applied.diff,
            triggers=[TriggerChange.of(each) for each in applied.triggers],
            pipeline=pipeline,
            warnings=Issue.all(applied.warnings),
        )


@strawberry.type(description="The documents were applied, or would be if this was a dry run.")
class ApplyPipelinesSuccess:
    changes: list[PipelineChange] = strawberry.field(description="One change per document, in order.")


CreatePipelineResult = Annotated[
    PipelineSuccess | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("CreatePipelineResult", description="The result of createPipeline."),
]
UpdatePipelineResult = Annotated[
    PipelineSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("UpdatePipelineResult", description="The result of updatePipeline."),
]
ClonePipelineResult = Annotated[
    PipelineSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("ClonePipelineResult", description="The result of clonePipeline."),
]
DeletePipelineResult = Annotated[
    DeleteSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("DeletePipelineResult", description="The result of deletePipeline."),
]
ApplyPipelinesResult = Annotated[
    ApplyPipelinesSuccess | InvalidProblem | ConflictProblem | ForbiddenProblem | LimitedProblem | UnavailableProblem,
    strawberry.union("ApplyPipelinesResult", description="The result of applyPipelines."),
]


async def _saved(info: Info, saved: SavedPipeline) -> PipelineSuccess:
    return PipelineSuccess(
        pipeline=await get_pipeline_now(info, saved.pipeline_id),
        new_version=saved.new_version,
        warnings=Issue.all(saved.warnings),
    )


@strawberry.type
class PipelineMutations:
    @strawberry.mutation(
        description="Creates a pipeline with its first version.",
        directives=[Requires(scope=Scope.WRITE), published(create)],
    )
    @refusable
    async def create_pipeline(
        self,
        info: Info,
        definition: Annotated[
            PipelineDefinitionInput,
            strawberry.argument(description="The definition. Its `key` is derived from the name by default."),
        ],
        note: Annotated[str | None, strawberry.argument(description="Note about this version.")] = None,
    ) -> CreatePipelineResult | None:
        saved = await create(info.context.context, definition=definition.text(), note=note)
        return await _saved(info, saved)

    @strawberry.mutation(
        description="Creates a new version of a pipeline. Runs in progress keep their version.",
        directives=[Requires(scope=Scope.WRITE), published(update)],
    )
    @refusable
    async def update_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
        change: Annotated[PipelineChangeInput, strawberry.argument(description="The change.")],
        if_version: Annotated[
            int,
            strawberry.argument(
                description=("Number of the version that the change is based on. Refused if it is not the current one.")
            ),
        ],
        note: Annotated[str | None, strawberry.argument(description="Note about this version.")] = None,
    ) -> UpdatePipelineResult | None:
        definition = fields = None
        if isinstance(change.yaml, str):
            definition = DefinitionText(yaml=change.yaml)
        elif change.document is not strawberry.UNSET:
            definition = DefinitionText(document=change.document)  # type: ignore[arg-type] # the use case checks it
        else:
            fields = change.fields
        saved = await update(
            info.context.context,
            pipeline=pipeline,
            if_version=if_version,
            definition=definition,
            fields=fields,  # type: ignore[arg-type] # likewise
            note=note,
        )
        return await _saved(info, saved)

    @strawberry.mutation(
        description="Copies a pipeline, such as a starter, to a new one that the caller owns.",
        directives=[Requires(scope=Scope.WRITE), published(clone)],
    )
    @refusable
    async def clone_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
        key: Annotated[
            Key | None, strawberry.argument(description="Key of the copy. Derived from its name by default.")
        ] = None,
        name: Annotated[
            str | None, strawberry.argument(description="Name of the copy. Defaults to `Copy of …`.")
        ] = None,
    ) -> ClonePipelineResult | None:
        saved = await clone(info.context.context, pipeline=pipeline, key=key, name=name)
        return await _saved(info, saved)

    @strawberry.mutation(
        description="Deletes a pipeline, so that no new runs can be started. Runs in progress finish. Its "
        "versions and runs are kept, and its runs can still be resumed and re-run.",
        directives=[Requires(scope=Scope.WRITE), published(delete)],
    )
    @refusable
    async def delete_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
        confirm_key: Annotated[Key, strawberry.argument(description="The pipeline's key, as confirmation.")],
    ) -> DeletePipelineResult | None:
        deleted = await delete(info.context.context, pipeline=pipeline, confirm_key=confirm_key)
        return DeleteSuccess(deleted_id=strawberry.ID(deleted))

    @strawberry.mutation(
        description="Creates or updates pipelines and their triggers from YAML documents: all of them or none. "
        "Applying the same documents again changes nothing.",
        directives=[Requires(scope=Scope.WRITE), published(apply)],
    )
    @refusable
    async def apply_pipelines(
        self,
        info: Info,
        yaml: Annotated[str, strawberry.argument(description="YAML documents in the format of `packline export`.")],
        dry_run: Annotated[bool, strawberry.argument(description="Only show what would change.")] = False,
    ) -> ApplyPipelinesResult | None:
        applied = await apply(info.context.context, yaml=yaml, dry_run=dry_run)
        return ApplyPipelinesSuccess(changes=[await PipelineChange.of(info, document) for document in applied])
