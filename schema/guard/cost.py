"""The cost of an operation: field weights multiplied by the page sizes above them.

A field costs its `@cost` weight; without one, an object costs 1 and a scalar 0. Fields below a list count once per
requested item: `first`, `last`, or the number of `ids`. In a connection this applies to its `nodes` and `edges`. A
plain list is bounded by a definition or a setting and counts as one.

The sum is compiled once per document, with a term for each page size that comes from a variable.
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

#: Introspecting the whole schema takes tens of milliseconds; the default limit allows five.
_INTROSPECTION_WEIGHT = 2_000
_TYPE_INTROSPECTION_WEIGHT = 50
_PAGE_SIZES = ("first", "last")
_ID_LIST = "ids"
_ITEMS = frozenset({"nodes", "edges"})


class PageVariable(NamedTuple):
    """A page size that comes from one of these variables."""

    names: tuple[str, ...]
    #: Number of items if none of the variables is set.
    default: int

    def size(self, variables: Mapping[str, object]) -> int:
        """Return the number of requested items. Invalid values count as the default; coercion rejects them later."""
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
    """The cost of one operation: a constant plus terms multiplied by page sizes."""

    #: The part that does not depend on variables.
    constant: int
    #: Pairs of a factor and the page sizes to multiply it by.
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
class _Multiplier:
    """The multiplier of all costs in one selection."""

    factor: int
    pages: tuple[PageVariable, ...]

    def times(self, size: _PageSize) -> _Multiplier:
        if isinstance(size, PageVariable):
            return _Multiplier(self.factor, tuple(sorted((*self.pages, size))))
        return self if size == 1 else _Multiplier(self.factor * size, self.pages)


class _FieldCost(NamedTuple):
    weight: int
    paged: bool
    by_ids: bool
    connection: bool
    returns: GraphQLNamedType


class CostModel:
    """Compiles cost plans for the documents of one schema. Documents must be valid and within the limits."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._fields: dict[tuple[str, str], _FieldCost] = {}

    def plan(self, document: DocumentNode, operation: OperationDefinitionNode) -> CostPlan:
        """Compile the cost of one operation of a document."""
        return _Compilation(self, self._schema, document, operation).plan()

    def field(self, parent: GraphQLObjectType | GraphQLInterfaceType, name: str) -> _FieldCost:
        """Look up the cost of one field of a type."""
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
    """One walk over one operation. Fields with the same response name are counted once, as they are executed once."""

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
            self._walk(root, [self._operation.selection_set], _Multiplier(1, ()))
        constant = self._terms.pop((), 0)
        return CostPlan(constant, tuple((factor, pages) for pages, factor in self._terms.items() if factor))

    def _walk(self, parent: GraphQLNamedType, selections: list[SelectionSetNode], multiplier: _Multiplier) -> None:
        found: dict[tuple[str, str], list[FieldNode]] = {}
        types: dict[str, GraphQLObjectType | GraphQLInterfaceType] = {}
        for owner, node in self._expanded(parent, selections, set()):
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
            self._terms[multiplier.pages] += field.weight * multiplier.factor
            inner = [node.selection_set for node in nodes if node.selection_set is not None]
            if not inner:
                continue
            items = multiplier.times(self._page_size(field, nodes[0]))
            if field.connection and items is not multiplier:
                self._walk_connection(field.returns, inner, multiplier, items)
            else:
                self._walk(field.returns, inner, items)

    def _walk_connection(
        self,
        connection: GraphQLNamedType,
        selections: list[SelectionSetNode],
        multiplier: _Multiplier,
        items: _Multiplier,
    ) -> None:
        """Multiply the fields of the items, but not the connection's own fields such as `pageInfo`."""
        grouped: dict[str, list[FieldNode]] = {}
        for owner, node in self._expanded(connection, selections, set()):
            if isinstance(owner, GraphQLObjectType | GraphQLInterfaceType) and not node.name.value.startswith("__"):
                grouped.setdefault(node.alias.value if node.alias else node.name.value, []).append(node)
        for nodes in grouped.values():
            name = nodes[0].name.value
            assert isinstance(connection, GraphQLObjectType | GraphQLInterfaceType)  # it has fields, see _field_cost
            field = self._model.field(connection, name)
            below = items if name in _ITEMS else multiplier
            self._terms[below.pages] += field.weight * below.factor
            inner = [node.selection_set for node in nodes if node.selection_set is not None]
            if inner:
                self._walk(field.returns, inner, below)

    def _expanded(
        self, parent: GraphQLNamedType, selections: Iterable[SelectionSetNode], seen: set[str]
    ) -> Iterator[tuple[GraphQLNamedType, FieldNode]]:
        for selected in selections:
            for node in selected.selections:
                if isinstance(node, FieldNode):
                    yield parent, node
                elif isinstance(node, InlineFragmentNode):
                    condition = node.type_condition
                    inner = self._schema.type_map[condition.name.value] if condition else parent
                    yield from self._expanded(inner, [node.selection_set], seen)
                elif isinstance(node, FragmentSpreadNode) and node.name.value not in seen:
                    seen.add(node.name.value)
                    fragment = self._fragments[node.name.value]
                    inner = self._schema.type_map[fragment.type_condition.name.value]
                    yield from self._expanded(inner, [fragment.selection_set], seen)

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
