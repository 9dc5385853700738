"""How packs and pipelines fared here lately, remembered for a while: each answer is a pass over the runs."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from resolvers.permissions import visible_to
from store.pipelines.usage import Usage, usage_of_packs, usage_of_pipelines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from resolvers.context import Context

#: Over how long a time runs count.
USAGE_DAYS = 30
#: How long an answer holds.
REMEMBER_SECONDS = 30.0
_REMEMBERED = 10_000
NEVER = Usage(0, 0, None, None)

Noun = Literal["pack", "pipeline"]


class UsageBook:
    """Usage of packs by name and of pipelines by id, counted over the runs that the caller may see.

    Args:
        ticks: Seconds, monotonic.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._known: dict[tuple[Noun, str, str | None], tuple[float, Usage]] = {}

    async def of(self, context: Context, noun: Noun, names: Sequence[str]) -> dict[str, Usage]:
        """Usage of the last 30 days, by name; all those asked for are there."""
        now, only = self._ticks(), visible_to(context.caller)
        found = {
            name: known[1]
            for name in names
            if (known := self._known.get((noun, name, only))) is not None and known[0] > now
        }
        missing = [name for name in names if name not in found]
        if missing:
            since = context.services.now() - timedelta(days=USAGE_DAYS)
            read = usage_of_packs if noun == "pack" else usage_of_pipelines
            fresh: Mapping[str, Usage] = await read(context.services.store, missing, since, visible_to=only)
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            for name in missing:
                found[name] = fresh.get(name, NEVER)
                self._known[(noun, name, only)] = (now + REMEMBER_SECONDS, found[name])
        return found
