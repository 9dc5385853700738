"""Turns a chain of pack calls into a definition: an output that reappears in a later input becomes a reference.

Pure: values in, a document out. Values that come from no earlier call become declared inputs, with the value as their
default, or as an example if the pack requires the input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from runner.json_values import canonical_json
from runner.schemas.shapes import inlined
from runner.templates.references import escape_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from runner.failures import JSONValue

#: Shorter values, in characters of JSON, may be equal by chance: they count only if the call right before returned
#: them, see `_ShortValues`.
RECOGNIZED_CHARACTERS = 8
#: A text inside a longer one is recognized from this length on.
EMBEDDED_CHARACTERS = 24
#: Most values of one output that are searched for.
VALUES_MAX = 5_000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Path = tuple["str | int", ...]


@dataclass(frozen=True, slots=True)
class PackCall:
    """A pack call that succeeded.

    Attributes:
        input: The input, with secrets masked.
        output: The output.
        input_schema: The pack's; empty when the pack is not loaded any more.
    """

    run_id: str
    pack: str
    input: dict[str, JSONValue]
    output: JSONValue
    input_schema: Mapping[str, JSONValue]


def chain_of(last: PackCall, before: Sequence[PackCall]) -> list[PackCall]:
    """Find the calls that led to the last one; return them with it, oldest first.

    Args:
        last: The last call.
        before: Calls made before it, newest first; of two that returned the same value the newer one counts.
    """
    chain = [last]
    open_values = list(_leaves(last.input))
    following: PackCall | None = last
    for call in before:
        known = _values(call.output)
        fed = [value for value in open_values if _source(value, [("", known)]) is not None]
        if fed or (following is not None and _ShortValues(call.output).feeds(following)):
            chain.append(call)
            open_values = [value for value in open_values if value not in fed] + list(_leaves(call.input))
            following = call
        else:
            following = None  # an unrelated call: the one before it is not right before the chain
    return chain[::-1]


def definition_of(calls: Sequence[PackCall], *, name: str, description: str) -> dict[str, JSONValue]:
    """Make the definition that repeats the calls in their order."""
    inputs = _Inputs()
    known: list[tuple[str, dict[str, Path]]] = []
    steps: list[JSONValue] = []
    keys: set[str] = set()
    short = _ShortValues(None)
    for call in calls:
        key = _step_key(call.pack, keys)
        keys.add(key)
        steps.append({"id": key, "pack": call.pack, "input": _step_input(call, key, known, short, inputs)})
        known.insert(0, (key, _values(call.output)))
        short = _ShortValues(call.output)
    document: dict[str, JSONValue] = {"name": name, "description": description}
    document["inputs"] = inputs.schema()
    document["steps"] = steps
    return document


def with_values(schema: Mapping[str, JSONValue], given: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return a schema of inputs with the values of a run as defaults.

    For inputs in a choice (`oneOf`, `anyOf`) the value becomes an example instead: as a default it would be sent
    together with the input the user chooses, and the schema refuses both together.
    """
    declared = schema.get("properties")
    properties = dict(declared) if isinstance(declared, dict) else {}
    chosen = _choices(schema)
    for field, value in given.items():
        found = properties.get(field)
        if isinstance(found, dict):
            kept = {key: part for key, part in found.items() if key != "default"}
            properties[field] = {**kept, "examples": [value]} if field in chosen else {**kept, "default": value}
    return {**schema, "properties": properties} if properties else dict(schema)


