"""What the scalars take and send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from graphql import GraphQLError
from hypothesis import given
from hypothesis import strategies as st

from runner.json_values import MAX_KEPT_DEPTH
from schema.base.scalars import LONG_MAX, check_json, format_instant, parse_instant
from tests.support.graphql_app import Context, World, build_schema

schema = build_schema()


async def echo(argument: str, kind: str, value: object) -> tuple[object, str]:
    """What the server understood, and how it refused."""
    world = World()
    result = await schema.execute(
        f"query ($value: {kind}) {{ echo({argument}: $value) }}",
        {"value": value},
        Context(world, world.visitors["all"]),
    )
    if result.errors:
        return None, result.errors[0].message
    assert result.data is not None
    return result.data["echo"][argument], ""


async def literal(text: str) -> tuple[dict[str, object], str]:
    world = World()
    result = await schema.execute(f"{{ echo({text}) }}", None, Context(world, world.visitors["all"]))
    return (result.data or {}).get("echo", {}), result.errors[0].message if result.errors else ""


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ("2026-11-21T09:30:00Z", "2026-11-21T09:30:00+00:00"),
        ("2026-11-21t09:30:00z", "2026-11-21T09:30:00+00:00"),
        ("2026-11-21T09:30:00.125+02:00", "2026-11-21T07:30:00.125000+00:00"),
        ("2026-11-21T09:30:00.1234567-00:30", "2026-11-21T10:00:00.123456+00:00"),
    ],
)
async def test_moments_are_read_into_utc(written: str, understood: str) -> None:
    assert await echo("at", "DateTime", written) == (understood, "")


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-21T09:30:00",  # has no offset
        "2026-11-21",
        "2026-11-21 09:30:00Z",
        "2026-11-21T09:30Z",
        "2026-02-30T09:30:00Z",
        "2026-11-21T25:30:00Z",
        "2026-11-21T09:30:60Z",
        "2026-11-21T09:30:00+24:00",
        "2026-11-21T09:30:00Z ",
        "0001-01-01T00:00:00+01:00",
        "٢٠٢٦-11-21T09:30:00Z",
        "",
        0,
        1_700_000_000,
        True,
    ],
)
async def test_an_invalid_instant_is_refused_with_the_remedy(written: object) -> None:
    value, error = await echo("at", "DateTime", written)
    assert value is None
    assert "is not an instant. Use RFC 3339" in error or "is not a valid date and time" in error


def test_instants_are_written_in_utc_with_milliseconds() -> None:
    east = timezone(timedelta(hours=2))
    assert format_instant(datetime(2026, 11, 21, 9, 30, 0, 125_999, tzinfo=east)) == "2026-11-21T07:30:00.125Z"
    assert format_instant(datetime(2026, 11, 21, tzinfo=UTC)) == "2026-11-21T00:00:00.000Z"
    with pytest.raises(TypeError, match="no time zone"):
        format_instant(datetime(2026, 11, 21))  # noqa: DTZ001 - the point of the test


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_survives_to_the_millisecond(moment: datetime) -> None:
    assert parse_instant(format_instant(moment)) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@pytest.mark.parametrize("value", [0, -LONG_MAX, LONG_MAX, 5.0])
async def test_longs_go_up_to_what_every_client_keeps(value: float) -> None:
    assert await echo("long", "Long", value) == (int(value), "")


@pytest.mark.parametrize("value", [LONG_MAX + 1, -LONG_MAX - 1, 1.5, "12", True, 10**30, 1e300])
async def test_other_numbers_are_no_longs(value: object) -> None:
    understood, error = await echo("long", "Long", value)
    assert understood is None
    assert "2^53 - 1" in error


@pytest.mark.parametrize("value", ["a", "weekly-report", "a_1", "a" * 64])
async def test_keys(value: str) -> None:
    assert await echo("key", "Key", value) == (value, "")


@pytest.mark.parametrize("value", ["", "A", "1a", "a" * 65, "a b", "a\n", "ä", 7])
async def test_what_is_no_key_is_refused(value: object) -> None:
    understood, error = await echo("key", "Key", value)
    assert understood is None
    assert "not a key" in error


@pytest.mark.parametrize("value", [None, [], {}, "ä😀", 2**64 - 1, -(2**63), 1.5, {"a": [{"b": None}]}])
async def test_json_comes_back_as_it_was(value: object) -> None:
    assert await echo("json", "JSON", value) == (value, "")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (2**64, "64 bits"),
        ({"a": [-(2**63) - 1]}, "64 bits"),
        ("a\0b", "U+0000"),
        ({"a\0": 1}, "U+0000"),
        ({"a": "\ud800"}, "surrogate"),
        (float("nan"), "NaN"),
        (float("inf"), "NaN"),
    ],
)
async def test_json_that_could_not_be_kept_is_refused(value: object, reason: str) -> None:
    understood, error = await echo("json", "JSON", value)
    assert understood is None
    assert reason in error


def test_json_is_checked_without_recursion() -> None:
    deep: object = 0
    for _ in range(MAX_KEPT_DEPTH):
        deep = [deep]
    assert check_json(deep) is deep
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(GraphQLError, match="deeper than 200 levels"):
        check_json(deep)
    with pytest.raises(GraphQLError, match="not JSON"):
        check_json({"a": {1, 2}})


async def test_literals_follow_the_same_rules() -> None:
    said, error = await literal('json: {a: [1, 2.5, "x", true, null, E]}, long: 9007199254740991, key: "k"')
    assert error == ""
    assert said["json"] == {"a": [1, 2.5, "x", True, None, "E"]}
    assert said["long"] == LONG_MAX
    assert "U+0000" in (await literal('text: "a\\u0000b"'))[1]
    assert "U+0000" in (await literal('json: {a: ["\\u0000"]}'))[1]
    assert "not a key" in (await literal('key: "K"'))[1]
    assert "2^53" in (await literal("long: 9007199254740992"))[1]
    assert "2^53" in (await literal('long: "1"'))[1]
    assert "64 bits" in (await literal("json: 18446744073709551616"))[1]
    assert (await literal(f"json: {'1' * 5000}"))[1] != ""
    assert "is not an instant" in (await literal('at: "yesterday"'))[1]


async def test_variables_stand_inside_json_literals() -> None:
    world = World()
    query = "query ($a: Int, $b: String) { echo(json: {a: $a, list: [$b, 1]}) }"
    result = await schema.execute(query, {"a": 5, "b": "x"}, Context(world, world.visitors["all"]))
    assert result.data is not None, result.errors
    assert result.data["echo"]["json"] == {"a": 5, "list": ["x", 1]}
    result = await schema.execute(query, {"a": 5}, Context(world, world.visitors["all"]))
    assert result.data is not None, result.errors
    assert result.data["echo"]["json"] == {"a": 5, "list": [None, 1]}
    result = await schema.execute(query, {"b": "a\0"}, Context(world, world.visitors["all"]))
    assert "U+0000" in str(result.errors)


async def test_a_json_schema_is_an_object_or_a_boolean() -> None:
    assert await echo("schema", "JSONSchema", {"type": "object"}) == ({"type": "object"}, "")
    assert await echo("schema", "JSONSchema", False) == (False, "")
    assert "JSON Schema" in (await echo("schema", "JSONSchema", [1]))[1]
    assert "JSON Schema" in (await echo("schema", "JSONSchema", "object"))[1]


def test_the_scalars_print_as_the_house_rules_want() -> None:
    printed = schema.as_str()
    assert 'scalar DateTime @specifiedBy(url: "https://scalars.graphql.org/andimarek/date-time")' in printed
    assert 'scalar JSONSchema @specifiedBy(url: "https://json-schema.org/draft/2020-12/schema")' in printed
    for name in ("Cursor", "Long", "Key"):
        assert f'"""\nscalar {name}' in printed


@pytest.mark.parametrize(
    ("argument", "kind", "value", "told"),
    [
        ("at", "DateTime", True, "true is not an instant."),
        ("at", "DateTime", {"a": 1}, "an object with 1 fields is not an instant."),
        ("at", "DateTime", "2026-02-30T00:00:00Z", '"2026-02-30T00:00:00Z" is not a valid date and time.'),
        ("long", "Long", [1], "a list of 1 is not an integer"),
    ],
)
async def test_a_refused_value_is_shown_as_json_and_not_as_python(
    argument: str, kind: str, value: object, told: str
) -> None:
    assert told in (await echo(argument, kind, value))[1]
