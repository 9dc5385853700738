"""The scalars of the API, with strict parsing and exact output.

Annotate with the Python names defined here (`JSON`, `JSONSchema`, `Cursor`, `Long`, `Key`,
`MemoryScope`) or with plain
`datetime.datetime`; `SCALAR_MAP` maps them to their names in the schema.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NewType

import orjson
import strawberry
from graphql import GraphQLError, Undefined, value_from_ast_untyped

from runner.issues import shown
from runner.json_values import MAX_INTEGER, MAX_KEPT_DEPTH, MIN_INTEGER, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import ValueNode
    from strawberry.types.scalar import ScalarDefinition

JSON = NewType("JSON", object)
JSONSchema = NewType("JSONSchema", object)
Cursor = NewType("Cursor", str)
Long = NewType("Long", int)
Key = NewType("Key", str)
MemoryScope = NewType("MemoryScope", str)

#: The largest integer that JavaScript, and so every JSON client, represents exactly.
LONG_MAX = 2**53 - 1
KEY_PATTERN = re.compile(r"[a-z][a-z0-9_-]{0,63}")
#: RFC 3339 section 5.6 with a required offset; digits beyond microseconds are dropped.
_DATE_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
)


def format_instant(value: datetime) -> str:
    """Format an instant for the API: UTC with milliseconds, such as `2026-11-21T09:30:00.125Z`.

    Raises:
        TypeError: The value has no time zone, which is a bug in the server.
    """
    if value.tzinfo is None:
        raise TypeError(f"{value!r} has no time zone")
    if value.tzinfo is not UTC:
        value = value.astimezone(UTC)
    if not value.microsecond:
        return value.isoformat(timespec="milliseconds")[:-6] + "Z"
    return orjson.dumps(value)[1:24].decode() + "Z"  # same result at half the cost


def parse_instant(value: object) -> datetime:
    """Parse an RFC 3339 instant into an aware UTC datetime.

    Raises:
        GraphQLError: The value is not a string, has no offset, or is not a valid date and time.
    """
    match = _DATE_TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise GraphQLError(
            f"{shown(value)} is not an instant. Use RFC 3339 with an offset, such as 2026-11-21T09:30:00Z."
        )
    date, clock, fraction, offset = match.groups()
    microseconds = (fraction or "0").ljust(6, "0")[:6]
    zone = "+00:00" if offset in "Zz" else offset
    try:
        return datetime.fromisoformat(f"{date}T{clock}.{microseconds}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise GraphQLError(f"{shown(value)} is not a valid date and time.") from None


def check_json(value: object) -> object:
    """Return a JSON value unchanged if it can be stored and returned exactly.

    Raises:
        GraphQLError: It contains U+0000, half of a surrogate pair, an integer beyond 64 bits, or something that is not
            JSON, or is nested too deep.
    """
    if is_too_deep(value):
        raise GraphQLError(f"The JSON is nested deeper than {MAX_KEPT_DEPTH} levels. Flatten it, or send it as text.")
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            check_text(item)
        elif isinstance(item, dict):
            for name in item:
                check_text(name)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, int):
            if not MIN_INTEGER <= item <= MAX_INTEGER:  # larger ones would lose precision
                raise GraphQLError(f"{shown(item)} exceeds 64 bits and cannot be stored exactly. Send it as text.")
        elif isinstance(item, float):
            if item != item or item in (float("inf"), float("-inf")):
                raise GraphQLError("NaN and Infinity are not valid JSON. Send null or text.")
        elif item is not None and item is not Undefined:  # a variable inside a literal, while it is validated
            raise GraphQLError(f"{shown(item)} is not JSON.")
    return value


def check_text(text: str) -> str:
    """Return text unchanged if every store and client can represent it.

    Raises:
        GraphQLError: It contains U+0000 or half of a surrogate pair.
    """
    if "\0" in text:
        raise GraphQLError("Text must not contain the character U+0000. Remove it.")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise GraphQLError("Text must not contain half of a surrogate pair. Send whole characters.") from None
    return text


def _json_schema(value: object) -> object:
    if not isinstance(value, dict | bool):
        raise GraphQLError(f"{shown(value)} is not a JSON Schema; it must be an object or a boolean.")
    return check_json(value)


def _long(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LONG_MAX:
        raise GraphQLError(f"{shown(value)} is not an integer up to 2^53 - 1.")
    return value


def _key(value: object) -> str:
    if not isinstance(value, str) or KEY_PATTERN.fullmatch(value) is None:
        raise GraphQLError(f"{shown(value)} is not a key. Write {KEY_PATTERN.pattern}, such as `weekly-report`.")
    return value


def _cursor(value: object) -> str:
    if not isinstance(value, str):
        raise GraphQLError(f"{shown(value)} is not a cursor. Pass one returned by a list or stream.")
    return value


def _literal(read: Callable[[object], object]) -> Callable[[ValueNode, dict[str, object] | None], object]:
    """Parse a literal in the document by the same rule as a variable."""

    def parse(node: ValueNode, variables: dict[str, object] | None = None) -> object:
        try:
            return read(value_from_ast_untyped(node, variables))
        except (GraphQLError, ValueError) as error:  # ValueError: a number of thousands of digits
            raise GraphQLError(str(getattr(error, "message", error)), node) from None

    return parse


def _memory_scope(value: object) -> str:
    if not isinstance(value, str):
        raise GraphQLError(f"{shown(value)} is not a memory scope. Pass text such as `all`.")
    return check_text(value)


def _unchanged(value: object) -> object:
    return value


#: For `StrawberryConfig(scalar_map=…)`.
SCALAR_MAP: Mapping[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="An instant in RFC 3339 format. Responses are always in UTC with milliseconds.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time",
        serialize=format_instant,
        parse_value=parse_instant,
        parse_literal=_literal(parse_instant),
    ),
    JSON: strawberry.scalar(
        name="JSON",
        description="A JSON value whose structure is defined by a pack or pipeline author.",
        specified_by_url="https://ecma-international.org/wp-content/uploads/ECMA-404_2nd_edition_december_2017.pdf",
        serialize=_unchanged,
        parse_value=check_json,
        parse_literal=_literal(check_json),
    ),
    JSONSchema: strawberry.scalar(
        name="JSONSchema",
        description="A JSON Schema, draft 2020-12.",
        specified_by_url="https://json-schema.org/draft/2020-12/schema",
        serialize=_unchanged,
        parse_value=_json_schema,
        parse_literal=_literal(_json_schema),
    ),
    Cursor: strawberry.scalar(
        name="Cursor",
        description="An opaque position in a list or stream. Treat it as a string; do not construct or parse it.",
        serialize=str,
        parse_value=_cursor,
        parse_literal=_literal(_cursor),
    ),
    Long: strawberry.scalar(
        name="Long",
        description="An integer up to 2^53 - 1, for byte counts and sequence numbers.",
        serialize=_long,
        parse_value=_long,
        parse_literal=_literal(_long),
    ),
    Key: strawberry.scalar(
        name="Key",
        description="A key: `[a-z][a-z0-9_-]{0,63}`.",
        serialize=str,
        parse_value=_key,
        parse_literal=_literal(_key),
    ),
    MemoryScope: strawberry.scalar(
        name="MemoryScope",
        description="What to forget: `all`, `packs`, `pipelines`, `pack:<id>`, `pipeline:<id>` or `entry:<id>`.",
        serialize=str,
        parse_value=_memory_scope,
        parse_literal=_literal(_memory_scope),
    ),
}
