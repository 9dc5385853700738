"""A chain of pack calls becomes a definition: where one call's output reappears in another's input, a template stands.

Pure: values in, a document out. What does not come from an earlier call becomes a declared input, with the value it had
as its default, or as an example where the pack cannot do without it.
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

#: A value that says less than this, in characters of JSON, may be the same by chance: it counts only where the very
#: call before gave it, see `_Short`.
TELLING_CHARACTERS = 8
#: A text that stands inside a longer one is recognised from this length on.
EMBEDDED_CHARACTERS = 24
#: Values of one output that are looked for.
VALUES_MAX = 5_000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Path = tuple["str | int", ...]


@dataclass(frozen=True, slots=True)
class PackCall:
    """A pack call that succeeded.

    Attributes:
        input: As it was given, secrets masked.
        output: What it gave.
        input_schema: Of the pack; empty when the pack is gone.
    """

    run_id: str
    pack: str
    input: dict[str, JSONValue]
    output: JSONValue
    input_schema: Mapping[str, JSONValue]


def chain_of(last: PackCall, before: Sequence[PackCall]) -> list[PackCall]:
    """The calls that led to one, in the order they were made, it being the last.

    Args:
        last: The last call.
        before: Calls made before it, newest first; of two that gave the same value the newer one counts.
    """
    chain = [last]
    open_values = list(_leaves(last.input))
    following: PackCall | None = last
    for call in before:
        known = _values(call.output)
        fed = [value for value in open_values if _source(value, [("", known)]) is not None]
        if fed or (following is not None and _Short(call.output).feeds(following)):
            chain.append(call)
            open_values = [value for value in open_values if value not in fed] + list(_leaves(call.input))
            following = call
        else:
            following = None  # what was called before this one was not called right before the chain
    return chain[::-1]


def definition_of(calls: Sequence[PackCall], *, name: str, description: str) -> dict[str, JSONValue]:
    """The definition that does what the calls did, in their order."""
    inputs = _Inputs()
    known: list[tuple[str, dict[str, Path]]] = []
    steps: list[JSONValue] = []
    keys: set[str] = set()
    short = _Short(None)
    for call in calls:
        key = _step_key(call.pack, keys)
        keys.add(key)
        steps.append({"id": key, "pack": call.pack, "input": _step_input(call, key, known, short, inputs)})
        known.insert(0, (key, _values(call.output)))
        short = _Short(call.output)
    document: dict[str, JSONValue] = {"name": name, "description": description}
    document["inputs"] = inputs.schema()
    document["steps"] = steps
    return document


def with_values(schema: Mapping[str, JSONValue], given: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """A schema of inputs in which the values of a run are the defaults.

    Of a choice between inputs (`oneOf`, `anyOf`) the value is an example instead: as a default it would stand beside
    whatever else is chosen, and the two together would be refused.
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
    """Inputs that some branch of a choice asks for."""
    found: set[str] = set()
    for keyword in ("oneOf", "anyOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            names = branch.get("required") if isinstance(branch, dict) else None
            found.update(name for name in (names if isinstance(names, list) else ()) if isinstance(name, str))
    return found


class _Inputs:
    """The inputs that are declared so far."""

    def __init__(self) -> None:
        self._properties: dict[str, JSONValue] = {}
        self._values: dict[str, str] = {}
        self._required: list[JSONValue] = []

    def declare(self, call: PackCall, step_key: str, field: str, value: JSONValue) -> str:
        """The input a field is read from; two fields of one name and value share one."""
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
        """JSON Schema of all of them."""
        schema: dict[str, JSONValue] = {"type": "object", "properties": self._properties}
        if self._required:
            schema["required"] = self._required
        return schema


class _Short:
    """The short texts and numbers of an output, such as the id of what was made, which the next call may take.

    Blank texts, -1, 0 and 1 say too little even there, as does what an input has by default or takes from a list of
    choices. Of several places that hold a value, the one of the input's name counts, then the one nearest the top;
    where two are alike, neither does.
    """

    def __init__(self, output: JSONValue) -> None:
        self._places: dict[str, list[Path]] = {}
        for path, value in _within(output):
            if path and _is_short(value):
                self._places.setdefault(canonical_json(value), []).append(path)

    def feeds(self, call: PackCall) -> bool:
        """Whether one of them reappears in a call's input."""
        return any(
            self.place(call, path, value) is not None
            for path, value in _within(call.input)
            if path and _is_short(value)
        )

    def place(self, call: PackCall, path: Path, value: JSONValue) -> Path | None:
        """Where the value at a place of a call's input came from; None when that is unclear."""
        places = self._places.get(canonical_json(value), ()) if _is_short(value) else ()
        if not places or (len(path) == 1 and _is_usual(call, str(path[0]), value)):
            return None
        name = next((part for part in reversed(path) if isinstance(part, str)), None)
        best = min((place[-1] != name, len(place)) for place in places)
        found = [place for place in places if (place[-1] != name, len(place)) == best]
        return found[0] if len(found) == 1 else None


def _is_short(value: JSONValue) -> bool:
    """Whether a value is a text or a number that may have been handed on although it is short."""
    if isinstance(value, str):
        return bool(value.strip()) and len(canonical_json(value)) < TELLING_CHARACTERS
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value not in (-1, 0, 1) and len(canonical_json(value)) < TELLING_CHARACTERS


def _is_usual(call: PackCall, field: str, value: JSONValue) -> bool:
    """Whether an input has this value anyway, or is a choice among a few."""
    properties = call.input_schema.get("properties")
    found = properties.get(field) if isinstance(properties, dict) else None
    schema = inlined(found, dict(call.input_schema)) if isinstance(found, dict) else True
    return isinstance(schema, dict) and (schema.get("default") == value or "enum" in schema or "const" in schema)


def _step_input(
    call: PackCall, step_key: str, known: Sequence[tuple[str, dict[str, Path]]], short: _Short, inputs: _Inputs
) -> dict[str, JSONValue]:
    made: dict[str, JSONValue] = {}

    def handed_on(path: Path, value: JSONValue) -> str | None:
        place = short.place(call, path, value) if known else None
        return None if place is None else _reference(known[0][0], place)

    for field, value in call.input.items():
        templated = _templated(value, known, (field,), handed_on)
        if templated != _escaped(value):
            made[field] = templated
        else:
            made[field] = f"${{{{ inputs{_spelled((inputs.declare(call, step_key, field, value),))} }}}}"
    return made


def _templated(
    value: JSONValue,
    known: Sequence[tuple[str, dict[str, Path]]],
    path: Path = (),
    handed_on: Callable[[Path, JSONValue], str | None] = lambda _path, _value: None,
) -> JSONValue:
    """The value with references in place of what earlier calls gave; the rest as templates leave it unchanged.

    `handed_on` returns a reference for a value, given with its path, that is too short to be recognised.
    """
    source = _source(value, known, embedded=False)
    if source is not None:
        return _reference(*source)
    if (reference := handed_on(path, value)) is not None:
        return reference
    if isinstance(value, dict):
        return {key: _templated(part, known, (*path, key), handed_on) for key, part in value.items()}
    if isinstance(value, list):
        return [_templated(part, known, (*path, number), handed_on) for number, part in enumerate(value)]
    if isinstance(value, str):
        return _embedded(value, known)
    return value


def _embedded(text: str, known: Sequence[tuple[str, dict[str, Path]]]) -> str:
    """A text with references in place of the longest texts of earlier outputs that stand in it."""
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
            # A reference that stands alone would give its value another type than the text around it had.
            head, tail = _embedded(before, known), _embedded(after, known)
            return f"{head}{_reference(key, path)}{tail}"
    return escape_text(text)


def _source(
    value: JSONValue, known: Sequence[tuple[str, dict[str, Path]]], *, embedded: bool = True
) -> tuple[str, Path] | None:
    """The step and the place in its output a value came from; the first of `known` wins."""
    spelled = canonical_json(value)
    if len(spelled) < TELLING_CHARACTERS:
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
    """Everything in an output that says enough to be recognised, as JSON, with the place nearest its top."""
    found: dict[str, Path] = {}
    for path, value in _within(output):
        spelled = canonical_json(value)
        if path and len(spelled) >= TELLING_CHARACTERS:
            found.setdefault(spelled, path)
    return found


def _within(whole: JSONValue) -> Iterator[tuple[Path, JSONValue]]:
    """A value and those in it, nearest the top first, with their places: the first thousands."""
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
    """A value and everything in it."""
    yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _leaves(part)


def _escaped(value: JSONValue) -> JSONValue:
    return _templated(value, ())


def _reference(key: str, path: Path) -> str:
    return f"${{{{ steps.{key}.output{_spelled(path)} }}}}"


def _spelled(path: Path) -> str:
    """A path as templates spell it."""
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
    """The pack's verb, numbered when it is taken."""
    verb = re.sub(r"[^a-z0-9_-]", "_", pack.rpartition(".")[2].lower())[:50]
    base = verb if verb[:1].isalpha() else f"s_{verb}"
    key, number = base, 2
    while key in taken:
        key, number = f"{base}_{number}", number + 1
    return key


def _text_of(spelled: str) -> str:
    text: str = orjson.loads(spelled)
    return text
