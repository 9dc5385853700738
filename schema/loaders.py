"""Batched reads: all that a page of a list needs of one kind is one query.

What belongs to runs comes from `resolvers.visible`, which leaves out what the caller may not see.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from resolvers import visible
from resolvers.artifacts import known_previews, made_previews
from schema.loading import Loader
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

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from resolvers.context import Context
    from resolvers.usage import Noun
    from schema.context import RequestContext
    from store.artifacts import ArtifactRecord
    from store.engine import Store
    from store.previews import PreviewRecord
    from store.run_reads import RunPayload, RunRecord
    from store.sessions import SessionRecord
    from store.spending import Spending
    from store.start_reads import Ahead
    from store.step_reads import AttemptPayload, AttemptRecord, StepRecord
    from store.usage import Usage

K = TypeVar("K")
V = TypeVar("V")


class Loaders:
    """One operation's loaders, made when first used; each remembers what it loaded."""

    def __init__(self, context: Context, operation: RequestContext) -> None:
        self._context = context
        self._at_once = operation if operation.at_once else None

    def _visible(
        self,
        read: Callable[[Context, Sequence[K]], Awaitable[Mapping[K, V]]],
        together: int = 1,
        *,
        is_near: bool = True,
    ) -> Loader[K, V | None]:
        """A loader of what belongs to runs, as far as the caller may see it.

        Args:
            read: One of `resolvers.visible`.
            together: See `Loader`.
            is_near: Whether it is read by prepared statements, which mostly answer few keys without waiting.
        """

        async def load(keys: list[K]) -> list[V | None]:
            found = await read(self._context, keys)
            return [found.get(key) for key in keys]

        return Loader(load, self._at_once if is_near else None, together)

    def _lookup(
        self, find: Callable[[Store, Sequence[str]], Awaitable[Mapping[str, V]]], together: int = 1
    ) -> Loader[str, V | None]:
        """A loader of what anybody may see."""
        store = self._context.services.store

        async def load(keys: list[str]) -> list[V | None]:
            found = await find(store, keys)
            return [found.get(key) for key in keys]

        return Loader(load, self._at_once, together)

    @cached_property
    def run(self) -> Loader[str, RunRecord | None]:
        """Runs by id."""
        return self._visible(visible.runs)

    @cached_property
    def run_payload(self) -> Loader[str, RunPayload | None]:
        """Inputs of runs, by run id."""
        return self._visible(visible.run_payloads)

    @cached_property
    def latest_run(self) -> Loader[str, RunRecord | None]:
        """The newest run of a pipeline, by pipeline id."""

        async def latest(context: Context, ids: Sequence[str]) -> dict[str, RunRecord]:
            found = await visible.newest_runs(context, ids, 1)
            return {key: run for key, (run,) in found.items()}

        return self._visible(latest, is_near=False)

    @cached_property
    def newest_runs(self) -> Loader[tuple[str, int], list[RunRecord]]:
        """So many of the newest runs of a pipeline, by pipeline id and number."""

        async def load(keys: list[tuple[str, int]]) -> list[list[RunRecord]]:
            most = max(each for _, each in keys)
            found = await visible.newest_runs(self._context, [key for key, _ in keys], most)
            return [found.get(key, [])[:each] for key, each in keys]

        return Loader(load)

    @cached_property
    def queue_place(self) -> Loader[str, Ahead | None]:
        """How many queued runs are ahead of one, by run id."""
        return self._visible(visible.queue_places, is_near=False)

    @cached_property
    def steps(self) -> Loader[str, list[StepRecord] | None]:
        """Steps of a run in order, by run id."""
        return self._visible(visible.steps_of_runs)

    @cached_property
    def step(self) -> Loader[str, StepRecord | None]:
        """Steps by id."""
        return self._visible(visible.steps)

    @cached_property
    def milestones(self) -> Loader[str, str | None]:
        """Milestones of a step as JSON text, by step id."""
        return self._visible(visible.milestones)

    @cached_property
    def attempts(self) -> Loader[str, list[AttemptRecord] | None]:
        """Attempts of a step in order, by step id."""
        return self._visible(visible.attempts_of_steps, NEAR)

    @cached_property
    def attempt(self) -> Loader[str, AttemptRecord | None]:
        """Attempts by id."""
        return self._visible(visible.attempts, NEAR)

    @cached_property
    def run_spending(self) -> Loader[str, Spending | None]:
        """What models of a run were paid for, by run id."""
        return self._visible(visible.run_spending, is_near=False)

    @cached_property
    def step_spending(self) -> Loader[tuple[str, str], Spending | None]:
        """What models of a step were paid for, by run id and step id."""
        return self._visible(visible.step_spending, is_near=False)

    @cached_property
    def attempt_payload(self) -> Loader[str, AttemptPayload | None]:
        """Input and output of attempts, by attempt id."""
        return self._visible(visible.attempt_payloads)

    @cached_property
    def artifact(self) -> Loader[str, ArtifactRecord | None]:
        """Artifacts by id."""
        return self._visible(visible.artifacts)

    @cached_property
    def artifacts_of_run(self) -> Loader[str, list[ArtifactRecord] | None]:
        """Artifacts of a run, oldest first, by run id."""
        return self._visible(visible.artifacts_of_runs)

    @cached_property
    def artifacts_of_attempt(self) -> Loader[str, list[ArtifactRecord] | None]:
        """Artifacts of an attempt, oldest first, by attempt id."""
        return self._visible(visible.artifacts_of_attempts)

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
        return self._visible(visible.sessions_by_id, is_near=False)

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
