"""What each field of a selection takes to be executed: found out once for a document, not in every operation.

graphql-core collects the fields of every selection anew for each operation, and finds out about each anew for every
object: what it is, what its arguments are. Of a document that is sent again and again all that stays the same as long
as the variables behind `@skip` and `@include` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphql import (
    DirectiveNode,
    GraphQLNonNull,
    Undefined,
    VariableNode,
    Visitor,
    visit,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import DocumentNode, FieldNode, GraphQLField, GraphQLObjectType, Node
    from graphql.execution.get_variable_signature import GraphQLVariableSignature

    from schema.execution import OperationExecutor
    from schema.leaves import Leaf

#: Variables behind conditions of a document whose plans are kept: each doubles how many there may be.
_CONDITIONS_MAX: Final = 4
#: Operations of a document whose plans are kept, conditions multiplied out.
_PLANS_MAX: Final = 32
_CONDITIONAL: Final = frozenset({"skip", "include"})


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
