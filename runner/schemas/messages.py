"""Words errors of JSON Schema for people, one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.issues import Issue, did_you_mean, error, shown
from runner.schemas.formats import name_of_format

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: What people call the types of JSON.
TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def specific_errors(problem: Any, depth: int = 0) -> list[Any]:  # noqa: ANN401
    """Return the errors to report for one: for alternatives, those of the only one that fits the value's type."""
    if problem.validator not in ("anyOf", "oneOf") or not problem.context or depth > 8:
        return [problem]
    fitting = _branches_of_its_type(problem)
    if len(fitting) != 1:
        return [problem]
    return [found for inner in fitting[0] for found in specific_errors(inner, depth + 1)]


def _branches_of_its_type(problem: Any) -> list[list[Any]]:  # noqa: ANN401
    """Return the errors of each alternative that accepts values of the type."""
    branches: dict[Any, list[Any]] = {}
    for inner in problem.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    return [
        errors
        for errors in branches.values()
        if not any(e.validator in ("type", "const") and not e.path for e in errors)
    ]


def _required_alternatives(problem: Any) -> list[str]:  # noqa: ANN401
    """Return what each alternative requires of an object, if nothing but required fields decides; else nothing."""
    branches = problem.validator_value
    required = [branch.get("required") or () if isinstance(branch, dict) else () for branch in branches]
    if not all(required) or not isinstance(problem.instance, dict):
        return []
    # The path of an error of `required` ends with the missing field.
    if any(inner.validator != "required" or len(inner.path) > 1 for inner in problem.context or ()):
        return []
    return [" with ".join(f"`{name}`" for name in names) for names in required]


def _listed(names: list[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def types_text(types: Any) -> str:  # noqa: ANN401
    """Word the types that a `type` keyword allows: `text or null`."""
    several = [types] if isinstance(types, str) else dict.fromkeys(types)
    return _listed([TYPE_NAMES.get(name, str(name)) for name in several], "or")


def _branch_types(branches: list[Mapping[str, Any]]) -> str | None:
    types = [branch.get("type") for branch in branches if isinstance(branch, dict)]
    return types_text(types) if len(types) == len(branches) and all(isinstance(name, str) for name in types) else None


def issues_of(problem: Any) -> Iterator[Issue]:  # noqa: ANN401
    """Make the issue of an error of jsonschema; if the error is about several fields, one for each."""
    path = tuple(str(part) for part in problem.absolute_path)
    value, wanted, keyword = problem.instance, problem.validator_value, problem.validator
    name = f"`{'.'.join(path)}`" if path else "The value"
    match keyword:
        case "required":
            yield error(path, "required", f"{name} is missing.")
        case "additionalProperties":
            known = list(problem.schema.get("properties", {}))
            message = f"{name} is not a known field."
            yield error(path, "unknown_field", message, did_you_mean(path[-1], known) if path else None)
        case None:
            yield error(path, "unknown_field", f"{name} is not allowed.")
        case "type":
            yield error(path, "wrong_type", f"{name} is {shown(value)}; it must be {types_text(wanted)}.")
        case "enum" | "const":
            choices = wanted if keyword == "enum" else [wanted]
            listed = ", ".join(shown(choice) for choice in choices[:12]) + (", …" if len(choices) > 12 else "")
            hint = (
                did_you_mean(value, [choice for choice in choices if isinstance(choice, str)])
                if isinstance(value, str)
                else None
            )
            one_of = "one of " if len(choices) > 1 else ""
            yield error(path, "not_allowed", f"{name} is {shown(value)}; it must be {one_of}{listed}.", hint)
        case "anyOf" | "oneOf" if names := _required_alternatives(problem):
            listed = _listed(names, "or" if problem.context else "and")
            only = "" if problem.context else "only one of "
            message = f"{name} must have {only}{listed}." if path else f"Give {only}{listed}."
            yield error(path, "required" if problem.context else "wrong_type", message)
        case "anyOf" | "oneOf":
            types = _branch_types(wanted)
            untyped = types and not _branches_of_its_type(problem)
            must = f"it must be {types}" if untyped else "it fits none of the forms allowed"
            if keyword == "oneOf" and not problem.context:
                must = "it fits more than one of the forms, and must fit exactly one"
            yield error(path, "wrong_type", f"{name} is {shown(value)}; {must}.")
        case _:
            yield error(path, _RULES.get(keyword, "invalid_value"), f"{name} {_constraint(keyword, wanted, value)}.")


_RULES = {
    "format": "wrong_format",
    "pattern": "wrong_format",
    "minLength": "too_short",
    "maxLength": "too_long",
    "minItems": "too_short",
    "maxItems": "too_long",
    "minimum": "out_of_range",
    "maximum": "out_of_range",
    "exclusiveMinimum": "out_of_range",
    "exclusiveMaximum": "out_of_range",
}


def _constraint(keyword: str, wanted: Any, value: Any) -> str:  # noqa: ANN401
    match keyword:
        case "format":
            return f"is {shown(value)}; it must be {name_of_format(wanted, value)}"
        case "pattern":
            return f"is {shown(value)}; it must match the pattern {shown(wanted)}"
        case "minLength":
            return "is empty" if value == "" else f"has {len(value)} characters; at least {wanted} are needed"
        case "maxLength":
            return f"has {len(value):,} characters; at most {wanted:,} are allowed"
        case "minItems" | "minProperties":
            return f"has {len(value)} entries; at least {wanted} are needed"
        case "maxItems" | "maxProperties":
            return f"has {len(value):,} entries; at most {wanted:,} are allowed"
        case "minimum" | "exclusiveMinimum":
            return f"is {shown(value)}; it must be {'at least' if keyword == 'minimum' else 'more than'} {wanted}"
        case "maximum" | "exclusiveMaximum":
            return f"is {shown(value)}; it must be {'at most' if keyword == 'maximum' else 'less than'} {wanted}"
        case "multipleOf":
            return f"is {shown(value)}; it must be a multiple of {wanted}"
        case "uniqueItems":
            return "contains the same entry twice"
        case _:
            return f"breaks the rule `{keyword}` of its schema"
