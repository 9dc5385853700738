"""The API prints of each use case what its declaration says: scope, and the hints of its tool."""

from __future__ import annotations

import pytest
from strawberry.utils.str_converters import to_snake_case

from resolvers.operations import OPERATIONS
from schema.base.directives import Mcp, Requires, find_directive
from schema.build import build_schema

_SCHEMA = build_schema()._schema
FIELDS = {
    name: field
    for root in (_SCHEMA.query_type, _SCHEMA.mutation_type)
    if root is not None
    for name, field in root.fields.items()
}


def operation_of(name: str):
    return OPERATIONS.get(to_snake_case(name)) or published_by(name) or OPERATIONS.get(f"list_{name}")


def published_by(name: str):
    """The operation whose tool a field carries."""
    mark = find_directive(FIELDS[name], Mcp)
    return next((it for it in OPERATIONS.values() if mark and it.tool and (it.tool.name or it.name) == mark.tool), None)


def test_every_tool_that_is_declared_is_a_field() -> None:
    declared = {it.name for it in OPERATIONS.values() if it.tool is not None}
    reachable = {found.name for name in FIELDS if (found := published_by(name)) is not None}
    assert declared == reachable


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_directives_say_what_the_operation_declares(name: str) -> None:
    declared, tool = operation_of(name), find_directive(FIELDS[name], Mcp)
    if declared is None:
        assert name in ("node", "nodes"), "every other field is a use case"
        return
    required = find_directive(FIELDS[name], Requires)
    assert (required.scope if required else None) == declared.scope
    if tool is not None:
        told = (bool(tool.read_only), bool(tool.idempotent), bool(tool.destructive))
        assert told == (declared.kind == "query", declared.idempotent, declared.destructive)
