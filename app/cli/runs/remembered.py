"""Inputs that `--from-memory` of `packline run` and `rerun` takes from what the caller usually chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.cli.base.exits import CliError
from app.cli.memory.memory import FIELDS
from app.cli.runs.inputs import types_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.cli.base.client import JSON, Client
    from app.cli.base.output import Output
    from runner.failures import JSONValue

#: Instead of a name: every input that has a usual value and was not given.
ALL = "all"


def take_remembered(
    client: Client,
    output: Output,
    target: str,
    names: Sequence[str],
    given: Mapping[str, JSONValue],
    schema: dict[str, Any],
) -> tuple[dict[str, JSONValue], list[str]]:
    """The inputs with those named filled in, and the learned fields that came from memory, as the server names them.

    An input that is named and given keeps its value: then it is only said where the value came from, which is what a
    command copied from the page does.

    Args:
        client: Of the server.
        output: Where it is said what was taken.
        target: Key or id of the pipeline, or the pack.
        names: Names of inputs, or `all`.
        given: The inputs given otherwise.
        schema: The target's input schema.

    Raises:
        CliError: a name that memory never learns, or that has no usual value and is not given.
    """
    if strange := [name for name in names if name not in (*FIELDS, ALL)]:
        raise CliError(f"Memory learns no input `{strange[0]}`. It learns {', '.join(FIELDS)}; `{ALL}` takes each.")
    wanted = [name for name in names if name != ALL]
    filled = dict(given)
    taken = {name for name in wanted if name in given}
    if ALL in names or any(name not in given for name in wanted):
        usual = _usual(client, target)
        fitting = [name for name, value in usual.items() if name not in given and _holds(schema, name, value)]
        for name in wanted:
            if name not in given and name not in fitting:
                raise CliError(
                    f"Nothing is usual for the input `{name}` of {target}: give it as --input {name}=…, or pin it with "
                    f"`packline memory pin {target} {name} VALUE`."
                )
        chosen = fitting if ALL in names else [name for name in wanted if name not in given]
        filled |= {name: usual[name] for name in chosen}
        taken.update(chosen)
    used = ", ".join(f"{name}={filled[name]}" for name in FIELDS if name in taken)
    output.note(f"From memory: {used or 'nothing'}.")
    return filled, [name.upper() for name in FIELDS if name in taken]


def _usual(client: Client, target: str) -> dict[str, str]:
    """The values that are usual for a target, by the name of the input."""
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
    """Whether the target has such an input and it takes this text."""
    part = (schema.get("properties") or {}).get(name)
    if not isinstance(part, dict):
        return False
    choices = part.get("enum")
    return "string" in types_of(part, schema) and (choices is None or value in choices)
