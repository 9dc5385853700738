"""How large one document may be, measured before the rules of GraphQL look at it.

Strawberry's own depth and alias limiters expand fragments without remembering them, so that a chain of fragments, each
spread twice, doubles their work per link: 750 bytes cost seconds (strawberry 0.341). Here each fragment is measured
once. Validation itself is quadratic in fields that share a response name; `name_pairs` bounds that work.
What the selected lists would return is bounded by `schema.guard.cost`.
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

#: Code of every refusal made here and in `schema.guard.cost`.
TOO_COMPLEX = "QUERY_TOO_COMPLEX"
#: More directives than this on one field or fragment have no use; validation is quadratic in them.
_DIRECTIVES_PER_NODE = 4


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may ask for; more is refused before it is executed. Told as `server.requestLimits`.

    The standard introspection query is 15 deep and must fit. Figures of 2026-11: with them the costliest documents
    that are still admitted take about 10 ms of CPU to check, once.
    """

    #: Nesting of fields.
    depth: int = 20
    #: Fields, fragments unfolded.
    fields: int = 400
    #: Fields with an alias, fragments unfolded.
    aliases: int = 40
    #: Fields at the top of one operation, fragments unfolded.
    roots: int = 20
    #: Directives, fragments unfolded.
    directives: int = 40
    #: Operations in one document.
    operations: int = 10
    #: Variables of one operation.
    variables: int = 60
    #: Pairs of fields that share a response name in one place, where validation compares each pair.
    name_pairs: int = 2_000
    #: Lexical units of the document; as many comments besides.
    lexemes: int = 1_500
    #: Characters of the document; a text of any length is one lexeme. Data belongs into variables.
    document_characters: int = 65_536
    #: Cost, page sizes multiplied out; see `schema.guard.cost`.
    cost: int = 10_000
    #: Bytes of an HTTP body.
    body_bytes: int = 1_048_576


class _Shape(NamedTuple):
    """Size of a selection, fragments unfolded."""

    depth: int
    fields: int
    aliases: int
    directives: int


_EMPTY = _Shape(0, 0, 0, 0)


def too_complex(what: str, limit: str, value: int, maximum: int) -> GraphQLError:
    """Return the refusal for one exceeded limit; `limit` is the field of `RequestLimits`."""
    shown = value if value < 10**9 else "beyond counting"
    return GraphQLError(
        f"The operation is too large: {what} {shown}, at most {maximum}. Ask for less, or in several requests.",
        extensions={"code": TOO_COMPLEX, "limit": limit, "maximum": maximum},
    )


def check_shape(document: DocumentNode, limits: RequestLimits) -> GraphQLError | None:
    """Return why a parsed document is too large to be validated, or None. Linear in the size of its text."""
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
        # Only now is the unfolded document known to be small enough to be walked unfolded.
        roots = sum(len(nodes) for nodes in measure.by_response_name([operation.selection_set]).values())
        if roots > limits.roots:
            return too_complex("fields at the top", "roots", roots, limits.roots)
        pairs = measure.name_pairs(operation.selection_set, limits.name_pairs)
        if pairs > limits.name_pairs:
            return too_complex("pairs of fields with one name", "name_pairs", pairs, limits.name_pairs)
    # Fragments that no operation uses are validated too.
    for name, fragment in measure.fragments.items():
        shape = measure.fragment(name, frozenset())
        if shape.fields > limits.fields or shape.depth > limits.depth:
            return too_complex(f"fragment {name}: fields", "fields", max(shape.fields, shape.depth), limits.fields)
        if measure.name_pairs(fragment.selection_set, limits.name_pairs) > limits.name_pairs:
            return too_complex(f"fragment {name}: pairs", "name_pairs", limits.name_pairs + 1, limits.name_pairs)
    return None


def check_literals(document: DocumentNode, text: str) -> GraphQLError | None:
    """Return why a string written into the document cannot be kept, or None."""
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
    """Measures selections of one document, every fragment once."""

    def __init__(self, document: DocumentNode) -> None:
        self.fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._known: dict[str, _Shape] = {}
        #: The largest number of directives found on one field or fragment when it is more than is allowed.
        self.crowded = 0

    def fragment(self, name: str, open_fragments: frozenset[str]) -> _Shape:
        """Measure a fragment; cycles and unknown names count nothing, other rules refuse them."""
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
        """Collect the fields of one place by the name they answer under, each fragment once as execution does."""
        found: dict[str, list[FieldNode]] = {}
        for node in self._unfolded(selections, set()):
            name = node.alias.value if node.alias else node.name.value
            found.setdefault(name, []).append(node)
        return found

    def _unfolded(self, selections: Iterable[SelectionSetNode], seen: set[str]) -> Iterator[FieldNode]:
        for selected in selections:
            for node in selected.selections:
                if isinstance(node, FieldNode):
                    yield node
                elif isinstance(node, InlineFragmentNode):
                    yield from self._unfolded([node.selection_set], seen)
                elif isinstance(node, FragmentSpreadNode):
                    name = node.name.value
                    if name not in seen and name in self.fragments:
                        seen.add(name)
                        yield from self._unfolded([self.fragments[name].selection_set], seen)

    def name_pairs(self, selected: SelectionSetNode, enough: int) -> int:
        """Count the pairs validation must compare; stops as soon as it is more than enough."""
        pairs = 0
        places: list[list[SelectionSetNode]] = [[selected]]
        while places and pairs <= enough:
            for nodes in self.by_response_name(places.pop()).values():
                pairs += len(nodes) * (len(nodes) - 1) // 2
                inner = [node.selection_set for node in nodes if node.selection_set is not None]
                if inner:
                    places.append(inner)
        return pairs
