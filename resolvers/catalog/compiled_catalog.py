"""The catalog ready to be compared with requests, made anew when a pack or pipeline changed."""

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

#: Catalogs that are kept: the one on offer, and those with what a few requests named.
_MOST_KEPT = 3


@dataclass(frozen=True, slots=True)
class ReadCatalog:
    """The catalog at one moment, as far as it is offered for a request.

    Attributes:
        index: What requests are compared with.
        by_id: Its entries, with their input schemas.
    """

    index: RoutingIndex[Found]
    by_id: dict[str, Entry[Found]]


class RoutingBook:
    """Keeps the last catalogs read; all callers share them, since all may see every entry.

    There is more than one where a request names what exists for practice.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], ReadCatalog] = OrderedDict()
        self._reading = asyncio.Lock()

    async def read(self, store: Store, entries: Sequence[Entry[Found]]) -> ReadCatalog:
        """The catalog of these entries.

        Args:
            store: Where pipelines' input schemas are.
            entries: The packs and pipelines on offer, as they are now.
        """
        stamp = tuple(_stamp(entry) for entry in entries)
        async with self._reading:
            if stamp not in self._known:
                schemas = await _pipeline_schemas(store, entries)
                self._known[stamp] = await asyncio.to_thread(_made, entries, schemas)
            self._known.move_to_end(stamp)
            while len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
            return self._known[stamp]


def _stamp(entry: Entry[Found]) -> tuple[object, ...]:
    found = entry.ref
    if isinstance(found, Pack):
        return (found.name, found.version)
    return (found.id, found.current_number, found.updated_at, found.metadata_json)


async def _pipeline_schemas(store: Store, entries: Sequence[Entry[Found]]) -> dict[str, str]:
    ids = [entry.id for entry in entries if isinstance(entry.ref, PipelineRecord)]
    versions = await current_versions(store, ids)
    bodies = await find_bodies(store, [version.id for version in versions.values()])
    return {pipeline_id: bodies[version.id].input_schema for pipeline_id, version in versions.items()}


def _made(entries: Sequence[Entry[Found]], schemas: dict[str, str]) -> ReadCatalog:
    whole = [
        replace(entry, input_schema=_object(pack_schemas(entry.ref).input))
        if isinstance(entry.ref, Pack)
        else replace(entry, input_schema=orjson.loads(schemas[entry.id]))
        for entry in entries
    ]
    return ReadCatalog(RoutingIndex(whole), {entry.id: entry for entry in whole})


def _object(schema: Schema) -> Mapping[str, JSONValue]:
    return schema if isinstance(schema, dict) else {}
