"""The catalog that ships, as routing sees it, without a server."""

from __future__ import annotations

import functools

import orjson

from catalog.routing.practice import offered
from catalog.search import Entry
from runner.definitions.starters import load_starters
from runner.packs.metadata import Metadata
from runner.packs.registry import builtins_folder, load_registry


@functools.cache
def shipped_entries() -> tuple[Entry[str], ...]:
    """Every pack and starter that ships and is offered, packs first, each known by its id."""
    registry = load_registry(builtins_folder(), entry_points=False)
    packs = [pack for name in registry.names() if (pack := registry.find(name)) is not None]
    found = [
        Entry(pack.name, pack.name, "pack", pack.name, pack.description, pack.metadata, pack.input_schema)
        for pack in packs
    ]
    for starter in load_starters(builtins_folder() / "pipelines", registry).starters:
        stored = orjson.loads(starter.heading.metadata_json)
        metadata = Metadata.model_validate({name: stored[name] for name in Metadata.model_fields if name in stored})
        pipeline_id = f"builtin.{starter.heading.key}"
        schema = orjson.loads(starter.definition.input_schema)
        heading = starter.heading
        found.append(Entry(pipeline_id, pipeline_id, "pipeline", heading.name, heading.description, metadata, schema))
    return tuple(offered(found))


def key_of(entry_id: str) -> str:
    """What the requests call an entry: a starter's key, a pack's name."""
    return entry_id.removeprefix("builtin.")
