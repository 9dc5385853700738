"""Commands on pipelines: create, update, clone, delete, apply."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from enum import Enum
from typing import Annotated

import strawberry

from resolvers.pipelines.applying import AppliedDocument, apply
from resolvers.pipelines.definitions import DefinitionText
from resolvers.pipelines.pipelines import SavedPipeline, clone, create, delete, update
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.issues import Issue
from schema.base.problems import ConflictProblem, ForbiddenProblem, InvalidProblem, NotFoundProblem, refusable
from schema.base.scalars import Key
from schema.pipelines.definitions import PipelineChangeInput, PipelineDefinitionInput
from schema.pipelines.pipelines import Pipeline, get_pipeline_now
from schema.runs.commands import DeleteSuccess
from store.states import Scope


@strawberry.type(description="A pipeline was saved.")
class PipelineSuccess:
    pipeline: Pipeline = strawberry.field(description="The pipeline as it is now.")
    new_version: bool = strawberry.field(description="Whether a new version was made; false when nothing differed.")
    warnings: list[Issue] = strawberry.field(description="Things worth knowing.")


@strawberry.enum(description="What applying a document does.")
class ApplyAction(Enum):
    CREATE = strawberry.enum_value("create", description="Makes a pipeline.")
    UPDATE = strawberry.enum_value("update", description="Makes a new version.")
    KEEP = strawberry.enum_value("keep", description="Nothing: it is the same.")


@strawberry.type(description="What applying a document does.")
class PipelineChange:
    key: Key = strawberry.field(description="The document's key.")
    action: ApplyAction = strawberry.field(description="What is done.")
    diff: str = strawberry.field(
        description="The difference to what is stored, as a unified diff of YAML; a remark when no line shows it."
    )
    pipeline: Pipeline | None = strawberry.field(description="The pipeline as it is now; null while it does not exist.")
    warnings: list[Issue] = strawberry.field(description="Things worth knowing.")

    @classmethod
    async def of(cls, info: Info, applied: AppliedDocument) -> "PipelineChange":
        pipeline = None if applied.pipeline_id is None else await get_pipeline_now(info, applied.pipeline_id)
        return cls(
            key=Key(applied.key),
            action=ApplyAction(applied.action),
            diff=applied.diff,
            pipeline=pipeline,
            warnings=Issue.all(applied.warnings),
        )


@strawberry.type(description="Documents were applied, or would be.")
class ApplyPipelinesSuccess:
    changes: list[PipelineChange] = strawberry.field(description="One for each document, in order.")


CreatePipelineResult = Annotated[
    PipelineSuccess | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("CreatePipelineResult", description="What came of createPipeline."),
]
UpdatePipelineResult = Annotated[
    PipelineSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("UpdatePipelineResult", description="What came of updatePipeline."),
]
ClonePipelineResult = Annotated[
    PipelineSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("ClonePipelineResult", description="What came of clonePipeline."),
]
DeletePipelineResult = Annotated[
    DeleteSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("DeletePipelineResult", description="What came of deletePipeline."),
]
ApplyPipelinesResult = Annotated[
    ApplyPipelinesSuccess | InvalidProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("ApplyPipelinesResult", description="What came of applyPipelines."),
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
        description="Saves a new pipeline with its first version.",
        directives=[Requires(scope=Scope.WRITE), published(create)],
    )
    @refusable
    async def create_pipeline(
        self,
        info: Info,
        definition: Annotated[
            PipelineDefinitionInput,
            strawberry.argument(description="The definition; its `key` is made from the name when absent."),
        ],
        note: Annotated[str | None, strawberry.argument(description="About this version.")] = None,
    ) -> CreatePipelineResult:
        saved = await create(info.context.context, definition=definition.text(), note=note)
        return await _saved(info, saved)

    @strawberry.mutation(
        description="Saves a new version of a pipeline. Runs under way keep theirs.",
        directives=[Requires(scope=Scope.WRITE), published(update)],
    )
    @refusable
    async def update_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="Its id, key or alias.")],
        change: Annotated[PipelineChangeInput, strawberry.argument(description="The change.")],
        if_version: Annotated[
            int,
            strawberry.argument(
                description=(
                    "Number of the version the change was made from; refused when it is no longer the current one."
                )
            ),
        ],
        note: Annotated[str | None, strawberry.argument(description="About this version.")] = None,
    ) -> UpdatePipelineResult:
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
        description="Copies a pipeline, starters included, into one the caller owns.",
        directives=[Requires(scope=Scope.WRITE), published(clone)],
    )
    @refusable
    async def clone_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="Its id, key or alias.")],
        key: Annotated[
            Key | None, strawberry.argument(description="Key of the copy; made from its name when absent.")
        ] = None,
        name: Annotated[
            str | None, strawberry.argument(description="Name of the copy; `Copy of …` when absent.")
        ] = None,
    ) -> ClonePipelineResult:
        saved = await clone(info.context.context, pipeline=pipeline, key=key, name=name)
        return await _saved(info, saved)

    @strawberry.mutation(
        description="Deletes a pipeline: it cannot be started any more. Runs under way finish; its runs and versions "
        "stay, and its runs can be resumed and run again.",
        directives=[Requires(scope=Scope.WRITE), published(delete)],
    )
    @refusable
    async def delete_pipeline(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="Its id, key or alias.")],
        confirm_key: Annotated[Key, strawberry.argument(description="Its key once more; refused when it differs.")],
    ) -> DeletePipelineResult:
        deleted = await delete(info.context.context, pipeline=pipeline, confirm_key=confirm_key)
        return DeleteSuccess(deleted_id=strawberry.ID(deleted))

    @strawberry.mutation(
        description="Makes pipelines what the documents say, all or none; applying twice changes nothing.",
        directives=[Requires(scope=Scope.WRITE), published(apply)],
    )
    @refusable
    async def apply_pipelines(
        self,
        info: Info,
        yaml: Annotated[str, strawberry.argument(description="YAML documents as `packline export` writes them.")],
        dry_run: Annotated[bool, strawberry.argument(description="Only tell what would change.")] = False,
    ) -> ApplyPipelinesResult:
        applied = await apply(info.context.context, yaml=yaml, dry_run=dry_run)
        return ApplyPipelinesSuccess(changes=[await PipelineChange.of(info, document) for document in applied])
