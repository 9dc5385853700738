"""JSON values: checks of what none may contain, the canonical text, and its digest."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any

import orjson

from runner.issues import Issue, error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue

MAX_DEPTH = 64
#: Deepest nesting of stored or sent values: `orjson` writes 254 levels, and an answer adds some dozens around a value.
MAX_KEPT_DEPTH = 200
#: Integers that are exact everywhere: those that fit a signed or an unsigned 64-bit number.
MIN_INTEGER, MAX_INTEGER = -(1 << 63), (1 << 64) - 1
#: A number with a fraction or an exponent; rarely also a part of a text that looks like one.
_FRACTION = re.compile(r"(?:^|[\[:,])-?\d+[.e]")


class DocumentError(Exception):
    """Text that is not a document.

    Attributes:
        message: What is wrong, one sentence.
        line: Where, counted from 1; None when it concerns the whole text.
        column: Where in the line, counted from 1.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message if line is None else f"{message} (line {line}, column {column})")
        self.message = message
        self.line = line
        self.column = column


def canonical_json(value: JSONValue) -> str:
    """Return the canonical JSON text of a value, for digests and comparisons: keys sorted, no spaces, UTF-8.

    Raises:
        DocumentError: it has lone surrogates, integers beyond 64 bits, or nesting deeper than 254.
    """
    return canonical_bytes(value).decode()


def canonical_bytes(value: JSONValue) -> bytes:
    """Return the canonical JSON in UTF-8; see `canonical_json`."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError as refused:
        raise DocumentError(f"The value cannot be kept as JSON: {refused}.") from refused


def comparable_json(value: JSONValue) -> str:
    """Return the canonical JSON of a value, with one notation for equal numbers: `1`, `1.0` and `1e0`, or 0 and -0.

    Used to compare requests; stored values keep their notation.

    Raises:
        DocumentError: as `canonical_json`.
    """
    text = canonical_json(value)
    return canonical_json(_plain_numbers(value)) if _FRACTION.search(text) else text


def _plain_numbers(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Replace each float that is a whole number of at most 64 bits by that integer."""
    match value:
        case dict():
            return {key: _plain_numbers(item) for key, item in value.items()}
        case list():
            return [_plain_numbers(item) for item in value]
        case float() if value.is_integer() and MIN_INTEGER <= value <= MAX_INTEGER:
            return int(value)
        case _:
            return value


def digest(text: str) -> str:
    """Return the SHA-256 of the text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def forbidden_text(value: JSONValue) -> list[Issue]:
    """Return what a JSON value contains that is refused everywhere, each with its path.

    That is U+0000 and lone surrogates in texts and keys, keys that are not text, integers beyond 64 bits, NaN and
    infinities, nesting deeper than 64. A valid value costs one serialization; at most 50 problems are reported.
    """
    try:
        text = orjson.dumps(value)
    except TypeError:
        pass
    else:
        nesting = text.count(b"{") + text.count(b"[")
        if nesting <= MAX_DEPTH and b"\\u0000" not in text and b"null" not in text:
            return []
    found: list[Issue] = []
    for issue in _walk_forbidden(value):
        found.append(issue)
        if len(found) == 50:
            break
    return found


def is_too_deep(value: object) -> bool:
    """Return whether a JSON value is nested deeper than `MAX_KEPT_DEPTH`; checked without recursion."""
    level = [value]
    for _ in range(MAX_KEPT_DEPTH):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _walk_forbidden(root: Any) -> Iterator[Issue]:  # noqa: ANN401 - the very question is what it is
    """Visit every value without recursion; containers beyond the depth limit are reported and not entered."""
    pending: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    while pending:
        value, path = pending.pop()
        match value:
            case str():
                if problem := text_problem(value):
                    yield error(path, "forbidden_text", f"The text holds {problem}.", "Remove that character.")
            case bool() | None:
                pass
            case int():
                if not MIN_INTEGER <= value <= MAX_INTEGER:
                    yield error(path, "integer_too_large", "The integer does not fit 64 bits.", "Write it as text.")
            case float():
                if not math.isfinite(value):
                    yield error(path, "not_a_number", f"The number is {value}, which JSON cannot hold.")
            case dict() | list():
                if len(path) >= MAX_DEPTH:
                    yield error(path, "too_deep", f"It is nested deeper than {MAX_DEPTH} levels.")
                elif isinstance(value, list):
                    pending.extend(
                        (item, (*path, str(index)))
                        for index, item in reversed(list(enumerate(value)))
                        if not _is_plain(item)
                    )
                else:
                    for key, item in reversed(list(value.items())):
                        if not isinstance(key, str):
                            yield error(path, "key_not_text", f"The key {key!r} is not text.", "Quote it.")
                        elif problem := text_problem(key):
                            yield error(path, "forbidden_text", f"A key holds {problem}.", "Remove that character.")
                        elif not _is_plain(item):
                            pending.append((item, (*path, key)))
            case _:
                yield error(path, "not_json", f"A {type(value).__name__} is not a JSON value.")


def _is_plain(item: object) -> bool:
    """Return whether a value surely has no problem: most have none, and a path for each costs four times as much."""
    if isinstance(item, str):
        return item.isascii() and "\0" not in item
    return item is None or isinstance(item, bool) or (isinstance(item, int) and MIN_INTEGER <= item <= MAX_INTEGER)


def text_problem(text: str) -> str | None:
    """Word what a text contains that is refused everywhere; None when there is nothing."""
    if "\0" in text:
        return "the character U+0000"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as refused:
        return f"the lone surrogate U+{ord(text[refused.start]):04X}"
    return None
