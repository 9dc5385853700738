"""Cache of catalogs compiled for routing, rebuilt when a pack or pipeline changes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from catalog.routing.index import RoutingIndex
from runner.packs.pack import Pack
from runner.packs.schemas import pack_schemas
from store.pipelines.reads import PipelineRecord, current_versions, find_bodies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from catalog.search import Entry
    from runner.failures import JSONValue
    from runner.schemas.shapes import Schema
    from store.database.engine import Store

    Found: TypeAlias = "Pack | PipelineRecord"

#: Cached catalogs: the usual one, and those with practice entries that a request named.
_MAX_CACHED = 3


@dataclass(frozen=True, slots=True)
class CompiledCatalog:
    """The entries offered for a request, indexed.

    Attributes:
        index: Matches requests to entries.
        by_id: The entries, with their input schemas.
    """

    index: RoutingIndex[Found]
    by_id: dict[str, Entry[Found]]


class CompiledCatalogCache:
    """Bounded cache shared by all callers, since all may see every entry.

    It holds more than one catalog when requests name practice entries.
    """

    def __init__(self) -> None:
        self._cached: OrderedDict[tuple[object, ...], CompiledCatalog] = OrderedDict()
        self._compiling = asyncio.Lock()

    async def read(self, store: Store, entries: Sequence[Entry[Found]]) -> CompiledCatalog:
        """Return the compiled catalog of these entries.

        Args:
            store: Holds the input schemas of pipelines.
            entries: The packs and pipelines offered now.
        """
        stamp = tuple(_stamp(entry) for entry in entries)
        async with self._compiling:
            if stamp not in self._cached:
                schemas = await _pipeline_schemas(store, entries)
                self._cached[stamp] = await asyncio.to_thread(_compile, entries, schemas)
            self._cached.move_to_end(stamp)
            while len(self._cached) > _MAX_CACHED:
                self._cached.popitem(last=False)
            return self._cached[stamp]


def _stamp(entry: Entry[Found]) -> tuple[object, ...]:
    found = entry.ref
    if isinstance(found, Pack):
        return (found,)  # not its name and version: a file that was edited makes another pack with the same ones
    return (found.id, found.current_number, found.updated_at, found.metadata_json)


async def _pipeline_schemas(store: Store, entries: Sequence[Entry[Found]]) -> dict[str, str]:
    ids = [entry.id for entry in entries if isinstance(entry.ref, PipelineRecord)]
    versions = await current_versions(store, ids)
    bodies = await find_bodies(store, [version.id for version in versions.values()])
    return {pipeline_id: bodies[version.id].input_schema for pipeline_id, version in versions.items()}


def _compile(entries: Sequence[Entry[Found]], schemas: dict[str, str]) -> CompiledCatalog:
    whole = [
        replace(entry, input_schema=_object(pack_schemas(entry.ref).input))
        if isinstance(entry.ref, Pack)
        else replace(entry, input_schema=orjson.loads(schemas[entry.id]))
        for entry in entries
    ]
    return CompiledCatalog(RoutingIndex(whole), {entry.id: entry for entry in whole})


def _object(schema: Schema) -> Mapping[str, JSONValue]:
    return schema if isinstance(schema, dict) else {}
