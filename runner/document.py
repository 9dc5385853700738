"""Documents as text and back: canonical JSON and its digest, and pipeline documents as YAML.

YAML is read from the parser's events by a constructor of our own, because no stock one keeps CONTRACT 1.4: the YAML
1.2 core schema and nothing more (timestamps stay text), no aliases, no tags, no duplicate keys, and bounds on size,
depth and number of values that hold while parsing, so that a hostile document costs no more than an honest one.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from runner.issues import Issue, error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.failures import JSONValue

MAX_DOCUMENT_BYTES = 256 * 1024
MAX_DEPTH = 64
#: Nesting of any value that is kept or sent: `orjson` writes 254 levels, and an answer puts some dozens around a value.
MAX_KEPT_DEPTH = 200
#: Values in one YAML text; the parser takes about 30 µs for each, so this bounds a hostile text to about a second.
MAX_VALUES = 20_000
#: Integers kept exactly everywhere: what fits a signed or an unsigned 64-bit number.
MIN_INTEGER, MAX_INTEGER = -(1 << 63), (1 << 64) - 1

#: Input field by which a step is told its session; no pack declares it, and idempotency keys leave it out.
SESSION_FIELD = "_session_id"

#: What some editors put before a text; it is no part of it.
BYTE_ORDER_MARK = "\ufeff"

#: Order of keys in a written document (DESIGN §3); keys not listed follow in the order they have.
DOCUMENT_KEYS = ("key", "name", "description", "inputs", "deadline_seconds", "steps", "metadata")


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
    """The one JSON text of a value: keys sorted, no spaces, UTF-8. What digests and comparisons are made of.

    Raises:
        DocumentError: for what JSON here cannot hold: lone surrogates, integers beyond 64 bits, nesting past 254.
    """
    return _canonical(value).decode()


def _canonical(value: JSONValue) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError as refused:
        raise DocumentError(f"The value cannot be kept as JSON: {refused}.") from refused


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8 form, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def idempotency_key(run_id: str, step_key: str, resolved_input: JSONValue, text: bytes | None = None) -> str:
    """The key a provider recognises a repeat by (CONTRACT 2.11): 64 hexadecimal digits.

    The same for every attempt of one step of one run with the same input; `_session_id` does not count, since a
    session is made anew without the work becoming another.

    Args:
        run_id: The run.
        step_key: Its step.
        resolved_input: What the step is given.
        text: The same as canonical JSON, where somebody wrote it already.
    """
    if isinstance(resolved_input, dict) and SESSION_FIELD in resolved_input:
        resolved_input, text = without_session(resolved_input), None
    if text is not None:
        return hashlib.sha256(b"%b,%b]" % (_canonical([run_id, step_key])[:-1], text)).hexdigest()
    return hashlib.sha256(_canonical([run_id, step_key, resolved_input])).hexdigest()


def without_session(step_input: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """A step's input as its pack takes it; the same object where it names no session."""
    if SESSION_FIELD not in step_input:
        return step_input
    return {name: value for name, value in step_input.items() if name != SESSION_FIELD}


