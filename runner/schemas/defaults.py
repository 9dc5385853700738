"""Applies the defaults that a schema declares, at the top of a value and inside it.

A default applies where its schema certainly does: in `properties`, `items`, `prefixItems` and `additionalProperties`,
behind a local `$ref`, in `allOf`, and in the only alternative of `anyOf` or `oneOf` that accepts values of this type
with these constants. Inside an object whose schema makes properties depend on each other (an open `oneOf`, `not`, `if`
and the like), an omitted property stays omitted, as it may be omitted on purpose.

Defaults are filled in inside defaults, too. Two limits stop a schema whose defaults are circular or double at each
level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from runner.issues import Issue, error
from runner.json_values import MAX_DEPTH, canonical_bytes
from runner.schemas.shapes import admits_type, resolve_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.failures import JSONValue

Path = tuple[str, ...]

_ABSENT: Any = object()
#: Limit of all defaults added to one value, in bytes of JSON: as much as a request may send.
MAX_ADDED_BYTES = 1 << 20
#: Most schemas that are followed for one value: references may be circular.
_MAX_PARTS = 64
_WEIGHING = frozenset({"not", "if", "dependentRequired", "dependentSchemas", "maxProperties"})
_IN_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_BY_NAME = ("properties", "$defs", "definitions")
_NESTING = frozenset({*_IN_LISTS, "properties", "items", "additionalProperties", "$ref"})


class DefaultsError(Exception):
    """The defaults of a schema are endless, or too large.

    Attributes:
        issue: The problem, with a path in the value.
    """

    def __init__(self, name: str, limit: str) -> None:
        message = f"The defaults added to the input `{name}` exceed the limit of {limit}."
        super().__init__(message)
        self.issue: Issue = error(
            (name,), "defaults_too_large", message, "Give the values that are left out, or declare fewer defaults."
        )


class Default(NamedTuple):
    """A default, with the schema that declares it.

    Attributes:
        path: Where it is added, in the value; or where it is declared, in the schema.
    """

    path: Path
    schema: Mapping[str, Any]


def filled(
    schema: Mapping[str, JSONValue], value: Mapping[str, JSONValue]
) -> tuple[dict[str, JSONValue], list[Default]]:
    """Fill in the defaults of an object's schema; return the object and the added defaults.

    Raises:
        DefaultsError: they are nested too deeply, or too large.
    """
    filling = _Filling(schema)
    return filling.fill(value, (schema,), ()), filling.used


def declared_defaults(schema: Mapping[str, JSONValue]) -> Iterator[Default]:
    """Yield every default that a schema declares, except those of its top-level properties."""
    pending: list[tuple[Path, Any]] = [((), schema)]
    while pending:
        path, node = pending.pop()
        if not isinstance(node, dict):
            continue
        if "default" in node and path and not (len(path) == 2 and path[0] == "properties"):
            yield Default(path, node)
        for keyword in _BY_NAME:
            pending += [((*path, keyword, name), part) for name, part in _named(node, keyword).items()]
        for keyword in _IN_LISTS:
            pending += [((*path, keyword, str(index)), part) for index, part in enumerate(_listed(node, keyword))]
        pending += [((*path, keyword), node.get(keyword)) for keyword in ("items", "additionalProperties")]


class _Shape(NamedTuple):
    """What the schemas of a value say for all values of its type.

    Attributes:
        parts: All schemas that certainly apply.
        is_fixed: Whether they are the same for every value.
        declared: Schemas of each property.
        defaults: The schema that has a default, by property.
        others: Schemas of all other properties.
        weighs: Whether an object's properties restrict which others it may have.
    """

    parts: Sequence[Mapping[str, Any]]
    is_fixed: bool
    declared: Mapping[str, Sequence[Any]]
    defaults: Mapping[str, Mapping[str, Any]]
    others: Sequence[Any]
    weighs: bool


class _Filling:
    """Fills in one value. Shapes are cached, since lists may have thousands of similar items.

    Attributes:
        used: The defaults added so far.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._shapes: dict[tuple[int, ...], _Shape] = {}
        self.used: list[Default] = []
        self._added_bytes = 0

    def fill(self, value: Mapping[str, JSONValue], schemas: Sequence[Any], path: Path) -> dict[str, JSONValue]:
        """Return an object with the defaults of its schemas for omitted properties."""
        shape = self._shape(schemas, value)
        made = dict(value)
        if not (shape.weighs and path):
            for name, holder in shape.defaults.items():
                if name not in value:
                    made[name] = holder["default"]
                    self._note(Default((*path, name), holder))
        for name, item in made.items():
            if isinstance(item, dict | list):
                made[name] = self._inside(item, shape.declared.get(name, shape.others), (*path, name))
        return made

    def _note(self, default: Default) -> None:
        *inside, name = default.path
        if len(inside) >= MAX_DEPTH:
            raise DefaultsError(default.path[0], f"{MAX_DEPTH} levels")
        self._added_bytes += len(name) + len(canonical_bytes(default.schema["default"]))
        if self._added_bytes > MAX_ADDED_BYTES:
            raise DefaultsError(default.path[0], f"{MAX_ADDED_BYTES:,} bytes")
        self.used.append(default)

    def _inside(self, value: dict[str, JSONValue] | list[JSONValue], schemas: Sequence[Any], path: Path) -> JSONValue:
        if not any(isinstance(each, dict) and _NESTING & each.keys() for each in schemas):
            return value
        if isinstance(value, dict):
            return self.fill(value, schemas, path)
        parts = self._shape(schemas, value).parts
        first = max(len(_listed(part, "prefixItems")) for part in parts)
        rest = [part.get("items") for part in parts]
        return [
            self._inside(item, _schemas_at(parts, index) if index < first else rest, (*path, str(index)))
            if isinstance(item, dict | list)
            else item
            for index, item in enumerate(value)
        ]

    def _shape(self, schemas: Sequence[Any], value: object) -> _Shape:
        key = tuple(map(id, schemas))
        shape = self._shapes.get(key)
        if shape is None or not shape.is_fixed:
            shape = self._shapes[key] = self._shape_of(schemas, value)
        return shape

    def _shape_of(self, schemas: Sequence[Any], value: object) -> _Shape:
        parts = self._parts(schemas, value)
        declared: dict[str, list[Any]] = {}
        for part in parts:
            for name, schema in _named(part, "properties").items():
                declared.setdefault(name, []).append(schema)
        holders = {name: self._holder(found) for name, found in declared.items()}
        is_open = not any("patternProperties" in part for part in parts)
        return _Shape(
            parts=parts,
            is_fixed=not any("anyOf" in part or "oneOf" in part for part in parts),
            declared=declared,
            defaults={name: holder for name, holder in holders.items() if holder is not None},
            others=[part["additionalProperties"] for part in parts if is_open and "additionalProperties" in part],
            weighs=any(
                bool(_WEIGHING & part.keys()) or ("oneOf" in part and len(self._taking(part, "oneOf", value)) != 1)
                for part in parts
            ),
        )

    def _holder(self, schemas: Sequence[Any]) -> Mapping[str, Any] | None:
        """Return the schema that has a property's default."""
        for schema in schemas:
            if isinstance(schema, dict) and "default" in schema:
                return schema
        if not any(isinstance(schema, dict) and ("$ref" in schema or "allOf" in schema) for schema in schemas):
            return None
        return next((part for part in self._parts(schemas, _ABSENT) if "default" in part), None)

    def _parts(self, schemas: Sequence[Any], value: object) -> list[Mapping[str, Any]]:
        """Return every schema that certainly applies to a value."""
        found: list[Mapping[str, Any]] = []
        pending = list(schemas)[::-1]
        while pending and len(found) < _MAX_PARTS:
            schema = pending.pop()
            if not isinstance(schema, dict):
                continue
            found.append(schema)
            following = list(_listed(schema, "allOf"))
            if isinstance(reference := schema.get("$ref"), str):
                following.insert(0, resolve_pointer(self._root, reference))
            for keyword in ("anyOf", "oneOf"):
                if keyword in schema and len(taking := self._taking(schema, keyword, value)) == 1:
                    following += taking
            pending += following[::-1]
        return found

    def _taking(self, schema: Mapping[str, Any], keyword: str, value: object) -> list[Any]:
        """Return the alternatives that may accept a value."""
        return [branch for branch in _listed(schema, keyword) if self._takes(branch, value)]

    def _takes(self, branch: object, value: object) -> bool:
        """Return whether an alternative may accept a value, judging by its type and constants."""
        if value is _ABSENT or branch is False:
            return False
        parts = self._parts((branch,), _ABSENT)
        return all(admits_type(part, value) and _has_constants(part, value) for part in parts)


def _schemas_at(parts: Sequence[Mapping[str, Any]], index: int) -> list[Any]:
    """Return the schemas of a list's item at a position."""
    return [first[index] if index < len(first := _listed(part, "prefixItems")) else part.get("items") for part in parts]


def _has_constants(schema: Mapping[str, Any], value: object) -> bool:
    """Return whether an object's properties have the values that a schema fixes for them."""
    if not isinstance(value, dict):
        return True
    for name, field in _named(schema, "properties").items():
        if name in value and isinstance(field, dict):
            choices = [field["const"]] if "const" in field else field.get("enum", [value[name]])
            if value[name] not in choices:
                return False
    return True


def _named(schema: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}


def _listed(schema: Mapping[str, Any], keyword: str) -> Sequence[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else ()
