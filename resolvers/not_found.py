"""Names and keys that lead nowhere: what is told of them, and the closest there is.

A command that names something there is not is refused with what these make. A read answers null or nothing instead, and
notes it with `Context.missed`: GraphQL tells it in the answer's `extensions.notFound`, a tool of an agent is refused.
Ids are not compared: none is like another one by mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.metadata import kinds
from resolvers.problems import NotFound
from runner.issues import Hint, nearest
from runner.packs.registry import REPAIR
from store.pipelines.reads import find_pipeline, find_pipelines, list_pipeline_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from resolvers.context import Context


async def no_pipeline(context: Context, ref: str) -> NotFound:
    """There is no pipeline of that id, key or alias."""
    if (broken := context.services.registry.unloaded(ref)) is not None:
        return NotFound("pipeline", ref, hint=f"{broken.says(ref)} {REPAIR}")
    if context.services.registry.find(ref) is not None:
        return NotFound("pipeline", ref, hint=Hint(f"`{ref}` is a pack.", operation="run_pack"))
    return NotFound("pipeline", ref, suggestion=nearest(ref, await list_pipeline_names(context.services.store)))


async def pipeline_ids(context: Context, refs: Sequence[str]) -> tuple[str, ...]:
    """Ids of the pipelines that a filter names by id, key or alias, deleted ones by their id; else the reference."""
    store = context.services.store
    # First, since a deleted pipeline keeps its runs, and an alias may look like its id.
    by_id = await find_pipelines(store, refs)
    found = [None if ref in by_id else await find_pipeline(store, ref) for ref in refs]
    return tuple(ref if pipeline is None else pipeline.id for ref, pipeline in zip(refs, found, strict=True))


async def no_pack(context: Context, ref: str) -> NotFound:
    """There is no pack of that name, or none that could be loaded."""
    if (broken := context.services.registry.unloaded(ref)) is not None:
        return NotFound("pack", ref, message=broken.says(ref), hint=REPAIR)
    if await find_pipeline(context.services.store, ref) is not None:
        return NotFound("pack", ref, hint=Hint(f"`{ref}` is a pipeline.", operation="run_pipeline"))
    return NotFound("pack", ref, suggestion=nearest(ref, context.services.registry.names()))


async def no_target(context: Context, ref: str) -> NotFound:
    """There is neither a pack nor a pipeline called so."""
    if (broken := context.services.registry.unloaded(ref)) is not None:
        return NotFound("pack or pipeline", ref, message=broken.says(ref), hint=REPAIR)
    names = [*await list_pipeline_names(context.services.store), *context.services.registry.names()]
    return NotFound("pack or pipeline", ref, suggestion=nearest(ref, names))


def no_kind(ref: str, used: Iterable[str]) -> NotFound | None:
    """There is no such kind of thing to take or make; None when there is one.

    Args:
        ref: The kind asked for.
        used: Kinds that entries of the catalog name; those of users need not be in the vocabulary.
    """
    known = {*kinds(), *used}
    return None if ref in known else NotFound("kind", ref, suggestion=nearest(ref, sorted(known)))
