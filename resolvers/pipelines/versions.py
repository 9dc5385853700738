"""Finds pipelines and their versions; versions never change, so they are cached."""

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

#: Cached versions.
CACHE_SIZE = 256
#: Versions with cached misfits, mostly none; more than pipelines, since lists check every pipeline.
_MISFITS_CACHE_SIZE = 16_384


@dataclass(frozen=True, slots=True)
class Version:
    """A version with its document and schema."""

    record: VersionRecord
    body: VersionBody

    @property
    def input_schema(self) -> dict[str, JSONValue]:
        """JSON Schema of the run inputs, declared or derived."""
        return _schema(self.body.input_schema)

    async def compiled(self, context: Context) -> CompiledPipeline:
        """Return the compiled definition."""
        return await compiled(context, self.body.document, self.body.input_schema)


async def compiled(context: Context, document: str, input_schema: str | None) -> CompiledPipeline:
    """Compile a stored definition; a large one without blocking others.

    Raises:
        CompileError: It cannot be read.
    """
    return await definitions.get(context.caller.id, document, input_schema)


@lru_cache(maxsize=CACHE_SIZE)
def _schema(text: str) -> dict[str, JSONValue]:
    schema: dict[str, JSONValue] = orjson.loads(text)
    return schema


class Versions:
    """Bounded cache of versions, by pipeline and number, and of their misfits."""

    def __init__(self) -> None:
        self._cached: dict[tuple[str, int], Version] = {}
        self._misfits: dict[str, tuple[int, tuple[Issue, ...]]] = {}
        self._lock = Lock()  # misfits of large versions are found in threads

    async def get(self, context: Context, pipeline: PipelineRecord, number: int | None = None) -> Version:
        """Get a version of a pipeline, by default the current one.

        Raises:
            NotFound: The pipeline has no version of that number.
        """
        wanted = number if number is not None else pipeline.current_number
        key = (pipeline.id, wanted)
        if (cached := self._cached.get(key)) is not None:
            return cached
        record = await find_version(context.services.store, pipeline.id, wanted)
        if record is None:
            newest = pipeline.current_number
            hint = "Its only version is 1." if newest == 1 else f"Its versions are 1 to {newest}."
            raise NotFound("version", str(wanted), of=f"pipeline `{pipeline.key}`", hint=hint)
        body = (await find_bodies(context.services.store, [record.id]))[record.id]
        return self._cache(Version(record, body))

    async def current(self, context: Context, pipelines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Version]:
        """Return the current versions of pipelines, given by id and current number; reads what is not cached."""
        cached = {key: version for key in pipelines if (version := self._cached.get(key)) is not None}
        if missing := [key for key in pipelines if key not in cached]:
            records = await current_versions(context.services.store, [pipeline_id for pipeline_id, _ in missing])
            bodies = await find_bodies(context.services.store, [record.id for record in records.values()])
            for key in missing:
                if (record := records.get(key[0])) is not None:
                    cached[key] = self._cache(Version(record, bodies[record.id]))
        return cached

    def _cache(self, version: Version) -> Version:
        if len(self._cached) >= CACHE_SIZE:
            self._cached.pop(next(iter(self._cached)))
        self._cached[version.record.pipeline_id, version.record.number] = version
        return version

    async def misfits(
        self, context: Context, version_id: str, document: str, input_schema: str | None
    ) -> tuple[Issue, ...]:
        """Find where a version does not fit the installed packs; see `runner.definitions.compatibility`.

        Cached per version and revision of the packs: it takes milliseconds, or a second for a large definition, and
        every start asks. Lists ask for many versions at once without blocking others.
        """
        registry = context.services.registry
        revision, known = registry.revision, self._misfits.get(version_id)
        if known is not None and known[0] == revision:
            return known[1]
        await asyncio.sleep(0)

        def find() -> tuple[Issue, ...]:
            return self._cache_misfits(version_id, revision, misfits(document, input_schema, registry))

        def found() -> tuple[Issue, ...] | None:
            known = self._misfits.get(version_id)
            return known[1] if known is not None and known[0] == revision else None

        if not is_large(document):
            return find()
        return await in_background_once(context.caller.id, (id(self), version_id, revision), found, find)

    def _cache_misfits(self, version_id: str, revision: int, found: tuple[Issue, ...]) -> tuple[Issue, ...]:
        with self._lock:
            if version_id not in self._misfits and len(self._misfits) >= _MISFITS_CACHE_SIZE:
                self._misfits.pop(next(iter(self._misfits)))
            self._misfits[version_id] = (revision, found)
        return found


async def get_pipeline(context: Context, ref: str) -> PipelineRecord:
    """Get a pipeline by id, key or alias.

    Raises:
        NotFound: It does not exist; the hint names the closest key.
    """
    found = await find_pipeline(context.services.store, ref)
    if found is None:
        raise await no_pipeline(context, ref)
    return found
