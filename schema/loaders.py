"""Batched reads: whatever a page of a list needs of one kind is one query."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from resolvers.access import visible_to
from resolvers.artifacts import known_previews, made_previews
from schema.loading import Loader
from store.artifacts import ArtifactRecord, artifacts_of_attempts, artifacts_of_runs, find_artifacts
from store.callers import CallerRecord, find_callers
from store.lookups import NEAR
from store.pipeline_reads import (
    PipelineRecord,
    VersionBody,
    VersionRecord,
    current_versions,
    find_bodies,
    find_pipelines,
    find_versions,
)
from store.run_heads import find_run_by_id
from store.run_reads import RunPayload, RunRecord, find_payloads, find_runs, newest_runs
from store.sessions import SessionRecord, find_sessions
from store.spending import Spending, spending_of_runs, spending_of_steps
from store.start_reads import Ahead, queue_places
from store.step_reads import (
    AttemptPayload,
    AttemptRecord,
    StepRecord,
    attempt_payloads,
    attempts_of_steps,
    find_attempts,
    find_steps,
    milestones_of,
    steps_of_runs,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from resolvers.context import Context
    from resolvers.usage import Noun
    from schema.context import RequestContext
    from store.engine import ReadConnection, Store
    from store.previews import PreviewRecord
    from store.usage import Usage

V = TypeVar("V")


class Loaders:
    """One operation's loaders, made when first used; each remembers what it loaded."""

    def __init__(self, context: Context, operation: RequestContext) -> None:
        self._context = context
        self._at_once = operation if operation.at_once else None

    def _loader(
        self, read: Callable[[ReadConnection, Sequence[str]], Awaitable[Mapping[str, V]]]
    ) -> Loader[str, V | None]:
        store = self._context.services.store

        async def load(keys: list[str]) -> list[V | None]:
            async with store.read() as connection:
                found = await read(connection, keys)
            return [found.get(key) for key in keys]

        return Loader(load)

    def _lookup(
        self, find: Callable[[Store, Sequence[str]], Awaitable[Mapping[str, V]]], together: int = 1
    ) -> Loader[str, V | None]:
        """As `_loader`, for what is read by prepared statements."""
        store = self._context.services.store

        async def load(keys: list[str]) -> list[V | None]:
            found = await find(store, keys)
            return [found.get(key) for key in keys]

        return Loader(load, self._at_once, together)

    @cached_property
    def run(self) -> Loader[str, RunRecord | None]:
        """Runs the caller may see, by id."""
        only = visible_to(self._context)

        store = self._context.services.store

        async def load(ids: list[str]) -> list[RunRecord | None]:
            if len(ids) == 1:
                return [await find_run_by_id(store, ids[0], visible_to=only)]
            async with store.read() as connection:
                found = await find_runs(connection, ids, visible_to=only)
            return [found.get(run_id) for run_id in ids]

        return Loader(load, self._at_once)

    @cached_property
    def run_payload(self) -> Loader[str, RunPayload | None]:
        """Inputs of runs, by run id."""
        return self._lookup(find_payloads)

    @cached_property
    def latest_run(self) -> Loader[str, RunRecord | None]:
        """The newest run of a pipeline that the caller may see, by pipeline id."""
        only = visible_to(self._context)

        async def latest(connection: ReadConnection, ids: Sequence[str]) -> dict[str, RunRecord]:
            found = await newest_runs(connection, ids, 1, visible_to=only)
            return {key: run for key, (run,) in found.items()}

        return self._loader(latest)

    @cached_property
    def newest_runs(self) -> Loader[tuple[str, int], list[RunRecord]]:
        """So many of the newest runs of a pipeline that the caller may see, by pipeline id and number."""
        only = visible_to(self._context)
        store = self._context.services.store

        async def load(keys: list[tuple[str, int]]) -> list[list[RunRecord]]:
            most = max(each for _, each in keys)
            async with store.read() as connection:
                found = await newest_runs(connection, [key for key, _ in keys], most, visible_to=only)
            return [found.get(key, [])[:each] for key, each in keys]

        return Loader(load)

    @cached_property
    def queue_place(self) -> Loader[str, Ahead | None]:
        """How many queued runs are ahead of one, by run id."""
        return self._loader(queue_places)

    @cached_property
    def steps(self) -> Loader[str, list[StepRecord] | None]:
        """Steps of a run in order, by run id."""
        return self._lookup(steps_of_runs)

    @cached_property
    def step(self) -> Loader[str, StepRecord | None]:
        """Steps by id."""
        return self._lookup(find_steps)

    @cached_property
    def milestones(self) -> Loader[str, str | None]:
        """Milestones of a step as JSON text, by step id."""
        return self._lookup(milestones_of)

    @cached_property
    def attempts(self) -> Loader[str, list[AttemptRecord] | None]:
        """Attempts of a step in order, by step id."""
        return self._lookup(attempts_of_steps, NEAR)

    @cached_property
    def attempt(self) -> Loader[str, AttemptRecord | None]:
        """Attempts by id."""
        return self._lookup(find_attempts, NEAR)

    @cached_property
    def run_spending(self) -> Loader[str, Spending | None]:
        """What models of a run were paid for, by run id."""
        return self._loader(spending_of_runs)

    @cached_property
    def step_spending(self) -> Loader[tuple[str, str], Spending]:
        """What models of a step were paid for, by run id and step id."""
        store = self._context.services.store

        async def load(steps: list[tuple[str, str]]) -> list[Spending]:
            async with store.read() as connection:
                found = await spending_of_steps(connection, steps)
            return [found[step] for step in steps]

        return Loader(load)

    @cached_property
    def attempt_payload(self) -> Loader[str, AttemptPayload | None]:
        """Input and output of attempts, by attempt id."""
        return self._lookup(attempt_payloads)

    @cached_property
    def artifact(self) -> Loader[str, ArtifactRecord | None]:
        """Artifacts by id, whoever may see them: ask for those of runs the caller sees."""
        return self._lookup(find_artifacts)

    @cached_property
    def artifacts_of_run(self) -> Loader[str, list[ArtifactRecord] | None]:
        """Artifacts of a run, oldest first, by run id."""
        return self._lookup(artifacts_of_runs)

    @cached_property
    def artifacts_of_attempt(self) -> Loader[str, list[ArtifactRecord] | None]:
        """Artifacts of an attempt, oldest first, by attempt id."""
        return self._lookup(artifacts_of_attempts)

    @cached_property
    def known_preview(self) -> Loader[ArtifactRecord, PreviewRecord | None]:
        """How artifacts look as far as that is known, by artifact."""
        return self._previews(known_previews)

    @cached_property
    def preview(self) -> Loader[ArtifactRecord, PreviewRecord | None]:
        """How artifacts look, found out now if need be, by artifact; None when that takes longer than one waits."""
        return self._previews(made_previews)

    def _previews(
        self, read: Callable[[Context, Sequence[ArtifactRecord]], Awaitable[Mapping[str, PreviewRecord]]]
    ) -> Loader[ArtifactRecord, PreviewRecord | None]:
        async def load(artifacts: list[ArtifactRecord]) -> list[PreviewRecord | None]:
            found = await read(self._context, artifacts)
            return [found.get(artifact.digest) for artifact in artifacts]

        return Loader(load)

    @cached_property
    def session(self) -> Loader[str, SessionRecord | None]:
        """Sessions by id."""
        return self._loader(find_sessions)

    @cached_property
    def caller(self) -> Loader[str, CallerRecord | None]:
        """Callers by id."""
        return self._lookup(find_callers)

    @cached_property
    def pipeline(self) -> Loader[str, PipelineRecord | None]:
        """Pipelines by id, deleted ones too."""
        return self._lookup(find_pipelines, NEAR)

    @cached_property
    def version(self) -> Loader[str, VersionRecord | None]:
        """Pipeline versions by id."""
        return self._lookup(find_versions)

    @cached_property
    def current_version(self) -> Loader[str, VersionRecord | None]:
        """The version new runs use, by pipeline id."""
        return self._lookup(current_versions, NEAR)

    @cached_property
    def version_body(self) -> Loader[str, VersionBody | None]:
        """Texts of versions, by version id."""
        return self._lookup(find_bodies)

    @cached_property
    def pipeline_usage(self) -> Loader[str, Usage]:
        """How pipelines fared lately, by id."""
        return self._usage("pipeline")

    @cached_property
    def pack_usage(self) -> Loader[str, Usage]:
        """How packs fared lately, by name."""
        return self._usage("pack")

    def _usage(self, noun: Noun) -> Loader[str, Usage]:
        context = self._context

        async def load(names: list[str]) -> list[Usage]:
            found = await context.services.usage.of(context, noun, names)
            return [found[name] for name in names]

        return Loader(load)
