"""What an operation would cost to answer: weights multiplied by the page sizes above them.

A field costs its `@cost` weight; without one an object costs 1 and a leaf nothing. Whatever lies below a list counts
once per item asked for: `first`, `last`, or the number of `ids`. In a connection that means its `nodes` and `edges`.
A plain list is bounded by a definition or a setting and counts as one.

The sum is compiled once per document; page sizes that come from variables stay open in it as terms.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    OperationDefinitionNode,
    OperationType,
    VariableNode,
    get_named_type,
    is_composite_type,
)

from schema.base.directives import Cost, find_directive
from schema.base.pagination import DEFAULT_PAGE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from graphql import DocumentNode, GraphQLNamedType, GraphQLSchema, SelectionSetNode, ValueNode

#: The whole introspected schema takes tens of milliseconds; five of them fill the default limit.
_INTROSPECTION_WEIGHT = 2_000
_TYPE_INTROSPECTION_WEIGHT = 50
_PAGE_SIZES = ("first", "last")
_ID_LIST = "ids"
_ITEMS = frozenset({"nodes", "edges"})


class PageVariable(NamedTuple):
    """A page size that the request gives, in one of these variables."""

    names: tuple[str, ...]
    #: Items when none of the variables is given.
    default: int

    def size(self, variables: Mapping[str, object]) -> int:
        """Return the items asked for; what is no page size counts as the default, coercion refuses it later."""
        given = [size for name in self.names if (size := _items(variables.get(name))) is not None]
        return max(given) if given else self.default


def _items(value: object) -> int | None:
    if isinstance(value, list):
        return len(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return max(value, 0)
    return None


_PageSize: TypeAlias = "int | PageVariable"


@dataclass(frozen=True, slots=True)
class CostPlan:
    """The cost of one operation as a sum of constants times page sizes."""

    #: What does not depend on variables.
    constant: int
    #: (factor, page sizes it is multiplied by).
    terms: tuple[tuple[int, tuple[PageVariable, ...]], ...]

    def total(self, variables: Mapping[str, object]) -> int:
        """Return the cost with these variables."""
        total = self.constant
        for factor, pages in self.terms:
            for page in pages:
                factor *= page.size(variables)
            total += factor
        return total


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the operation a selection stands: what everything in it is multiplied by."""

    factor: int
    pages: tuple[PageVariable, ...]

    def times(self, size: _PageSize) -> _Place:
        if isinstance(size, PageVariable):
            return _Place(self.factor, tuple(sorted((*self.pages, size))))
        return self if size == 1 else _Place(self.factor * size, self.pages)


class _FieldCost(NamedTuple):
    weight: int
    paged: bool
    by_ids: bool
    connection: bool
    returns: GraphQLNamedType


