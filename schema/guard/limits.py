"""Limits on the size of a document, checked before validation.

Strawberry's depth and alias limiters expand every fragment spread, so a chain of fragments, each spread twice, doubles
their work per link: 750 bytes take seconds (strawberry 0.341). Here each fragment is measured once. Validation itself
is quadratic in fields that share a response name; `name_pairs` bounds that work. `schema.guard.cost` bounds the size of
the response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    StringValueNode,
    Visitor,
    visit,
)

from schema.base.scalars import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from graphql import DocumentNode, SelectionSetNode

#: Error code of every refusal by size or cost.
TOO_COMPLEX = "QUERY_TOO_COMPLEX"
#: Directives allowed on one field or fragment; validation is quadratic in them.
_DIRECTIVES_PER_NODE = 4


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request, checked before execution; `server.requestLimits` shows some of them.

    The standard introspection query is 15 levels deep and must fit. With these defaults, the most expensive documents
    that are accepted take about 10 ms of CPU to check, once (measured 2026-11).
    """

    #: Maximum nesting of fields.
    depth: int = 20
    #: Fields, with fragments expanded.
    fields: int = 400
    #: Fields with an alias, with fragments expanded.
    aliases: int = 40
    #: Root fields of one operation, with fragments expanded.
    roots: int = 20
    #: Directives, with fragments expanded.
    directives: int = 40
    #: Operations in one document.
    operations: int = 10
    #: Variables of one operation.
    variables: int = 60
    #: Pairs of fields that share a response name in one place, where validation compares each pair.
    name_pairs: int = 2_000
    #: Tokens of the document; the same limit applies to comments.
    lexemes: int = 1_500
    #: Characters of the document, because a string of any length is one token. Data belongs in variables.
    document_characters: int = 65_536
    #: Cost including page sizes; see `schema.guard.cost`.
    cost: int = 10_000
    #: Bytes of an HTTP body.
    body_bytes: int = 1_048_576


class _Shape(NamedTuple):
    """Size of a selection, with fragments expanded."""

    depth: int
    fields: int
    aliases: int
    directives: int


_EMPTY = _Shape(0, 0, 0, 0)


def too_complex(what: str, limit: str, value: int, maximum: int) -> GraphQLError:
    """Return the error for one exceeded limit; `limit` is the field of `RequestLimits`."""
    shown = value if value < 10**9 else "over a billion"
    return GraphQLError(
        f"The operation is too large: {what} {shown}, at most {maximum}. Select less, or use several requests.",
        extensions={"code": TOO_COMPLEX, "limit": limit, "maximum": maximum},
    )


def check_shape(document: DocumentNode, limits: RequestLimits) -> GraphQLError | None:
    """Return why a parsed document is too large to be validated, or None. Linear in the length of its text."""
    measure = _Measure(document)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if len(operations) > limits.operations:
        return too_complex("operations", "operations", len(operations), limits.operations)
    for operation in operations:
        variables = len(operation.variable_definitions or ())
        shape = measure.selection(operation.selection_set, frozenset())
        found = (
            ("depth", shape.depth, limits.depth),
            ("fields", shape.fields, limits.fields),
            ("aliases", shape.aliases, limits.aliases),
            ("directives", shape.directives + len(operation.directives or ()), limits.directives),
            ("variables", variables, limits.variables),
        )
        for limit, value, maximum in found:
            if value > maximum:
                return too_complex(limit, limit, value, maximum)
        if measure.crowded:
            return too_complex("directives in one place", "directives", measure.crowded, _DIRECTIVES_PER_NODE)
        # The limits above make it safe to expand fragments from here on.
        roots = sum(len(nodes) for nodes in measure.by_response_name([operation.selection_set]).values())
        if roots > limits.roots:
            return too_complex("fields at the top", "roots", roots, limits.roots)
        pairs = measure.name_pairs(operation.selection_set, limits.name_pairs)
        if pairs > limits.name_pairs:
            return too_complex("pairs of fields with one name", "name_pairs", pairs, limits.name_pairs)
    # Unused fragments are validated as well.
    for name, fragment in measure.fragments.items():
        shape = measure.fragment(name, frozenset())
        if shape.fields > limits.fields or shape.depth > limits.depth:
            return too_complex(f"fragment {name}: fields", "fields", max(shape.fields, shape.depth), limits.fields)
        if measure.name_pairs(fragment.selection_set, limits.name_pairs) > limits.name_pairs:
            return too_complex(f"fragment {name}: pairs", "name_pairs", limits.name_pairs + 1, limits.name_pairs)
    return None


