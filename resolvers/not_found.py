"""Problems for names and keys that were not found, with the closest match.

A command raises the problem. A read returns null or an empty list and notes it with `Context.note_miss`: GraphQL
reports it in `extensions.notFound`, an MCP tool is refused. Ids get no suggestion, since similar ids mean nothing.
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
    """Make the problem for an unknown id, key or alias of a pipeline."""
    if (broken := context.services.registry.unloaded(ref)) is not None:
        return NotFound("pipeline", ref, hint=f"{broken.message_for(ref)} {REPAIR}")
    if context.services.registry.find(ref) is not None:
        return NotFound("pipeline", ref, hint=Hint(f"`{ref}` is a pack.", operation="run_pack"))
    return NotFound("pipeline", ref, suggestion=nearest(ref, await list_pipeline_names(context.services.store)))


async def pipeline_ids(context: Context, refs: Sequence[str]) -> tuple[str, ...]:
    """Resolve a filter's ids, keys and aliases to pipeline ids, deleted ones by id; keep what is not found as it is."""
    store = context.services.store
    # First, since a deleted pipeline keeps its runs, and an alias may look like its id.
    by_id = await find_pipelines(store, refs)
    found = [None if ref in by_id else await find_pipeline(store, ref) for ref in refs]
    return tuple(ref if pipeline is None else pipeline.id for ref, pipeline in zip(refs, found, strict=True))


async def no_pack(context: Context, ref: str) -> NotFound:
    """Make the problem for a pack that is unknown or could not be loaded."""
    if (broken := context.services.registry.unloaded(ref)) is not None:
        return NotFound("pack", ref, message=broken.message_for(ref), hint=REPAIR)
    if await find_pipeline(context.services.store, ref) is not None:
        return NotFound("pack", ref, hint=Hint(f"`{ref}` is a pipeline.", operation="run_pipeline"))
    return NotFound("pack", ref, suggestion=nearest(ref, context.services.registry.names()))


async def no_target(context: Context, ref: str) -> NotFound:
    """Make the problem for a name that neither a pack nor a pipeline has."""
    if (broken := context.services.registry.unloaded(ref)) is not None:
        return NotFound("pack or pipeline", ref, message=broken.message_for(ref), hint=REPAIR)
    names = [*await list_pipeline_names(context.services.store), *context.services.registry.names()]
    return NotFound("pack or pipeline", ref, suggestion=nearest(ref, names))


def no_kind(ref: str, used: Iterable[str]) -> NotFound | None:
    """Make the problem for a kind that nothing accepts or produces; None if the kind exists.

    Args:
        ref: The requested kind.
        used: Kinds named by catalog entries; those of users' packs may be outside the vocabulary.
    """
    known = {*kinds(), *used}
    return None if ref in known else NotFound("kind", ref, suggestion=nearest(ref, sorted(known)))
