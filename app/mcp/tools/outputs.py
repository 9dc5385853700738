"""A tool's answer: shaped from the selection of its document, and described by a JSON Schema.

Both come from one walk over the selection, so they cannot disagree. Answers are terse: keys in snake_case, no nulls, a
page as its items, a `Payload` as its value, and an object with one selected leaf as that leaf.
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
)
from strawberry.utils.str_converters import to_snake_case

from app.mcp.tools.documents import ANSWER
from app.mcp.uris import artifact_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLField, GraphQLSchema, SelectionSetNode

    from resolvers.tools import Tool

#: Shapes a value of the schema; the list collects its artifacts.
Shaper = Callable[[Any, list[dict[str, Any]]], Any]

_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "Int": {"type": "integer"},
    "Long": {"type": "integer"},
    "Float": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "JSON": {},
    "JSONSchema": {},
}
#: Members of a run in output schemas; answers have more.
_OF_RUN: Final = frozenset({"run_id", "state", "failure", "output", "artifacts", "steps", "next", "timed_out"})
#: How to read the rest of a value that was cut.
_REST_OF_PAYLOAD: Final = (
    'graphql_query reads the rest: {{ run(id: "…") {{ output(offset: {offset}, limitBytes: 8000) '
    '{{ text nextOffset }} }} }}; of a step, step(key: "…") {{ output(offset: {offset}, limitBytes: 8000) '
    "{{ text nextOffset }} }}."
)


class _Part(NamedTuple):
    """The JSON Schema and the shaper of one selected field."""

    schema: dict[str, Any]
    shape: Shaper | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """A tool's answer.

    Attributes:
        whole: JSON Schema of the answer.
        shape: Makes the answer from the field's value, which is never null.
        is_run: Whether the answer is a run.
        is_route: Whether the answer recommends what to run for a request.
    """

    whole: dict[str, Any]
    shape: Shaper
    is_run: bool = False
    is_route: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The schema for clients, without nested members, because a list of tools has to stay short."""
        properties = self.whole["properties"]
        if self.is_run:
            # Else every tool that answers with a run would repeat the same twelve members.
            properties = {name: part for name, part in properties.items() if name in _OF_RUN}
        return {"type": "object", "properties": {name: _open(part) for name, part in properties.items()}}


def _open(schema: dict[str, Any]) -> dict[str, Any]:
    """A member's schema without its nested members."""
    match schema.get("type"):
        case "object":
            return {"type": "object"}
        case "array":
            return {"type": "array", "items": _open(schema["items"])}
        case _:
            return schema


def outputs_of(schema: GraphQLSchema, field: GraphQLField, selection: SelectionSetNode, tool: Tool) -> Outputs:
    """The answer of a tool.

    Args:
        schema: The GraphQL schema.
        field: The tool's field.
        selection: The document's selection of the field.
        tool: The tool's declaration.
    """
    walk = _Walk(schema)
    kind: Any = get_nullable_type(field.type)
    if isinstance(kind, GraphQLUnionType):
        kind = next(member for member in kind.types if not member.name.endswith("Problem"))
        selection = _of_type(kind.name, selection)
        part = walk.object(kind, selection, lone=False)
    elif isinstance(kind, GraphQLList):
        inner = walk.object(get_named_type(kind), selection, lone=False)
        items = _each(inner.shape)
        listed = {"type": "array", "items": inner.schema}
        root = {"type": "object", "properties": {"items": listed}, "required": ["items"]}
        return Outputs(root, lambda value, found: {"items": items(value, found)})
    elif _is_page(kind):
        return _page(walk.nodes(kind, selection, lone=False), tool.when_empty)
    else:
        part = walk.object(kind, selection, lone=False)
    answer, shape = part.schema, part.shape
    assert shape is not None
    if (inner_kind := walk.answer_in(kind, selection)) is not None:
        kind = inner_kind
        answer, shape = _lifted(answer, shape)
    is_run, is_route = kind.name == "Run", kind.name == "RouteResult"
    if is_run or is_route:
        answer = {**answer, "properties": {**answer["properties"], "next": {"type": "object"}}}
    return Outputs(answer, shape, is_run, is_route)


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
    return Outputs(schema, shape)


