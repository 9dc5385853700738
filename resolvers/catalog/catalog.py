"""The catalog: every pack and pipeline, searched by words and by what they accept and produce."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from catalog.routing.practice import offered
from catalog.search import Entry, EntryKind, Placed, by_kinds, placed, reduced
from resolvers.not_found import no_kind, no_pack
from resolvers.operations import operation
from resolvers.pipelines.lookups import lacks_of, lacks_of_version, read_metadata
from resolvers.query_limits import check_query_size
from resolvers.tools import Parameter, Tool
from runner.packs.availability import pack_requirements
from runner.packs.pack import Pack
from store.pipelines.reads import PipelineRecord, list_live_pipelines
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context
    from runner.packs.registry import SourceKind
    from store.database.paging import PageWindow

#: Best matches of a search by words that are checked for whether they can run on this server.
_CHECKED = 20
#: Factor on the score of an entry that cannot run on this server.
UNUSABLE_SHARE = 0.6

Found: TypeAlias = "Pack | PipelineRecord"


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """Filter of catalog entries; fields are joined by and.

    Attributes:
        text: Words; the best match comes first.
        accepts: Accepts one of these kinds.
        produces: Produces one of these kinds.
        source: Packs from this kind of source.
        usable: Only entries that can run on this server, or only those that cannot.
        practice: Only practice entries, or none of them. If None, a search finds those that its words name, and a plain
            list has all.
    """

    text: str | None = None
    kind: EntryKind | None = None
    accepts: tuple[str, ...] | None = None
    produces: tuple[str, ...] | None = None
    source: SourceKind | None = None
    usable: bool | None = None
    practice: bool | None = None

    @property
    def searches(self) -> bool:
        """Whether it searches rather than lists."""
        return bool((self.text or "").strip()) or self.accepts is not None or self.produces is not None


@operation(
    "pack",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Get a pack",
        description="Returns a pack with its input and output schema, external changes and whether it can run on "
        "this server.",
        name="get_pack",
        toolset="author",
        parameters={"id": Parameter(name="pack")},
    ),
)
async def find_pack(context: Context, *, pack: str) -> Pack | None:
    """Find the newest version of a pack, or note that it does not exist."""
    found = context.services.registry.find(pack)
    if found is None:
        context.note_miss(await no_pack(context, pack))
    return found


@operation(
    "catalog",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Search packs and pipelines",
        description="Searches packs and pipelines by words or by the kinds of data they accept and produce, best "
        "match first. Continue with get_pipeline and run_pipeline, or run_pack.",
        name="search_catalog",
        parameters={
            "text": Parameter(description="Search words, such as `slides from a web page`."),
            "source": Parameter(hidden=True),
        },
        when_empty="No pack or pipeline matches. Try other words or kinds; route_request names missing capabilities.",
    ),
)
async def search_catalog(context: Context, *, query: CatalogQuery) -> list[Placed[Found]]:
    """List all matching entries, best match first if there are words, else by name."""
    check_query_size(query)
    entries: list[Entry[Found]] = []
    if query.kind != "pipeline":
        entries += _packs(context, query.source)
    if query.kind != "pack" and query.source is None:
        entries += await _pipelines(context)
    _note_unknown_kinds(context, query, entries)
    if query.practice is not None:
        entries = [entry for entry in entries if entry.metadata.practice is query.practice]
    elif query.searches:
        entries = offered(entries, query.text)
    entries = by_kinds(entries, accepts=query.accepts, produces=query.produces)
    found = placed(entries, query.text)
    return await _usable_first(context, found) if query.usable is None else await _usable(context, found, query.usable)


def window_of(found: Sequence[Placed[Found]], window: PageWindow) -> list[Placed[Found]]:
    """Return the window's part of the results, and one more than it asks for if there are more, like the store."""
    part = [
        item
        for item in found
        if (window.after is None or item.place > window.after) and (window.before is None or item.place < window.before)
    ]
    return part[-window.limit - 1 :] if window.reverse else part[: window.limit + 1]


async def catalog_entries(context: Context) -> list[Entry[Found]]:
    """List every pack and pipeline, without their input schemas."""
    return [*_packs(context, None), *await _pipelines(context)]


def _note_unknown_kinds(context: Context, query: CatalogQuery, entries: Sequence[Entry[Found]]) -> None:
    asked = {*(query.accepts or ()), *(query.produces or ())}
    if asked:
        used = {kind for entry in entries for kind in (*entry.metadata.accepts, *entry.metadata.produces)}
        for kind in sorted(asked - used):
            if (miss := no_kind(kind, used)) is not None:
                context.note_miss(miss)


def _packs(context: Context, source: SourceKind | None) -> list[Entry[Found]]:
    registry = context.services.registry
    packs = [pack for name in registry.names() if (pack := registry.find(name)) is not None]
    return [_pack_entry(pack) for pack in packs if source is None or registry.source_of(pack).kind == source]


async def _pipelines(context: Context) -> list[Entry[Found]]:
    return [_pipeline_entry(pipeline) for pipeline in await list_live_pipelines(context.services.store)]


# Returns the same object until something changes, so that searches can cache what they derive from it.
@lru_cache(maxsize=1_024)
def _pack_entry(pack: Pack) -> Entry[Found]:
    return Entry(pack, pack.name, "pack", pack.name, pack.description, pack.metadata)


@lru_cache(maxsize=4_096)
def _pipeline_entry(pipeline: PipelineRecord) -> Entry[Found]:
    return Entry(
        pipeline,
        pipeline.id,
        "pipeline",
        pipeline.name,
        "\n".join((pipeline.description, pipeline.key, *(alias.name for alias in pipeline.aliases))).strip(),
        read_metadata(pipeline.metadata_json).metadata,
        aliases=(pipeline.key, *(alias.name for alias in pipeline.aliases)),
    )


async def _usable(context: Context, found: list[Placed[Found]], usable: bool) -> list[Placed[Found]]:
    pipelines = [item.entry.ref for item in found if isinstance(item.entry.ref, PipelineRecord)]
    lacks = await lacks_of(context, pipelines) if pipelines else {}

    def can_run(entry: Found) -> bool:
        return not (
            pack_requirements(entry, check=context.requirement_check()) if isinstance(entry, Pack) else lacks[entry.id]
        )

    return [item for item in found if can_run(item.entry.ref) is usable]


async def _usable_first(context: Context, found: list[Placed[Found]]) -> list[Placed[Found]]:
    """Move entries that cannot run on this server behind those that match nearly as well and can.

    Checks only the best matches; their versions are cached, so that a search needs no further reads.
    """
    near = [item for item in found[:_CHECKED] if item.place[0] < 0]
    weighed = [item if await _can_run(context, item.entry.ref) else reduced(item, UNUSABLE_SHARE) for item in near]
    return sorted([*weighed, *found[len(near) :]], key=lambda item: item.place)


async def _can_run(context: Context, entry: Found) -> bool:
    if isinstance(entry, Pack):
        return not pack_requirements(entry, check=context.requirement_check())
    version = await context.services.versions.get(context, entry)
    return not await lacks_of_version(context, version.record.id, version.body, entry.id)
