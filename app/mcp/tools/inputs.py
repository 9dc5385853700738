"""A field's arguments as a tool's parameters: their JSON Schema, and the mapping of arguments to variables.

Parameters are flat: each field of a filter object is one, and the four arguments of a page become `limit` and `cursor`.
A one-of input is one parameter if the JSON types tell its fields apart; else the fields declared with the same name are
one parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    Undefined,
    get_nullable_type,
    is_required_argument,
    is_required_input_field,
)
from strawberry.utils.str_converters import to_snake_case

from resolvers.tools import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLArgument, GraphQLField, GraphQLInputField

    from resolvers.tools import Tool

_PAGE: Final = frozenset({"first", "after", "last", "before"})
_PAGE_ITEMS: Final = 20
_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "Int": {"type": "integer"},
    "Long": {"type": "integer"},
    "Float": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "DateTime": {"type": "string", "format": "date-time"},
    "JSON": {"type": "object"},
    "JSONSchema": {"type": "object"},
}
_PLAIN: Final = Parameter()


@dataclass(frozen=True, slots=True)
class Binding:
    """The variable a parameter sets.

    Attributes:
        path: The variable and, if that is an object, the field in it.
        by_type: For a one-of input: the field by the JSON type of the value.
    """

    path: tuple[str, ...]
    by_type: Mapping[type, str] | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """A tool's parameters.

    Attributes:
        schema: JSON Schema of the arguments.
        bindings: The variable of each parameter, by its name.
        defaults: Defaults of parameters that differ from the argument's.
        wait_seconds: Default of how long a call waits; 0 for a tool that does not wait.
    """

    schema: dict[str, Any]
    bindings: Mapping[str, Binding]
    defaults: Mapping[str, Any]
    wait_seconds: int

    def renamed(self) -> dict[str, str]:
        """Parameters that have another name in use cases, by that name; of a field of an object, `object.field`."""
        of_path = {to_snake_case(binding.path[-1]): name for name, binding in self.bindings.items()}
        nested = {".".join(each.path): name for name, each in self.bindings.items() if len(each.path) > 1}
        nested |= {".".join(map(to_snake_case, path.split("."))): name for path, name in nested.items()}
        return {other: name for other, name in of_path.items() if other not in self.bindings} | nested

    def variables(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The document's variables for valid arguments."""
        found: dict[str, Any] = {}
        for name, value in (*self.defaults.items(), *arguments.items()):
            binding = self.bindings[name]
            if binding is _DETAIL:
                found["full"] = value == "full"
            elif binding.by_type is not None:
                found.setdefault(binding.path[0], {})[binding.by_type[type(value)]] = value
            elif len(binding.path) == 1:
                found[binding.path[0]] = value
            else:
                found.setdefault(binding.path[0], {})[binding.path[1]] = value
        return found


_DETAIL: Final = Binding(("full",))


def inputs_of(field: GraphQLField, tool: Tool, *, has_detail: bool) -> Inputs:
    """The parameters of the tool a field is published as.

    Args:
        field: The field.
        tool: The tool's declaration.
        has_detail: Whether the tool takes `detail: concise | full`; its document then declares `$full`.
    """
    builder = _Builder(tool)
    page = field.args.keys() >= _PAGE
    for name, argument in field.args.items():
        if not (page and name in _PAGE):
            builder.argument(name, argument)
    if page:
        builder.page()
    if has_detail:
        builder.detail()
    return builder.done()