def _lifted(answer: dict[str, Any], shape: Shaper) -> tuple[dict[str, Any], Shaper]:
    """An answer with the members of its member `answer` moved to the top."""
    inner = answer["properties"][ANSWER]
    properties = {**inner["properties"], **answer["properties"]}
    del properties[ANSWER]
    required = [each for each in answer.get("required", []) if each != ANSWER]
    if ANSWER in answer.get("required", []):
        required = [*inner.get("required", []), *required]
    lifted: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        lifted["required"] = required

    def lift(value: Any, found: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401
        shaped = shape(value, found)
        return {**shaped.pop(ANSWER, {}), **shaped}

    return lifted, lift


class _Walk:
    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema

    def object(self, kind: Any, selection: SelectionSetNode, *, lone: bool = True) -> _Part:  # noqa: ANN401
        """The part for a selection of an object.

        Args:
            kind: The object's type.
            selection: The selection.
            lone: Whether to replace an object with a single leaf by that leaf.
        """
        properties: dict[str, dict[str, Any]] = {}
        required: list[str] = []
        members: dict[str, tuple[str, Shaper | None]] = {}
        for node, holder in self._fields(kind, selection):
            name = node.alias.value if node.alias else node.name.value
            if name == "__typename":
                continue
            key = to_snake_case(name)
            part, always = self._field(holder, node)
            properties[key] = part.schema
            members[name] = key, part.shape
            if always and holder is kind and not node.directives:
                required.append(key)
        if lone and len(members) == 1:
            ((name, (key, shape)),) = members.items()
            if shape is None:
                return _Part(properties[key], lambda value, _: value[name])
        is_artifact = kind.name == "Artifact" and "id" in properties
        if is_artifact:
            properties["uri"] = {"type": "string"}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return _Part(schema, _object_shaper(members, is_artifact=is_artifact))

    def answer_in(self, kind: Any, selection: SelectionSetNode) -> Any | None:  # noqa: ANN401
        """The type of the member aliased `answer`; None if there is none, because the whole object is the answer."""
        for node, holder in self._fields(kind, selection):
            if node.alias is not None and node.alias.value == ANSWER:
                return get_named_type(holder.fields[node.name.value].type)
        return None

    def nodes(self, kind: Any, selection: SelectionSetNode, *, lone: bool = True) -> _Part:  # noqa: ANN401
        """The part for one node of a page."""
        node = next(node for node, _ in self._fields(kind, selection) if node.name.value == "nodes")
        assert node.selection_set is not None, "nodes are objects"
        return self.object(get_named_type(kind.fields["nodes"].type), node.selection_set, lone=lone)

    def _fields(self, kind: Any, selection: SelectionSetNode) -> Iterator[tuple[FieldNode, Any]]:  # noqa: ANN401
        """The selected fields, each with its type."""
        for node in selection.selections:
            if isinstance(node, FieldNode):
                yield node, kind
            elif isinstance(node, InlineFragmentNode):
                named = node.type_condition.name.value if node.type_condition else kind.name
                yield from self._fields(self._schema.type_map[named], node.selection_set)

    def _field(self, kind: Any, node: FieldNode) -> tuple[_Part, bool]:  # noqa: ANN401
        """The part for a selected field, and whether it is never null."""
        if node.name.value == "__typename":
            return _Part({"type": "string"}, None), True
        field = kind.fields[node.name.value]
        return self._value(field.type, node), isinstance(field.type, GraphQLNonNull)

    def _value(self, kind: Any, node: FieldNode) -> _Part:  # noqa: ANN401
        kind = get_nullable_type(kind)
        match kind:
            case GraphQLList():
                inner = self._value(kind.of_type, node)
                schema = {"type": "array", "items": inner.schema}
                return _Part(schema, None if inner.shape is None else _each(inner.shape))
            case GraphQLScalarType():
                return _Part(_SCALARS.get(kind.name, {"type": "string"}), None)
            case GraphQLEnumType():
                return _Part({"type": "string"}, None)
            case GraphQLObjectType() | GraphQLInterfaceType():
                assert node.selection_set is not None, "the document is valid"
                if kind.name == "Payload":
                    return _Part({}, _payload)
                if _is_page(kind):
                    inner = self.nodes(kind, node.selection_set)
                    items = _each(inner.shape)
                    schema = {"type": "array", "items": inner.schema}
                    return _Part(schema, lambda value, found: items(value["nodes"], found))
                return self.object(kind, node.selection_set)
            case _:
                raise ValueError(f"{kind.name} cannot be selected for a tool.")


def _of_type(name: str, selection: SelectionSetNode) -> SelectionSetNode:
    """The selection of one member of a union."""
    return next(
        node.selection_set
        for node in selection.selections
        if isinstance(node, InlineFragmentNode) and node.type_condition and node.type_condition.name.value == name
    )


def _object_shaper(members: dict[str, tuple[str, Shaper | None]], *, is_artifact: bool) -> Shaper:
    def shape(value: Any, found: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401
        shaped: dict[str, Any] = {}
        for name, item in value.items():
            if item is None or name == "__typename":
                continue
            key, shaper = members[name]
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
    """A payload's value; for one that is too long its beginning, its size, and how to read the rest."""
    if value["text"] is None:
        return value["json"]
    following = value["nextOffset"]
    return {
        "truncated": True,
        "text": value["text"],
        "next_offset": following,
        "size_bytes": value["sizeBytes"],
        "rest": _REST_OF_PAYLOAD.format(offset=following),
    }


def _is_page(kind: Any) -> bool:  # noqa: ANN401
    return isinstance(kind, GraphQLObjectType) and kind.name.endswith("Connection") and "nodes" in kind.fields
