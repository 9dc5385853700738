"""Finds the destinations of references in a pack's input, and describes mismatches of their schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.definitions.inputs import typed_path
from runner.definitions.step_inputs import SESSION_FIELD
from runner.packs.schemas import pack_schemas
from runner.schemas.messages import TYPE_NAMES, types_text
from runner.schemas.shapes import ABSENT, Schema, field_schema

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.templates.references import Reference


@dataclass(frozen=True, slots=True)
class Destination:
    """A place in the input of a pack.

    Attributes:
        name: For people.
        location: Names and list positions, outermost first.
        schema: The schema of values there.
    """

    name: str
    location: tuple[str | int, ...]
    schema: dict[str, Any] | bool


def destination(reference: Reference, step_input: JSONValue, pack: Pack) -> Destination | None:
    """Find the place that a reference fills; None if the pack's schema does not describe it.

    Args:
        reference: A reference in the step's input.
        step_input: The step's input.
        pack: The step's pack.
    """
    location = typed_path(step_input, reference.path)
    schema = field_schema(pack_schemas(pack).input, location, stands_alone=True)
    if location == (SESSION_FIELD,) and schema is ABSENT:
        schema = {"type": "string"}
    if not isinstance(schema, dict | bool):
        return None
    name = f"`{'.'.join(reference.path)}` of {pack.name}" if reference.path else f"the input of {pack.name}"
    return Destination(name, location, schema)


def mismatch(reference: Reference, producer: Schema, to: Destination) -> str:
    """Make the message for a value that cannot fit its destination."""
    return f"{reference.expression} is {_described(producer)}; {to.name} takes {_described(to.schema)}."


def takes(to: Destination) -> str:
    """Describe what a place accepts, as part of a sentence."""
    return f"{to.name} takes {_described(to.schema)}"


def _described(schema: Schema) -> str:
    """Describe the type of a schema in a few words."""
    if isinstance(schema, bool):
        return "anything"
    if "enum" in schema or "const" in schema:
        choices = schema.get("enum", [schema.get("const")])
        return "one of " + ", ".join(str(choice) for choice in choices[:8])
    declared = schema.get("type")
    if isinstance(declared, str):
        if declared == "array" and isinstance(schema.get("items"), dict) and schema["items"].get("type"):
            return f"a list ({_described(schema['items'])} each)"
        return TYPE_NAMES.get(declared, declared)
    if isinstance(declared, list):
        return types_text(declared)
    for keyword in ("anyOf", "oneOf"):
        if branches := schema.get(keyword):
            return " or ".join(dict.fromkeys(_described(branch) for branch in branches))
    return "something else"