def check_literals(document: DocumentNode, text: str) -> GraphQLError | None:
    """Return why a string literal in the document cannot be stored, or None."""
    if "\0" not in text and "\\u" not in text:
        return None
    visitor = _Literals()
    visit(document, visitor)
    return visitor.refusal


class _Literals(Visitor):
    refusal: GraphQLError | None = None

    def enter_string_value(self, node: StringValueNode, *_: object) -> None:
        try:
            check_text(node.value)
        except GraphQLError as error:
            self.refusal = GraphQLError(error.message, node)


class _Measure:
    """Measures the selections of one document, each fragment once."""

    def __init__(self, document: DocumentNode) -> None:
        self.fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._known: dict[str, _Shape] = {}
        #: Largest number of directives found on one field or fragment, if above the limit.
        self.crowded = 0

    def fragment(self, name: str, open_fragments: frozenset[str]) -> _Shape:
        """Measure a fragment. Cycles and unknown names count as empty; validation rejects them."""
        if name in open_fragments or name not in self.fragments:
            return _EMPTY
        if name not in self._known:
            self._known[name] = self.selection(self.fragments[name].selection_set, open_fragments | {name})
        return self._known[name]

    def selection(self, selected: SelectionSetNode | None, open_fragments: frozenset[str]) -> _Shape:
        if selected is None:
            return _EMPTY
        depth = fields = aliases = directives = 0
        for node in selected.selections:
            count = len(node.directives or ())
            directives += count
            if count > _DIRECTIVES_PER_NODE:
                self.crowded = max(self.crowded, count)
            if isinstance(node, FieldNode):
                fields += 1
                aliases += node.alias is not None
                inner = self.selection(node.selection_set, open_fragments)
                inner = inner._replace(depth=inner.depth + 1)
            elif isinstance(node, FragmentSpreadNode):
                inner = self.fragment(node.name.value, open_fragments)
            elif isinstance(node, InlineFragmentNode):
                inner = self.selection(node.selection_set, open_fragments)
            else:
                continue
            depth = max(depth, inner.depth)
            fields += inner.fields
            aliases += inner.aliases
            directives += inner.directives
        return _Shape(depth, fields, aliases, directives)

    def by_response_name(self, selections: Iterable[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """Group the fields of one selection by response name, expanding each fragment once, as execution does."""
        found: dict[str, list[FieldNode]] = {}
        for node in self._expanded(selections, set()):
            name = node.alias.value if node.alias else node.name.value
            found.setdefault(name, []).append(node)
        return found

    def _expanded(self, selections: Iterable[SelectionSetNode], seen: set[str]) -> Iterator[FieldNode]:
        for selected in selections:
            for node in selected.selections:
                if isinstance(node, FieldNode):
                    yield node
                elif isinstance(node, InlineFragmentNode):
                    yield from self._expanded([node.selection_set], seen)
                elif isinstance(node, FragmentSpreadNode):
                    name = node.name.value
                    if name not in seen and name in self.fragments:
                        seen.add(name)
                        yield from self._expanded([self.fragments[name].selection_set], seen)

    def name_pairs(self, selected: SelectionSetNode, enough: int) -> int:
        """Count the pairs that validation must compare; stops above `enough`."""
        pairs = 0
        places: list[list[SelectionSetNode]] = [[selected]]
        while places and pairs <= enough:
            for nodes in self.by_response_name(places.pop()).values():
                pairs += len(nodes) * (len(nodes) - 1) // 2
                inner = [node.selection_set for node in nodes if node.selection_set is not None]
                if inner:
                    places.append(inner)
        return pairs
