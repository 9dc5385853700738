"""The API prints of each use case what its declaration says: scope, and the hints of its tool."""

from __future__ import annotations

import pytest
from strawberry.utils.str_converters import to_snake_case

from resolvers.operations import OPERATIONS
from schema.build import build_schema
from schema.directives import Requires, find_directive, publication_of

_SCHEMA = build_schema()._schema
FIELDS = {
    name: field
    for root in (_SCHEMA.query_type, _SCHEMA.mutation_type)
    if root is not None
    for name, field in root.fields.items()
}


def operation_of(name: str):
    tool = publication_of(FIELDS[name])
    return OPERATIONS.get(to_snake_case(name)) or OPERATIONS.get(tool.tool or "" if tool else f"list_{name}")


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_directives_say_what_the_operation_declares(name: str) -> None:
    declared, tool = operation_of(name), publication_of(FIELDS[name])
    if declared is None:
        assert name in ("node", "nodes"), "every other field is a use case"
        return
    required = find_directive(FIELDS[name], Requires)
    assert (required.scope if required else None) == declared.scope
    if tool is not None:
        told = (tool.read_only, tool.idempotent, tool.destructive)
        assert told == (declared.kind == "query", declared.idempotent, declared.destructive)
