"""A tool's selection as its answer: what is asked of the schema, what is answered, and the JSON Schema of that.

All three come from one walk over the selection, so they cannot disagree. An answer is terse: keys in snake_case, nulls
left out, a page as its items, a `Payload` as its value, and an object of which one leaf is selected as that leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLUnionType,
    InlineFragmentNode,
    get_named_type,
    get_nullable_type,
    parse,
    print_ast,
)
from strawberry.utils.str_converters import to_snake_case

from app.mcp.uris import artifact_uri

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema, SelectionSetNode

    from resolvers.tools import Tool

#: Shapes a value as the schema gives it; the list gathers the artifacts met on the way.
Shaper = Callable[[Any, list[dict[str, Any]]], Any]

_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "Int": {"type": "integer"},
    "Long": {"type": "integer"},
    "Float": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "JSON": {},
    "JSONSchema": {},
}
#: What is asked of the members of a command's result that refuse it.
_REFUSALS: Final = {
    "NotFoundProblem": "ref suggestion",
    "ForbiddenProblem": "requires",
    "InvalidProblem": "issues { path rule message hintParts { text closest } }",
    "ConflictProblem": "current { id }",
    "WrongStateProblem": "actions",
    "LimitedProblem": "retryAfterSeconds",
    "UnavailableProblem": "missing { kind name message hintParts { text closest } }",
}
#: What clients are told of a run in an output schema; answers hold more.
_OF_RUN: Final = frozenset({"run_id", "state", "failure", "output", "artifacts", "next", "timed_out"})
#: How to read on in a value that was cut.
_REST_OF_PAYLOAD: Final = (
    'graphql_query reads on: {{ run(id: "…") {{ output {{ stretch(offset: {offset}) }} }} }}; of a step, '
    'step(key: "…") {{ output {{ stretch(offset: {offset}) }} }}.'
)
_PAYLOAD: Final = "{ json excerpt truncated sizeBytes }"


class _Part(NamedTuple):
    """What one selected field leads to: its selection set as text, its JSON Schema, its shaper."""

    text: str
    schema: dict[str, Any]
    shape: Shaper | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a tool asks and answers.

    Attributes:
        text: The selection set of its field, braces included; empty for a plain value.
        whole: JSON Schema of the answer, to its depth.
        schema: The same as clients are told it, objects within it left open: a list of tools has to stay short.
        shape: The answer, from the field's value; never called with null.
        tells_run: Whether the answer is a run, at its top.
        tells_route: Whether the answer says what to run for a request.
    """

    text: str
    whole: dict[str, Any]
    shape: Shaper
    tells_run: bool = False
    tells_route: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """What clients are told: the members at the top, and of a run only those that matter most."""
        properties = self.whole["properties"]
        if self.tells_run:
            # Every tool that leads to a run would say the same twelve things again.
            properties = {name: part for name, part in properties.items() if name in _OF_RUN}
        return {"type": "object", "properties": {name: _open(part) for name, part in properties.items()}}


def _open(schema: dict[str, Any]) -> dict[str, Any]:
    """A member's schema with what is in it left open."""
    match schema.get("type"):
        case "object":
            return {"type": "object"}
        case "array":
            return {"type": "array", "items": _open(schema["items"])}
        case _:
            return schema


