"""Batched reads: all that a page of a list needs of one kind is one query.

What belongs to runs comes from `resolvers.visible`, which leaves out what the caller may not see.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from strawberry.dataloader import DataLoader

from resolvers import visible
from resolvers.artifacts import known_previews, made_previews
from store.callers import CallerRecord, find_callers
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

    def __init__(self, context: Context) -> None:
        self._context = context

    def _visible(self, read: Callable[[Context, Sequence[K]], Awaitable[Mapping[K, V]]]) -> DataLoader[K, V | None]:
        """A loader of what belongs to runs, as far as the caller may see it; `read` is one of `resolvers.visible`."""

        async def load(keys: list[K]) -> list[V | None]:
            found = await read(self._context, keys)
            return [found.get(key) for key in keys]

        return DataLoader(load)

    def _lookup(self, find: Callable[[Store, Sequence[str]], Awaitable[Mapping[str, V]]]) -> DataLoader[str, V | None]:
        """A loader of what anybody may see."""
        store = self._context.services.store

        async def load(keys: list[str]) -> list[V | None]:
            found = await find(store, keys)
            return [found.get(key) for key in keys]

        return DataLoader(load)

    @cached_property
    def run(self) -> DataLoader[str, RunRecord | None]:
        """Runs by id."""
        return self._visible(visible.runs)

    @cached_property
    def run_payload(self) -> DataLoader[str, RunPayload | None]:
        """Inputs of runs, by run id."""
        return self._visible(visible.run_payloads)

    @cached_property
    def latest_run(self) -> DataLoader[str, RunRecord | None]:
        """The newest run of a pipeline, by pipeline id."""

        async def latest(context: Context, ids: Sequence[str]) -> dict[str, RunRecord]:
            found = await visible.newest_runs(context, ids, 1)
            return {key: run for key, (run,) in found.items()}

        return self._visible(latest)

    @cached_property
    def newest_runs(self) -> DataLoader[tuple[str, int], list[RunRecord]]:
        """So many of the newest runs of a pipeline, by pipeline id and number."""

        async def load(keys: list[tuple[str, int]]) -> list[list[RunRecord]]:
            most = max(each for _, each in keys)
            found = await visible.newest_runs(self._context, [key for key, _ in keys], most)
            return [found.get(key, [])[:each] for key, each in keys]

        return DataLoader(load)

    @cached_property
    def queue_place(self) -> DataLoader[str, Ahead | None]:
        """How many queued runs are ahead of one, by run id."""
        return self._visible(visible.queue_places)

    @cached_property
    def steps(self) -> DataLoader[str, list[StepRecord] | None]:
        """Steps of a run in order, by run id."""
        return self._visible(visible.steps_of_runs)

    @cached_property
    def step(self) -> DataLoader[str, StepRecord | None]:
        """Steps by id."""
        return self._visible(visible.steps)

    @cached_property
    def milestones(self) -> DataLoader[str, str | None]:
        """Milestones of a step as JSON text, by step id."""
        return self._visible(visible.milestones)

    @cached_property
    def attempts(self) -> DataLoader[str, list[AttemptRecord] | None]:
        """Attempts of a step in order, by step id."""
        return self._visible(visible.attempts_of_steps)

    @cached_property
    def attempt(self) -> DataLoader[str, AttemptRecord | None]:
        """Attempts by id."""
        return self._visible(visible.attempts)

    @cached_property
    def run_spending(self) -> DataLoader[str, Spending | None]:
        """What models of a run were paid for, by run id."""
        return self._visible(visible.run_spending)

    @cached_property
    def step_spending(self) -> DataLoader[tuple[str, str], Spending | None]:
        """What models of a step were paid for, by run id and step id."""
        return self._visible(visible.step_spending)

    @cached_property
    def attempt_payload(self) -> DataLoader[str, AttemptPayload | None]:
        """Input and output of attempts, by attempt id."""
        return self._visible(visible.attempt_payloads)

    @cached_property
    def artifact(self) -> DataLoader[str, ArtifactRecord | None]:
        """Artifacts by id."""
        return self._visible(visible.artifacts)

    @cached_property
    def artifacts_of_run(self) -> DataLoader[str, list[ArtifactRecord] | None]:
        """Artifacts of a run, oldest first, by run id."""
        return self._visible(visible.artifacts_of_runs)

    @cached_property
    def artifacts_of_attempt(self) -> DataLoader[str, list[ArtifactRecord] | None]:
        """Artifacts of an attempt, oldest first, by attempt id."""
        return self._visible(visible.artifacts_of_attempts)

    @cached_property
    def known_preview(self) -> DataLoader[ArtifactRecord, PreviewRecord | None]:
        """How artifacts look as far as that is known, by artifact."""
        return self._previews(known_previews)

    @cached_property
    def preview(self) -> DataLoader[ArtifactRecord, PreviewRecord | None]:
        """How artifacts look, found out now if need be, by artifact; None when that takes longer than one waits."""
        return self._previews(made_previews)

    def _previews(
        self, read: Callable[[Context, Sequence[ArtifactRecord]], Awaitable[Mapping[str, PreviewRecord]]]
    ) -> DataLoader[ArtifactRecord, PreviewRecord | None]:
        async def load(artifacts: list[ArtifactRecord]) -> list[PreviewRecord | None]:
            found = await read(self._context, artifacts)
            return [found.get(artifact.digest) for artifact in artifacts]

        return DataLoader(load)

    @cached_property
    def session(self) -> DataLoader[str, SessionRecord | None]:
        """Sessions by id."""
        return self._visible(visible.sessions_by_id)

    @cached_property
    def caller(self) -> DataLoader[str, CallerRecord | None]:
        """Callers by id."""
        return self._lookup(find_callers)

    @cached_property
    def pipeline(self) -> DataLoader[str, PipelineRecord | None]:
        """Pipelines by id, deleted ones too."""
        return self._lookup(find_pipelines)

    @cached_property
    def version(self) -> DataLoader[str, VersionRecord | None]:
        """Pipeline versions by id."""
        return self._lookup(find_versions)

    @cached_property
    def current_version(self) -> DataLoader[str, VersionRecord | None]:
        """The version new runs use, by pipeline id."""
        return self._lookup(current_versions)

    @cached_property
    def version_body(self) -> DataLoader[str, VersionBody | None]:
        """Texts of versions, by version id."""
        return self._lookup(find_bodies)

    @cached_property
    def pipeline_usage(self) -> DataLoader[str, Usage]:
        """How pipelines fared lately, by id."""
        return self._usage("pipeline")

    @cached_property
    def pack_usage(self) -> DataLoader[str, Usage]:
        """How packs fared lately, by name."""
        return self._usage("pack")

    def _usage(self, noun: Noun) -> DataLoader[str, Usage]:
        context = self._context

        async def load(names: list[str]) -> list[Usage]:
            found = await context.services.usage.of(context, noun, names)
            return [found[name] for name in names]

        return DataLoader(load)
