"""Decides what becomes of the instants of a schedule that are due. Pure functions over values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from runner.triggers.schedules import CatchUp

if TYPE_CHECKING:
    from datetime import datetime

    from runner.triggers.schedules import Schedule

#: An instant is late, and so one to catch up with, after this time.
LATE_AFTER = timedelta(seconds=60)
#: Most missed instants that get a row each; the earlier ones share one.
MISSED_MAX = 100


@dataclass(frozen=True, slots=True)
class Due:
    """What to do about a schedule that is due.

    Attributes:
        fire: Instants to start runs for, in order.
        caught_up: How many of them, the first ones, start whether or not the last run has ended.
        missed: Instants to record as missed, in order.
        also_missed_from: The first of the instants before those in `missed`, which are too many for a row each.
    """

    fire: tuple[datetime, ...]
    caught_up: int
    missed: tuple[datetime, ...]
    also_missed_from: datetime | None


def plan_due(schedule: Schedule, next_at: datetime, now: datetime) -> Due:
    """Decide about the instants from `next_at` to now, by the schedule's catch-up.

    Args:
        schedule: The schedule.
        next_at: The first instant that has not been dealt with.
        now: The store's clock, at or after `next_at`.
    """
    most = MISSED_MAX + schedule.catch_up_limit
    found = []
    for instant in islice(schedule.until(now), most + 1):
        if instant < next_at:
            break
        found.append(instant)
    due = found[most - 1 :: -1] if len(found) > most else found[::-1]
    earlier = next_at if len(found) > most else None
    late = sum(now - instant > LATE_AFTER for instant in due)
    match schedule.catch_up:
        case CatchUp.ALL:
            caught_up = min(late, schedule.catch_up_limit)
        case CatchUp.LATEST:
            caught_up = 1 if late == len(due) > 0 else 0
        case CatchUp.NONE:
            caught_up = 0
    # The others are on time: a busy server that is a few seconds late has missed nothing.
    split = late - caught_up
    # `all` asks for each of them, so that one may not displace the next.
    anyway = caught_up if schedule.catch_up is CatchUp.ALL else 0
    return Due(tuple(due[split:]), anyway, tuple(due[:split]), earlier)
