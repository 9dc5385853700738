"""Instants of schedules, and what becomes of those that are due."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.triggers.planning import MISSED_MAX, plan_due
from runner.triggers.schedules import ALIASES, CatchUp, Overlap, Schedule, check_schedule, next_instants

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
EXPRESSIONS = ["* * * * *", "*/7 * * * *", "30 2 * * *", "0 6 * * MON-FRI", "15 */3 * * *", "0 0 L * *", "@daily"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
MOMENTS = st.integers(0, 15 * 366 * 86_400).map(
    lambda seconds: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


def schedule(cron: str | None = None, interval: int | None = None, zone: str = "UTC", **more: Any) -> Schedule:
    return Schedule(cron, interval, zone, anchor=NOW, **more)


SCHEDULES = st.one_of(
    st.builds(schedule, st.sampled_from(EXPRESSIONS), st.none(), st.sampled_from(ZONES)),
    st.builds(schedule, st.none(), st.integers(1, 100_000)),
)


def test_a_daily_job_fires_once_in_the_hour_that_occurs_twice() -> None:
    berlin = schedule("30 2 * * *", zone="Europe/Berlin")
    found = next_instants(berlin, datetime(2026, 10, 24, 12, tzinfo=UTC), 2)
    assert found == [datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 26, 1, 30, tzinfo=UTC)]


def test_a_daily_job_in_the_hour_that_is_left_out_fires_after_it() -> None:
    berlin = schedule("30 2 * * *", zone="Europe/Berlin")
    assert next_instants(berlin, datetime(2026, 3, 28, 12, tzinfo=UTC), 1) == [datetime(2026, 3, 29, 1, tzinfo=UTC)]


def test_an_hourly_job_fires_in_each_hour_that_passes() -> None:
    berlin = schedule("@hourly", zone="Europe/Berlin")
    found = next_instants(berlin, datetime(2026, 10, 24, 22, 30, tzinfo=UTC), 5)
    assert found == [found[0] + timedelta(hours=hour) for hour in range(5)]


@pytest.mark.parametrize("name", ALIASES)
def test_each_name_is_an_expression(name: str) -> None:
    assert check_schedule(schedule(name.upper()), NOW) == []


@given(SCHEDULES, MOMENTS)
def test_instants_rise_and_lie_after_the_moment(wanted: Schedule, moment: datetime) -> None:
    found = next_instants(wanted, moment, 5)
    assert all(one < other for one, other in zip([moment, *found], found, strict=False))
    assert all(instant.tzinfo is UTC for instant in found)


@given(SCHEDULES, MOMENTS)
def test_stored_settings_read_back_as_the_same_schedule(wanted: Schedule, moment: datetime) -> None:
    wanted = replace(wanted, anchor=moment, overlap=Overlap.QUEUE, catch_up=CatchUp.ALL, catch_up_limit=7)
    assert Schedule.read(wanted.to_json()) == wanted


@given(st.integers(1, 5_000), MOMENTS, st.integers(0, 400_000))
def test_looking_back_finds_the_same_instants(seconds: int, start: datetime, span: int) -> None:
    wanted = schedule(None, seconds)
    end = start + timedelta(seconds=span)
    back = []
    for instant in islice(wanted.until(end), 50):
        if instant <= start:
            break
        back.append(instant)
    forward = [instant for instant in islice(wanted.after(start), span // seconds + 2) if instant <= end]
    assert back[::-1] == forward[-50:]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("zone", ZONES)
def test_looking_back_finds_the_same_instants_of_an_expression(expression: str, zone: str) -> None:
    """Away from the changes of the clocks, in which cron's rules only look forward."""
    wanted = schedule(expression, zone=zone)
    start, end = datetime(2026, 6, 1, 0, 0, 30, tzinfo=UTC), datetime(2026, 6, 2, 5, 0, tzinfo=UTC)
    forward = [instant for instant in islice(wanted.after(start), 2_000) if instant <= end]
    back = [instant for instant in islice(wanted.until(end), 2_000) if instant > start]
    assert back[::-1] == forward


