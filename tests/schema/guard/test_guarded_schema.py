"""Scopes, masking, leaf fields and contexts renewed for each event, through the schema itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import strawberry
from structlog.testing import capture_logs

from resolvers.problems import NotFound
from schema.base.directives import Cost, Mcp, Requires, Scope, find_directive
from schema.base.enums import described_enum
from schema.base.masking import PublicError
from schema.guard.guarded_schema import GuardedSchema
from tests.support.graphql_app import Context, World, build_schema

schema = build_schema()


async def execute(query: str, visitor: str = "all", world: World | None = None) -> Any:
    world = world or World()
    return await schema.execute(query, None, Context(world, world.visitors[visitor]))


async def test_a_missing_scope_is_named() -> None:
    result = await execute("{ managed hello }", "reader")
    [error] = result.errors
    assert error.extensions == {"code": "FORBIDDEN", "scope": "MANAGE"}
    assert "MANAGE" in error.message
    assert (await execute("{ managed }")).data == {"managed": "managed"}


async def test_nested_fields_are_guarded_too() -> None:
    result = await execute("{ items(first: 1) { nodes { secret } } }", "reader")
    assert result.errors[0].extensions["code"] == "FORBIDDEN"


async def test_a_command_without_its_scope_changes_nothing() -> None:
    world = World()
    result = await execute("mutation { change }", "reader", world)
    assert result.errors[0].extensions == {"code": "FORBIDDEN", "scope": "WRITE"}
    assert world.changes == 0


@strawberry.type
class Refused:
    message: str


@strawberry.type
class Done:
    ok: bool


@strawberry.type
class CommandQuery:
    x: int = 1


@strawberry.type
class CommandMutation:
    @strawberry.mutation(directives=[Requires(scope=Scope.WRITE)])
    async def change(self) -> Done | Refused:
        raise AssertionError("ran without its scope")


async def test_commands_can_answer_with_a_member_of_their_union() -> None:
    own = GuardedSchema(
        CommandQuery,
        CommandMutation,
        refuse_command=lambda scope, _info, _arguments: Refused(message=f"needs {scope.name}"),
    )
    world = World()
    result = await own.execute(
        "mutation { change { ... on Refused { message } } }", None, Context(world, world.visitors["reader"])
    )
    assert result.data == {"change": {"message": "needs WRITE"}}


async def test_what_resolvers_raise_stays_on_the_server() -> None:
    with capture_logs() as logs:
        result = await execute("{ broken refused }")
    broken, refused = result.errors
    assert "secret" not in str(broken.formatted)
    assert broken.extensions["code"] == "INTERNAL"
    assert broken.extensions["id"] in broken.message
    assert broken.path == ["broken"]
    assert refused.message == "The thing `x` is missing; make it first."
    assert refused.extensions == {"code": "NOT_FOUND", "thing": "x"}
    assert [entry["error_id"] for entry in logs] == [broken.extensions["id"]]
    assert isinstance(logs[0]["exc_info"], RuntimeError)
    assert "original_error" not in str(broken.formatted)


async def test_one_failed_batch_is_one_entry_in_the_log() -> None:
    world = World()

    async def fail(_keys: list[int]) -> list[str]:
        raise LookupError("secret batch")

    context = Context(world, world.visitors["all"])
    context.loader.load_fn = fail
    with capture_logs() as logs:
        result = await schema.execute(
            "{ a: items(first: 1) { nodes { owner } } b: items(first: 2) { nodes { owner } } }", None, context
        )
    assert result.errors is not None
    assert len({error.extensions["id"] for error in result.errors if error.extensions}) == 1
    assert len(logs) == 1


async def test_a_use_case_may_refuse_a_read() -> None:
    @strawberry.type
    class Query:
        @strawberry.field
        def run(self) -> str | None:
            raise NotFound("run", "run_1", hint="List the runs.")

    with capture_logs() as logs:
        result = await GuardedSchema(Query).execute("{ run }")
    [error] = result.errors or []
    assert error.message == "There is no run `run_1`."
    assert error.extensions == {
        "code": "NOT_FOUND",
        "retryable": False,
        "hint": "List the runs.",
        "hintParts": {"text": "List the runs.", "operation": None, "closest": None},
        "ref": "run_1",
    }
    assert logs == []


async def test_streams_are_masked_too() -> None:
    world = World()
    with capture_logs() as logs:
        stream = await schema.stream("subscription { breaks }", None, Context(world, world.visitors["all"]))
        results = [result async for result in stream]
    assert results[0].data == {"breaks": 1}  # type: ignore[union-attr]
    assert "secret" not in str(results[-1].errors)  # type: ignore[union-attr]
    assert results[-1].errors[0].extensions["code"] == "INTERNAL"  # type: ignore[union-attr,index]
    assert len(logs) == 1


async def test_an_unreadable_document_is_told_to_streams_as_well() -> None:
    results = [result async for result in await schema.stream("{ hello", None, None)]
    assert "Syntax Error" in results[0].errors[0].message  # type: ignore[union-attr,index]
    assert "Syntax Error" in str((await schema.execute("{ hello")).errors)
    assert "Syntax Error" in str(schema.execute_sync("{ hello").errors)


async def test_rows_are_loaded_in_one_batch_and_anew_for_each_event() -> None:
    world = World()
    await execute("{ items(first: 50) { nodes { owner } } }", world=world)
    assert world.batches == [[0, 1, 2, 3, 4, 5, 6]]

    world = World()
    stream = await schema.stream(
        "subscription { ticks(step: 7) { owner } }", None, Context(world, world.visitors["all"])
    )
    first = await anext(stream)
    world.owner = "Grace"
    world.items = [0]
    world.go.set()
    second = await anext(stream)
    await stream.aclose()
    assert first.data == {"ticks": {"owner": "Ada 0"}}  # type: ignore[union-attr]
    assert second.data == {"ticks": {"owner": "Grace 0"}}  # type: ignore[union-attr]
    assert world.batches == [[0], [0]]


class Odd:
    """A source whose attributes are not what the fields expect."""

    fine = 7
    nothing = None
    too_large = 2**40
    naive = datetime(2026, 11, 21)  # noqa: DTZ001 - no moment, which is the point
    failure = PublicError("Said aloud.", "INVALID")

    @property
    def raises(self) -> int:
        raise RuntimeError("secret property")

    @property
    def awaited(self) -> Any:
        async def later() -> int:
            return 8

        return later()


@strawberry.type
class OddType:
    fine: int
    nothing: int | None
    too_large: int | None
    naive: datetime | None
    failure: int | None
    raises: int | None
    awaited: int
    missing: int | None


@strawberry.type
class OddQuery:
    @strawberry.field
    def odd(self) -> OddType:
        return Odd()  # type: ignore[return-value]


async def test_a_leaf_that_cannot_be_answered_is_null_and_an_error() -> None:
    with capture_logs() as logs:
        result = await GuardedSchema(OddQuery).execute(
            "{ odd { fine nothing tooLarge naive failure raises awaited missing } }"
        )
    assert result.data == {
        "odd": {
            "fine": 7,
            "nothing": None,
            "tooLarge": None,
            "naive": None,
            "failure": None,
            "raises": None,
            "awaited": 8,
            "missing": None,
        }
    }
    told = {str((error.path or [])[-1]): error for error in result.errors or []}
    assert set(told) == {"tooLarge", "naive", "failure", "raises", "missing"}
    assert told["failure"].message == "Said aloud."
    assert "32-bit" in told["tooLarge"].message
    assert len(logs) == 3


def test_directives_print_as_written_and_read_back_whole() -> None:
    @strawberry.type
    class Query:
        @strawberry.field(
            directives=[
                Requires(scope=Scope.READ),
                Cost(weight=20),
                Mcp(tool="get_run", read_only=True, idempotent=True, defaults={"waitSeconds": 25}),
            ]
        )
        def run(self) -> int:
            return 1

        @strawberry.field(directives=[Mcp()])
        def plain(self) -> int:
            return 1

        @strawberry.field
        def unpublished(self) -> int:
            return 1

    own = GuardedSchema(Query)
    printed = own.as_str()
    assert (
        "run: Int! @requires(scope: READ) @cost(weight: 20) "
        '@mcp(tool: "get_run", readOnly: true, idempotent: true, defaults: { waitSeconds: 25 })'
    ) in printed
    assert "plain: Int! @mcp\n" in printed
    assert 'toolset: String! = "default"' in printed
    assert '"""Name of the tool. Defaults to the field name in snake_case."""' in printed
    query_type = own._schema.query_type
    assert query_type is not None
    assert find_directive(query_type.fields["unpublished"], Mcp) is None
    mark = find_directive(query_type.fields["run"], Mcp)
    assert mark is not None
    assert (mark.tool, mark.read_only, mark.idempotent, mark.defaults) == ("get_run", True, True, {"waitSeconds": 25})


def test_an_enum_needs_a_description_for_each_member() -> None:
    with pytest.raises(ValueError, match="MANAGE"):
        described_enum(Scope, "x", {"READ": "x", "OBSERVE": "x", "RUN": "x", "WRITE": "x"})
    assert 'change the caller\'s own defaults.\n  """\n  RUN\n' in schema.as_str()
