"""Checks values by JSON Schemas (draft 2020-12), with messages for people.

`runner.schemas.admission` first checks whether a schema can be used; `runner.schemas.keywords` is the validator,
imported with the first schema. `runner.schemas.shapes` compares schemas with each other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from runner.issues import MAX_ISSUES, Issue, error
from runner.json_values import canonical_json
from runner.schemas.messages import issues_of, specific_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.failures import JSONValue


_TOO_COMPLEX = error((), "schema_too_complex", "The schema is too complex to check this value.")


class CompiledSchema:
    """A schema ready to check values. Made by `compile_schema`; safe to share."""

    __slots__ = ("_checker", "_default_issues", "schema")

    def __init__(self, schema: JSONValue) -> None:
        from runner.schemas.keywords import Checker

        self.schema = schema
        self._checker = Checker(schema)
        self._default_issues: tuple[Issue, ...] | None = None

    @property
    def default_issues(self) -> tuple[Issue, ...]:
        """The problems of the defaults of an object's properties, with paths that begin with the property's name."""
        if self._default_issues is None:
            defaults = property_defaults(self.schema)
            found = self.issues(defaults) if defaults else ()
            self._default_issues = tuple(issue for issue in found if issue.path and issue.path[0] in defaults)
        return self._default_issues

    def issues(self, value: Any) -> list[Issue]:  # noqa: ANN401 - JSON, or JSON with `runner.definitions.check`'s place-holders
        """Return the problems of a value, at most 50 issues, all errors, in the order of their paths."""
        return [issue for issue, _ in self.findings(value)]

    def issues_within(self, cases: Sequence[tuple[JSONValue, Any]]) -> list[tuple[int, Issue]]:
        """Return the problems of values by parts of this schema, each with the position of its case; at most 50."""
        problems, unchecked = self._checker.problems_within(cases, MAX_ISSUES)
        found = [
            (position, issue)
            for position, problem in problems
            for part in specific_errors(problem)
            for issue in issues_of(part)
        ]
        return found if unchecked is None else [*found, (unchecked, _TOO_COMPLEX)]

    def findings(self, value: Any) -> list[tuple[Issue, Any]]:  # noqa: ANN401
        """Return the problems as `issues` does, each with the part of the value it is about and the failed keyword."""
        problems = self._checker.problems(value, MAX_ISSUES)
        if problems is None:
            return [(_TOO_COMPLEX, ("", value))]
        findings = [
            (issue, (part.validator, part.instance))
            for problem in problems
            for part in specific_errors(problem)
            for issue in issues_of(part)
        ]
        return sorted(findings, key=lambda finding: finding[0].path)


def property_defaults(schema: object) -> dict[str, JSONValue]:
    """Return the defaults of a schema's properties, by name."""
    declared = schema.get("properties") if isinstance(schema, dict) else None
    return {
        name: field["default"]
        for name, field in (declared if isinstance(declared, dict) else {}).items()
        if isinstance(field, dict) and "default" in field
    }


def compile_schema(schema: JSONValue) -> CompiledSchema:
    """Compile a schema; equal schemas are compiled once.

    Raises:
        DocumentError: the schema holds what JSON cannot.
    """
    return _compiled(canonical_json(schema))


@lru_cache(maxsize=512)
def _compiled(text: str) -> CompiledSchema:
    return CompiledSchema(orjson.loads(text))