def forbidden_text(value: JSONValue) -> list[Issue]:
    """What a JSON value holds that is refused everywhere, each with its path.

    U+0000 and lone surrogates in texts and keys, keys that are not text, integers beyond 64 bits, NaN and infinities,
    nesting deeper than 64. An honest value costs one serialisation; of a hostile one at most 50 places are told.
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
    """Whether a JSON value is nested deeper than anything that is kept or sent; found without recursion."""
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
    """Visits every value without recursion; containers past the depth limit are reported and not entered."""
    pending: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    while pending:
        value, path = pending.pop()
        match value:
            case str():
                if problem := _text_problem(value):
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
                    pending.extend((item, (*path, str(index))) for index, item in reversed(list(enumerate(value))))
                else:
                    for key, item in reversed(list(value.items())):
                        if not isinstance(key, str):
                            yield error(path, "key_not_text", f"The key {key!r} is not text.", "Quote it.")
                        elif problem := _text_problem(key):
                            yield error(path, "forbidden_text", f"A key holds {problem}.", "Remove that character.")
                        else:
                            pending.append((item, (*path, key)))
            case _:
                yield error(path, "not_json", f"A {type(value).__name__} is not a JSON value.")


def _text_problem(text: str) -> str | None:
    if "\0" in text:
        return "the character U+0000"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as refused:
        return f"the lone surrogate U+{ord(text[refused.start]):04X}"
    return None


def load_document(text: str, *, limit_bytes: int = MAX_DOCUMENT_BYTES) -> dict[str, JSONValue]:
    """Reads a text that holds exactly one YAML document, a mapping.

    Raises:
        DocumentError: when it is not that, or breaks a bound.
    """
    documents = load_documents(text, limit_bytes=limit_bytes)
    if len(documents) != 1:
        raise DocumentError(
            "The text holds no document." if not documents else f"The text holds {len(documents)} documents, not one."
        )
    return documents[0]


class Written(NamedTuple):
    """A document and the part of a text it was read from, comments included.

    Attributes:
        text: None where it means nothing by itself: directives and end marks concern what stands around them.
    """

    document: dict[str, JSONValue]
    text: str | None


def load_documents(text: str, *, limit_bytes: int = MAX_DOCUMENT_BYTES) -> list[dict[str, JSONValue]]:
    """Reads every YAML document of a text, each a mapping; empty ones are skipped.

    Raises:
        DocumentError: with the place of the first thing that is wrong.
    """
    return [written.document for written in load_written(text, limit_bytes=limit_bytes)]


def load_written(text: str, *, limit_bytes: int = MAX_DOCUMENT_BYTES) -> list[Written]:
    """The same, each with the part of the text it was read from.

    Raises:
        DocumentError: with the place of the first thing that is wrong.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as refused:
        line, column = _place(text, refused.start)
        raise DocumentError("The text holds a lone surrogate.", line, column) from refused
    if size > limit_bytes:
        raise DocumentError(f"The text has {size:,} bytes; at most {limit_bytes:,} are read.")
    read = list(_Constructor(text).documents())
    ends = [*(marker.start for marker, _ in read[1:]), len(text)]
    apart = _CONCERNS_OTHERS.search(text) is None
    found: list[Written] = []
    for (marker, document), end in zip(read, ends, strict=False):  # no end is needed of none
        if document is None:
            continue
        before = "" if found or marker is not read[0][0] else text[: marker.start]  # comments above a first `---`
        part = before + text[marker.stop : end].lstrip("\r\n")
        found.append(Written(document, part if apart else None))
    return found


