"""One table of refusals, failures and operations for every surface: nothing in it is left without a name."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from graphql import GraphQLEnumType, GraphQLObjectType, GraphQLUnionType
from strawberry.utils.str_converters import to_camel_case

import schema
from resolvers import problems
from resolvers.operations import OPERATIONS, Operation
from resolvers.problems import ProblemCode
from runner.failures import FailureClass, FailureCode
from runner.issues import Hint, error
from runner.packs.availability import Requirement
from schema.base.directives import Requires, find_directive
from schema.base.issues import hint_text
from schema.base.problems import problem_of, refusable
from schema.build import build_schema
from store.states import Scope

if TYPE_CHECKING:
    from schema.guard.guarded_schema import GuardedSchema

EVERY_PROBLEM = (
    problems.NotFound("run", "run_1", suggestion="run_2"),
    problems.Forbidden("No.", requires=Scope.RUN),
    problems.Invalid([error(("a",), "required", "Missing.", "Give it.")]),
    problems.Conflict("No.", current_id="run_1"),
    problems.WrongState("No.", "run_1"),
    problems.Limited("No.", retry_after_seconds=1),
    problems.Unavailable("No.", [Requirement("pack", "a.b", ("s",), "There is none.", Hint("Install it."))]),
)


@pytest.fixture(scope="module")
def built() -> GuardedSchema:
    return build_schema()


def test_every_kind_of_refusal_is_a_type_of_the_schema(built: GuardedSchema) -> None:
    classes = set(problems.Problem.__subclasses__())
    assert {type(problem) for problem in EVERY_PROBLEM} == classes
    assert {problem.code for problem in EVERY_PROBLEM} == set(ProblemCode)
    members = {problem_of(problem).__class__.__name__ for problem in EVERY_PROBLEM}
    assert len(members) == len(classes)
    unions = [kind for kind in built._schema.type_map.values() if isinstance(kind, GraphQLUnionType)]
    assert members == {kind.name for union in unions for kind in union.types if kind.name.endswith("Problem")}


@pytest.mark.parametrize("problem", EVERY_PROBLEM, ids=lambda problem: problem.code)
def test_a_refusal_keeps_what_it_says(problem: problems.Problem) -> None:
    member = problem_of(problem)
    assert (member.message, member.code, member.hint, member.retryable) == (
        problem.message,
        problem.code,
        hint_text(problem.hint),
        problem.retryable,
    )


def test_a_hint_comes_as_sentences_and_in_parts() -> None:
    near = error(("a",), "unknown_field", "No.", Hint("Or leave it out.", closest="b"))
    member = problem_of(problems.Invalid([near]))
    assert member.hint == member.issues[0].hint == "Did you mean `b`? Or leave it out."
    assert asdict(member.issues[0].hint_parts) == {"text": "Or leave it out.", "closest": "b", "operation": None}
    lost = problem_of(problems.NotFound("caller", "x", hint=Hint(operation="memory_entries")))
    assert (lost.hint, lost.hint_parts.operation) == ("Try `memoryEntries`.", "memory_entries")


def test_every_command_may_answer_that_it_is_forbidden(built: GuardedSchema) -> None:
    commands = built._schema.mutation_type
    assert commands is not None
    for name, field in commands.fields.items():
        union = field.type
        assert isinstance(union, GraphQLUnionType), name
        assert "ForbiddenProblem" in {kind.name for kind in union.types}, name


def test_every_command_answers_with_its_refusals(built: GuardedSchema) -> None:
    commands = built._schema.mutation_type
    assert commands is not None
    for name, field in commands.fields.items():
        resolver = field.extensions["strawberry-definition"].base_resolver.wrapped_func
        assert resolver.__code__ is refusable(resolver).__code__, f"{name} is not @refusable"


def test_enums_name_every_code(built: GuardedSchema) -> None:
    for name, codes in (("FailureCode", FailureCode), ("FailureClass", FailureClass), ("ProblemCode", ProblemCode)):
        kind = built._schema.type_map[name]
        assert isinstance(kind, GraphQLEnumType)
        assert list(kind.values) == [code.name for code in codes]
        assert all(value.description for value in kind.values.values())


def _operations_the_schema_uses() -> set[str]:
    """Operations that modules of the schema import: a field that does not call one has no use for it."""
    modules = [importlib.import_module(module.name) for module in pkgutil.walk_packages(schema.__path__, "schema.")]
    return {value.name for module in modules for value in vars(module).values() if isinstance(value, Operation)}


def test_every_operation_can_be_reached(built: GuardedSchema) -> None:
    assert _operations_the_schema_uses() == set(OPERATIONS)


def test_commands_are_fields_of_their_name_and_scope(built: GuardedSchema) -> None:
    commands = built._schema.mutation_type
    assert isinstance(commands, GraphQLObjectType)
    declared = {to_camel_case(name): use for name, use in OPERATIONS.items() if use.kind == "command"}
    assert set(commands.fields) == set(declared)
    for name, field in commands.fields.items():
        required = find_directive(field, Requires)
        assert (required.scope if required else None) == declared[name].scope, name
        target = declared[name].target
        if target is not None:
            assert to_camel_case(target) in field.args, name
