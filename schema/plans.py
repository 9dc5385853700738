"""What each field of a selection takes to be executed: found out once for a document, not in every operation.

graphql-core collects the fields of every selection anew for each operation, and finds out about each anew for every
object: what it is, what its arguments are. Of a document that is sent again and again all that stays the same as long
as the variables behind `@skip` and `@include` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphql import DirectiveNode, VariableNode, Visitor, visit

from schema.leaves import write_leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import DocumentNode, FieldNode, GraphQLField, GraphQLObjectType, GraphQLOutputType
    from graphql.execution.get_variable_signature import GraphQLVariableSignature
    from graphql.execution.values import VariableValueSource

    from schema.argument_plans import ArgumentPlan
    from schema.execution import OperationExecutor
    from schema.leaves import Leaf
    from schema.resolver_calls import ShortResolver
    from schema.returned import Returned

#: Variables behind conditions of a document whose plans are kept: each doubles how many there may be.
_CONDITIONS_MAX: Final = 4
#: Operations of a document whose plans are kept, conditions multiplied out.
_PLANS_MAX: Final = 32
_CONDITIONAL: Final = frozenset({"skip", "include"})


class DeclaredVariable(NamedTuple):
    """A variable that an operation declares.

    Attributes:
        signature: As graphql-core has it.
        absent: What is told of its source where a request leaves it out.
        default: What it is then; Undefined for nothing.
        optional: Whether that is all there is to do.
    """

    signature: GraphQLVariableSignature
    absent: VariableValueSource
    default: Any
    optional: bool


class FieldPlan(NamedTuple):
    """One field of a selection that is no plain attribute.

    Attributes:
        name: What it is answered under.
        field: Of the schema; None where there is none, or no resolver.
        short: Its resolver when that is called as it is.
        details: As graphql-core collected them.
        nodes: Where it stands in the document.
        arguments: Unless graphql-core has to look at them in every operation.
        returned: What it leads to.
    """

    name: str
    field: GraphQLField | None
    short: ShortResolver | None
    details: list[Any]
    nodes: list[FieldNode]
    arguments: ArgumentPlan | None
    returned: Returned


class Selection(NamedTuple):
    """The fields asked of one type.

    Attributes:
        grouped: As collected; kept, since plans are known by its identity.
        blank: An answer in the order asked: `__typename`, and null under all other names.
        leaves: Plain attributes.
        others: All that have to be resolved.
        whole: All but `__typename` as `others` are, for an object about whose attributes something is unusual.
    """

    grouped: dict[str, list[Any]]
    blank: dict[str, Any]
    leaves: list[tuple[str, Leaf]]
    others: list[FieldPlan]
    whole: list[FieldPlan]


def rows_of(items: list[Any], selection: Selection) -> list[dict[str, Any]] | None:
    """Objects of which only plain attributes are asked for; None where something is unusual about one."""
    _, blank, leaves, _, _ = selection
    rows = []
    for item in items:
        row = blank.copy()
        if not write_leaves(leaves, item, row):
            return None
        rows.append(row)
    return rows


class Plans:
    """What is known of one operation with given conditions; filled by whoever executes it first.

    Attributes:
        root: The fields at the top, as collected.
        subfields: Those of selections, as graphql-core keeps them within one operation.
        selections: By type and by identity of what was collected.
        below: The same by type and by identity of the field that leads there, as collected.
        returned: What values of types are answered as.
    """

    __slots__ = ("below", "returned", "root", "selections", "subfields")

    def __init__(self) -> None:
        self.root: dict[str, list[Any]] | None = None
        self.subfields: dict[Any, Any] = {}
        self.selections: dict[tuple[GraphQLObjectType, int], Selection] = {}
        self.below: dict[tuple[GraphQLObjectType, int], Selection] = {}
        self.returned: dict[GraphQLOutputType, Returned] = {}


class PlanBook:
    """The plans of a document.

    Args:
        document: It is valid.

    Attributes:
        executors: Of its operations by name, without what belongs to a request; see `schema.executors`.
        variables: Those that each of them declares.
    """

    __slots__ = ("_conditions", "_plans", "executors", "variables")

    def __init__(self, document: DocumentNode) -> None:
        conditions = _Conditions()
        visit(document, conditions)
        self._conditions = sorted(conditions.names)
        self._plans: dict[tuple[Any, ...], Plans] = {}
        self.executors: dict[str | None, OperationExecutor] = {}
        self.variables: dict[str | None, tuple[DeclaredVariable, ...]] = {}

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