def _choices(schema: Mapping[str, JSONValue]) -> set[str]:
    """Return the inputs that some branch of a choice requires."""
    found: set[str] = set()
    for keyword in ("oneOf", "anyOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            names = branch.get("required") if isinstance(branch, dict) else None
            found.update(name for name in (names if isinstance(names, list) else ()) if isinstance(name, str))
    return found


class _Inputs:
    """The inputs declared so far."""

    def __init__(self) -> None:
        self._properties: dict[str, JSONValue] = {}
        self._values: dict[str, str] = {}
        self._required: list[JSONValue] = []

    def declare(self, call: PackCall, step_key: str, field: str, value: JSONValue) -> str:
        """Declare an input for a field and return its name; fields of the same name and value share one."""
        name, text = field, canonical_json(value)
        if self._values.get(name, text) != text:
            name = f"{step_key}_{field}".replace("-", "_")
        if name not in self._values:
            properties = call.input_schema.get("properties")
            found = properties.get(field) if isinstance(properties, dict) else None
            schema = inlined(found, dict(call.input_schema)) if isinstance(found, dict) else {}
            kept = {key: part for key, part in schema.items() if key != "default"} if isinstance(schema, dict) else {}
            required = call.input_schema.get("required")
            if isinstance(required, list) and field in required:
                self._required.append(name)
                self._properties[name] = {**kept, "examples": [value]}
            else:
                self._properties[name] = {**kept, "default": value}
            self._values[name] = text
        return name

    def schema(self) -> dict[str, JSONValue]:
        schema: dict[str, JSONValue] = {"type": "object", "properties": self._properties}
        if self._required:
            schema["required"] = self._required
        return schema


class _ShortValues:
    """The short texts and numbers of an output, such as an id, which only the next call may take.

    Blank texts, -1, 0 and 1 are not recognized even there, nor are defaults of an input or values of an enumeration.
    Of several places that hold a value, the one with the input's name counts, then the one nearest the top; if two are
    equally good, none counts.
    """

    def __init__(self, output: JSONValue) -> None:
        self._places: dict[str, list[Path]] = {}
        for path, value in _within(output):
            if path and _is_short(value):
                self._places.setdefault(canonical_json(value), []).append(path)

    def feeds(self, call: PackCall) -> bool:
        """Return whether one of the values reappears in a call's input."""
        return any(
            self.place(call, path, value) is not None
            for path, value in _within(call.input)
            if path and _is_short(value)
        )

    def place(self, call: PackCall, path: Path, value: JSONValue) -> Path | None:
        """Return the path in the output from which a value of a call's input came; None when that is unclear."""
        places = self._places.get(canonical_json(value), ()) if _is_short(value) else ()
        if not places or (len(path) == 1 and _is_usual(call, str(path[0]), value)):
            return None
        name = next((part for part in reversed(path) if isinstance(part, str)), None)
        best = min((place[-1] != name, len(place)) for place in places)
        found = [place for place in places if (place[-1] != name, len(place)) == best]
        return found[0] if len(found) == 1 else None


def _is_short(value: JSONValue) -> bool:
    """Return whether a value is a short text or number that may have been passed on."""
    if isinstance(value, str):
        return bool(value.strip()) and len(canonical_json(value)) < RECOGNIZED_CHARACTERS
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value not in (-1, 0, 1) and len(canonical_json(value)) < RECOGNIZED_CHARACTERS


def _is_usual(call: PackCall, field: str, value: JSONValue) -> bool:
    """Return whether the value is an input's default, or one of an enumeration."""
    properties = call.input_schema.get("properties")
    found = properties.get(field) if isinstance(properties, dict) else None
    schema = inlined(found, dict(call.input_schema)) if isinstance(found, dict) else True
    return isinstance(schema, dict) and (schema.get("default") == value or "enum" in schema or "const" in schema)


def _step_input(
    call: PackCall, step_key: str, known: Sequence[tuple[str, dict[str, Path]]], short: _ShortValues, inputs: _Inputs
) -> dict[str, JSONValue]:
    made: dict[str, JSONValue] = {}

    def passed_on(path: Path, value: JSONValue) -> str | None:
        place = short.place(call, path, value) if known else None
        return None if place is None else _reference(known[0][0], place)

    for field, value in call.input.items():
        templated = _templated(value, known, (field,), passed_on)
        if templated != _escaped(value):
            made[field] = templated
        else:
            made[field] = f"${{{{ inputs{_spelled((inputs.declare(call, step_key, field, value),))} }}}}"
    return made


def _templated(
    value: JSONValue,
    known: Sequence[tuple[str, dict[str, Path]]],
    path: Path = (),
    passed_on: Callable[[Path, JSONValue], str | None] = lambda _path, _value: None,
) -> JSONValue:
    """Replace what earlier calls returned with references, and escape the rest for templates.

    `passed_on` returns a reference for a path and a value that is too short to be recognized.
    """
    source = _source(value, known, embedded=False)
    if source is not None:
        return _reference(*source)
    if (reference := passed_on(path, value)) is not None:
        return reference
    if isinstance(value, dict):
        return {key: _templated(part, known, (*path, key), passed_on) for key, part in value.items()}
    if isinstance(value, list):
        return [_templated(part, known, (*path, number), passed_on) for number, part in enumerate(value)]
    if isinstance(value, str):
        return _embedded(value, known)
    return value


def _embedded(text: str, known: Sequence[tuple[str, dict[str, Path]]]) -> str:
    """Replace the longest texts of earlier outputs in a text with references."""
    pieces = sorted(
        (
            (piece, key, path)
            for key, values in known
            for spelled, path in values.items()
            if spelled.startswith('"') and len(piece := _text_of(spelled)) >= EMBEDDED_CHARACTERS and piece in text
        ),
        key=lambda found: -len(found[0]),
    )
    for piece, key, path in pieces:
        before, found, after = text.partition(piece)
        if found:
            # A lone reference would keep its value's type; with text around it the result is text.
            head, tail = _embedded(before, known), _embedded(after, known)
            return f"{head}{_reference(key, path)}{tail}"
    return escape_text(text)


def _source(
    value: JSONValue, known: Sequence[tuple[str, dict[str, Path]]], *, embedded: bool = True
) -> tuple[str, Path] | None:
    """Return the step and the path in its output from which a value came; the first match in `known` wins."""
    spelled = canonical_json(value)
    if len(spelled) < RECOGNIZED_CHARACTERS:
        return None
    for key, values in known:
        if spelled in values:
            return key, values[spelled]
    if embedded and isinstance(value, str) and len(value) > EMBEDDED_CHARACTERS:
        for key, values in known:
            for text, path in values.items():
                if text.startswith('"') and len(piece := _text_of(text)) >= EMBEDDED_CHARACTERS and piece in value:
                    return key, path
    return None


def _values(output: JSONValue) -> dict[str, Path]:
    """Return all values of an output that are long enough to be recognized, as JSON, each with its topmost path."""
    found: dict[str, Path] = {}
    for path, value in _within(output):
        spelled = canonical_json(value)
        if path and len(spelled) >= RECOGNIZED_CHARACTERS:
            found.setdefault(spelled, path)
    return found


def _within(whole: JSONValue) -> Iterator[tuple[Path, JSONValue]]:
    """Yield a value and the values in it with their paths, topmost first, up to `VALUES_MAX`."""
    level: list[tuple[Path, JSONValue]] = [((), whole)]
    seen = 0
    while level and seen < VALUES_MAX:
        below: list[tuple[Path, JSONValue]] = []
        for path, value in level:
            seen += 1
            yield path, value
            if isinstance(value, dict):
                below += [((*path, key), part) for key, part in value.items()]
            elif isinstance(value, list):
                below += [((*path, number), part) for number, part in enumerate(value)]
        level = below


def _leaves(value: JSONValue) -> Iterator[JSONValue]:
    """Yield a value and all values in it."""
    yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _leaves(part)


def _escaped(value: JSONValue) -> JSONValue:
    return _templated(value, ())


def _reference(key: str, path: Path) -> str:
    return f"${{{{ steps.{key}.output{_spelled(path)} }}}}"


def _spelled(path: Path) -> str:
    """Return a path in the syntax of templates."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN.match(part):
            text += f".{part}"
        else:
            text += f"[{orjson.dumps(part).decode()}]"
    return text


def _step_key(pack: str, taken: set[str]) -> str:
    """Make a step's key from the pack's verb, numbered if taken."""
    verb = re.sub(r"[^a-z0-9_-]", "_", pack.rpartition(".")[2].lower())[:50]
    base = verb if verb[:1].isalpha() else f"s_{verb}"
    key, number = base, 2
    while key in taken:
        key, number = f"{base}_{number}", number + 1
    return key


def _text_of(spelled: str) -> str:
    text: str = orjson.loads(spelled)
    return text
