"""What each field of a selection takes to be executed: found out once for a document, not in every operation.

graphql-core collects the fields of every selection anew for each operation, and finds out about each anew for every
object: what it is, what its arguments are. Of a document that is sent again and again all that stays the same as long
as the variables behind `@skip` and `@include` do.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from graphql import (
    DirectiveNode,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLID,
    GraphQLList,
    GraphQLNonNull,
    GraphQLString,
    Undefined,
    VariableNode,
    Visitor,
    get_nullable_type,
    is_leaf_type,
    visit,
)
from strawberry.types.field import StrawberryField

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphql import DocumentNode, FieldNode, GraphQLField, GraphQLObjectType, GraphQLOutputType, Node
    from graphql.execution.get_variable_signature import GraphQLVariableSignature

    from schema.execution import OperationExecutor

#: Variables behind conditions of a document whose plans are kept: each doubles how many there may be.
_CONDITIONS_MAX: Final = 4
#: Operations of a document whose plans are kept, conditions multiplied out.
_PLANS_MAX: Final = 32
#: Scalars of which values of one type are answered as they are.
_AS_THEY_ARE: Final[dict[object, type]] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}
_CONDITIONAL: Final = frozenset({"skip", "include"})


class Leaf(NamedTuple):
    """A field that is an attribute.

    Attributes:
        attribute: Which.
        write: Makes the answer of a value.
        nullable: Whether it may be null.
        plain: Values of this very type are answered as they are.
        items: Set of a list; its items of this very type are answered as they are.
    """

    attribute: str
    write: Callable[[Any], Any]
    nullable: bool
    plain: type | None
    items: type | None


class ArgumentPlan(NamedTuple):
    """The arguments of a field, as far as a document fixes them.

    Attributes:
        fixed: Those that are the same in every operation; nobody can change their values.
        empty: Those that are an empty list or object, by name and type.
        variables: Those that are a variable: name, variable, and whether it may be null.
    """

    fixed: dict[str, Any]
    empty: tuple[tuple[str, type], ...]
    variables: tuple[tuple[str, str, bool], ...]

    def filled(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """All of them, not to be changed; None where a variable has no value, or none that fits.

        Args:
            values: Of the variables, as they were coerced.
        """
        if not self.variables and not self.empty:
            return self.fixed
        given = dict(self.fixed)
        for name, variable, nullable in self.variables:
            value = values.get(variable, Undefined)
            if value is Undefined or (value is None and not nullable):
                return None
            given[name] = value
        for name, kind in self.empty:
            given[name] = kind()
        return given


class FieldPlan(NamedTuple):
    """One field of a selection.

    Attributes:
        name: What it is answered under.
        constant: The answer when it is the same for every object: `__typename`.
        leaf: Of a plain attribute.
        field: Of the schema; None where there is none, or no resolver.
        details: As graphql-core collected them.
        nodes: Where it stands in the document.
        arguments: Unless graphql-core has to look at them in every operation.
    """

    name: str
    constant: str | None
    leaf: Leaf | None
    field: GraphQLField | None
    details: list[Any]
    nodes: list[FieldNode]
    arguments: ArgumentPlan | None


class Selection(NamedTuple):
    """The fields asked of one type.

    Attributes:
        grouped: As collected; kept, since plans are known by its identity.
        fields: In the order asked.
        leaves: The same as names and leaves when there is nothing else; else None.
    """

    grouped: dict[str, list[Any]]
    fields: list[FieldPlan]
    leaves: list[tuple[str, Leaf]] | None


class Plans:
    """What is known of one operation with given conditions; filled by whoever executes it first.

    Attributes:
        root: The fields at the top, as collected.
        subfields: Those of selections, as graphql-core keeps them within one operation.
        selections: By type and by identity of what was collected.
    """

    __slots__ = ("root", "selections", "subfields")

    def __init__(self) -> None:
        self.root: dict[str, list[Any]] | None = None
        self.subfields: dict[Any, Any] = {}
        self.selections: dict[tuple[GraphQLObjectType, int], Selection] = {}


class PlanBook:
    """The plans of a document.

    Args:
        document: It is valid.

    Attributes:
        executors: Of its operations by name, without what belongs to a request; see `schema.executors`.
        signatures: The variables each of those declares.
    """

    __slots__ = ("_conditions", "_plans", "executors", "signatures")

    def __init__(self, document: DocumentNode) -> None:
        conditions = _Conditions()
        visit(document, conditions)
        self._conditions = sorted(conditions.names)
        self._plans: dict[tuple[Any, ...], Plans] = {}
        self.executors: dict[str | None, OperationExecutor] = {}
        self.signatures: dict[str | None, tuple[GraphQLVariableSignature, ...]] = {}

    def of(self, operation: str | None, variables: Mapping[str, Any]) -> Plans:
        """The plans of an operation with these variables, as they were coerced."""
        if len(self._conditions) > _CONDITIONS_MAX:
            return Plans()
        key = (operation, *(variables.get(name) is True for name in self._conditions))
        plans = self._plans.get(key)
        if plans is None:
            plans = Plans()
            if len(self._plans) < _PLANS_MAX:
                self._plans[key] = plans
        return plans


class _Conditions(Visitor):
    """Gathers the variables behind `@skip` and `@include`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        if node.name.value in _CONDITIONAL:
            for argument in node.arguments or ():
                if isinstance(argument.value, VariableNode):
                    self.names.add(argument.value.name.value)


