"""The models this server can use, and which serve each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.tools import Tool
from runner.gateway.listing import Choice, ModelKind, chain_of, choices
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context


@operation(
    "models",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="List models and voices",
        description="Lists text models, image models and voices, and whether this server can use them, for "
        "example for an input `voice` or `image_model`.",
        name="list_models",
    ),
)
async def list_models(context: Context, kinds: Sequence[ModelKind] | None = None) -> list[Choice]:
    """List text models and image models of the roles, and voices; those that cannot be used now say why."""
    return choices(context.services.engine.resources.gateway.roles, kinds)


@operation("model_roles", scope=Scope.READ, kind="query")
async def list_model_roles(context: Context) -> list[tuple[str, list[Choice]]]:
    """List each role with the models it resolves to now, in the order they are tried."""
    roles = context.services.engine.resources.gateway.roles
    return [(role, chain_of(roles, role)) for role in roles.names()]
