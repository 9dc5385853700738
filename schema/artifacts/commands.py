"""Commands on artifacts."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import Annotated

import strawberry

from resolvers.artifacts.artifacts import pin, release
from schema.artifacts.artifacts import Artifact
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.problems import ConflictProblem, ForbiddenProblem, NotFoundProblem, refusable
from store.states import Scope


@strawberry.type(description="An artifact was changed.")
class ArtifactSuccess:
    artifact: Artifact = strawberry.field(description="The artifact as it is now.")


PinArtifactResult = Annotated[
    ArtifactSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("PinArtifactResult", description="What came of pinArtifact."),
]

ReleaseArtifactResult = Annotated[
    ArtifactSuccess | NotFoundProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("ReleaseArtifactResult", description="What came of releaseArtifact."),
]


@strawberry.type
class ArtifactMutations:
    @strawberry.mutation(
        description="Keeps an artifact for good, or lets it go with its run again.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def pin_artifact(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact.")],
        pinned: Annotated[bool, strawberry.argument(description="False lets it go.")] = True,
    ) -> PinArtifactResult:
        record = await pin(info.context.context, id=id, pinned=pinned)
        return ArtifactSuccess(artifact=Artifact.of(record))

    @strawberry.mutation(
        description="Lets an artifact out of quarantine, although it holds a secret the vault knows.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def release_artifact(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact.")],
    ) -> ReleaseArtifactResult:
        record = await release(info.context.context, id=id)
        return ArtifactSuccess(artifact=Artifact.of(record))
