"""Reads and writes pipeline documents as YAML.

A constructor of our own reads the parser's events, because no library has one for the bare YAML 1.2 core schema
(timestamps stay text) without aliases, tags and duplicate keys, and with limits of size, depth and number of values
that apply while parsing, so that a hostile document costs no more than a valid one.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.excerpts import excerpt
from runner.json_values import MAX_DEPTH, MAX_INTEGER, MIN_INTEGER, DocumentError, text_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.failures import JSONValue

MAX_DOCUMENT_BYTES = 256 * 1024
#: Most values in a YAML text; the parser takes about 30 µs for each, so a hostile text takes at most about a second.
MAX_VALUES = 20_000

#: Written by some editors before a text; not part of it.
BYTE_ORDER_MARK = "\ufeff"

#: Order of keys in a written document; other keys follow in their order.
DOCUMENT_KEYS = ("key", "name", "description", "inputs", "deadline_seconds", "steps", "metadata")


def load_document(text: str) -> dict[str, JSONValue]:
    """Read a text with exactly one YAML document, a mapping.

    Raises:
        DocumentError: it is not that, or exceeds a limit.
    """
    documents = load_documents(text)
    if len(documents) != 1:
        raise DocumentError(
            "The text holds no document." if not documents else f"The text holds {len(documents)} documents, not one."
        )
    return documents[0]


class YamlDocument(NamedTuple):
    """A document and the part of a text it was read from, comments included.

    Attributes:
        text: None when it cannot be used alone, because directives or end marks in it affect other documents.
    """

    document: dict[str, JSONValue]
    text: str | None


def load_documents(text: str) -> list[dict[str, JSONValue]]:
    """Read every YAML document of a text, each a mapping; empty ones are skipped.

    Raises:
        DocumentError: with the position of the first problem.
    """
    return [written.document for written in load_written(text)]


def load_written(text: str) -> list[YamlDocument]:
    """Read every YAML document of a text with the part it was read from.

    Raises:
        DocumentError: with the position of the first problem.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as refused:
        line, column = _place(text, refused.start)
        raise DocumentError("The text holds a lone surrogate.", line, column) from refused
    if size > MAX_DOCUMENT_BYTES:
        raise DocumentError(f"The text has {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are read.")
    read = list(_Constructor(text).documents())
    ends = [*(marker.start for marker, _ in read[1:]), len(text)]
    apart = _CONCERNS_OTHERS.search(text) is None
    found: list[YamlDocument] = []
    for (marker, document), end in zip(read, ends, strict=False):  # without documents no end is needed
        if document is None:
            continue
        before = "" if found or marker is not read[0][0] else text[: marker.start]  # comments above a first `---`
        part = before + text[marker.stop : end].lstrip("\r\n")
        found.append(YamlDocument(document, part if apart else None))
    return found


class Position(NamedTuple):
    """Where a value begins in a text, counted from 1."""

    line: int
    column: int


class Positions:
    """Positions of the values of a document; that of an entry of a mapping is its key's."""

    def __init__(self, document: Any) -> None:  # noqa: ANN401 - ruamel's nodes are untyped
        self._found: dict[tuple[str, ...], Position] = {}
        self._add((), document, document)

    def _add(self, path: tuple[str, ...], node: Any, begins_at: Any) -> None:  # noqa: ANN401
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        self._found[path] = Position(begins_at.start_mark.line + 1, begins_at.start_mark.column + 1)
        if isinstance(node, MappingNode):
            for key, value in node.value:
                self._add((*path, key.value), value, key)
        elif isinstance(node, SequenceNode):
            for index, item in enumerate(node.value):
                self._add((*path, str(index)), item, item)

    def of(self, path: tuple[str, ...]) -> Position:
        """Return the position of a value, or of the innermost one around it if there is none at the path."""
        while path not in self._found:
            path = path[:-1]
        return self._found[path]


def positions(text: str) -> list[Positions]:
    """Locate the values of every document that `load_documents` reads from the text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import MappingNode

    composed = YAML(typ="safe", pure=True).compose_all(text.removeprefix(BYTE_ORDER_MARK))
    return [Positions(node) for node in composed if isinstance(node, MappingNode)]


def without_key(text: str, key: str) -> str | None:
    """Return a document's text without one of its keys and the comment right above it.

    None if the text cannot be taken apart, such as a document in braces.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import MappingNode

    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except YAMLError:  # such as an empty document after it
        return None
    if not isinstance(root, MappingNode) or root.flow_style:
        return None
    starts = [name.start_mark for name, _ in root.value]
    index = next((at for at, (name, _) in enumerate(root.value) if name.value == key), None)
    if index is None or any(start.column for start in starts):
        return None
    begins = starts[index].index
    ends = starts[index + 1].index if index + 1 < len(starts) else len(text)
    before = text[:begins].splitlines(keepends=True)
    while before and before[-1].startswith("#"):
        before.pop()
    # Blank lines and comments at its end belong to what follows.
    inner = text[begins:ends].splitlines(keepends=True)
    size = len(inner)
    while size and (inner[size - 1].startswith("#") or not inner[size - 1].strip()):
        size -= 1
    left = "".join((*before, *inner[size:])) + text[ends:]
    wanted = {name: value for name, value in load_document(text).items() if name != key}
    # The blank line before the last key goes with it, unless a value such as a text after `|+` needs it.
    for rest in (left.rstrip() + _line_break(left), left):
        try:
            if load_document(rest) == wanted:
                return rest
        except DocumentError:
            continue
    return None