class CostModel:
    """Compiles cost plans for the documents of one schema. Documents must be valid and of admitted size."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._fields: dict[tuple[str, str], _FieldCost] = {}

    def plan(self, document: DocumentNode, operation: OperationDefinitionNode) -> CostPlan:
        """Compile the cost of one operation of a document."""
        return _Compilation(self, self._schema, document, operation).plan()

    def field(self, parent: GraphQLObjectType | GraphQLInterfaceType, name: str) -> _FieldCost:
        """Look up what one field of a type costs."""
        key = (parent.name, name)
        if key not in self._fields:
            self._fields[key] = _field_cost(parent.fields[name])
        return self._fields[key]


def _field_cost(field: GraphQLField) -> _FieldCost:
    returns = get_named_type(field.type)
    declared = find_directive(field, Cost)
    weight = int(is_composite_type(returns)) if declared is None else declared.weight
    members = returns.fields if isinstance(returns, GraphQLObjectType | GraphQLInterfaceType) else {}
    return _FieldCost(
        weight=weight,
        paged=any(name in field.args for name in _PAGE_SIZES),
        by_ids=_ID_LIST in field.args,
        connection="pageInfo" in members and not _ITEMS.isdisjoint(members),
        returns=returns,
    )


class _Compilation:
    """One walk over one operation. Fields that answer under one name are counted once, as they are executed once."""

    def __init__(
        self, model: CostModel, schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode
    ) -> None:
        self._model = model
        self._schema = schema
        self._operation = operation
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._defaults = {node.variable.name.value: node.default_value for node in operation.variable_definitions or ()}
        self._terms: defaultdict[tuple[PageVariable, ...], int] = defaultdict(int)

    def plan(self) -> CostPlan:
        root = {
            OperationType.QUERY: self._schema.query_type,
            OperationType.MUTATION: self._schema.mutation_type,
            OperationType.SUBSCRIPTION: self._schema.subscription_type,
        }[self._operation.operation]
        if root is not None:
            self._walk(root, [self._operation.selection_set], _Place(1, ()))
        constant = self._terms.pop((), 0)
        return CostPlan(constant, tuple((factor, pages) for pages, factor in self._terms.items() if factor))

    def _walk(self, parent: GraphQLNamedType, selections: list[SelectionSetNode], place: _Place) -> None:
        found: dict[tuple[str, str], list[FieldNode]] = {}
        types: dict[str, GraphQLObjectType | GraphQLInterfaceType] = {}
        for owner, node in self._unfolded(parent, selections, set()):
            name = node.name.value
            if name == "__schema":
                self._terms[()] += _INTROSPECTION_WEIGHT
            elif name == "__type":
                self._terms[()] += _TYPE_INTROSPECTION_WEIGHT
            elif not name.startswith("__") and isinstance(owner, GraphQLObjectType | GraphQLInterfaceType):
                types[owner.name] = owner
                found.setdefault((owner.name, node.alias.value if node.alias else name), []).append(node)
        for (owner_name, _), nodes in found.items():
            field = self._model.field(types[owner_name], nodes[0].name.value)
            self._terms[place.pages] += field.weight * place.factor
            inner = [node.selection_set for node in nodes if node.selection_set is not None]
            if not inner:
                continue
            items = place.times(self._page_size(field, nodes[0]))
            if field.connection and items is not place:
                self._walk_connection(field.returns, inner, place, items)
            else:
                self._walk(field.returns, inner, items)

    def _walk_connection(
        self, connection: GraphQLNamedType, selections: list[SelectionSetNode], place: _Place, items: _Place
    ) -> None:
        """Multiply what is asked of the items, but not the connection's own `pageInfo` and the like."""
        grouped: dict[str, list[FieldNode]] = {}
        for owner, node in self._unfolded(connection, selections, set()):
            if isinstance(owner, GraphQLObjectType | GraphQLInterfaceType) and not node.name.value.startswith("__"):
                grouped.setdefault(node.alias.value if node.alias else node.name.value, []).append(node)
        for nodes in grouped.values():
            name = nodes[0].name.value
            assert isinstance(connection, GraphQLObjectType | GraphQLInterfaceType)  # it has fields, see _field_cost
            field = self._model.field(connection, name)
            below = items if name in _ITEMS else place
            self._terms[below.pages] += field.weight * below.factor
            inner = [node.selection_set for node in nodes if node.selection_set is not None]
            if inner:
                self._walk(field.returns, inner, below)

    def _unfolded(
        self, parent: GraphQLNamedType, selections: Iterable[SelectionSetNode], seen: set[str]
    ) -> Iterator[tuple[GraphQLNamedType, FieldNode]]:
        for selected in selections:
            for node in selected.selections:
                if isinstance(node, FieldNode):
                    yield parent, node
                elif isinstance(node, InlineFragmentNode):
                    condition = node.type_condition
                    inner = self._schema.type_map[condition.name.value] if condition else parent
                    yield from self._unfolded(inner, [node.selection_set], seen)
                elif isinstance(node, FragmentSpreadNode) and node.name.value not in seen:
                    seen.add(node.name.value)
                    fragment = self._fragments[node.name.value]
                    inner = self._schema.type_map[fragment.type_condition.name.value]
                    yield from self._unfolded(inner, [fragment.selection_set], seen)

    def _page_size(self, field: _FieldCost, node: FieldNode) -> _PageSize:
        if not (field.paged or field.by_ids):
            return 1
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        values = [given[name] for name in (_PAGE_SIZES if field.paged else (_ID_LIST,)) if name in given]
        sizes = [size for value in values if (size := _literal_size(value)) is not None]
        names = tuple(value.name.value for value in values if isinstance(value, VariableNode))
        for name in names:
            declared = self._defaults.get(name)
            if declared is not None and (size := _literal_size(declared)) is not None:
                sizes.append(size)
        size = max(sizes) if sizes else DEFAULT_PAGE_SIZE if field.paged else 1
        return PageVariable(names, size) if names else size


def _literal_size(value: ValueNode) -> int | None:
    if isinstance(value, IntValueNode):
        return max(int(value.value), 0)
    if isinstance(value, ListValueNode):
        return len(value.values)
    return None
