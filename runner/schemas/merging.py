"""Merging schemas: one schema for an input that flows into several packs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.schemas.shapes import fits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ANNOTATIONS = frozenset({"title", "description", "examples", "default", "deprecated"})
_NULL = {"type": "null"}

#: How two values of one keyword become the stricter one.
_STRICTER: dict[str, Callable[[Any, Any], Any]] = {
    "minLength": max,
    "minItems": max,
    "minimum": max,
    "exclusiveMinimum": max,
    "maxLength": min,
    "maxItems": min,
    "maximum": min,
    "exclusiveMaximum": min,
}


def combined(schemas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a schema that accepts the values that all the schemas accept: a plain one if possible, otherwise `allOf`.

    Titles, descriptions and examples are those of the first that has them; a default stays if all have the same.
    """
    result: dict[str, Any] | None = None
    for schema in schemas:
        result = dict(schema) if result is None else _merged(result, schema)
    return result or {}


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    notes = {key: value for schema in (second, first) for key, value in schema.items() if key in _ANNOTATIONS}
    if first.get("default", _ANNOTATIONS) != second.get("default", _ANNOTATIONS):
        notes.pop("default", None)
    left, left_nullable = _split(first)
    right, right_nullable = _split(second)
    plain = _merged_plain(left, right)
    if plain is None:
        return {**notes, "allOf": [_bare(first), _bare(second)]}
    if left_nullable and right_nullable and plain:
        return {**notes, "anyOf": [plain, _NULL]}
    return {**notes, **plain}


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _ANNOTATIONS}


def _split(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the schema without its null alternative, and whether it accepts null, as the empty schema does."""
    bare = _bare(schema)
    if not bare:
        return bare, True
    if set(bare) == {"anyOf"} and _NULL in bare["anyOf"]:
        others = [branch for branch in bare["anyOf"] if branch != _NULL]
        return (_bare(others[0]) if len(others) == 1 else {"anyOf": others}), True
    return bare, False


def _merged_plain(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any] | None:
    """Return both schemas as one flat schema, or None if that cannot express them."""
    if not first or not second or first == second:
        return first or second
    result = dict(first)
    for key, value in second.items():
        if key not in first or first[key] == value:
            result[key] = value
        elif key in _STRICTER:
            result[key] = _STRICTER[key](first[key], value)
        elif key == "type" and {str(first[key]), str(value)} == {"integer", "number"}:
            result[key] = "integer"
        elif key == "enum" and (shared := [choice for choice in first[key] if choice in value]):
            result[key] = shared
        else:
            return None
    if "properties" in result or "items" in result:
        # Schemas with different properties or items stay separate, or their `additionalProperties` would mix.
        return first if fits(first, second) == "yes" and set(second) <= set(first) else None
    return result


def is_required(schema: object, name: str | int) -> bool:
    """Return whether a schema requires a field of an object, or a value at a position of a list."""
    if isinstance(name, int) or not isinstance(schema, dict):
        return isinstance(name, int)
    if name in schema.get("required", ()):
        return True
    branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in schema.get(keyword, ())]
    return any(is_required(branch, name) for branch in branches)
