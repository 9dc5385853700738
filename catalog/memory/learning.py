"""Decides what may be learned from an input: short texts of a closed set of fields, with no URL and no secret."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.secrets.redaction import Redactor

#: Longest learned value, in characters.
VALUE_CHARACTERS = 100


class LearnedField(StrEnum):
    """The only inputs that are learned."""

    PERSONA = "persona"
    AUDIENCE = "audience"
    ANGLE = "angle"
    MODEL = "model"
    THEME = "theme"
    VOICE = "voice"
    PERSONA_USED = "persona_used"
    KIND = "kind"
    FORMAT = "format"
    AUTHOR = "author"


# With a scheme, without one, or a host with a path; `provider/model` has no dot before its slash.
_URL = re.compile(
    r"[a-z][a-z0-9+.-]*://|(?:^|\s)//\w|\bwww\.|\b(?:mailto|data|javascript|file|tel):"
    r"|\b[a-z0-9-]+\.(?:com|org|net|io|dev|app|ai|co|de|eu|uk|fr|info|example|local)(?:[:/?#]|$)",
    re.IGNORECASE,
)
_MASK = "[redacted:"
#: Unicode's categories of control characters, line and paragraph separators, and halves of surrogate pairs.
_UNFIT = frozenset({"Cc", "Zl", "Zp", "Cs"})


def learned_values(inputs: JSONValue, redactor: Redactor) -> dict[LearnedField, str]:
    """Return the values to learn from an input, by field; nested objects and other fields are ignored.

    Drops values that are not text, are empty or longer than `VALUE_CHARACTERS`, or contain a control character, a line
    break, a URL or anything the redactor masks.
    """
    if not isinstance(inputs, dict):
        return {}
    found = ((field, inputs[field]) for field in LearnedField if field in inputs)
    return {field: value.strip() for field, value in found if isinstance(value, str) and is_learnable(value, redactor)}


def is_learnable(value: str, redactor: Redactor) -> bool:
    """Return whether a text may be kept as a default."""
    text = value.strip()
    return (
        0 < len(text) <= VALUE_CHARACTERS
        and not any(unicodedata.category(character) in _UNFIT for character in text)
        and _URL.search(text) is None
        and _MASK not in text
        and redactor.text(text) == text
    )