@given(SCHEDULES, MOMENTS, st.integers(0, 100_000), st.sampled_from(CatchUp), st.integers(1, 100))
def test_no_due_instant_is_left_out_and_none_is_taken_twice(
    wanted: Schedule, start: datetime, late: int, catch_up: CatchUp, limit: int
) -> None:
    wanted = replace(wanted, catch_up=catch_up, catch_up_limit=limit)
    first = wanted.next_after(start)
    assert first is not None
    now = first + timedelta(seconds=late)
    due = plan_due(wanted, first, now)
    taken = [*due.missed, *due.fire]
    assert taken == sorted(set(taken))
    assert len(due.fire) <= limit + 61, "what is caught up with, and the instants of the last minute"
    assert len(due.missed) <= MISSED_MAX + limit
    assert taken[-1] == max(instant for instant in islice(wanted.until(now), 1))
    assert due.also_missed_from == (None if taken[0] == first else first)


@pytest.mark.parametrize(
    ("catch_up", "fired", "missed"), [(CatchUp.NONE, 0, 24), (CatchUp.LATEST, 1, 23), (CatchUp.ALL, 10, 14)]
)
def test_catch_up_decides_what_a_downtime_leaves(catch_up: CatchUp, fired: int, missed: int) -> None:
    hourly = schedule("@hourly", catch_up=catch_up, catch_up_limit=10)
    due = plan_due(hourly, NOW, NOW + timedelta(hours=23, minutes=30))
    assert (len(due.fire), len(due.missed), due.also_missed_from) == (fired, missed, None)


def test_a_server_that_is_a_few_seconds_late_misses_nothing() -> None:
    each_second = schedule(None, 1, catch_up=CatchUp.NONE)
    due = plan_due(each_second, NOW, NOW + timedelta(seconds=20))
    assert (len(due.fire), len(due.missed)) == (21, 0)


def test_the_limit_of_all_is_for_late_instants_alone() -> None:
    often = schedule(None, 5, catch_up=CatchUp.ALL, catch_up_limit=3)
    due = plan_due(often, NOW, NOW + timedelta(seconds=82))
    assert (len(due.missed), due.caught_up, len(due.fire)) == (2, 3, 15)


@pytest.mark.parametrize(("catch_up", "caught_up"), [(CatchUp.NONE, 0), (CatchUp.LATEST, 0), (CatchUp.ALL, 9)])
def test_only_late_instants_that_all_asks_for_are_free_of_the_overlap_rule(catch_up: CatchUp, caught_up: int) -> None:
    each_minute = schedule("* * * * *", catch_up=catch_up)
    due = plan_due(each_minute, NOW + timedelta(minutes=1), NOW + timedelta(minutes=10, seconds=30))
    assert due.caught_up == caught_up


def test_a_year_of_missed_seconds_takes_few_rows() -> None:
    due = plan_due(schedule(None, 1), NOW, NOW + timedelta(days=365))
    assert len(due.missed) + len(due.fire) == 200
    assert due.also_missed_from == NOW


