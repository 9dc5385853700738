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


@strawberry.type(description="The artifact was changed.")
class ArtifactSuccess:
    artifact: Artifact = strawberry.field(description="The artifact in its current state.")


PinArtifactResult = Annotated[
    ArtifactSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("PinArtifactResult", description="The result of pinArtifact."),
]

ReleaseArtifactResult = Annotated[
    ArtifactSuccess | NotFoundProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("ReleaseArtifactResult", description="The result of releaseArtifact."),
]


@strawberry.type
class ArtifactMutations:
    @strawberry.mutation(
        description="Pins an artifact, which exempts it from automatic deletion, or removes the pin.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def pin_artifact(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact's id.")],
        pinned: Annotated[bool, strawberry.argument(description="False removes the pin.")] = True,
    ) -> PinArtifactResult | None:
        record = await pin(info.context.context, id=id, pinned=pinned)
        return ArtifactSuccess(artifact=Artifact.of(record))

    @strawberry.mutation(
        description="Releases an artifact from quarantine although it contains a secret from the vault.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def release_artifact(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact's id.")],
    ) -> ReleaseArtifactResult | None:
        record = await release(info.context.context, id=id)
        return ArtifactSuccess(artifact=Artifact.of(record))
