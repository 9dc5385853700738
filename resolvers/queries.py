"""How much one question about a list may ask: each value is a condition or a lookup, and a question takes thousands."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from resolvers.problems import Invalid
from runner.issues import error

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_VALUES = 100
MAX_TEXT = 1_000

_Query = TypeVar("_Query", bound="DataclassInstance")


def bounded(query: _Query) -> _Query:
    """The query itself.

    Raises:
        Invalid: it asks for more values or words than a person would.
    """
    for field in fields(query):
        value = getattr(query, field.name)
        if isinstance(value, tuple) and len(value) > MAX_VALUES:
            raise _too_much(field.name, f"{len(value)} values; at most {MAX_VALUES} are looked for at a time")
        if isinstance(value, str):
            bounded_text(value, field.name)
    return query


def bounded_text(text: str | None, name: str = "text") -> None:
    """Refuses a text to look for that is longer than anybody would type.

    Raises:
        Invalid: it is.
    """
    if text is not None and len(text) > MAX_TEXT:
        raise _too_much(name, f"{len(text)} characters; at most {MAX_TEXT} are looked for")


def _too_much(name: str, what: str) -> Invalid:
    message = f"The filter `{name}` has {what}."
    return Invalid([error((name,), "too_long", message, "Ask for less at a time.")])
