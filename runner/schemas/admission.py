"""Checks the schemas of users and servers, before any value is checked by them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from runner.issues import MAX_ISSUES, Hint, Issue, did_you_mean, error, nearest, shown, warning
from runner.json_values import canonical_json, forbidden_text
from runner.schemas.formats import FORMATS, UNCHECKED_FORMATS, PatternError, compile_pattern
from runner.schemas.messages import TYPE_NAMES, types_text
from runner.schemas.shapes import resolve_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue

MAX_SCHEMA_BYTES = 64 * 1024
#: Most patterns of a schema, and most refused ones that are reported: compiling one takes up to 0.3 s and 10 MB.
MAX_PATTERNS = 100
_REFUSED_PATTERNS = 5


def check_schema(schema: JSONValue) -> list[Issue]:
    """Return the problems of a schema, with paths into it.

    Errors: not a schema, over 64 KiB, a `$ref` that is remote or leads nowhere, a pattern that the linear-time engine
    refuses, `unevaluatedProperties` together with `patternProperties`. Warnings: a `format` that is not checked, a word
    that is similar to a keyword. Other unknown words are allowed, as JSON Schema has it.
    """
    if not isinstance(schema, dict | bool):
        return [error((), "invalid_schema", f"A schema must be an object, not {shown(schema)}.")]
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
        is_type = problem.validator == "anyOf" and path[-1:] == ("type",) and isinstance(problem.instance, str)
        hint = did_you_mean(problem.instance, TYPE_NAMES) if is_type else None
        yield error(path, "invalid_schema", f"This is not JSON Schema: {where}{_schema_problem(problem)}.", hint)


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
_DATA = frozenset({"const", "default", "enum", "examples", "example", "required", "dependentRequired", "discriminator"})
_SCHEMA_MAPS = frozenset({"properties", "$defs", "definitions", "dependentSchemas", "patternProperties"})
#: All keywords, the ones that older drafts and OpenAPI have included.
_KEYWORDS = """
    $anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveRef $ref $schema $vocabulary additionalItems
    additionalProperties allOf anyOf const contains contentEncoding contentMediaType contentSchema default
    definitions dependencies dependentRequired dependentSchemas deprecated description discriminator else enum
    example examples exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength
    maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not nullable oneOf
    pattern patternProperties prefixItems properties propertyNames readOnly required then title type
    unevaluatedItems unevaluatedProperties uniqueItems writeOnly
"""
#: Keywords that a misspelt word may mean: other words are similar to short ones by chance.
_MEANT = [word for word in _KEYWORDS.split() if len(word) > 3]
_SIMILARITY = 75
_KNOWN = frozenset(_KEYWORDS.split())


def _unsafe_parts(root: JSONValue) -> Iterator[Issue]:
    patterned = unevaluated = False
    patterns: set[str] = set()
    unknown: set[str] = set()
    refused = 0
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
                if key not in _KNOWN and len(unknown | {key}) <= MAX_ISSUES:
                    unknown.add(key)
                    yield from _misspelt(key, where)
                for pattern, place in _patterns(key, value, where):
                    patterns.add(pattern)
                    if len(patterns) > MAX_PATTERNS:
                        message = f"The schema has more than {MAX_PATTERNS} different patterns."
                        yield error((), "too_many_patterns", message, "Use `enum`, `format` or `maxLength` instead.")
                        return
                    wrong = _pattern_issue(pattern, place)
                    if wrong is not None:
                        yield wrong
                        refused += 1
                    if refused == _REFUSED_PATTERNS:
                        return
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
        case "format", str() if value not in FORMATS and value not in UNCHECKED_FORMATS:
            yield warning(
                path, "unknown_format", f"The format {shown(value)} is not checked.", did_you_mean(value, FORMATS)
            )


def _misspelt(word: str, path: tuple[str, ...]) -> Iterator[Issue]:
    meant = None if word.startswith("x-") else nearest(word, _MEANT, at_least=_SIMILARITY)
    if meant is not None:
        message = f"{shown(word)} is not a keyword of JSON Schema and has no effect."
        yield warning(path, "unknown_keyword", message, Hint(closest=meant))


_REF_HINT = "Put the definition under `$defs` and write `#/$defs/name`."


def _patterns(key: str, value: JSONValue, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the patterns of a keyword, each with its path."""
    if key == "pattern" and isinstance(value, str):
        yield value, path
    elif key == "patternProperties" and isinstance(value, dict):
        for pattern in value:
            yield pattern, (*path, pattern)


def _pattern_issue(pattern: str, path: tuple[str, ...]) -> Issue | None:
    try:
        compile_pattern(pattern)
    except PatternError as refused:
        message = f"The pattern {shown(pattern)} is refused: {refused}."
        hint = "Patterns are Rust regular expressions: no look-around, no back-references."
        return error(path, "unsafe_pattern", message, hint)
    return None
