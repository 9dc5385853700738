"""Templates in step inputs: compiled once, resolved once per attempt.

Compiling walks the input, parses every `${{ … }}` and makes a plan of the places that change; resolving fills those
places and shares everything else, neither walked nor copied. The value of a reference is never parsed for references.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from runner.issues import MAX_ISSUES, Issue, error
from runner.json_values import MAX_DEPTH, forbidden_text
from runner.templates.plan import (
    ABSENT,
    MAX_RESOLVED_BYTES,
    ChangedList,
    ChangedObject,
    DeclaredOptional,
    Plan,
    Scope,
    SplicedText,
    TemplateError,
    WholeReference,
    oversized,
)
from runner.templates.references import INPUTS, Reference, ReferenceSyntaxError, escape_text, read_text, syntax_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

#: Up to so many references, whole values are measured at the end instead of one by one.
_UNCOUNTED_REFERENCES = 16
#: Most places without a value that the note names.
_NAMED = 12


class Resolved(NamedTuple):
    """A resolved input.

    Attributes:
        value: Must not be changed: it shares parts with the template and with other steps' outputs.
        note: Names the places that were not set for lack of a value; None if there are none.
        text: The value as canonical JSON, if it was serialized already.
    """

    value: JSONValue
    note: str | None = None
    text: bytes | None = None


class Template:
    """A compiled step input.

    Attributes:
        references: Every reference in it, in order.
        issues: Its problems, all errors; a template with issues does not resolve.
    """

    __slots__ = ("_literal", "_plan", "issues", "references")

    def __init__(
        self, literal: JSONValue, plan: Plan | None, references: tuple[Reference, ...], issues: tuple[Issue, ...]
    ) -> None:
        self._literal = literal
        self._plan = plan
        self.references = references
        self.issues = issues

    def resolve(
        self,
        inputs: Mapping[str, JSONValue],
        outputs: Mapping[str, JSONValue],
        declared_optional: DeclaredOptional = frozenset(),
        *,
        limit_bytes: int = MAX_RESOLVED_BYTES,
    ) -> Resolved:
        """Fill in the references.

        Args:
            inputs: The run's inputs.
            outputs: Output of each step that has one, by step id.
            declared_optional: Which inputs may be absent.
            limit_bytes: Limit of the result, as JSON.

        Raises:
            TemplateError: a required referent is missing, or the result is too deep or too large.
        """
        if self.issues:
            raise TemplateError(self.issues[0].path, "", self.issues[0].message, self.issues[0].hint)
        if self._plan is None:
            return Resolved(self._literal)
        scope = Scope(
            inputs,
            outputs,
            declared_optional,
            limit_bytes=limit_bytes,
            counts_wholes=len(self.references) > _UNCOUNTED_REFERENCES,
        )
        value = self._plan.resolve(scope)
        if value is ABSENT:
            value = None
            scope.omitted.append("the whole input (it is null)")
        text = _refuse_oversized(value, limit_bytes)
        return Resolved(value, _note(scope.omitted) if scope.omitted else None, text)

    def skeleton(self, hole: object) -> Any:  # noqa: ANN401 - JSON with holes in it
        """Return the input with `hole` for every text with references, to check the literal rest."""
        return self._literal if self._plan is None else _hollow(self._plan, hole)


def _hollow(plan: Plan, hole: object) -> Any:  # noqa: ANN401
    if isinstance(plan, WholeReference | SplicedText):
        return hole
    result: Any = plan.base.copy()
    for key, inner in plan.changing:
        result[key] = _hollow(inner, hole)
    return result


def _note(omitted: list[str]) -> str:
    more = f" and {len(omitted) - _NAMED} more" if len(omitted) > _NAMED else ""
    return f"Not set, because they had no value: {', '.join(omitted[:_NAMED])}{more}."


def _refuse_oversized(value: Any, limit_bytes: int) -> bytes | None:  # noqa: ANN401
    """Refuse a value whose canonical JSON exceeds the limit, or that JSON cannot hold; return the JSON."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        text = None
    if text is not None:
        if len(text) > limit_bytes:
            raise oversized(limit_bytes, len(text))
        # A cheap test that never passes a bad value; anything suspicious is checked in full.
        if text.count(b"{") + text.count(b"[") <= MAX_DEPTH and b"\\u0000" not in text:
            return text
    if issues := forbidden_text(value):
        raise TemplateError(
            issues[0].path, "", f"The resolved input cannot be used: {issues[0].message}", issues[0].hint
        )
    return text


def compile_template(value: JSONValue, *, root: str = INPUTS) -> Template:
    """Compile a step's input, or with `root=TRIGGER` a trigger's inputs; problems are in `Template.issues`."""
    compiler = _Compiler(root)
    plan = compiler.compile(value, ())
    literal = compiler.literal if plan is None else None
    issues = compiler.issues
    if plan is None and not issues:
        try:
            _refuse_oversized(literal, MAX_RESOLVED_BYTES)
        except TemplateError as refused:
            issues = [error(refused.path, "invalid_template", refused.reason, refused.hint)]
    return Template(literal, plan, tuple(compiler.references), tuple(issues))


class _Compiler:
    """Makes a plan; when `compile` returns None, `literal` is the constant value."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.references: list[Reference] = []
        self.issues: list[Issue] = []
        self.literal: Any = None

    def compile(self, value: JSONValue, path: tuple[str, ...]) -> Plan | None:
        self.literal = value
        if isinstance(value, str):
            return self._text(value, path)
        if not isinstance(value, dict | list):
            return None
        if len(path) >= MAX_DEPTH:
            self.issues.append(error(path, "too_deep", f"The input is nested deeper than {MAX_DEPTH} levels."))
            return None
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        changing: list[tuple[Any, Plan]] = []
        base: Any = value
        for key, item in entries:
            plan = self.compile(item, (*path, str(key)))
            if plan is not None:
                changing.append((key, plan))
            elif self.literal is not item:  # an escape inside was removed
                if base is value:
                    base = value.copy()
                base[key] = self.literal
        self.literal = base
        if not changing:
            return None
        if isinstance(value, dict):
            return ChangedObject(dict(base), tuple(changing))
        return ChangedList(list(base), tuple(changing))

    def _text(self, text: str, path: tuple[str, ...]) -> Plan | None:
        if "${{" not in text:
            return None
        try:
            parts = read_text(text, path, self._root)
        except ReferenceSyntaxError:
            for refused in itertools.islice(syntax_errors(text, self._root), MAX_ISSUES):
                at = f"at character {refused.position + 1}"
                self.issues.append(error(path, "template_syntax", f"{refused.reason} ({at}).", refused.hint))
            return None
        found = [part for part in parts if isinstance(part, Reference)]
        self.references.extend(found)
        if not found:
            self.literal = "".join(part for part in parts if isinstance(part, str))
            return None
        return WholeReference(found[0]) if found[0].whole else SplicedText(tuple(parts))


__all__ = [
    "MAX_RESOLVED_BYTES",
    "DeclaredOptional",
    "Reference",
    "Resolved",
    "Template",
    "TemplateError",
    "compile_template",
    "escape_text",
]
