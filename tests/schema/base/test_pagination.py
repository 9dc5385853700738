"""Cursors, page arguments, pages and connections."""

from __future__ import annotations

import base64
import contextlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.base.cursors import EVENTS
from schema.base.masking import PublicError
from schema.base.pagination import CursorKind, PageArguments, decode_cursor, encode_cursor, page_of
from tests.support.graphql_app import Context, World, build_schema

RUNS = CursorKind("runs", (int, str), nullable=frozenset({0}))
schema = build_schema()


@given(st.integers(-(2**63) + 1, 2**63 - 1) | st.none(), st.text(max_size=80).filter(lambda text: "\0" not in text))
def test_a_cursor_gives_back_its_keys(number: int | None, text: str) -> None:
    cursor = RUNS.encode((number, text))
    assert RUNS.decode(cursor) == (number, text)
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def packed(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "%%%",
        "ä",
        "a",
        "AAAA",
        RUNS.encode((1, "a")) + "=",
        RUNS.encode((1, "a")) + "\n",
        encode_cursor("artifacts", (1, "a")),
        packed([2, "runs", 1, "a"]),
        packed([1, "runs", 1]),
        packed([1, "runs", 1, "a", 2]),
        packed([1, "runs", "1", "a"]),
        packed([1, "runs", True, "a"]),
        packed([1, "runs", 2**63, "a"]),
        packed([1, "runs", 1.5, "a"]),
        packed([1, "runs", 1, None]),
        packed([1, "runs", 1, ["a"]]),
        packed([1, "runs", 1, {"$ne": 1}]),
        packed([1, "runs", 1, "a\0"]),
        packed({"runs": 1}),
        packed([1, "runs", 1, "a" * 2000]),
    ],
)
def test_any_other_text_is_one_clean_error(cursor: str) -> None:
    with pytest.raises(PublicError, match="not a cursor of the list of runs") as caught:
        RUNS.decode(cursor)
    assert caught.value.code == "INVALID"


@given(st.text(max_size=200))
def test_no_text_makes_a_cursor_raise_anything_else(cursor: str) -> None:
    with contextlib.suppress(PublicError):
        decode_cursor("runs", cursor)


def test_the_first_fifty_unless_told_otherwise() -> None:
    assert PageArguments.parse(RUNS) == PageArguments(50)
    assert PageArguments.parse(RUNS, first=0).limit == 0
    assert PageArguments.parse(RUNS, first=100).limit == 100
    assert PageArguments.parse(RUNS, last=7) == PageArguments(7, reverse=True)
    assert PageArguments.parse(EVENTS).limit == 100
    assert PageArguments.parse(EVENTS, last=500).limit == 500
    after = PageArguments.parse(RUNS, first=2, after=RUNS.encode((5, "a")), before=RUNS.encode((9, "z")))
    assert (after.after, after.before) == ((5, "a"), (9, "z"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"first": 1, "last": 1}, "not both"),
        ({"first": -1}, "0 to 100"),
        ({"first": 101}, "`first` is 101"),
        ({"last": 101}, "`last` is 101"),
        ({"after": "x"}, "not a cursor"),
        ({"before": "x"}, "not a cursor"),
    ],
)
def test_arguments_that_ask_for_no_page(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(PublicError, match=message):
        PageArguments.parse(RUNS, **arguments)  # type: ignore[arg-type]


def test_a_page_keeps_the_order_of_the_list_whichever_way_it_was_read() -> None:
    forward = page_of([1, 2, 3], PageArguments(2), str)
    assert (forward.rows, forward.has_next_page, forward.has_previous_page) == ((1, 2), True, False)
    last = page_of([7, 8, 9], PageArguments(2, reverse=True), str)
    assert (last.rows, last.has_next_page, last.has_previous_page) == ((8, 9), False, True)
    middle = page_of([3, 4], PageArguments(2, after=(2,)), str)
    assert (middle.has_next_page, middle.has_previous_page) == (False, True)
    before = page_of([1, 2], PageArguments(2, before=(3,), reverse=True), str)
    assert (before.rows, before.has_next_page, before.has_previous_page) == ((1, 2), True, False)
    assert page_of([1], PageArguments(0), str).has_next_page


async def ask(world: World, query: str, **variables: object) -> dict[str, object]:
    result = await schema.execute(query, variables, Context(world, world.visitors["all"]))
    assert not result.errors, result.errors
    assert result.data is not None
    return result.data


WALK = """query ($first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  items(first: $first, after: $after, last: $last, before: $before) {
    nodes { number } edges { cursor node { number } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}"""


@pytest.mark.parametrize("size", [1, 3, 7, 10])
async def test_walking_either_way_meets_every_item_once_also_while_the_list_changes(size: int) -> None:
    world = World(items=list(range(0, 20, 2)))
    seen: list[int] = []
    after = None
    while True:
        page = (await ask(world, WALK, first=size, after=after))["items"]
        seen += [node["number"] for node in page["nodes"]]
        assert [edge["node"] for edge in page["edges"]] == page["nodes"]
        assert page["edges"][-1]["cursor"] == page["pageInfo"]["endCursor"]
        assert page["pageInfo"]["hasPreviousPage"] is (after is not None)
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
        world.items = sorted({*world.items, -len(seen)} - {seen[0]})  # behind the reader: shifts nothing
    assert seen == list(range(0, 20, 2))

    world = World(items=list(range(20)))
    backwards: list[int] = []
    before = None
    while True:
        page = (await ask(world, WALK, last=size, before=before))["items"]
        backwards = [node["number"] for node in page["nodes"]] + backwards
        if not page["pageInfo"]["hasPreviousPage"]:
            break
        before = page["pageInfo"]["startCursor"]
    assert backwards == list(range(20))


async def test_the_total_is_counted_only_when_asked_for() -> None:
    world = World()
    await ask(world, "{ items(first: 1) { nodes { number } } }")
    assert world.counted == 0
    assert await ask(world, "{ items(first: 0) { nodes { number } totalCount } }") == {
        "items": {"nodes": [], "totalCount": 200}
    }
    assert world.counted == 1


async def test_a_bad_cursor_reaches_the_client_as_one_error() -> None:
    world = World()
    context = Context(world, world.visitors["all"])
    result = await schema.execute('{ items(after: "nonsense") { nodes { number } } }', None, context)
    assert result.data is None
    assert [error.extensions for error in result.errors or []] == [{"code": "INVALID", "reason": "BAD_CURSOR"}]


def test_connections_are_named_after_their_nodes() -> None:
    printed = schema.as_str()
    for name in ("type ItemConnection {", "type ItemEdge {", "type PageInfo {", "edges: [ItemEdge!]!", "first: Int\n"):
        assert name in printed or name.replace("\n", ",") in printed, name
