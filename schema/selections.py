"""Which fields of what a field leads to an operation asks for, so that no more is read than is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphql import FieldNode, FragmentSpreadNode, InlineFragmentNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from graphql import FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode

    from schema.context import RequestContext

#: Selections remembered; documents are kept parsed, so the same one comes with the same nodes.
KEPT = 256
_known: dict[tuple[int, object], tuple[FieldNode, frozenset[str]]] = {}


def fields_of_items(info: GraphQLResolveInfo[RequestContext]) -> frozenset[str]:
    """Names of all fields that a connection's `nodes` and `edges { node }` are asked for.

    Fields behind `@skip` and `@include` count, whatever their condition; `__typename` does not.
    """
    return _remembered(_of_items, info)


def fields_of(info: GraphQLResolveInfo[RequestContext]) -> frozenset[str]:
    """The same of the object that the field is, or of the items of the list."""
    return _remembered(_of_object, info)


def _remembered(
    find: Callable[[Sequence[FieldNode], Mapping[str, FragmentDefinitionNode]], set[str]],
    info: GraphQLResolveInfo[RequestContext],
) -> frozenset[str]:
    if len(info.field_nodes) > 1:
        return frozenset(find(info.field_nodes, info.fragments) - {"__typename"})
    node = info.field_nodes[0]
    known = _known.get((id(node), find))
    if known is not None and known[0] is node:
        return known[1]
    fields = frozenset(find(info.field_nodes, info.fragments) - {"__typename"})
    if len(_known) >= KEPT:
        _known.pop(next(iter(_known)))
    _known[id(node), find] = (node, fields)
    return fields


def _of_object(nodes: Sequence[FieldNode], fragments: Mapping[str, FragmentDefinitionNode]) -> set[str]:
    return {field.name.value for node in nodes for field in _selected(node.selection_set, fragments)}


def _of_items(nodes: Sequence[FieldNode], fragments: Mapping[str, FragmentDefinitionNode]) -> set[str]:
    found: set[str] = set()
    for connection in nodes:
        for part in _selected(connection.selection_set, fragments):
            if part.name.value == "nodes":
                found |= {field.name.value for field in _selected(part.selection_set, fragments)}
            elif part.name.value == "edges":
                for item in _selected(part.selection_set, fragments):
                    if item.name.value == "node":
                        found |= {field.name.value for field in _selected(item.selection_set, fragments)}
    return found


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
