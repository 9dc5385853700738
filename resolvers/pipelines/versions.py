"""Pipelines and their versions as use cases look them up; versions never change, so their texts are kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import orjson

from resolvers.not_found import no_pipeline
from resolvers.problems import NotFound
from runner.definitions.background_compile import in_background_once, is_large
from runner.definitions.compatibility import misfits
from runner.definitions.definition_cache import definitions
from store.pipelines.reads import (
    PipelineRecord,
    VersionBody,
    VersionRecord,
    current_versions,
    find_bodies,
    find_pipeline,
    find_version,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context
    from runner.definitions.compiled import CompiledPipeline
    from runner.failures import JSONValue
    from runner.issues import Issue

#: Versions whose texts are kept in memory.
KEPT = 256
#: Versions of which is known what does not fit: mostly nothing. Lists ask of every pipeline there is.
_MISFITS_KEPT = 16_384


@dataclass(frozen=True, slots=True)
class Version:
    """A version with its texts."""

    record: VersionRecord
    body: VersionBody

    @property
    def input_schema(self) -> dict[str, JSONValue]:
        """JSON Schema of the run inputs, declared or derived."""
        return _schema(self.body.input_schema)

    async def compiled(self, context: Context) -> CompiledPipeline:
        """The definition, ready to run."""
        return await compiled(context, self.body.document, self.body.input_schema)


async def compiled(context: Context, document: str, input_schema: str | None) -> CompiledPipeline:
    """A stored definition, ready to run; a large one is compiled without holding up others.

    Raises:
        CompileError: it does not read.
    """
    return await definitions.get(context.caller.id, document, input_schema)


@lru_cache(maxsize=KEPT)
def _schema(text: str) -> dict[str, JSONValue]:
    schema: dict[str, JSONValue] = orjson.loads(text)
    return schema


class Versions:
    """Versions looked up lately, by pipeline and number."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Version] = {}
        self._misfits: dict[str, tuple[int, tuple[Issue, ...]]] = {}
        self._noting = Lock()  # those of large versions are noted in threads

    async def get(self, context: Context, pipeline: PipelineRecord, number: int | None = None) -> Version:
        """A version of a pipeline; the current one when no number is given.

        Raises:
            NotFound: it has no such version.
        """
        wanted = number if number is not None else pipeline.current_number
        key = (pipeline.id, wanted)
        if (kept := self._kept.get(key)) is not None:
            return kept
        record = await find_version(context.services.store, pipeline.id, wanted)
        if record is None:
            raise NotFound(
                "version",
                str(wanted),
                of=f"pipeline `{pipeline.key}`",
                hint=f"Its versions are 1 to {pipeline.current_number}.",
            )
        body = (await find_bodies(context.services.store, [record.id]))[record.id]
        return self._keep(Version(record, body))

    async def current(self, context: Context, pipelines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Version]:
        """The current versions of pipelines, given by id and current number; those not remembered are read at once."""
        kept = {key: version for key in pipelines if (version := self._kept.get(key)) is not None}
        if missing := [key for key in pipelines if key not in kept]:
            records = await current_versions(context.services.store, [pipeline_id for pipeline_id, _ in missing])
            bodies = await find_bodies(context.services.store, [record.id for record in records.values()])
            for key in missing:
                if (record := records.get(key[0])) is not None:
                    kept[key] = self._keep(Version(record, bodies[record.id]))
        return kept

    def _keep(self, version: Version) -> Version:
        if len(self._kept) >= KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[version.record.pipeline_id, version.record.number] = version
        return version

    async def misfits(
        self, context: Context, version_id: str, document: str, input_schema: str | None
    ) -> tuple[Issue, ...]:
        """What in a version is proved not to fit the packs there are now; see `runner.definitions.compatibility`.

        Found out once per version and state of the packs: it takes milliseconds, or a second where the definition is
        large, and starts ask each time. Lists ask of many at once, and hold up nobody.
        """
        registry = context.services.registry
        revision, known = registry.revision, self._misfits.get(version_id)
        if known is not None and known[0] == revision:
            return known[1]
        await asyncio.sleep(0)

        def find() -> tuple[Issue, ...]:
            return self._noted(version_id, revision, misfits(document, input_schema, registry))

        def found() -> tuple[Issue, ...] | None:
            known = self._misfits.get(version_id)
            return known[1] if known is not None and known[0] == revision else None

        if not is_large(document):
            return find()
        return await in_background_once(context.caller.id, (id(self), version_id, revision), found, find)

    def _noted(self, version_id: str, revision: int, found: tuple[Issue, ...]) -> tuple[Issue, ...]:
        with self._noting:
            if version_id not in self._misfits and len(self._misfits) >= _MISFITS_KEPT:
                self._misfits.pop(next(iter(self._misfits)))
            self._misfits[version_id] = (revision, found)
        return found


async def get_pipeline(context: Context, ref: str) -> PipelineRecord:
    """A pipeline by id, key or alias.

    Raises:
        NotFound: there is none; it tells the nearest key.
    """
    found = await find_pipeline(context.services.store, ref)
    if found is None:
        raise await no_pipeline(context, ref)
    return found
