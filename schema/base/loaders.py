"""Batched reads of one operation: a page of a list needs one query per kind of object.

`resolvers.visible` defines what each returns and who may see it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from strawberry.dataloader import DataLoader

from resolvers import visible
from resolvers.artifacts import artifacts

if TYPE_CHECKING:
    from resolvers.context import Context
    from resolvers.visible import Batch

K = TypeVar("K")
V = TypeVar("V")


def _found(read: Batch[K, V]) -> cached_property[DataLoader[K, V | None]]:
    """Build a loader that returns None for a missing key."""

    def loader(loaders: Loaders) -> DataLoader[K, V | None]:
        async def load(keys: list[K]) -> list[V | None]:
            found = await read(loaders.context, keys)
            return [found.get(key) for key in keys]

        return DataLoader(load)

    return cached_property(loader)


def _of_each(read: Batch[K, V]) -> cached_property[DataLoader[K, V]]:
    """Build a loader for a read that returns a value for every key."""

    def loader(loaders: Loaders) -> DataLoader[K, V]:
        async def load(keys: list[K]) -> list[V]:
            found = await read(loaders.context, keys)
            return [found[key] for key in keys]

        return DataLoader(load)

    return cached_property(loader)


class Loaders:
    """The loaders of one operation, each created on first use and caching what it loaded."""

    def __init__(self, context: Context) -> None:
        self.context = context

    run = _found(visible.runs)
    run_payload = _found(visible.run_payloads)
    run_spending = _of_each(visible.run_spending)
    latest_run = _found(visible.latest_runs)
    newest_runs = _of_each(visible.newest_runs)
    queue_place = _found(visible.queue_places)
    takeovers = _of_each(visible.takeovers_of_runs)
    trigger = _found(visible.triggers)
    own_triggers = _of_each(visible.own_triggers)
    last_firing = _found(visible.last_firings)
    webhook_address = _found(visible.webhook_addresses)
    overlap_end = _found(visible.overlap_ends)
    delivery = _found(visible.deliveries)
    step = _found(visible.steps)
    steps = _of_each(visible.steps_of_runs)
    milestones = _found(visible.milestones)
    session = _found(visible.sessions_by_id)
    attempt = _found(visible.attempts)
    attempts = _of_each(visible.attempts_of_steps)
    attempt_payload = _found(visible.attempt_payloads)
    artifact = _found(visible.artifacts)
    artifacts_of_step = _of_each(visible.artifacts_of_steps)
    artifacts_of_attempt = _of_each(visible.artifacts_of_attempts)
    known_preview = _found(artifacts.known_previews)
    preview = _found(artifacts.made_previews)
    caller = _found(visible.callers)
    pipeline = _found(visible.pipelines)
    pipeline_usage = _of_each(visible.pipeline_usage)
    version = _found(visible.versions)
    current_version = _found(visible.current_versions)
    version_body = _found(visible.version_bodies)
    pack_usage = _of_each(visible.pack_usage)
