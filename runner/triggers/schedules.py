"""Schedules: instants of a cron expression in a time zone, or of an interval. Pure functions over values.

Cron follows Debian's cron in the clock changes of a zone (`cronsim`): a daily job in the hour that occurs twice fires
once, one in the hour that is left out fires after it, and hourly jobs fire in each hour that passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

import orjson
from cronsim import CronSim, CronSimError

from runner.excerpts import excerpt
from runner.issues import Issue, error, nearest
from store.states import TriggerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.failures import JSONValue

#: Names of common expressions, as cron has them. cronsim takes only fields.
ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
#: Longest interval: a year.
INTERVAL_MAX_SECONDS = 366 * 86_400
#: Most instants after a downtime that are started.
CATCH_UP_MAX = 100
_EXPRESSION_CHARACTERS = 200
#: A schedule whose first firing is further away is a mistake.
FIRST_WITHIN = timedelta(days=10 * 366)


class Overlap(StrEnum):
    """What happens when the trigger's last run has not ended."""

    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


class CatchUp(StrEnum):
    """What happens with instants at which no server was running."""

    NONE = "none"
    LATEST = "latest"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a trigger fires; either `cron` or `interval_seconds` is set.

    Attributes:
        cron: Expression with five fields, six with seconds first, or a name such as `@daily`.
        time_zone: IANA name of the zone that `cron` is read in.
        anchor: The instant that an interval counts from; saving sets it.
        catch_up_limit: Most missed instants that `all` starts.
    """

    cron: str | None
    interval_seconds: int | None
    time_zone: str
    anchor: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    overlap: Overlap = Overlap.SKIP
    catch_up: CatchUp = CatchUp.LATEST
    catch_up_limit: int = CATCH_UP_MAX

    @classmethod
    def read(cls, settings: Mapping[str, JSONValue]) -> Schedule:
        """Read what `to_json` wrote."""
        return cls(
            cron=settings["cron"],  # type: ignore[arg-type] # written by `to_json`
            interval_seconds=settings["interval_seconds"],  # type: ignore[arg-type]
            time_zone=str(settings["time_zone"]),
            anchor=datetime.fromisoformat(str(settings["anchor"])),
            overlap=Overlap(str(settings["overlap"])),
            catch_up=CatchUp(str(settings["catch_up"])),
            catch_up_limit=int(str(settings["catch_up_limit"])),
        )

    def to_json(self) -> dict[str, JSONValue]:
        """Return the settings of a trigger with this schedule."""
        return {
            "cron": self.cron,
            "interval_seconds": self.interval_seconds,
            "time_zone": self.time_zone,
            "anchor": self.anchor.isoformat(),
            "overlap": self.overlap.value,
            "catch_up": self.catch_up.value,
            "catch_up_limit": self.catch_up_limit,
        }

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the instants after a moment, in order, aware UTC."""
        if self.interval_seconds is not None:
            step = timedelta(seconds=self.interval_seconds)
            following = self.anchor + ((moment - self.anchor) // step + 1) * step
            while True:
                yield following
                following += step
        yield from self._cron(moment)

    def until(self, moment: datetime) -> Iterator[datetime]:
        """Yield the instants up to and including a moment, the latest first, aware UTC."""
        if self.interval_seconds is not None:
            step = timedelta(seconds=self.interval_seconds)
            previous = self.anchor + ((moment - self.anchor) // step) * step
            while True:
                yield previous
                previous -= step
        # cronsim yields what lies before the second it is given.
        yield from self._cron(moment.replace(microsecond=0) + timedelta(seconds=1), reverse=True)

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first instant after a moment; None if there is none."""
        return next(self.after(moment), None)

    def _cron(self, moment: datetime, *, reverse: bool = False) -> Iterator[datetime]:
        assert self.cron is not None, "a schedule without an interval has an expression"
        expression = ALIASES.get(self.cron.strip().lower(), self.cron)
        for found in CronSim(expression, moment.astimezone(ZoneInfo(self.time_zone)), reverse=reverse):
            yield found.astimezone(UTC)


def schedule_of(kind: str, settings: str) -> Schedule | None:
    """Read the schedule in a trigger's settings, JSON; None for a trigger of another kind."""
    return Schedule.read(orjson.loads(settings)) if kind == TriggerKind.SCHEDULE else None


def check_schedule(schedule: Schedule, now: datetime) -> list[Issue]:
    """Find what is wrong with a schedule, such as an expression that never fires."""
    issues = []
    if (schedule.cron is None) == (schedule.interval_seconds is None):
        hint, excess = "Set one of them.", "cron" if schedule.cron is None else "intervalSeconds"
        issues.append(
            error(("schedule", excess), "one_of", "A schedule has either a cron expression or an interval.", hint)
        )
    if schedule.time_zone not in available_timezones():
        near = nearest(schedule.time_zone, available_timezones())
        message = f"There is no time zone `{excerpt(schedule.time_zone, 60)}`."
        hint = f"Did you mean `{near}`?" if near else "Use an IANA name, such as `Europe/Berlin`."
        issues.append(error(("schedule", "timeZone"), "unknown_zone", message, hint))
    if not 1 <= schedule.catch_up_limit <= CATCH_UP_MAX:
        message = f"The limit is {schedule.catch_up_limit}; use 1 to {CATCH_UP_MAX}."
        issues.append(error(("schedule", "catchUpLimit"), "out_of_range", message))
    interval = schedule.interval_seconds
    if interval is not None and not 1 <= interval <= INTERVAL_MAX_SECONDS:
        message = f"The interval is {interval} s; use 1 s to {INTERVAL_MAX_SECONDS} s."
        issues.append(error(("schedule", "intervalSeconds"), "out_of_range", message))
    return issues or _check_cron(schedule, now)


def next_instants(schedule: Schedule, moment: datetime, count: int) -> list[datetime]:
    """List the first instants after a moment."""
    return list(islice(schedule.after(moment), count))


def _check_cron(schedule: Schedule, now: datetime) -> list[Issue]:
    if schedule.cron is None:
        return []
    path, shown = ("schedule", "cron"), excerpt(schedule.cron, 60)
    never = error(path, "never_fires", f"`{shown}` never fires.", "Check the day and the month.")
    if len(schedule.cron) > _EXPRESSION_CHARACTERS:
        message = f"The expression has {len(schedule.cron)} characters; the limit is {_EXPRESSION_CHARACTERS}."
        return [error(path, "too_long", message)]
    try:
        first = schedule.next_after(now)
    except CronSimError as wrong:
        if _has_valid_fields(schedule.cron, now):
            return [never]
        if schedule.cron.strip().startswith("@"):
            message, hint = f"There is no schedule `{shown}`.", f"Use one of {', '.join(ALIASES)}."
        else:
            message = f"`{shown}` is not a cron expression: {str(wrong).lower()}."
            hint = "Write five fields, such as `30 6 * * MON-FRI`: minute, hour, day of month, month, day of week."
        return [error(path, "cron_syntax", message, hint)]
    if first is None:
        return [never]
    if first - now > FIRST_WITHIN:
        message = f"`{shown}` fires first on {first:%Y-%m-%d}, more than 10 years from now."
        return [error(path, "too_far", message, "Check the day, the month and the day of week.")]
    return []


def _has_valid_fields(expression: str, now: datetime) -> bool:
    """Whether only day and month together are wrong, as in 31 February: each is right beside any of the other."""
    fields = expression.split()
    if len(fields) not in (5, 6):
        return False
    for free in (-3, -2):
        try:
            CronSim(" ".join([*fields[:free], "*", *fields[free + 1 :]]), now)
        except CronSimError:
            return False
    return True
