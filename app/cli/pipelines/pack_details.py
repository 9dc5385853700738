"""The output of `packline packs NAME`: one pack with the fields of its input and output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from runner.schemas.messages import TYPE_NAMES
from runner.schemas.shapes import resolve_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from app.cli.base.output import JSON, Output

#: Levels of objects within objects that are listed.
_LEVELS: Final = 4
#: What a list has, by the kind of its items.
_PLURALS: Final = {
    "an object": "objects",
    "a whole number": "whole numbers",
    "a number": "numbers",
    "a list": "lists",
    "any value": "any values",
}
#: Longest default that is shown, in characters of JSON.
_DEFAULT_CHARACTERS: Final = 80


class Field(NamedTuple):
    """A field of a schema.

    Attributes:
        path: Its place: `title`, `pages[].title`.
        kind: What it accepts, in words.
        needed: `required`, `optional`, or its default.
        description: What it is for; empty if the schema does not say.
    """

    path: str
    kind: str
    needed: str
    description: str


def show_pack(output: Output, pack: JSON, *, lacks: str) -> None:
    """Print a pack: what it does, whether it can run, and the fields of its input and output."""
    output.say(f"{pack['id']} {pack['version']}", "bold")
    output.say(pack["description"].strip())
    output.say()
    output.say(f"runs here: {'yes' if pack['availability']['usable'] else 'no'}")
    if lacks:
        output.say(lacks, "yellow")
    output.say(f"external changes: {pack['effects'].lower()}")
    if len(versions := pack["installedVersions"]) > 1:
        output.say(f"versions: {', '.join(versions)}")
    for name, schema in (("input", pack["inputSchema"]), ("output", pack["outputSchema"])):
        output.say(f"\n{name}", "bold")
        fields = list(fields_of(schema, schema, asked=name == "input"))
        for field in fields:
            output.say(f"  {field.path}: {', '.join(filter(None, (field.kind, field.needed)))}")
            for line in field.description.strip().splitlines():
                output.say(f"      {line.strip()}", "dim")
        if not fields:
            output.say("  any fields" if schema.get("additionalProperties") is not False else "  none")


def fields_of(
    part: Mapping[str, Any], root: Mapping[str, Any], *, asked: bool, before: str = "", level: int = 1
) -> Iterator[Field]:
    """Return the fields of an object's schema, each followed by those within it.

    Args:
        part: The schema.
        root: The whole schema, for its references.
        asked: Whether to say what is required, as for an input.
        before: Path of the object.
        level: How deep the object is in the whole.
    """
    required = part.get("required") or ()
    for name, declared in (part.get("properties") or {}).items():
        schema = _resolved(declared, root)
        described = declared if isinstance(declared, dict) and declared.get("description") else schema
        needed = _needed(described, schema, is_required=name in required) if asked else ""
        yield Field(f"{before}{name}", kind_of(schema, root), needed, str(described.get("description") or ""))
        if level < _LEVELS:
            for inner, mark in _objects(schema, root):
                yield from fields_of(inner, root, asked=asked, before=f"{before}{name}{mark}.", level=level + 1)


def kind_of(part: object, root: Mapping[str, Any], depth: int = 0) -> str:
    """What a schema accepts, in a few words; null is left out, because `optional` says it."""
    schema = _resolved(part, root)
    if depth > _LEVELS:
        return "any value"
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if values:
        return f"{'one of ' if len(values) > 1 else ''}{', '.join(_short(value) for value in values)}"
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        kinds = dict.fromkeys(kind_of(branch, root, depth + 1) for branch in branches if not _is_null(branch))
        return " or ".join(kinds) or "null"
    if schema.get("type") == "array" and "items" in schema:
        kind = kind_of(schema["items"], root, depth + 1)
        return f"a list of {_PLURALS.get(kind, kind)}"
    declared = schema.get("type")
    types = [declared] if isinstance(declared, str) else declared or ()
    return (
        " or ".join(TYPE_NAMES.get(one, str(one)) for one in types if one != "null" or len(types) == 1) or "any value"
    )


def _needed(declared: Mapping[str, Any], schema: Mapping[str, Any], *, is_required: bool) -> str:
    if is_required:
        return "required"
    default = declared.get("default", schema.get("default"))
    return "optional" if default is None else f"default {_short(default)}"


def _objects(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Return the objects with named fields that a field may have, each with the mark of a list's items."""
    for branch in schema.get("anyOf") or schema.get("oneOf") or (schema,):
        inner = _resolved(branch, root)
        mark = ""
        if inner.get("type") == "array":
            inner, mark = _resolved(inner.get("items"), root), "[]"
        if inner.get("properties"):
            yield inner, mark


def _resolved(part: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without its `$ref`; an empty one if it allows everything."""
    for _ in range(_LEVELS):
        if not isinstance(part, dict) or "$ref" not in part:
            break
        part = resolve_pointer(root, part["$ref"])
    return part if isinstance(part, dict) else {}


def _is_null(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "null"


def _short(value: object) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _DEFAULT_CHARACTERS else f"{text[:_DEFAULT_CHARACTERS]}…"
