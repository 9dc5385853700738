"""The draft 2020-12 validator with our patterns, formats, uniqueness, and a budget against exploding schemas.

Imports `jsonschema`, so it is imported only when the first schema is compiled.
"""

from __future__ import annotations

import itertools
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

from runner.json_values import DocumentError, comparable_json
from runner.schemas.formats import compile_pattern, is_of_format

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.failures import JSONValue

#: Most schema branches that are entered for one value; beyond it the schema is too complex.
MAX_BRANCHES = 100_000
#: Keywords that constrain nothing but a value's type.
_TYPE_ALONE = frozenset({"type", "title", "description", "default", "examples", "deprecated", "$comment"})


class _TooExpensiveError(Exception):
    """The budget of schema branches is used up."""


#: Remaining budget of branches for the value being checked.
_budget: ContextVar[list[int]] = ContextVar("schema_budget")


def _pattern(validator: Any, value: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(instance, str) and not compile_pattern(value)(instance):
        yield ValidationError("pattern")


def _format(validator: Any, value: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(instance, str) and not is_of_format(instance, value):
        yield ValidationError("format")


def _properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    for name, subschema in value.items() if isinstance(instance, dict) else ():
        if name not in instance:
            continue
        # The most common case: a validator for the type alone would take ten times as long.
        if isinstance(subschema, dict) and subschema.keys() <= _TYPE_ALONE:
            kind = subschema.get("type")
            if isinstance(kind, str) and validator.is_type(instance[name], kind):
                continue
        yield from validator.descend(instance[name], subschema, path=name, schema_path=name)


def _pattern_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(instance, dict):
        for expression, subschema in value.items():
            matches = compile_pattern(expression)
            for key, item in instance.items():
                if matches(key):
                    yield from validator.descend(item, subschema, path=key, schema_path=expression)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
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


def _required(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    for name in value if isinstance(instance, dict) else ():
        if name not in instance:
            missing = ValidationError("required")
            missing.path.append(name)
            yield missing


def _unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if value and isinstance(instance, list) and len({_identity(item) for item in instance}) < len(instance):
        yield ValidationError("uniqueItems")


def _counted(keyword: Any) -> Any:  # noqa: ANN401
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
        budget = _budget.get()
        budget[0] -= 1
        if budget[0] < 0:
            raise _TooExpensiveError
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _identity(value: Any) -> str:  # noqa: ANN401
    """Return a text that is equal for equal JSON values, also for 1 and 1.0."""
    try:
        return comparable_json(value)
    except DocumentError:
        return f"\0{id(value)}"


_KEYWORDS: Final = {
    **Draft202012Validator.VALIDATORS,
    "pattern": _pattern,
    "format": _format,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "uniqueItems": _unique_items,
}
_BRANCHING = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "contains")
_Validator: Final[Any] = validators.create(
    meta_schema=Draft202012Validator.META_SCHEMA,
    validators=_KEYWORDS | {name: _counted(_KEYWORDS[name]) for name in _BRANCHING},
    version="packline",
    type_checker=Draft202012Validator.TYPE_CHECKER,
    format_checker=FormatChecker(formats=()),
    id_of=lambda _: "",
)


class Checker:
    """Checks values by a schema."""

    def __init__(self, schema: JSONValue) -> None:
        self._validator = _Validator(schema)

    def problems(self, value: Any, most: int) -> list[ValidationError] | None:  # noqa: ANN401 - see `CompiledSchema`
        """Return the first problems of a value; None when the schema is too complex to check it."""
        found, unchecked = self.problems_within([(self._validator.schema, value)], most)
        return None if unchecked is not None else [problem for _, problem in found]

    def problems_within(
        self, cases: Sequence[tuple[JSONValue, Any]], most: int
    ) -> tuple[list[tuple[int, ValidationError]], int | None]:
        """Find the first problems of values by parts of the schema, each with the position of its case.

        All cases share one budget, since thousands of parts may refer to one that is costly.

        Returns:
            The problems, and the first case for which the schema is too complex, if there is one.
        """
        found: list[tuple[int, ValidationError]] = []
        spent = _budget.set([MAX_BRANCHES])
        try:
            for position, (part, value) in enumerate(cases):
                try:
                    problems = self._validator.evolve(schema=part).iter_errors(value)
                    found += ((position, problem) for problem in itertools.islice(problems, most - len(found)))
                except (_TooExpensiveError, RecursionError):
                    return found, position
            return found, None
        finally:
            _budget.reset(spent)
