"""`--from-memory` of `packline run` and `rerun`: inputs from the caller's usual values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.cli.base.exits import CliError
from app.cli.memory.memory import FIELDS
from app.cli.runs.inputs import types_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.cli.base.client import Client
    from app.cli.base.output import JSON, Output
    from runner.failures import JSONValue

#: The name for every input that has a usual value and was not given.
ALL = "all"


def take_remembered(
    client: Client,
    output: Output,
    target: str,
    names: Sequence[str],
    given: Mapping[str, JSONValue],
    schema: dict[str, Any],
) -> tuple[dict[str, JSONValue], list[str]]:
    """The inputs with the named ones filled in, and the fields that came from memory, by their names in the API.

    An input that is named and given keeps its value, and is only recorded as from memory; commands copied from the page
    do that.

    Args:
        client: The client of the server.
        output: Prints the values used.
        target: Key or id of the pipeline, or the pack.
        names: Names of inputs, or `all`.
        given: The inputs given otherwise.
        schema: The target's input schema.

    Raises:
        CliError: memory never learns a name, or has no usual value for it and it is not given.
    """
    if unknown := [name for name in names if name not in (*FIELDS, ALL)]:
        raise CliError(f"Memory does not learn `{unknown[0]}`. It learns {', '.join(FIELDS)}; `{ALL}` means every one.")
    wanted = [name for name in names if name != ALL]
    filled = dict(given)
    taken = {name for name in wanted if name in given}
    if ALL in names or any(name not in given for name in wanted):
        usual = _usual(client, target)
        fitting = [name for name, value in usual.items() if name not in given and _holds(schema, name, value)]
        for name in wanted:
            if name not in given and name not in fitting:
                raise CliError(
                    f"There is no usual value for the input `{name}` of {target}. Pass --input {name}=…, or pin one "
                    f"with `packline memory pin {target} {name} VALUE`."
                )
        chosen = fitting if ALL in names else [name for name in wanted if name not in given]
        filled |= {name: usual[name] for name in chosen}
        taken.update(chosen)
    used = ", ".join(f"{name}={filled[name]}" for name in FIELDS if name in taken)
    output.note(f"From memory: {used or 'nothing'}.")
    return filled, [name.upper() for name in FIELDS if name in taken]


def _usual(client: Client, target: str) -> dict[str, str]:
    """The usual values of a target, by input."""
    from app.cli.memory import documents

    found: JSON = client.execute(documents.DEFAULTS, {"caller": None, "target": target})["myDefaults"]
    if found["locked"]:
        raise CliError(f"Memory cannot be read: {found['locked']}")
    return {
        value["field"].lower(): value["value"]
        for entry in (*found["pipelines"], *found["packs"])
        for value in entry["values"]
        if value["value"] is not None
    }


def _holds(schema: dict[str, Any], name: str, value: str) -> bool:
    """Whether the target has such an input, which accepts this text."""
    part = (schema.get("properties") or {}).get(name)
    if not isinstance(part, dict):
        return False
    choices = part.get("enum")
    return "string" in types_of(part, schema) and (choices is None or value in choices)
