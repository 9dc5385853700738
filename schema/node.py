"""Fetches any object by its id."""

# mypy: disallow-untyped-decorators=False
import asyncio
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.pipelines.lookups import find_listed_pipeline
from schema.access.audit import load_entry
from schema.access.callers import load_caller, load_token
from schema.access.credentials import load_credential
from schema.artifacts.artifacts import load_artifact
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.masking import PublicError
from schema.base.node_interface import Node
from schema.base.pagination import MAX_PAGE_SIZE
from schema.catalog.gaps import load_gap
from schema.memory.memory import load_memory
from schema.packs.packs import Pack
from schema.pipelines.pipelines import Pipeline, load_pipeline, load_version
from schema.runs.attempts import load_attempt
from schema.runs.runs import load_run
from schema.runs.steps import load_step
from schema.triggers.triggers import load_trigger
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_LOADERS: "dict[str, Callable[[Info, str], Awaitable[Node | None]]]" = {
    "pipe": load_pipeline,
    "pver": load_version,
    "run": load_run,
    "step": load_step,
    "att": load_attempt,
    "art": load_artifact,
    "call": load_caller,
    "tok": load_token,
    "cred": load_credential,
    "aud": load_entry,
    "gap": load_gap,
    "mem": load_memory,
    "trig": load_trigger,
}
#: Prefix of the ids of starters.
_STARTER = "builtin."


async def load_node(info: Info, id: str) -> Node | None:
    """Load an object by id; None if it does not exist or the caller may not see it."""
    if id.startswith(_STARTER):
        return await load_pipeline(info, id)
    if "." in id:
        pack = info.context.context.services.registry.find(id)
        return None if pack is None else Pack.of(pack)
    load = _LOADERS.get(id.partition("_")[0])
    return None if load is None else await load(info, id)


async def load_target(info: Info, ref: str) -> Node | None:
    """Load what a command's argument named: an id, or the key or alias of a pipeline."""
    found = await load_node(info, ref)
    if found is not None:
        return found
    pipeline = await find_listed_pipeline(info.context.context, ref)
    return None if pipeline is None else Pipeline.of(pipeline)


@strawberry.type
class NodeQueries:
    @strawberry.field(
        description="Fetches an object by id. Null if it does not exist or the caller may not see it.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def node(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The object's id.")],
    ) -> Node | None:
        return await load_node(info, id)

    @strawberry.field(
        description="Fetches objects by id, in the given order. Null for each one that does not exist or "
        "that the caller may not see.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def nodes(
        self,
        info: Info,
        ids: Annotated[list[strawberry.ID], strawberry.argument(description="Ids of the objects, at most 100.")],
    ) -> list[Node | None]:
        if len(ids) > MAX_PAGE_SIZE:
            raise PublicError(f"{len(ids)} ids are too many. Pass at most {MAX_PAGE_SIZE}.", "INVALID")
        return list(await asyncio.gather(*(load_node(info, id) for id in ids)))
