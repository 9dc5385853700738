"""Rules of the public schema for commands: what a mutation may be, take and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schema.base.directives import Mcp, Requires, find_directive
from schema.build import build_schema
from store.states import Scope

if TYPE_CHECKING:
    from graphql import GraphQLSchema


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
