"""JSON Schema (draft 2020-12) for schemas that others wrote: admission, and checks with messages for people.

`jsonschema` does the work and is imported by the first check, not at start-up. Around it: patterns and formats of
our own (`runner.formats`), a budget that stops schemas built to explode, and one sentence per error. What a field of
a schema is, and whether one schema's values fit another, is in `runner.schema_types`.
"""

from __future__ import annotations

import itertools
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from runner.document import DocumentError, canonical_json, forbidden_text
from runner.formats import FORMATS, UNCHECKED_FORMATS, PatternError, compile_pattern, is_of_format
from runner.issues import Issue, did_you_mean, error, shown, warning
from runner.schema_messages import issues_of, telling, types_text
from runner.schema_types import resolve_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue

MAX_SCHEMA_BYTES = 64 * 1024
#: Issues told of one value.
MAX_ISSUES = 50
#: Schema branches entered for one value before the schema is called too expensive.
MAX_BRANCHES = 100_000


def check_schema(schema: JSONValue) -> list[Issue]:
    """What is wrong with a foreign schema (CONTRACT 1.4), with paths into it.

    Errors: not a schema, over 64 KiB, a `$ref` that is remote or leads nowhere, a pattern the linear-time engine does
    not take, `unevaluatedProperties` together with `patternProperties`. Warnings: a `format` nobody here checks.
    """
    if not isinstance(schema, dict | bool):
        return [error((), "invalid_schema", f"A schema is an object, not {shown(schema)}.")]
    if unsafe := forbidden_text(schema):
        return unsafe
    size = len(canonical_json(schema).encode())
    if size > MAX_SCHEMA_BYTES:
        message = f"The schema has {size:,} bytes; at most {MAX_SCHEMA_BYTES:,} are allowed."
        return [error((), "schema_too_large", message)]
    issues = list(itertools.islice(_malformed(schema), MAX_ISSUES))
    if not issues:
        issues = list(itertools.islice(_unsafe_parts(schema), MAX_ISSUES))
    return issues


def _malformed(schema: JSONValue) -> Iterator[Issue]:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    for problem in validator.iter_errors(schema):
        path = tuple(str(part) for part in problem.absolute_path)
        where = f"`{path[-1]}` " if path else "It "
        yield error(path, "invalid_schema", f"This is not JSON Schema: {where}{_schema_problem(problem)}.")


def _schema_problem(problem: Any) -> str:  # noqa: ANN401 - jsonschema's error type is untyped where it matters
    match problem.validator:
        case "type":
            return f"is {shown(problem.instance)}, not {types_text(problem.validator_value)}"
        case "enum":
            return f"is {shown(problem.instance)}, not one of {', '.join(map(str, problem.validator_value))}"
        case "anyOf":
            return f"cannot be {shown(problem.instance)}"
        case _:
            return f"breaks the rule `{problem.validator}` with {shown(problem.instance)}"


#: Keywords whose value is data, not schemas.
_DATA = frozenset({"const", "default", "enum", "examples", "example", "required", "dependentRequired"})
_SCHEMA_MAPS = frozenset({"properties", "$defs", "definitions", "dependentSchemas", "patternProperties"})


def _unsafe_parts(root: JSONValue) -> Iterator[Issue]:
    patterned = unevaluated = False
    pending: list[tuple[JSONValue, tuple[str, ...], bool]] = [(root, (), True)]
    while pending:
        node, path, is_schema = pending.pop()
        if isinstance(node, list):
            pending.extend((item, (*path, str(index)), True) for index, item in enumerate(node))
        if not isinstance(node, dict):
            continue
        for key, value in node.items():
            where = (*path, key)
            if is_schema and key in _DATA:
                continue
            if is_schema:
                yield from _unsafe_keyword(root, key, value, where)
                patterned |= key == "patternProperties"
                unevaluated |= key == "unevaluatedProperties"
            pending.append((value, where, not (is_schema and key in _SCHEMA_MAPS)))
    if patterned and unevaluated:
        message = "A schema cannot use `unevaluatedProperties` and `patternProperties` together here."
        yield error((), "unsupported_schema", message, "Use `additionalProperties`.")