def _line_break(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else "\n" if text.endswith("\n") else ""


def _place(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def _mistake(text: str, position: int, began: int | None) -> str | None:
    """Name a common mistake and its remedy where the parser stopped; None for others, which have the parser's words.

    Args:
        text: The text.
        position: Where the parser stopped.
        began: Where the list or mapping begins in which something well-formed is in the wrong place.
    """
    character = text[position : position + 1]
    before = text[text.rfind("\n", 0, position) + 1 : position]
    if character == "\t":
        return "a tab is not allowed here; indent with spaces"
    if character == "{" and text.startswith("${{", position - 1):
        return 'inside braces and brackets, put a reference in quotes: "${{ … }}"'
    if character and character in "@`%":
        return f"a value cannot begin with {character}; put it in quotes"
    if began is not None and (opened := text[began : began + 1]) in ("{", "["):
        return f"the {opened} in line {_place(text, began)[0]} is not closed, or a comma is missing after an entry"
    if character == ":" and ": " in before:
        return "a value with a colon and a space after it needs quotes"
    if (character == ":" and before.strip()) or (began is not None and character not in "]}" and not before.strip(" ")):
        return "this line's indentation fits no line above; indent it like the line it belongs with"
    return None


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
    """Builds JSON values from the parser's events with an explicit stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values = 0

    def documents(self) -> Iterator[tuple[slice, dict[str, JSONValue] | None]]:
        """Yield each document with the position of its `---`; an empty position where it has none."""
        from ruamel.yaml import YAML, events
        from ruamel.yaml.error import MarkedYAMLError, YAMLError
        from ruamel.yaml.parser import ParserError
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
            began = refused.context_mark if isinstance(refused, ParserError) else None
            why = (mark and _mistake(self._text, mark.index, began and began.index)) or " ".join(
                str(part) for part in (refused.context, refused.problem) if part
            )
            place = (mark.line + 1, mark.column + 1) if mark else (None, None)
            raise DocumentError(f"The text is not YAML: {why}.", *place) from refused
        except (YAMLError, ValueError, AssertionError, IndexError, RecursionError) as refused:
            raise DocumentError(f"The text is not YAML: {type(refused).__name__}.") from refused

    def _value(self, event: Any, stream: Iterator[Any]) -> JSONValue:  # noqa: ANN401 - ruamel's events are untyped
        """Build the value that an event begins; reads `stream` up to the value's last event."""
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
            raise self._refusal(
                f"The anchor `&{excerpt(str(event.anchor), 60)}` is refused; write the value out", event
            )
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            raise self._refusal(f"The tag `{excerpt(str(event.tag), 60)}` is refused", event)

    def _key(self, event: Any, container: Mapping[str, JSONValue]) -> str:  # noqa: ANN401
        key = self._scalar(event)
        if not isinstance(key, str):
            raise self._refusal(f"The key `{excerpt(event.value, 60)}` is not text; quote it", event)
        if key == "<<" and event.style is None:
            raise self._refusal("A merge key `<<` is refused; write the values out", event)
        if key in container:
            raise self._refusal(f"The key `{excerpt(key, 60)}` occurs twice in one mapping", event)
        return key

    def _scalar(self, event: Any) -> JSONValue:  # noqa: ANN401
        """Return the value of a scalar by the YAML 1.2 core schema (section 10.3 of the specification)."""
        text: str = event.value
        if problem := text_problem(text):
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
            raise self._refusal(f"The number `{excerpt(text, 60)}` is not finite; quote it to keep it as text", event)
        return text

    def _refusal(self, message: str, event: Any) -> DocumentError:  # noqa: ANN401
        mark = event.start_mark
        return DocumentError(f"{message}.", mark.line + 1, mark.column + 1)


def dump_yaml(document: Mapping[str, JSONValue]) -> str:
    """Write one document as YAML that `load_document` reads back unchanged.

    Block style, keys in the order of `DOCUMENT_KEYS`, texts of several lines as literal blocks.
    """
    import io

    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        """Writes texts plain if every YAML reader reads them the same, otherwise quoted or literal."""

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
#: Words that YAML 1.1 readers do not read as text.
_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _text_style(text: str) -> str | None:
    r"""Choose the style of a text: plain, literal (`|`) or double quoted."""
    lines = text.split("\n")
    if len(lines) > 1 and text.strip("\n") and not text.startswith((" ", "\n", "\t")):
        printable = all(line.isprintable() and not line.endswith(" ") for line in lines)
        if printable and "\ufeff" not in text:
            return "|"
    if _PLAIN.match(text) and not text.endswith(" ") and text.lower() not in _AMBIGUOUS:
        return None
    return '"'
