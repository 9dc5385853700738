"""Where the references of a step's input lead, and what can be proved of the values that flow there."""

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
        schema: What it takes.
    """

    name: str
    location: tuple[str | int, ...]
    schema: dict[str, Any] | bool


def destination(reference: Reference, step_input: JSONValue, pack: Pack) -> Destination | None:
    """The place a reference fills; None where the pack's schema says nothing of it.

    Args:
        reference: One of the step's.
        step_input: The input it stands in; whatever takes the place of references there.
        pack: The step's.
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
    """What to say of a value that cannot fit, as one sentence."""
    return f"{reference.expression} is {_described(producer)}; {to.name} takes {_described(to.schema)}."


def takes(to: Destination) -> str:
    """What a place takes, as the part of a sentence."""
    return f"{to.name} takes {_described(to.schema)}"


def _described(schema: Schema) -> str:
    """The type of a schema in a few words."""
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