def _unsafe_keyword(root: JSONValue, key: str, value: JSONValue, path: tuple[str, ...]) -> Iterator[Issue]:
    match key, value:
        case "$ref", str():
            if not value.startswith("#"):
                yield error(
                    path, "remote_reference", f"The reference {shown(value)} leads outside the schema.", _REF_HINT
                )
            elif resolve_pointer(root, value) is None:
                yield error(path, "unknown_reference", f"The reference {shown(value)} leads nowhere.", _REF_HINT)
        case (("$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$anchor" | "$id" | "$vocabulary"), _):
            if not (key == "$id" and len(path) == 1):
                yield error(path, "unsupported_schema", f"`{key}` is not supported here.", _REF_HINT)
        case "pattern", str():
            yield from _pattern_issue(value, path)
        case "patternProperties", dict():
            for pattern in value:
                yield from _pattern_issue(pattern, (*path, pattern))
        case "format", str() if value not in FORMATS and value not in UNCHECKED_FORMATS:
            yield warning(
                path, "unknown_format", f"The format {shown(value)} is not checked.", did_you_mean(value, FORMATS)
            )


_REF_HINT = "Put the definition under `$defs` and write `#/$defs/name`."


def _pattern_issue(pattern: str, path: tuple[str, ...]) -> Iterator[Issue]:
    try:
        compile_pattern(pattern)
    except PatternError as refused:
        message = f"The pattern {shown(pattern)} is refused: {refused}."
        yield error(
            path,
            "unsafe_pattern",
            message,
            "Patterns are Rust regular expressions: no look-around, no back-references.",
        )


class CompiledSchema:
    """A schema ready to check values. Made by `compile_schema`; safe to share."""

    __slots__ = ("_default_issues", "_validator", "schema")

    def __init__(self, schema: JSONValue) -> None:
        self.schema = schema
        self._validator = _validator_class()(schema)
        self._default_issues: tuple[Issue, ...] | None = None

    @property
    def default_issues(self) -> tuple[Issue, ...]:
        """What is wrong with the defaults of an object's properties, each beginning at the property's name."""
        if self._default_issues is None:
            defaults = property_defaults(self.schema)
            found = self.issues(defaults) if defaults else ()
            self._default_issues = tuple(issue for issue in found if issue.path and issue.path[0] in defaults)
        return self._default_issues

    def issues(self, value: Any) -> list[Issue]:  # noqa: ANN401 - JSON, or JSON with `runner.check`'s place-holders
        """Everything wrong with a value, at most 50 issues, all errors, in the order of their paths."""
        return [issue for issue, _ in self.findings(value)]

    def findings(self, value: Any) -> list[tuple[Issue, Any]]:  # noqa: ANN401
        """The same, each with the part of the value it speaks of and the keyword that failed."""
        spent = _budget.set([MAX_BRANCHES])
        try:
            problems = list(itertools.islice(self._validator.iter_errors(value), MAX_ISSUES))
        except (_TooExpensiveError, RecursionError):
            return [(error((), "schema_too_complex", "The schema is too complex to check this value."), ("", value))]
        finally:
            _budget.reset(spent)
        findings = [
            (issue, (part.validator, part.instance))
            for problem in problems
            for part in telling(problem)
            for issue in issues_of(part)
        ]
        return sorted(findings, key=lambda finding: finding[0].path)


def property_defaults(schema: object) -> dict[str, JSONValue]:
    """The values that a schema's properties have when an object leaves them out, by name."""
    declared = schema.get("properties") if isinstance(schema, dict) else None
    return {
        name: field["default"]
        for name, field in (declared if isinstance(declared, dict) else {}).items()
        if isinstance(field, dict) and "default" in field
    }


def compile_schema(schema: JSONValue) -> CompiledSchema:
    """Compiles a schema; equal schemas are compiled once.

    Raises:
        DocumentError: the schema holds what JSON cannot.
    """
    return _compiled(canonical_json(schema))


