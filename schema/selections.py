"""Which fields of a list's items an operation asks for, so that no more is read than is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphql import FieldNode, FragmentSpreadNode, InlineFragmentNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graphql import FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode

    from schema.context import RequestContext

#: Selections remembered; documents are kept parsed, so the same one comes with the same nodes.
KEPT = 256
_known: dict[int, tuple[FieldNode, frozenset[str]]] = {}


def fields_of_items(info: GraphQLResolveInfo[RequestContext]) -> frozenset[str]:
    """Names of all fields that a connection's `nodes` and `edges { node }` are asked for.

    Fields behind `@skip` and `@include` count, whatever their condition; `__typename` does not.
    """
    if len(info.field_nodes) > 1:
        return _fields(info.field_nodes, info.fragments)
    node = info.field_nodes[0]
    known = _known.get(id(node))
    if known is not None and known[0] is node:
        return known[1]
    fields = _fields(info.field_nodes, info.fragments)
    if len(_known) >= KEPT:
        _known.pop(next(iter(_known)))
    _known[id(node)] = (node, fields)
    return fields


def _fields(nodes: Sequence[FieldNode], fragments: Mapping[str, FragmentDefinitionNode]) -> frozenset[str]:
    found: set[str] = set()
    for connection in nodes:
        for part in _selected(connection.selection_set, fragments):
            if part.name.value == "nodes":
                found |= {field.name.value for field in _selected(part.selection_set, fragments)}
            elif part.name.value == "edges":
                for item in _selected(part.selection_set, fragments):
                    if item.name.value == "node":
                        found |= {field.name.value for field in _selected(item.selection_set, fragments)}
    return frozenset(found - {"__typename"})


def _selected(
    selection: SelectionSetNode | None, fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[FieldNode]:
    for part in selection.selections if selection is not None else ():
        if isinstance(part, FieldNode):
            yield part
        elif isinstance(part, InlineFragmentNode):
            yield from _selected(part.selection_set, fragments)
        elif isinstance(part, FragmentSpreadNode):
            yield from _selected(fragments[part.name.value].selection_set, fragments)
