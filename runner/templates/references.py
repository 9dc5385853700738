"""References in texts: the tokenizer and the grammar of `${{ … }}`.

    text      = { literal | "$${{" | "${{" space reference space "}}" }
    reference = root path [ space "?" | space "|" space "default" space "(" json ")" ]
    root      = "inputs" | "steps" "." step-id "." "output"; in the inputs of a trigger, only "trigger"
    path      = { "." name | '["' json-string '"]' | "[" digits "]" }

Written by hand because `}}` may occur inside a default's JSON or a quoted name, where a regular expression over the
whole text would stop.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from runner.excerpts import excerpt
from runner.issues import nearest
from runner.json_values import MAX_DEPTH, forbidden_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue

_OPEN, _CLOSE, _ESCAPED = "${{", "}}", "$${{"
_SPACE = " \t\r\n"
#: The root of references to run inputs.
INPUTS = "inputs"
#: The root of references in a trigger's inputs: what fired it. There, it is the only one.
TRIGGER = "trigger"


class ReferenceSyntaxError(Exception):
    """A malformed reference in a text.

    Attributes:
        reason: What is wrong, without a full stop.
        position: Where in the text, in characters from 0.
        hint: What to write instead, if known.
    """

    def __init__(self, reason: str, position: int, hint: str | None = None) -> None:
        super().__init__(f"{reason} (at character {position + 1})")
        self.reason = reason
        self.position = position
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Reference:
    """One `${{ … }}` of a step's input.

    Attributes:
        path: Where in the step's input, outermost first.
        expression: As written, braces included.
        source_step: The step whose output it reads; None when it reads a run input, or what fired a trigger.
        source_path: Names and list positions inside the run inputs or that output.
        optional: Whether it ends in `?`.
        has_default: Whether it has a default.
        default: The default; applies when the value is absent, not when it is null.
        whole: Whether the text is this reference and nothing else, so that it keeps the value's type.
        root: `inputs` or `trigger`, when it reads no step's output.
    """

    path: tuple[str, ...]
    expression: str
    source_step: str | None
    source_path: tuple[str | int, ...]
    optional: bool = False
    has_default: bool = False
    default: JSONValue = None
    whole: bool = False
    root: str = INPUTS

    @property
    def source_text(self) -> str:
        """The path it reads, as written in a template: `markdown`, `items[0].url`."""
        text = ""
        for part in self.source_path:
            if isinstance(part, int):
                text += f"[{part}]"
            elif part and all(_is_name(character) for character in part):
                text += f".{part}" if text else part
            else:
                text += f"[{json.dumps(part, ensure_ascii=False)}]"
        return text


def escape_text(text: str) -> str:
    """Escape every `${{` in a text, so that a template yields it verbatim."""
    return text.replace(_OPEN, _ESCAPED)


def read_text(text: str, path: tuple[str, ...], root: str = INPUTS) -> list[str | Reference]:
    """Split a text into literal parts, with escapes removed, and references; empty literals are left out.

    Args:
        text: Any text.
        path: Where it is in the step's input; passed on to the references.
        root: `trigger` in the inputs of a trigger.

    Raises:
        ReferenceSyntaxError: for the first malformed reference.
    """
    parts: list[str | Reference] = []
    literal: list[str] = []
    position = 0
    while (start := text.find(_OPEN, position)) >= 0:
        if start > position and text[start - 1] == "$":
            literal += (text[position : start - 1], _OPEN)
            position = start + len(_OPEN)
            continue
        literal.append(text[position:start])
        if joined := "".join(literal):
            parts.append(joined)
        literal.clear()
        reference, position = _Parser(text, start, path, root).reference()
        parts.append(reference)
    literal.append(text[position:])
    if joined := "".join(literal):
        parts.append(joined)
    return parts


def syntax_errors(text: str, root: str = INPUTS) -> Iterator[ReferenceSyntaxError]:
    """Yield the error of each malformed reference of a text; the next one begins after the closing braces."""
    position = 0
    while (start := text.find(_OPEN, position)) >= 0:
        position = start + len(_OPEN)
        if text[start - 1 : start] == "$":
            continue
        try:
            _, position = _Parser(text, start, (), root).reference()
        except ReferenceSyntaxError as refused:
            yield refused
            end = text.find(_CLOSE, max(position, refused.position))
            if end < 0:
                return
            position = end + len(_CLOSE)


def _is_name(character: str) -> bool:
    return character.isalnum() or character in "_-"


class _Parser:
    """Parses one reference, from its opening to its closing braces."""

    def __init__(self, text: str, start: int, path: tuple[str, ...], root: str) -> None:
        self._root = root
        self._text = text
        self._start = start
        self._at = start + len(_OPEN)
        self._path = path

    def reference(self) -> tuple[Reference, int]:
        self._skip_space()
        root_at = self._at
        root = self._name()
        segments = self._segments()
        source_step, source_path = self._source(root, segments, root_at)
        self._skip_space()
        optional = self._take("?")
        self._skip_space()
        has_default, default = False, None
        if self._take("|"):
            has_default, default = True, self._default()
            if optional:
                self._fail("A reference is optional (`?`) or has a default, not both", self._at, "Drop the `?`.")
            self._skip_space()
        if not self._take(_CLOSE):
            self._fail_unclosed()
        return (
            Reference(
                path=self._path,
                expression=self._text[self._start : self._at],
                source_step=source_step,
                source_path=source_path,
                optional=optional,
                has_default=has_default,
                default=default,
                whole=self._start == 0 and self._at == len(self._text),
                root=self._root,
            ),
            self._at,
        )

    def _source(self, root: str, segments: list[str | int], at: int) -> tuple[str | None, tuple[str | int, ...]]:
        if self._root == TRIGGER:
            if root != TRIGGER or not (segments and isinstance(segments[0], str)):
                hint = "Write `${{ trigger.scheduled_at }}`, or `$${{` for a literal `${{`."
                self._fail("A reference in the inputs of a trigger begins with `trigger` and a field", at, hint)
            return None, tuple(segments)
        match root, segments:
            case "inputs", [str(), *_]:
                return None, tuple(segments)
            case "inputs", _:
                self._fail("`inputs` must be followed by the name of an input", at, "Write `${{ inputs.url }}`.")
            case "steps", [str(step), "output", *rest]:
                return step, tuple(rest)
            case "steps", [str(step), *_]:
                hint = f"Write `${{{{ steps.{step}.output }}}}` and the field after it."
                self._fail(f"Only the `output` of step `{step}` can be read", at, hint)
            case "steps", _:
                self._fail("`steps` must be followed by a step id", at, "Write `${{ steps.fetch.output.text }}`.")
            case "", _:
                self._fail("A reference begins with `inputs` or `steps`", at, _LITERAL_HINT)
        shown = excerpt(root, 60)
        if near := nearest(root, ("inputs", "steps")):
            hint = f"Did you mean `{near}`?"
        elif segments:
            hint = _LITERAL_HINT
        else:
            hint = f"Write `${{{{ inputs.{shown} }}}}` for the input `{shown}`, or `$${{{{` for a literal `${{{{`."
        return self._fail(f"`{shown}` is neither `inputs` nor `steps`", at, hint)

    def _segments(self) -> list[str | int]:
        segments: list[str | int] = []
        while True:
            at = self._at
            if len(segments) > MAX_DEPTH:
                self._fail(f"The reference goes deeper than {MAX_DEPTH} levels, and no value does", at)
            if self._take("."):
                name = self._name()
                if not name:
                    self._fail("A name must follow the dot", at, 'Write names with other characters as `["odd name"]`.')
                segments.append(name)
            elif self._take("["):
                segments.append(self._bracket(at))
            else:
                return segments

    def _bracket(self, at: int) -> str | int:
        self._skip_space()
        if self._text.startswith('"', self._at):
            name = self._json()
            self._skip_space()
            if isinstance(name, str) and self._take("]"):
                return name
        else:
            end = self._at
            while end < len(self._text) and self._text[end] in "0123456789":
                end += 1
            digits, self._at = self._text[self._at : end], end
            self._skip_space()
            if 0 < len(digits) <= 9 and self._take("]"):
                return int(digits)
        return self._fail('Brackets hold a list position as `[0]` or a quoted name as `["odd name"]`', at)

    def _default(self) -> JSONValue:
        self._skip_space()
        at = self._at
        if self._name() == "default":
            self._skip_space()
            if self._take("("):
                self._skip_space()
                value = self._json()
                self._skip_space()
                if self._take(")"):
                    return value
        return self._fail(
            "`|` must be followed by `default(…)` with a JSON value inside", at, 'Write `| default("text")`.'
        )

    def _json(self) -> JSONValue:
        at = self._at
        try:
            value, self._at = _DECODER.raw_decode(self._text, at)
        except (ValueError, RecursionError) as refused:
            why = refused.msg if isinstance(refused, json.JSONDecodeError) else "it cannot be read"
            self._fail(f"This is not a JSON value: {why}", at, "Put JSON texts in double quotes.")
        if issues := forbidden_text(value):
            self._fail(issues[0].message.rstrip("."), at)
        return value  # type: ignore[no-any-return]

    def _name(self) -> str:
        start = self._at
        while self._at < len(self._text) and _is_name(self._text[self._at]):
            self._at += 1
        return self._text[start : self._at]

    def _skip_space(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _SPACE:
            self._at += 1

    def _take(self, token: str) -> bool:
        if self._text.startswith(token, self._at):
            self._at += len(token)
            return True
        return False

    def _fail_unclosed(self) -> NoReturn:
        if self._text.find(_CLOSE, self._at) < 0:
            self._fail("The reference is never closed with `}}`", self._start, _LITERAL_HINT)
        self._fail(f"Unexpected {json.dumps(self._text[self._at], ensure_ascii=False)} in a reference", self._at, None)

    def _fail(self, reason: str, position: int, hint: str | None = None) -> NoReturn:
        raise ReferenceSyntaxError(reason, position, hint)


_LITERAL_HINT = "Write `$${{` for a literal `${{`."


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return result


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)
