"""Rules of the public schema for commands and for what clients give: what a mutation may be, take and answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from graphql import (
    GraphQLID,
    get_named_type,
    is_input_object_type,
    is_interface_type,
    is_introspection_type,
    is_non_null_type,
    is_object_type,
)

from schema.base.directives import Mcp, Requires, find_directive
from schema.build import build_schema
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLArgument, GraphQLInputField, GraphQLSchema


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return build_schema()._schema


def test_what_only_reads_is_a_query(schema: GraphQLSchema) -> None:
    assert schema.mutation_type is not None
    reading = []
    for name, field in schema.mutation_type.fields.items():
        required, tool = find_directive(field, Requires), find_directive(field, Mcp)
        if required is None or required.scope is Scope.READ or (tool is not None and tool.read_only is True):
            reading.append(name)
    assert reading == []


def test_a_command_s_result_is_nullable_so_that_one_that_fails_does_not_null_the_others(schema: GraphQLSchema) -> None:
    assert schema.mutation_type is not None
    assert [name for name, field in schema.mutation_type.fields.items() if is_non_null_type(field.type)] == []


def test_the_arguments_of_a_command_are_flat(schema: GraphQLSchema) -> None:
    assert schema.mutation_type is not None
    wrapped = [
        f"{name}({argument})"
        for name, field in schema.mutation_type.fields.items()
        for argument, given in field.args.items()
        if get_named_type(given.type).name.casefold() == f"{name}input".casefold()
        or (argument == "input" and is_input_object_type(get_named_type(given.type)))
    ]
    assert wrapped == []


#: Values whose structure the schema cannot know: a pack's input and a pipeline's inputs, whatever comes with a request,
#: definitions as documents, and the fields of a kind of credential.
OPEN = {"input", "stepInput", "inputs", "context", "document", "fields"}


def test_only_values_of_an_open_structure_are_given_as_json(schema: GraphQLSchema) -> None:
    untyped = [
        path
        for path, given in inputs_of(schema)
        if get_named_type(given.type).name == "JSON" and path.rpartition(".")[2] not in OPEN
    ]
    assert untyped == []


def test_an_argument_says_which_of_id_key_and_alias_it_takes(schema: GraphQLSchema) -> None:
    silent = [
        path
        for path, given in inputs_of(schema)
        if get_named_type(given.type) is GraphQLID
        and re.search(r"\b(ids?|keys?|alias(es)?)\b", given.description or "", re.IGNORECASE) is None
    ]
    assert silent == []


def inputs_of(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLArgument | GraphQLInputField]]:
    """What clients give, with its path: arguments of all fields, and fields of input types."""
    for kind in schema.type_map.values():
        if is_input_object_type(kind):
            yield from ((f"{kind.name}.{name}", field) for name, field in kind.fields.items())
        elif (is_object_type(kind) or is_interface_type(kind)) and not is_introspection_type(kind):
            for field_name, field in kind.fields.items():
                yield from ((f"{kind.name}.{field_name}.{name}", given) for name, given in field.args.items())