class _Builder:
    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._properties: dict[str, dict[str, Any]] = {}
        self._required: list[str] = []
        self._bindings: dict[str, Binding] = {}
        self._defaults: dict[str, Any] = {}

    def argument(self, name: str, argument: GraphQLArgument) -> None:
        if self._declared(name).hidden:
            return
        kind = get_nullable_type(argument.type)
        required = is_required_argument(argument)
        if not isinstance(kind, GraphQLInputObjectType):
            self._parameter(name, argument, Binding((name,)), required=required)
            return
        by_type = _by_type(kind.fields) if _takes_one(kind) else None
        if by_type is not None:
            self._one_of(name, argument, kind.fields, Binding((name,), by_type), required=required)
            return
        for parts in self._by_name(kind).values():
            (part, each), *others = parts.items()
            if others:
                binding = Binding((name,), _by_type(parts))
                if binding.by_type is None:
                    raise ValueError(f"The fields {', '.join(parts)} of {kind.name} cannot be one parameter.")
                self._one_of(part, each, parts, binding, required=False)
            else:
                wanted = required and is_required_input_field(each)
                self._parameter(part, each, Binding((name, part)), required=wanted)

    def page(self) -> None:
        limit = self._tool.parameters.get("limit", _PLAIN)
        items = limit.default or _PAGE_ITEMS
        self._properties["limit"] = {
            "type": "integer",
            "minimum": 1,
            "maximum": limit.maximum or 100,
            "default": items,
            "description": limit.description or "Entries per page.",
        }
        self._properties["cursor"] = {"type": "string", "description": "next_cursor of the previous page."}
        self._bindings["limit"], self._bindings["cursor"] = Binding(("first",)), Binding(("after",))
        self._defaults["limit"] = items

    def detail(self) -> None:
        self._properties["detail"] = {
            "type": "string",
            "enum": ["concise", "full"],
            "default": "concise",
            "description": "Level of detail.",
        }
        self._bindings["detail"] = _DETAIL

    def done(self) -> Inputs:
        schema: dict[str, Any] = {"type": "object", "properties": self._properties, "additionalProperties": False}
        if self._required:
            schema["required"] = self._required
        return Inputs(
            schema,
            self._bindings,
            self._defaults,
            self._properties.get("wait_seconds", {}).get("default", 0),
        )

    def _by_name(self, kind: GraphQLInputObjectType) -> dict[str, dict[str, GraphQLInputField]]:
        """The visible fields, by the name of their parameter."""
        found: dict[str, dict[str, GraphQLInputField]] = {}
        for part, each in kind.fields.items():
            if not self._declared(part).hidden:
                parameter = (self._declared(part).name if _takes_one(kind) else None) or part
                found.setdefault(parameter, {})[part] = each
        return found

    def _one_of(
        self,
        name: str,
        argument: GraphQLArgument | GraphQLInputField,
        fields: Mapping[str, GraphQLInputField],
        binding: Binding,
        *,
        required: bool,
    ) -> None:
        schema = {"anyOf": [_schema_of(each.type) for each in fields.values()]}
        self._parameter(name, argument, binding, required=required, schema=schema)

    def _declared(self, name: str) -> Parameter:
        return self._tool.parameters.get(to_snake_case(name), _PLAIN)

    def _parameter(
        self,
        name: str,
        argument: GraphQLArgument | GraphQLInputField,
        binding: Binding,
        *,
        required: bool,
        schema: dict[str, Any] | None = None,
    ) -> None:
        declared = self._declared(name)
        called = declared.name or to_snake_case(name)
        written = dict(schema or _schema_of(argument.type))
        for key, value in (("minimum", declared.minimum), ("maximum", declared.maximum)):
            if value is not None:
                written[key] = value
        if declared.one_of:
            written["enum"] = list(declared.one_of)
        if declared.has_default:
            written["default"] = self._defaults[called] = declared.default
        elif argument.default_value is not Undefined and argument.default_value is not None:
            default = argument.default_value
            written["default"] = default.name if isinstance(default, Enum) else default
        if declared.nullable:
            # No list of types: not every client supports one.
            written = {"anyOf": [written, {"type": "null"}]}
        written["description"] = declared.description or argument.description or called
        if called in self._properties:
            raise ValueError(f"Two parameters of the tool {self._tool.title} are named {called}.")
        self._properties[called] = written
        self._bindings[called] = binding
        if required and "default" not in written:
            self._required.append(called)


def _takes_one(kind: GraphQLInputObjectType) -> bool:
    """Whether it is a one-of input; Strawberry marks only its own definition."""
    return kind.is_one_of or bool(getattr(kind.extensions.get("strawberry-definition"), "is_one_of", False))


def _by_type(fields: Mapping[str, GraphQLInputField]) -> dict[type, str] | None:
    """The field by its JSON type; None if the types do not tell the fields apart."""
    found: dict[type, str] = {}
    for name, field in fields.items():
        python = {"string": str, "object": dict, "array": list}.get(str(_schema_of(field.type).get("type")))
        if python is None or python in found:
            return None
        found[python] = name
    return found


def _schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any input type of graphql-core
    kind = get_nullable_type(kind)
    match kind:
        case GraphQLList():
            inner = kind.of_type.of_type if isinstance(kind.of_type, GraphQLNonNull) else kind.of_type
            return {"type": "array", "items": _schema_of(inner)}
        case GraphQLEnumType():
            return {"type": "string", "enum": list(kind.values)}
        case GraphQLScalarType():
            return dict(_SCALARS.get(kind.name, {"type": "string"}))
        case _:
            raise TypeError(f"A tool with flat parameters cannot take {kind}.")
