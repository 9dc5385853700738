"""What a document may ask for, and that finding out costs little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from graphql import get_introspection_query, parse

from schema.guard.limits import TOO_COMPLEX, RequestLimits, check_shape
from tests.support.effort import at_most
from tests.support.graphql_app import Context, World, build_schema

if TYPE_CHECKING:
    from strawberry.types import ExecutionResult

schema = build_schema()
LIMITS = RequestLimits()


async def execute(
    query: str, variables: dict[str, object] | None = None, operation: str | None = None
) -> ExecutionResult:
    world = World()
    context = Context(world, world.visitors["all"])
    return await schema.execute(query, variables, context, operation_name=operation)


def exceeded(result: ExecutionResult) -> str:
    """Which limit the refusal names."""
    assert result.data is None
    assert result.errors is not None
    assert len(result.errors) == 1
    extensions = result.errors[0].extensions or {}
    assert extensions["code"] == "QUERY_TOO_COMPLEX"
    return str(extensions["limit"])


def nested(depth: int) -> str:
    return "{ nodes(ids: []) { " + "beside(first: 1) { nodes { " * depth + "id" + " } }" * depth + " } }"


def chain(links: int, start: str = "hello") -> str:
    """Fragments that each spread the next one twice: 2^links fields, or none at all when the last one is unknown."""
    fragments = [f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(links)]
    return " ".join(["{ ...F0 }", *fragments, f"fragment F{links} on Query {{ {start} }}"])


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        (nested(10), "depth"),
        ("{ itemList { " + "id " * 401 + "} }", "fields"),
        ("{ itemList { " + " ".join(f"a{n}: id" for n in range(41)) + " } }", "aliases"),
        ("{ " + " ".join(f"hello{'@skip(if:false)' * 0}" for _ in range(21)) + " }", "roots"),
        (
            "{ ...A ...B } fragment A on Query {" + " hello" * 11 + "} fragment B on Query {" + " hello" * 11 + "}",
            "roots",
        ),
        ("{ hello " + "@skip(if: false) " * 5 + "}", "directives"),
        ("{ itemList { " + "id @skip(if: false) " * 41 + "} }", "directives"),
        (" ".join(f"query Q{n} {{ hello }}" for n in range(11)), "operations"),
        ("query (" + " ".join(f"$v{n}: Int" for n in range(61)) + ") { hello }", "variables"),
        ("{ itemList { " + "id " * 100 + "} }", "name_pairs"),
        ("{ itemList { id } } fragment Unused on Item { " + "id " * 100 + "}", "name_pairs"),
        ("{ hello " + "# c\n" * 10 + "}" + " fragment F on Query { hello }" * 300, "lexemes"),
        ("{ hello } #" + "x" * 65_536, "document_characters"),
        (chain(30), "fields"),
        (chain(40), "fields"),
        ("{ items(first: 100) { nodes { beside(first: 100) { nodes { id } } } } }", "cost"),
        ("{ dear a: dear b: dear }", "cost"),
        ("{ " + " ".join(f"a{n}: __schema {{ description }}" for n in range(6)) + " }", "cost"),
    ],
)
async def test_too_much_is_refused_naming_the_limit(query: str, limit: str) -> None:
    assert exceeded(await execute(query)) == limit


@pytest.mark.parametrize(
    "query",
    [
        "{ itemList { " + "id " * 1_400 + "}",
        "{ hello } }" + " fragment F on Query { hello }" * 300,
        "{ hello " + "{" * 1_000,
        '{ echo(text: "a) }\n' + "{ hello }" * 500,
    ],
)
async def test_another_fault_of_a_text_is_not_taken_for_its_size(query: str) -> None:
    result = await execute(query)
    assert [error.extensions for error in result.errors or ()] == [{}]


async def test_comments_are_bounded_too() -> None:
    assert (await execute("{ hello " + "# c\n" * 1_500 + "}")).errors is None
    with at_most(calls=100_000):
        result = await execute("{ hello " + "#\n" * 30_000 + "}")
    (error,) = result.errors or ()
    assert error.message.startswith("The operation is too large: comments 1501, at most 1500.")
    assert error.extensions == {"code": TOO_COMPLEX, "limit": "lexemes", "maximum": 1_500}


@pytest.mark.parametrize(
    ("query", "limit", "message"),
    [
        ("{a" * 200 + "}" * 200, "depth", "The operation is too large: depth "),
        ("{ hello" + " hello" * 3_000 + "}", "lexemes", "The operation is too large: lexemes 1501, at most 1500."),
    ],
)
async def test_a_text_the_parser_gives_up_is_refused_like_any_other_that_is_too_large(
    query: str, limit: str, message: str
) -> None:
    result = await execute(query)
    (error,) = result.errors or ()
    assert error.message.startswith(message)
    assert (error.extensions or {})["code"] == TOO_COMPLEX
    assert (error.extensions or {})["limit"] == limit


@pytest.mark.parametrize(
    "query",
    [
        "{ " + "{" * 5_000,
        "{ hello" + "(a: " * 3 + "[" * 5_000,
        chain(100),
        chain(60, "...Unknown"),
        chain(60, "...F0"),
        "{ itemList { " + "id " * 1_400 + "} }",
        "{ itemList { " + "beside { nodes { id } } " * 150 + "} }",
        "{ " + " ".join(f"a{n}: itemList {{ id }}" for n in range(200)) + " }",
        '{ echo(text: "' + "x" * 900_000 + '") }',
        "#" + "x" * 900_000 + "\n{ hello }",
        "{ hello " + "@include(if: true) " * 400 + "}",
        "query (" + " ".join(f"$v{n}: Int" for n in range(450)) + ") { hello }",
        "{ echo(json: " + "[" * 700 + "]" * 700 + ") }",
        " ".join(f"fragment A{n} on Item {{ id ...A{(n + 1) % 150} }}" for n in range(150)) + " { hello }",
        "{ itemList { ...on Item { " * 60 + "id" + " } }" * 60 + " }",
    ],
)
async def test_no_document_keeps_the_server_busy(query: str) -> None:
    schema.documents.get("{ hello }")
    with at_most(calls=1_000_000):
        schema.documents.get(query)


async def test_the_standard_introspection_query_passes() -> None:
    everything = get_introspection_query(
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
    )
    for query in (get_introspection_query(), everything):
        result = await execute(query)
        assert not result.errors
        assert result.data is not None
        assert result.data["__schema"]["queryType"]["name"] == "Query"


async def test_fragments_shared_by_many_components_pass() -> None:
    fragments = [f"fragment C{n} on Item {{ id number label createdAt x{n}: label }}" for n in range(15)]
    spreads = " ".join(f"...C{n}" for n in range(15))
    result = await execute(f"{{ items(first: 50) {{ nodes {{ {spreads} }} }} }} {' '.join(fragments)}")
    assert not result.errors


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ("{ hello }", 0),
        ("{ itemList { id number } }", 1),
        ("{ items(first: 7) { nodes { id } } }", 1 + 7),
        ("{ items(first: 7) { edges { cursor node { id } } pageInfo { endCursor } totalCount } }", 1 + 7 + 7 + 1),
        ("{ items { nodes { id } } }", 1 + 50),
        ("{ items(last: 3) { nodes { beside(first: 5) { nodes { id } } } } }", 1 + 3 + 3 + 15),
        ("{ nodes(ids: [1, 2, 3]) { beside(first: 2) { nodes { id } } } }", 1 + 3 + 6),
        ("{ dear }", 4_000),
        ("{ items(first: 7) { ...N ...N nodes { number } } } fragment N on ItemConnection { nodes { id } }", 1 + 7),
        ("{ a: items(first: 7) { nodes { id } } b: items(first: 7) { nodes { id } } }", 2 * (1 + 7)),
        ('{ __typename __type(name: "Item") { name } }', 50),
    ],
)
def test_cost_is_weight_times_the_page_sizes_above(query: str, cost: int) -> None:
    plan = schema.documents.get(query).costs[None]
    assert plan.terms == ()
    assert plan.constant == cost


PAGES = "query ($n: Int, $m: Int = 10) { items(first: $n) { nodes { beside(last: $m) { nodes { id } } } } }"


@pytest.mark.parametrize(
    ("variables", "cost"),
    [
        ({"n": 2, "m": 3}, 1 + 2 + 2 + 6),
        ({"n": 2}, 1 + 2 + 2 + 20),
        ({}, 1 + 50 + 50 + 500),
        ({"n": None, "m": None}, 1 + 50 + 50 + 500),
        ({"n": 0}, 1),
        ({"n": -5}, 1),
        ({"n": "many"}, 1 + 50 + 50 + 500),
    ],
)
def test_page_sizes_in_variables_count_with_each_request(variables: dict[str, object], cost: int) -> None:
    assert schema.documents.get(PAGES).costs[None].total(variables) == cost


async def test_the_same_document_is_refused_or_answered_by_its_variables() -> None:
    assert exceeded(await execute(PAGES, {"n": 100, "m": 100})) == "cost"
    assert not (await execute(PAGES, {"n": 2, "m": 2})).errors
    both = "query ($f: Int, $l: Int) { items(first: $f, last: $l) { nodes { beside(first: 100) { nodes { id } } } } }"
    assert exceeded(await execute(both, {"l": 100})) == "cost"
    ids = "query ($ids: [ID!]!) { nodes(ids: $ids) { beside(first: 100) { nodes { id } } } }"
    assert exceeded(await execute(ids, {"ids": ["a"] * 100})) == "cost"
    assert not (await execute(ids, {"ids": ["a"]})).errors


async def test_documents_are_parsed_and_validated_once() -> None:
    fresh = build_schema()
    assert fresh.documents.get("{ hello }") is fresh.documents.get("{ hello }")
    bad = fresh.documents.get("{ unknown }")
    assert bad.errors
    assert fresh.documents.get("{ unknown }") is bad
    assert len(fresh.documents) == 2


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = build_schema()
    monkeypatch.setattr("schema.guard.documents._MAX_DOCUMENTS", 20)
    for number in range(30):
        fresh.documents.get(f"query Q{number} {{ hello }}")
    assert len(fresh.documents) == 20
    for number in range(20):
        fresh.documents.get(f"query Q{number} {{ hello }} #{'x' * 60_000}")
    assert len(fresh.documents) < 10
    fresh.documents.get("{ hello } #" + "x" * 200_000)
    assert "{ hello } #" + "x" * 200_000 not in fresh.documents._known


async def test_several_operations_need_a_name() -> None:
    query = "query A { hello } query B { dear }"
    result = await execute(query)
    assert "operationName" in (result.errors or [])[0].message
    assert (await execute(query, operation="A")).data == {"hello": "world"}


async def test_errors_are_few_and_each_names_what_was_meant() -> None:
    result = await execute("{ " + " ".join(f"helo{n}" for n in range(15)) + " }")
    assert len(result.errors or []) == 15
    result = await execute("{ itemList { " + " ".join(f"nam{n}" for n in range(60)) + " } }")
    assert len(result.errors or []) <= 21, "each costs a look at every name there is"
    assert "Did you mean 'hello'?" in str((await execute("{ helo }")).errors)


def test_each_fragment_is_measured_once() -> None:
    document = parse(chain(180))
    with at_most(calls=100_000):
        refusal = check_shape(document, LIMITS)
    assert refusal is not None
    assert "over a billion" in refusal.message