def outputs_of(schema: GraphQLSchema, field: GraphQLField, tool: Tool) -> Outputs:
    """What the tool a field is published as asks and answers.

    Raises:
        ValueError: the selection does not fit the field's type.
    """
    walk = _Walk(schema)
    kind: Any = get_nullable_type(field.type)
    selection = _parsed(tool.select)
    if isinstance(kind, GraphQLUnionType):
        success = next(member for member in kind.types if not member.name.endswith("Problem"))
        part = walk.object(success, selection, lone=False)
        refusals = " ".join(
            f"... on {member.name} {{ {_REFUSALS[member.name]} }}" for member in kind.types if member.name in _REFUSALS
        )
        text = (
            f"{{ __typename ... on {success.name} {part.text} "
            f"... on Problem {{ code message hintParts {{ text closest operation }} retryable }} {refusals} }}"
        )
        part = part._replace(text=text)
        kind = success
    elif isinstance(kind, GraphQLList):
        inner = walk.object(get_named_type(kind), selection, lone=False)
        part = _Part(inner.text, {"type": "array", "items": inner.schema}, _each(inner.shape))
        items = part.shape
        assert items is not None
        root = {"type": "object", "properties": {"items": part.schema}, "required": ["items"]}
        return Outputs(part.text, root, lambda value, found: {"items": items(value, found)})
    elif _is_page(kind):
        inner = walk.object(get_named_type(kind.fields["nodes"].type), selection, lone=False)
        return _page(inner, tool.when_empty)
    else:
        part = walk.object(kind, selection, lone=False)
    answer, shape = part.schema, part.shape
    assert shape is not None
    if tool.lift is not None:
        answer, shape = _lifted(answer, shape, tool.lift)
    told: Any = get_named_type(kind.fields[tool.lift].type) if tool.lift is not None else kind
    tells_run, tells_route = told.name == "Run", told.name == "RouteResult"
    if tells_run or tells_route:
        answer = {**answer, "properties": {**answer["properties"], "next": {"type": "object"}}}
    return Outputs(part.text, answer, shape, tells_run, tells_route)


