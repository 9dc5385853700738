"""What the page asks: its own GraphQL documents, as it sends them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    NameNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

_SOURCES = Path(__file__).parents[2] / "frontend" / "src"


def page_document(name: str) -> str:
    """An operation of the page with its fragments; its cache asks for `__typename` in every selection."""
    definitions = _definitions()
    wanted = [name]
    for each in wanted:  # which grows by the fragments that are spread
        visit(definitions[each], _Spreads(wanted))
    return "\n".join(print_ast(visit(definitions[each], _Typenames())) for each in wanted)


@cache
def _definitions() -> dict[str, OperationDefinitionNode | FragmentDefinitionNode]:
    return {
        definition.name.value: definition
        for file in _SOURCES.rglob("*.graphql")
        for definition in parse(file.read_text()).definitions
        if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode) and definition.name is not None
    }


class _Spreads(Visitor):
    """Gathers the names of fragments."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self._names = names

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        if node.name.value not in self._names:
            self._names.append(node.name.value)


class _Typenames(Visitor):
    """Asks for the type of every object."""

    def leave_selection_set(
        self, node: SelectionSetNode, _key: object, parent: object, *_: object
    ) -> SelectionSetNode | None:
        named = any(isinstance(each, FieldNode) and each.name.value == "__typename" for each in node.selections)
        if named or isinstance(parent, OperationDefinitionNode):
            return None
        asked = FieldNode(name=NameNode(value="__typename"))
        return SelectionSetNode(selections=(*node.selections, asked))
