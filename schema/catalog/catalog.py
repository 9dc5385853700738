"""Search in the catalog of packs and pipelines."""

# mypy: disallow-untyped-decorators=False
from enum import Enum
from typing import TYPE_CHECKING, Annotated, cast

import strawberry

from resolvers.catalog.catalog import CatalogQuery, Found, search_catalog, window_of
from runner.packs.pack import Pack as InstalledPack
from schema.base.catalog_entry import CatalogEntry
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.pagination import (
    MAX_TOTAL_COUNT,
    After,
    Before,
    Connection,
    CursorKind,
    First,
    Last,
    PageArguments,
    page_of,
)
from schema.packs.packs import Pack, PackSourceKind
from schema.pipelines.pipelines import Pipeline
from store.states import Scope

if TYPE_CHECKING:
    from catalog.search import EntryKind, Placed
    from runner.packs.registry import SourceKind

#: Rank, name in lower case, id; the rank depends on the search words.
_CATALOG = CursorKind("catalog", (int, str, str))


@strawberry.enum(description="Kinds of catalog entries.")
class CatalogKind(Enum):
    PACK = strawberry.enum_value("pack", description="Packs.")
    PIPELINE = strawberry.enum_value("pipeline", description="Pipelines.")


@strawberry.input(description="Filters for the catalog. All given fields must match.")
class CatalogFilter:
    text: str | None = strawberry.field(
        default=None,
        description="Words to search for in names, descriptions and metadata. Results are ordered by relevance.",
    )
    kind: CatalogKind | None = strawberry.field(default=None, description="Only packs or only pipelines.")
    accepts: list[str] | None = strawberry.field(
        default=None, description="Only entries that accept one of these kinds of data."
    )
    produces: list[str] | None = strawberry.field(
        default=None, description="Only entries that produce one of these kinds of data."
    )
    source: PackSourceKind | None = strawberry.field(default=None, description="Only packs from this kind of source.")
    usable: bool | None = strawberry.field(
        default=None, description="True: only entries that can run on this server. False: only those that cannot."
    )

    practice: bool | None = strawberry.field(
        default=None,
        description="True: only entries for practice. False: none of them. By default, a search includes "
        "them only if its text names them, and a plain list includes all.",
    )

    def query(self) -> CatalogQuery:
        return CatalogQuery(
            text=self.text,
            kind=None if self.kind is None else cast("EntryKind", self.kind.value),
            accepts=None if self.accepts is None else tuple(self.accepts),
            produces=None if self.produces is None else tuple(self.produces),
            source=None if self.source is None else cast("SourceKind", self.source.value),
            usable=self.usable,
            practice=self.practice,
        )


CatalogEntryConnection = Connection[CatalogEntry]


def entry_of(placed: "Placed[Found]") -> CatalogEntry:
    ref = placed.entry.ref
    return Pack.of(ref) if isinstance(ref, InstalledPack) else Pipeline.of(ref)


@strawberry.type
class CatalogQueries:
    @strawberry.field(
        description="Packs and pipelines, ordered by relevance if `text` is given, otherwise by name.",
        directives=[Requires(scope=Scope.READ), published(search_catalog)],
    )
    async def catalog(
        self,
        info: Info,
        filter: Annotated[
            CatalogFilter | None, strawberry.argument(description="Only entries that match the filter.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> CatalogEntryConnection:
        arguments = PageArguments.parse(_CATALOG, first=first, after=after, last=last, before=before)
        query = (filter or CatalogFilter()).query()
        found = await search_catalog(info.context.context, query=query)
        stretch = window_of(found, arguments.window)
        page = page_of(stretch, arguments, lambda item: _CATALOG.encode(item.place))

        async def count() -> int:
            return min(len(found), MAX_TOTAL_COUNT)

        return CatalogEntryConnection.of(page, entry_of, count)