def leaf_of(field: GraphQLField) -> Leaf | None:
    """How a field is read that is an attribute and a scalar or an enum; None for all others."""
    definition = field.extensions.get("strawberry-definition")
    plain = getattr(field.resolve, "_is_default", False) and not field.args  # Strawberry's mark for attributes
    if not plain or not isinstance(definition, StrawberryField) or definition.default_resolver is not getattr:
        return None
    nullable = not isinstance(field.type, GraphQLNonNull)
    inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    items = plain_items(inner)
    if items is not None:
        return Leaf(definition.python_name, list, nullable, None, items)
    if not is_leaf_type(inner):
        return None
    write = inner.coerce_output_value
    # Strawberry looks an enum's member up anew each time, at 3 µs; there are few of them, and they never change.
    if isinstance(inner, GraphQLEnumType):
        write = cache(write)
    return Leaf(definition.python_name, write, nullable, _AS_THEY_ARE.get(inner), None)


def plain_items(kind: GraphQLOutputType) -> type | None:
    """The type of which items of a list are answered as they are; None of anything else."""
    return _AS_THEY_ARE.get(get_nullable_type(kind.of_type)) if isinstance(kind, GraphQLList) else None


def is_plain_list(value: object, items: type) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list of such items and nothing else."""
    if type(value) is not list and type(value) is not tuple:
        return False
    for item in value:  # noqa: SIM110 - a generator costs more than most of these lists
        if type(item) is not items:
            return False
    return True


#: Values of these types cannot be changed by whoever is given them.
_FIXED: Final = frozenset({str, int, float, bool, type(None)})


def argument_plan(field: GraphQLField, node: FieldNode, found: Mapping[str, Any]) -> ArgumentPlan | None:
    """What a document fixes of a field's arguments; None where some have to be looked at in every operation.

    Args:
        field: Of the schema.
        node: Where it stands in the document.
        found: The arguments in one operation.
    """
    given = {argument.name.value: argument.value for argument in node.arguments or ()}
    fixed: dict[str, Any] = {}
    empty: list[tuple[str, type]] = []
    variables: list[tuple[str, str, bool]] = []
    for asked, argument in field.args.items():
        name, value_node = argument.out_name or asked, given.get(asked)
        value = found.get(name, Undefined)
        if isinstance(value_node, VariableNode):
            variables.append((name, value_node.name.value, not isinstance(argument.type, GraphQLNonNull)))
        elif value is Undefined:
            continue
        elif value_node is not None and _has_variables(value_node):
            return None
        elif type(value) in _FIXED:
            fixed[name] = value
        elif type(value) in (list, dict) and not value:
            empty.append((name, type(value)))
        else:
            return None
    return ArgumentPlan(fixed, tuple(empty), tuple(variables))


def _has_variables(node: Node) -> bool:
    found = _Variables()
    visit(node, found)
    return found.any


class _Variables(Visitor):
    any = False

    def enter_variable(self, *_: object) -> None:
        self.any = True