def _page(inner: _Part, when_empty: str | None) -> Outputs:
    shape_items = _each(inner.shape)

    def shape(value: Any, found: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401
        answer: dict[str, Any] = {"items": shape_items(value["nodes"], found)}
        if value["pageInfo"]["hasNextPage"]:
            answer["next_cursor"] = value["pageInfo"]["endCursor"]
        if when_empty is not None and not answer["items"]:
            answer["hint"] = when_empty
        return answer

    properties: dict[str, Any] = {"items": {"type": "array", "items": inner.schema}, "next_cursor": {"type": "string"}}
    if when_empty is not None:
        properties["hint"] = {"type": "string"}
    schema = {"type": "object", "properties": properties, "required": ["items"]}
    text = f"{{ nodes {inner.text} pageInfo {{ hasNextPage endCursor }} }}"
    return Outputs(text, schema, shape)


def _lifted(answer: dict[str, Any], shape: Shaper, name: str) -> tuple[dict[str, Any], Shaper]:
    inner = answer["properties"][name]
    properties = {**inner["properties"], **answer["properties"]}
    del properties[name]
    required = [each for each in answer.get("required", []) if each != name]
    if name in answer.get("required", []):
        required = [*inner.get("required", []), *required]
    lifted: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        lifted["required"] = required

    def lift(value: Any, found: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401
        shaped = shape(value, found)
        return {**shaped.pop(name, {}), **shaped}

    return lifted, lift


class _Walk:
    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema

    def object(self, kind: Any, selection: SelectionSetNode, *, lone: bool = True) -> _Part:  # noqa: ANN401
        """What selecting some of an object leads to.

        Args:
            kind: Its type.
            selection: What is selected.
            lone: Whether a single leaf stands for the object.
        """
        texts: list[str] = []
        properties: dict[str, dict[str, Any]] = {}
        required: list[str] = []
        shapers: dict[str, Shaper] = {}
        leaves = 0
        for node in selection.selections:
            if isinstance(node, InlineFragmentNode):
                member = self._schema.type_map[node.type_condition.name.value] if node.type_condition else kind
                inner = self._fields(member, node.selection_set)
                texts.append(f"... on {member.name} {{ {' '.join(text for text, *_ in inner)} }}")
                for _, key, part, _ in inner:
                    properties[key] = part.schema
                    if part.shape is not None:
                        shapers[key] = part.shape
                leaves += 2
                continue
            for text, key, part, always in self._fields(kind, selection, only=node):
                texts.append(text)
                properties[key] = part.schema
                leaves += 1 if part.shape is None else 2
                if part.shape is not None:
                    shapers[key] = part.shape
                if always:
                    required.append(key)
        text = f"{{ {' '.join(texts)} }}"
        if lone and leaves == 1:
            (key,) = properties
            return _Part(text, properties[key], lambda value, _: value[key])
        is_artifact = kind.name == "Artifact" and "id" in properties
        if is_artifact:
            properties["uri"] = {"type": "string"}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return _Part(text, schema, _object_shaper(shapers, is_artifact=is_artifact))

    def _fields(
        self,
        kind: Any,  # noqa: ANN401
        selection: SelectionSetNode,
        only: Any = None,  # noqa: ANN401
    ) -> list[tuple[str, str, _Part, bool]]:
        """Text, key, part, and whether it is always there, of each field selected."""
        found = []
        for node in selection.selections if only is None else (only,):
            if not isinstance(node, FieldNode):
                raise TypeError("A fragment stands within a fragment.")
            name = node.name.value
            key = node.alias.value if node.alias else to_snake_case(name)
            arguments = f"({', '.join(print_ast(argument) for argument in node.arguments)})" if node.arguments else ""
            directives = "".join(f" {print_ast(directive)}" for directive in node.directives or ())
            if name == "__typename":
                part, always = _Part("", {"type": "string"}, None), True
            else:
                field = kind.fields.get(name)
                if field is None:
                    raise ValueError(f"{kind.name} has no field {name}.")
                part = self._value(field.type, node)
                always = isinstance(field.type, GraphQLNonNull)
            label = "" if key == name else f"{key}: "
            text = f"{label}{name}{arguments}{directives}{f' {part.text}' if part.text else ''}"
            found.append((text, key, part, always and not node.directives))
        return found

    def _value(self, kind: Any, node: FieldNode) -> _Part:  # noqa: ANN401
        kind = get_nullable_type(kind)
        match kind:
            case GraphQLList():
                inner = self._value(kind.of_type, node)
                schema = {"type": "array", "items": inner.schema}
                return _Part(inner.text, schema, None if inner.shape is None else _each(inner.shape))
            case GraphQLScalarType():
                return _Part("", _SCALARS.get(kind.name, {"type": "string"}), None)
            case GraphQLEnumType():
                return _Part("", {"type": "string"}, None)
            case GraphQLObjectType() | GraphQLInterfaceType():
                if kind.name == "Payload":
                    return _Part(_PAYLOAD, {}, _payload)
                if node.selection_set is None:
                    raise ValueError(f"{node.name.value} is an object of which nothing is selected.")
                if _is_page(kind):
                    inner = self.object(get_named_type(kind.fields["nodes"].type), node.selection_set)
                    items = _each(inner.shape)
                    schema = {"type": "array", "items": inner.schema}
                    return _Part(f"{{ nodes {inner.text} }}", schema, lambda value, found: items(value["nodes"], found))
                return self.object(kind, node.selection_set)
            case _:
                raise ValueError(f"{kind.name} cannot be selected for a tool.")


def _object_shaper(shapers: dict[str, Shaper], *, is_artifact: bool) -> Shaper:
    def shape(value: Any, found: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401
        shaped: dict[str, Any] = {}
        for key, item in value.items():
            if item is None or key == "__typename":
                continue
            shaper = shapers.get(key)
            if shaper is not None:
                item = shaper(item, found)
                if item is None:
                    continue
            shaped[key] = item
        if is_artifact:
            shaped["uri"] = artifact_uri(shaped["id"])
            found.append(shaped)
        return shaped

    return shape


def _each(inner: Shaper | None) -> Shaper:
    if inner is None:
        return lambda value, _: value
    return lambda value, found: [inner(item, found) for item in value if item is not None]


def _payload(value: Any, _found: list[dict[str, Any]]) -> Any:  # noqa: ANN401
    """A payload's value; of one that is too long its beginning, how long it is, and how to read on."""
    if value["truncated"]:
        excerpt = value["excerpt"] or ""
        rest = _REST_OF_PAYLOAD.format(offset=len(excerpt))
        return {"truncated": True, "excerpt": excerpt, "size_bytes": value["sizeBytes"], "rest": rest}
    return value["json"]


def _is_page(kind: Any) -> bool:  # noqa: ANN401
    return isinstance(kind, GraphQLObjectType) and kind.name.endswith("Connection") and "nodes" in kind.fields


def _parsed(select: str) -> SelectionSetNode:
    document = parse(f"{{ {select} }}", no_location=True)
    selection: SelectionSetNode = document.definitions[0].selection_set  # type: ignore[attr-defined]
    return selection
