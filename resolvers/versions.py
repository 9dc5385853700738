"""Pipelines and their versions as use cases look them up; versions never change, so their texts are kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import orjson

from resolvers.lookups import no_pipeline
from resolvers.problems import NotFound
from runner.compiled import CompiledPipeline, compile_document
from store.pipeline_reads import (
    PipelineRecord,
    VersionBody,
    VersionRecord,
    find_bodies,
    find_pipeline,
    find_version,
)

if TYPE_CHECKING:
    from resolvers.context import Context
    from runner.failures import JSONValue

#: Versions whose texts are kept in memory.
KEPT = 256


@dataclass(frozen=True, slots=True)
class Version:
    """A version with its texts."""

    record: VersionRecord
    body: VersionBody

    @property
    def input_schema(self) -> dict[str, JSONValue]:
        """JSON Schema of the run inputs, declared or derived."""
        return _schema(self.body.input_schema)

    @property
    def compiled(self) -> CompiledPipeline:
        """The definition, ready to run."""
        return compile_document(self.body.document, self.body.input_schema)


@lru_cache(maxsize=KEPT)
def _schema(text: str) -> dict[str, JSONValue]:
    schema: dict[str, JSONValue] = orjson.loads(text)
    return schema


class Versions:
    """Versions looked up lately, by pipeline and number."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Version] = {}

    async def get(self, context: Context, pipeline: PipelineRecord, number: int | None = None) -> Version:
        """A version of a pipeline; the current one when no number is given.

        Raises:
            NotFound: it has no such version.
        """
        wanted = number if number is not None else pipeline.current_number
        key = (pipeline.id, wanted)
        if (kept := self._kept.get(key)) is not None:
            return kept
        async with context.services.store.read() as connection:
            record = await find_version(connection, pipeline.id, wanted)
        if record is None:
            raise NotFound(
                f"version of pipeline {pipeline.key}",
                str(wanted),
                hint=f"Its versions are 1 to {pipeline.current_number}.",
            )
        body = (await find_bodies(context.services.store, [record.id]))[record.id]
        version = Version(record, body)
        if len(self._kept) >= KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = version
        return version


async def get_pipeline(context: Context, ref: str) -> PipelineRecord:
    """A pipeline by id, key or alias.

    Raises:
        NotFound: there is none; it tells the nearest key.
    """
    found = await find_pipeline(context.services.store, ref)
    if found is None:
        raise await no_pipeline(context, ref)
    return found
