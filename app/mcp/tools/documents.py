"""The GraphQL documents of tools, in `documents/`.

`documents/<tool>.graphql` has one operation that selects one field, under the alias `answer`. If a member of that field
has the same alias, it is the answer, and its siblings are added to it. Fragments that several documents share are in
`documents/fragments.graphql`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphql import (
    FragmentDefinitionNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import FragmentSpreadNode, SelectionSetNode

FOLDER: Final = Path(__file__).parent.parent / "documents"
#: The alias of the field a document selects.
ANSWER: Final = "answer"


@dataclass(frozen=True, slots=True)
class ToolDocument:
    """The document of a tool.

    Attributes:
        text: The operation with the fragments it uses.
        variables: Names of the variables it declares.
        field: The field of the schema that it selects.
        selection: Its selection of that field, with fragments inlined.
    """

    text: str
    variables: frozenset[str]
    field: str
    selection: SelectionSetNode


def document_of(tool: str) -> ToolDocument:
    """The document of a tool.

    Raises:
        FileNotFoundError: no document has the tool's name.
    """
    inline = _Inline(_fragments())
    written = parse((FOLDER / f"{tool}.graphql").read_text("utf-8"), no_location=True)
    operation = visit(written, inline).definitions[0]
    assert isinstance(operation, OperationDefinitionNode), f"{tool}.graphql holds one operation"
    (answer,) = operation.selection_set.selections
    return ToolDocument(
        "\n\n".join(map(print_ast, (written, *inline.used.values()))),
        frozenset(each.variable.name.value for each in operation.variable_definitions or ()),
        answer.name.value,  # type: ignore[attr-defined] # a field
        answer.selection_set,  # type: ignore[attr-defined]
    )


@cache
def _fragments() -> Mapping[str, FragmentDefinitionNode]:
    document = parse((FOLDER / "fragments.graphql").read_text("utf-8"), no_location=True)
    return {each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)}


class _Inline(Visitor):
    """Inline fragments where they are spread; `used` collects them."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        super().__init__()
        self._fragments = fragments
        self.used: dict[str, FragmentDefinitionNode] = {}

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: Any) -> InlineFragmentNode:  # noqa: ANN401
        fragment = self.used[node.name.value] = self._fragments[node.name.value]
        return InlineFragmentNode(
            type_condition=fragment.type_condition, directives=node.directives, selection_set=fragment.selection_set
        )