@lru_cache(maxsize=512)
def _compiled(text: str) -> CompiledSchema:
    return CompiledSchema(orjson.loads(text))


#: Keywords that say nothing of a value but its type.
_TYPE_ALONE = frozenset({"type", "title", "description", "default", "examples", "deprecated", "$comment"})


class _TooExpensiveError(Exception):
    """The budget of schema branches is used up."""


_budget: ContextVar[list[int]] = ContextVar("schema_budget")


@lru_cache(maxsize=1)
def _validator_class() -> Any:  # noqa: ANN401 - made at run time by jsonschema
    """The draft 2020-12 validator with our patterns, formats, uniqueness and budget."""
    from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

    checker = FormatChecker(formats=())
    keywords = dict(Draft202012Validator.VALIDATORS)

    def pattern(validator: Any, value: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(instance, str) and not compile_pattern(value)(instance):
            yield ValidationError("pattern")

    def format_(validator: Any, value: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(instance, str) and not is_of_format(instance, value):
            yield ValidationError("format")

    def properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        for name, subschema in value.items() if isinstance(instance, dict) else ():
            if name not in instance:
                continue
            # Most inputs: a validator made for the type alone would take ten times as long.
            if isinstance(subschema, dict) and subschema.keys() <= _TYPE_ALONE:
                kind = subschema.get("type")
                if isinstance(kind, str) and validator.is_type(instance[name], kind):
                    continue
            yield from validator.descend(instance[name], subschema, path=name, schema_path=name)

    def pattern_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(instance, dict):
            for expression, subschema in value.items():
                matches = compile_pattern(expression)
                for key, item in instance.items():
                    if matches(key):
                        yield from validator.descend(item, subschema, path=key, schema_path=expression)

    def additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if not isinstance(instance, dict) or value is True:
            return
        known = schema.get("properties", {})
        patterns = [compile_pattern(expression) for expression in schema.get("patternProperties", {})]
        for key, item in instance.items():
            if key in known or any(matches(key) for matches in patterns):
                continue
            if value is False:
                unknown = ValidationError("additionalProperties")
                unknown.path.append(key)
                yield unknown
            else:
                yield from validator.descend(item, value, path=key)

    def required(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        for name in value if isinstance(instance, dict) else ():
            if name not in instance:
                missing = ValidationError("required")
                missing.path.append(name)
                yield missing

    def unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if value and isinstance(instance, list) and len({_identity(item) for item in instance}) < len(instance):
            yield ValidationError("uniqueItems")

    def counted(keyword: Any) -> Any:  # noqa: ANN401
        def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
            budget = _budget.get()
            budget[0] -= 1
            if budget[0] < 0:
                raise _TooExpensiveError
            yield from keyword(validator, value, instance, schema) or ()

        return check

    keywords |= {
        "pattern": pattern,
        "format": format_,
        "properties": properties,
        "patternProperties": pattern_properties,
        "additionalProperties": additional_properties,
        "required": required,
        "uniqueItems": unique_items,
    }
    for name in ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "contains"):
        keywords[name] = counted(keywords[name])
    return validators.create(
        meta_schema=Draft202012Validator.META_SCHEMA,
        validators=keywords,
        version="packline",
        type_checker=Draft202012Validator.TYPE_CHECKER,
        format_checker=checker,
        id_of=lambda _: "",
    )


def _identity(value: Any) -> str:  # noqa: ANN401
    """A text equal for equal JSON values, 1 and 1.0 among them."""

    def plain(node: Any) -> Any:  # noqa: ANN401
        match node:
            case float() if node.is_integer() and abs(node) < 1 << 53:
                return int(node)
            case dict():
                return {key: plain(item) for key, item in node.items()}
            case list():
                return [plain(item) for item in node]
            case _:
                return node

    try:
        return canonical_json(plain(value))
    except DocumentError:
        return f"\0{id(value)}"
