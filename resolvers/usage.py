"""Recent usage of packs and pipelines, cached briefly because each answer scans the runs."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from resolvers.permissions import visible_to
from store.pipelines.usage import Usage, usage_of_packs, usage_of_pipelines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from resolvers.context import Context

#: Runs of this many days count.
USAGE_DAYS = 30
#: How long an answer is cached.
CACHE_SECONDS = 30.0
_CACHE_SIZE = 10_000
NEVER = Usage(0, 0, None, None)

Noun = Literal["pack", "pipeline"]


class UsageCache:
    """Usage of packs by name and of pipelines by id, over the runs that the caller may see.

    Args:
        ticks: A monotonic clock, in seconds.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._cached: dict[tuple[Noun, str, str | None], tuple[float, Usage]] = {}

    async def of(self, context: Context, noun: Noun, names: Sequence[str]) -> dict[str, Usage]:
        """Return usage by name, with an entry for every name asked for."""
        now, only = self._ticks(), visible_to(context.caller)
        found = {
            name: known[1]
            for name in names
            if (known := self._cached.get((noun, name, only))) is not None and known[0] > now
        }
        missing = [name for name in names if name not in found]
        if missing:
            since = context.services.now() - timedelta(days=USAGE_DAYS)
            read = usage_of_packs if noun == "pack" else usage_of_pipelines
            fresh: Mapping[str, Usage] = await read(context.services.store, missing, since, visible_to=only)
            if len(self._cached) > _CACHE_SIZE:
                self._cached.clear()
            for name in missing:
                found[name] = fresh.get(name, NEVER)
                self._cached[(noun, name, only)] = (now + CACHE_SECONDS, found[name])
        return found
