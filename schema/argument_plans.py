"""The arguments of fields, as far as a document fixes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphql import GraphQLNonNull, Undefined, VariableNode, Visitor, visit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import FieldNode, GraphQLField, Node

#: Values of these types cannot be changed by whoever is given them.
FIXED: Final = frozenset({str, int, float, bool, type(None)})


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
        elif type(value) in FIXED:
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
