"""Limits on the filters of a list: each value is a condition or a lookup, and a request could send thousands."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from resolvers.problems import Invalid
from runner.issues import argument_error

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_VALUES = 100
MAX_TEXT = 1_000

_Query = TypeVar("_Query", bound="DataclassInstance")


def check_query_size(query: _Query) -> _Query:
    """Return the query if its filters are within the limits.

    Raises:
        Invalid: A filter has too many values or too long a text.
    """
    for field in fields(query):
        value = getattr(query, field.name)
        if isinstance(value, tuple) and len(value) > MAX_VALUES:
            raise _too_much(field.name, f"{len(value)} values; the limit is {MAX_VALUES}")
        if isinstance(value, str):
            check_text_size(value, field.name)
    return query


def check_text_size(text: str | None, name: str = "text") -> None:
    """Refuse a search text longer than `MAX_TEXT` characters.

    Raises:
        Invalid: The text is too long.
    """
    if text is not None and len(text) > MAX_TEXT:
        raise _too_much(name, f"{len(text)} characters; the limit is {MAX_TEXT}")


def _too_much(name: str, what: str) -> Invalid:
    message = f"A filter has {what}."
    return Invalid([argument_error(name, "too_long", message, "Send fewer or shorter values.")])