@pytest.mark.parametrize(
    ("wrong", "rule", "says"),
    [
        (schedule("0 9 31 2 *"), "never_fires", "0 9 31 2 *"),
        (schedule("0 0 LW * */6"), "never_fires", "0 0 LW * */6"),
        (schedule("0 0 31 2,4,6,9,11 *"), "never_fires", "0 0 31 2,4,6,9,11 *"),
        (schedule("0 0 31 4 */2"), "never_fires", "0 0 31 4 */2"),
        (schedule("0 0 0 1 *"), "cron_syntax", "bad day-of-month"),
        (schedule("0 0 1 1 MON#6"), "cron_syntax", "bad day-of-week"),
        (schedule("0 0 1 1 \N{SUPERSCRIPT TWO}L"), "cron_syntax", "bad day-of-week"),
        (schedule("\N{FULLWIDTH DIGIT FIVE} * * * *"), "cron_syntax", "bad minute"),
        (schedule("*/0 * * * *"), "cron_syntax", "bad minute"),
        (schedule("0 0 1 1 * 2026"), "cron_syntax", "2026"),
        (schedule("0 0 0 1 1 * 2026"), "cron_syntax", "wrong number of fields"),
        (schedule(""), "cron_syntax", "wrong number of fields"),
        (schedule("* * * * \0"), "cron_syntax", "bad day-of-week"),
        (schedule("* * *"), "cron_syntax", "wrong number of fields"),
        (schedule("@fortnightly"), "cron_syntax", "@fortnightly"),
        (schedule("61 * * * *"), "cron_syntax", "bad minute"),
        (schedule("* " * 300), "too_long", "200"),
        (schedule("@daily", zone="Europe/Berlni"), "unknown_zone", "Europe/Berlni"),
        (schedule("@daily", zone="../../etc/passwd"), "unknown_zone", "passwd"),
        (schedule("@daily", zone=""), "unknown_zone", "``"),
        (schedule("@daily", zone="europe/berlin"), "unknown_zone", "europe/berlin"),
        (schedule("@daily", zone="Europe/Berlin\n"), "unknown_zone", "Europe/Berlin"),
        (schedule("@daily", zone="UTC+2"), "unknown_zone", "UTC+2"),
        (schedule("@daily", zone="x" * 10_000), "unknown_zone", "xxx"),
        (schedule("@daily", zone="\0"), "unknown_zone", "There is no time zone"),
        (schedule(None, 60, zone="Mars/Olympus"), "unknown_zone", "Mars/Olympus"),
        (schedule(), "one_of", "cron"),
        (schedule("@daily", 60), "one_of", "cron"),
        (schedule(None, 0), "out_of_range", "0 s"),
        (schedule(None, -1), "out_of_range", "-1 s"),
        (schedule(None, 10**9), "out_of_range", "1000000000 s"),
        (schedule(None, 2_000 * 366 * 86_400), "out_of_range", "63244800000 s"),
        (schedule(None, 10**30), "out_of_range", "s; use 1 s to"),
        (schedule("@daily", catch_up_limit=101), "out_of_range", "101"),
    ],
)
def test_a_wrong_schedule_is_named(wrong: Schedule, rule: str, says: str) -> None:
    (issue,) = check_schedule(wrong, NOW)
    assert issue.rule == rule
    assert says in issue.message


@given(st.text(alphabet="0123456789*/-,#?LWSUNMOJAN @\0\N{SUPERSCRIPT TWO}\N{FULLWIDTH DIGIT FIVE}", max_size=40))
def test_any_text_is_a_schedule_or_named(text: str) -> None:
    for issue in check_schedule(schedule(text, zone="Europe/Berlin"), NOW):
        assert issue.rule in ("cron_syntax", "never_fires", "too_far")


#: Expressions that are looked for longest: each field but one matches in a few days of a century.
RARE = ["0 0 29 2 */7", "59 59 23 29 2 */7", "0 0 1 1 MON#5", "0 0 * 2 MON#5", "* * 29 2 *", "0 0 L 2 */6"]


@pytest.mark.parametrize("expression", RARE)
@pytest.mark.parametrize("years", [-2_000, 2_000])
def test_a_clock_that_is_2000_years_off_finds_instants_and_few_rows(expression: str, years: int) -> None:
    wanted = schedule(expression, zone="America/New_York", catch_up=CatchUp.ALL)
    now = NOW.replace(year=NOW.year + years)
    assert all(issue.rule == "too_far" for issue in check_schedule(wanted, now))
    first = wanted.next_after(min(now, NOW))
    assert first is not None
    due = plan_due(wanted, first, max(now, NOW))
    assert 1 <= len(due.missed) + len(due.fire) <= 200
    following = wanted.next_after(due.fire[-1])
    assert following is None or following > due.fire[-1]


def test_a_schedule_that_first_fires_decades_from_now_is_refused() -> None:
    leap_day_on_a_sunday = schedule("0 0 29 2 */7")
    (issue,) = check_schedule(leap_day_on_a_sunday, datetime(2033, 1, 1, tzinfo=UTC))
    assert (issue.rule, "2060-02-29" in issue.message) == ("too_far", True)
