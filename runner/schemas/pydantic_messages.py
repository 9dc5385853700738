"""Words errors of pydantic like those of JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

#: Words by pydantic's type of error, with placeholders for the values of its context.
NEEDED: Mapping[str, str] = {
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "it must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "it must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "it must be true or false"),
    **dict.fromkeys(("string_type", "string_unicode"), "it must be text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "it must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "dataclass_type"), "it must be an object"),
    **dict.fromkeys(("value_error", "assertion_error"), "{error}"),
    **dict.fromkeys(("literal_error", "enum"), "it must be {expected}"),
    "extra_forbidden": "it is not a known field",
    "missing": "it is missing",
    "none_required": "it must be null",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be at most {le}",
    "multiple_of": "it must be a multiple of {multiple_of}",
    "string_too_short": "at least {min_length} characters are needed",
    "string_too_long": "at most {max_length} characters are allowed",
    "too_short": "at least {min_length} entries are needed",
    "too_long": "at most {max_length} entries are allowed",
    "string_pattern_mismatch": "it must match the pattern {pattern}",
}


#: Ends of pydantic's types of errors about the type of a value: `int_parsing`, `frozen_set_type`.
_OF_TYPE = ("_type", "_parsing", "_parsing_size", "_from_float", "_unicode", "none_required", "finite_number")
#: Rules of issues, as for JSON Schema, by pydantic's type of error.
_RULES: Mapping[str, str] = {
    "missing": "required",
    "extra_forbidden": "unknown_field",
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), "out_of_range"),
    **dict.fromkeys(("string_too_short", "too_short"), "too_short"),
    **dict.fromkeys(("string_too_long", "too_long"), "too_long"),
    **dict.fromkeys(("literal_error", "enum"), "not_allowed"),
    "string_pattern_mismatch": "wrong_format",
}


def rule_of(found: ErrorDetails) -> str:
    """Return the rule of an issue; types of errors that JSON Schema does not have keep their names."""
    kind = found["type"]
    return "wrong_type" if kind.endswith(_OF_TYPE) else _RULES.get(kind, kind)


def needed(found: ErrorDetails, words: Mapping[str, str] = NEEDED) -> str:
    """Say what the value must be, as a clause without a full stop: `it must be at most 300`.

    Args:
        found: The error with its context; types that are not in `words` keep pydantic's words.
        words: Words by type of error.
    """
    clause = words.get(found["type"])
    if clause is None:
        return found["msg"].rstrip(".")
    context = {name: _plain(value) for name, value in found.get("ctx", {}).items()}
    return clause.format(**context).rstrip(".")


def _plain(value: object) -> str:
    return f"{value:.16g}" if isinstance(value, float) else str(value)