def _place(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


#: Directives and ends of documents, at the beginning of a line.
_CONCERNS_OTHERS = re.compile(r"^(%|\.\.\.)", re.MULTILINE)
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_WORDS: dict[str, JSONValue] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_SCALAR_STARTS = frozenset("0123456789+-.~nNtTfF")


class _Constructor:
    """Builds JSON values from the parser's events with a stack of its own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values = 0

    def documents(self) -> Iterator[tuple[slice, dict[str, JSONValue] | None]]:
        """Each document with where its `---` stands; an empty place where it has none."""
        from ruamel.yaml import YAML, events
        from ruamel.yaml.error import MarkedYAMLError, YAMLError
        from ruamel.yaml.reader import ReaderError

        try:
            stream = iter(YAML(typ="safe", pure=True).parse(self._text))
            for event in stream:
                if isinstance(event, events.DocumentStartEvent):
                    first = next(stream)
                    value = self._value(first, stream)
                    if not isinstance(value, dict | None):
                        raise self._refusal("A document is a mapping of keys to values", first)
                    begins = event.start_mark.index if event.explicit else 0
                    yield slice(begins, event.end_mark.index if event.explicit else 0), value
        except ReaderError as refused:
            line, column = _place(self._text, refused.position)
            raise DocumentError(f"The character U+{refused.character:04X} is refused.", line, column) from refused
        except MarkedYAMLError as refused:
            mark = refused.problem_mark or refused.context_mark
            said = " ".join(str(part) for part in (refused.context, refused.problem) if part)
            place = (mark.line + 1, mark.column + 1) if mark else (None, None)
            raise DocumentError(f"The text is not YAML: {said}.", *place) from refused
        except (YAMLError, ValueError, AssertionError, IndexError, RecursionError) as refused:
            raise DocumentError(f"The text is not YAML: {type(refused).__name__}.") from refused

    def _value(self, event: Any, stream: Iterator[Any]) -> JSONValue:  # noqa: ANN401 - ruamel's events are untyped
        """The value an event begins. `stream` is left just behind its last event."""
        from ruamel.yaml import events

        stack: list[tuple[dict[str, JSONValue] | list[JSONValue], str | None]] = []
        container: dict[str, JSONValue] | list[JSONValue] | None = None
        key: str | None = None
        while True:
            done: JSONValue
            if isinstance(event, events.ScalarEvent):
                self._admit(event)
                if isinstance(container, dict) and key is None:
                    key = self._key(event, container)
                    event = next(stream)
                    continue
                done = self._scalar(event)
            elif isinstance(event, events.MappingStartEvent | events.SequenceStartEvent):
                self._admit(event)
                if isinstance(container, dict) and key is None:
                    raise self._refusal("A key is text, not a list or mapping", event)
                if len(stack) + (container is not None) >= MAX_DEPTH:
                    raise self._refusal(f"It is nested deeper than {MAX_DEPTH} levels", event)
                if container is not None:
                    stack.append((container, key))
                container, key = ({} if isinstance(event, events.MappingStartEvent) else []), None
                event = next(stream)
                continue
            elif isinstance(event, events.MappingEndEvent | events.SequenceEndEvent):
                done = container
                container, key = stack.pop() if stack else (None, None)
            else:
                raise self._refusal("An alias is refused; write the value out", event)
            if container is None:
                return done
            if isinstance(container, list):
                container.append(done)
            elif key is not None:
                container[key] = done
                key = None
            event = next(stream)

    def _admit(self, event: Any) -> None:  # noqa: ANN401
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._refusal(f"The text holds more than {MAX_VALUES:,} values", event)
        if event.anchor is not None:
            raise self._refusal(f"The anchor `&{str(event.anchor)[:60]}` is refused; write the value out", event)
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            raise self._refusal(f"The tag `{str(event.tag)[:60]}` is refused", event)

    def _key(self, event: Any, container: Mapping[str, JSONValue]) -> str:  # noqa: ANN401
        key = self._scalar(event)
        if not isinstance(key, str):
            raise self._refusal(f"The key `{event.value[:60]}` is not text; quote it", event)
        if key == "<<" and event.style is None:
            raise self._refusal("A merge key `<<` is refused; write the values out", event)
        if key in container:
            raise self._refusal(f"The key `{key[:60]}` stands twice in one mapping", event)
        return key

    def _scalar(self, event: Any) -> JSONValue:  # noqa: ANN401
        """The value of a scalar by the YAML 1.2 core schema (section 10.3 of its specification)."""
        text: str = event.value
        if problem := _text_problem(text):
            raise self._refusal(f"The text holds {problem}", event)
        if event.style is not None or event.tag is not None:
            return text
        if text and text[0] not in _SCALAR_STARTS:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.match(text) or _OCTAL_OR_HEX.match(text):
            number = int(text, 0 if text[:2] in ("0o", "0x") else 10) if len(text) <= 40 else MAX_INTEGER + 1
            if not MIN_INTEGER <= number <= MAX_INTEGER:
                raise self._refusal("The integer does not fit 64 bits; quote it to keep it as text", event)
            return number
        if _FLOAT.match(text) and math.isfinite(real := float(text)):
            return real
        if _FLOAT.match(text) or _NOT_FINITE.match(text):
            raise self._refusal(f"The number `{text[:60]}` is not finite; quote it to keep it as text", event)
        return text

    def _refusal(self, message: str, event: Any) -> DocumentError:  # noqa: ANN401
        mark = event.start_mark
        return DocumentError(f"{message}.", mark.line + 1, mark.column + 1)


def dump_yaml(document: Mapping[str, JSONValue]) -> str:
    """Writes one document as YAML that `load_document` reads back unchanged.

    Block style, keys in the order of DESIGN §3, texts of several lines as literal blocks.
    """
    import io

    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        """Plain where every reader of YAML sees the same text, quoted or literal elsewhere."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    def represent_text(representer: Any, text: str) -> Any:  # noqa: ANN401
        return representer.represent_scalar("tag:yaml.org,2002:str", text, style=_text_style(text))

    Representer.add_representer(str, represent_text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Representer
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=4, offset=2)
    ordered = {key: document[key] for key in DOCUMENT_KEYS if key in document}
    ordered |= {key: value for key, value in document.items() if key not in ordered}
    written = io.StringIO()
    yaml.dump(ordered, written)
    return written.getvalue()


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _./()+-]*\Z")
#: Words that readers of YAML 1.1 take for something other than text.
_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _text_style(text: str) -> str | None:
    r"""The style of a text: plain, literal (`|`) or double quoted."""
    lines = text.split("\n")
    if len(lines) > 1 and text.strip("\n") and not text.startswith((" ", "\n", "\t")):
        printable = all(line.isprintable() and not line.endswith(" ") for line in lines)
        if printable and "\ufeff" not in text:
            return "|"
    if _PLAIN.match(text) and not text.endswith(" ") and text.lower() not in _AMBIGUOUS:
        return None
    return '"'
