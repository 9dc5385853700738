"""Parse run inputs of the command line by the input schema of the pipeline or pack."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.base.exits import CliError
from runner.issues import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.failures import JSONValue

#: Words in the name, or in the whole schema, of an input that takes a file.
_FILE_NAMES = re.compile(r"file|attach|image|picture|photo|audio|video|recording|document|pdf", re.IGNORECASE)
_OF_FILE = re.compile(r"artifact|art_|upload", re.IGNORECASE)
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read_inputs(pairs: Iterable[str], file: str | None, schema: dict[str, Any]) -> dict[str, JSONValue]:
    """The inputs of `--inputs-file`, overridden by those of `--input`.

    A pair is `name=value`, parsed by the type in the schema (text stays text), `name:=json` with JSON of any type, or
    `name=@file` with the text of a file (`@-` for standard input, `@@` for a text that begins with `@`). A repeated
    name makes a list if the schema has one.

    Raises:
        CliError: a pair, value or file cannot be read.
    """
    given: dict[str, JSONValue] = _from_file(file) if file else {}
    properties = schema.get("properties") or {}
    seen: set[str] = set()
    for pair in pairs:
        name, raw, is_json = _split(pair)
        part = properties.get(name)
        if part is None and schema.get("additionalProperties") is False:
            raise CliError(f"There is no input `{name}`.{_near(name, properties)}")
        if not is_json:
            raw = _text_of(f"--input {name}", raw, of_file=takes_file(name, schema))
        types = types_of(part if isinstance(part, dict) else {}, schema)
        if is_json:
            value = _json(name, raw)
        elif "array" in types and not raw.startswith("["):
            items = (part or {}).get("items")
            one = _value(name, raw, types_of(items if isinstance(items, dict) else {}, schema))
            before = given.get(name) if name in seen else []
            value = [*(before if isinstance(before, list) else []), one]
        elif name in seen:
            raise CliError(f"The input `{name}` is given twice, but accepts one value.")
        else:
            value = _value(name, raw, types)
        given[name] = value
        seen.add(name)
    return given


def read_json_object(text: str | None, option: str) -> dict[str, JSONValue] | None:
    """The JSON object given to an option, `@file` read from a file; None stays None.

    Raises:
        CliError: it is not a JSON object.
    """
    if text is None:
        return None
    raw = _text_of(option, text)
    try:
        value = json_of(raw)
    except ValueError as error:
        raise CliError(f"{option} is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise CliError(f'{option} is not a JSON object, such as \'{{"url": "https://example.com"}}\'.')
    return value


def _from_file(file: str) -> dict[str, JSONValue]:
    from runner.json_values import DocumentError
    from runner.yaml_documents import load_document

    text = _read(file)
    try:
        return load_document(text)
    except DocumentError as error:
        raise CliError(f"The inputs file {file} cannot be read: {error}") from error


def json_of(raw: str) -> JSONValue:
    """Parse JSON; unlike Python, refuse NaN and numbers too large for a float.

    Raises:
        ValueError: it is not JSON.
    """

    def finite(text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(f"{text[:40]} is not a JSON number")
        return number

    try:
        value: JSONValue = json.loads(raw, parse_float=finite, parse_constant=finite)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return value


def _split(pair: str) -> tuple[str, str, bool]:
    name, mark, raw = pair.partition("=")
    if not mark or not name.strip(":"):
        raise CliError(f"`{pair}` is not of the form NAME=VALUE. Write --input name=value.")
    if name.endswith(":"):
        return name[:-1], raw, True
    return name, raw, False


def takes_file(name: str, schema: dict[str, Any]) -> bool:
    """Whether an input may take the id of an artifact, judged by its name and description.

    The type of such an input is text, as that of any other text.
    """
    part = (schema.get("properties") or {}).get(name)
    if not isinstance(part, dict) or "$ref" in part:
        return True
    types = types_of(part, schema)
    is_possible = not types or not types.isdisjoint({"string", "array", "object"})
    return is_possible and bool(_FILE_NAMES.search(name) or _OF_FILE.search(f"{name} {json.dumps(part)}"))


def _text_of(what: str, raw: str, *, of_file: bool = False) -> str:
    if raw.startswith("@@"):
        return raw[1:]
    if raw.startswith("@"):
        try:
            return _read(raw[1:], of_file=of_file)
        except CliError as error:
            raise CliError(f"{what}: {error}") from error
    return raw


def _read(file: str, *, of_file: bool = False) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        remedy = "send it with --upload NAME=FILE" if of_file else "save it as UTF-8"
        reason = error.strerror if isinstance(error, OSError) else f"it is not UTF-8 text; {remedy}"
        raise CliError(f"The file {file} cannot be read: {reason}.") from error


def _value(name: str, raw: str, types: frozenset[str]) -> JSONValue:
    """The value of a text by the allowed types; it stays text if that is allowed."""
    if "string" in types:
        return raw
    if types <= {"boolean"} and types and raw.lower() in _WORDS:
        return _WORDS[raw.lower()]
    try:
        value: JSONValue = json_of(raw)
    except ValueError:
        if not types:
            return raw
        raise CliError(f"The input `{name}` must be {_kinds(types)}, not `{raw[:80]}`.") from None
    if types and not _is_of(value, types):
        raise CliError(f"The input `{name}` must be {_kinds(types)}, not `{raw[:80]}`.")
    return value


def _json(name: str, raw: str) -> JSONValue:
    try:
        value: JSONValue = json_of(raw)
    except ValueError as error:
        raise CliError(f"The input `{name}` is not JSON: {error}.") from error
    return value


def types_of(part: dict[str, Any], root: dict[str, Any], depth: int = 0) -> frozenset[str]:
    """The JSON types a schema allows; empty if it allows any, or if that is unknown."""
    if depth > 16:
        return frozenset()
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for key in reference[2:].split("/"):
            target = target.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        return types_of(target, root, depth + 1) if isinstance(target, dict) else frozenset()
    declared = part.get("type")
    if isinstance(declared, str):
        return frozenset({declared})
    if isinstance(declared, list):
        return frozenset(declared)
    for key in ("anyOf", "oneOf"):
        if isinstance(part.get(key), list):
            found = [types_of(branch, root, depth + 1) for branch in part[key] if isinstance(branch, dict)]
            return frozenset().union(*found) if all(found) else frozenset()
    values = part.get("enum", [part["const"]] if "const" in part else None)
    if isinstance(values, list):
        return frozenset(_type_of(value) for value in values)
    return frozenset()


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _is_of(value: JSONValue, types: frozenset[str]) -> bool:
    kind = _type_of(value)
    return (
        kind in types
        or (kind == "integer" and "number" in types)
        or (isinstance(value, float) and value.is_integer() and "integer" in types)
    )


def _kinds(types: frozenset[str]) -> str:
    named = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a JSON list",
        "object": "a JSON object",
        "null": "null",
    }
    return " or ".join(named.get(kind, kind) for kind in sorted(types))


def _near(name: str, properties: dict[str, Any]) -> str:
    if near := nearest(name, properties):
        return f" Did you mean `{near}`?"
    return f" The inputs are {', '.join(f'`{known}`' for known in properties)}." if properties else " There are none."
