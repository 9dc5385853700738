"""Models, voices and roles."""

# mypy: disallow-untyped-decorators=False
from enum import Enum
from typing import TYPE_CHECKING, Annotated, cast

import strawberry

from resolvers.server.models import list_model_roles, list_models
from runner.packs.availability import Requirement
from schema.base.context import Info
from schema.base.directives import Cost, Requires, published
from schema.base.issues import Availability
from store.states import Scope

if TYPE_CHECKING:
    from runner.gateway.listing import Choice
    from runner.gateway.listing import ModelKind as KindName


@strawberry.enum(description="What a model generates.")
class ModelKind(Enum):
    TEXT = strawberry.enum_value("text", description="Text.")
    IMAGE = strawberry.enum_value("image", description="Images.")
    VOICE = strawberry.enum_value("voice", description="Speech.")


@strawberry.type(description="A text model, image model or voice.")
class Model:
    key: str = strawberry.field(description="Name to pass as an input.")
    kind: ModelKind = strawberry.field(description="What the model generates.")
    name: str = strawberry.field(description="Display name.")
    provider: str = strawberry.field(description="Who provides the model.")
    labels: list[str] = strawberry.field(description="Properties such as language, style and size.")
    availability: Availability = strawberry.field(description="Whether the model can be used on this server.")

    @classmethod
    def of(cls, info: Info, choice: "Choice") -> "Model":
        missing = []
        if choice.missing is not None:
            missing = [Requirement.of("model", choice.key, choice.missing)]
        return cls(
            key=choice.key,
            kind=ModelKind(choice.kind),
            name=choice.name,
            provider=choice.provider,
            labels=list(choice.labels),
            availability=Availability.of(missing, info.context.context.services.now()),
        )


@strawberry.type(description="A role that models fill.")
class ModelRole:
    role: str = strawberry.field(description="Name of the role as packs use it, such as `writer`.")
    chain: list[Model] = strawberry.field(description="Models for the role, in the order they are tried.")


@strawberry.type
class ModelQueries:
    @strawberry.field(
        description=(
            "Text models, image models and voices, and whether the server can use them. Also available as MCP "
            "resources `packline://models`, `image-models` and `voices`."
        ),
        directives=[
            Requires(scope=Scope.READ),
            Cost(weight=20),
            published(list_models),
        ],
    )
    async def models(
        self,
        info: Info,
        kinds: Annotated[
            list[ModelKind] | None, strawberry.argument(description="Only models of these kinds. Defaults to all.")
        ] = None,
    ) -> list[Model]:
        wanted = None if kinds is None else [cast("KindName", kind.value) for kind in kinds]
        found = await list_models(info.context.context, kinds=wanted)
        return [Model.of(info, choice) for choice in found]

    @strawberry.field(
        description="Models for each role, in the order they are tried.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def model_roles(self, info: Info) -> list[ModelRole]:
        found = await list_model_roles(info.context.context)
        return [ModelRole(role=role, chain=[Model.of(info, choice) for choice in chain]) for role, chain in found]
