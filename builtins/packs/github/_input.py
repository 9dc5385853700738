"""Input fields that several packs share."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Target(BaseModel):
    """The repository to work with."""

    repo: str = Field(
        min_length=1,
        max_length=300,
        description="Repository on GitHub, as `owner/name` or as an address.",
        examples=["octo/lights", "https://github.com/octo/lights"],
    )


def one_line(text: str) -> str:
    """The text without spaces around it.

    Raises:
        ValueError: when it is blank or has a line break or control character.
    """
    if any(ord(character) < 0x20 or ord(character) in (0x7F, 0x85, 0x2028, 0x2029) for character in text):
        raise ValueError("It must be one line, without control characters.")
    if not text.strip():
        raise ValueError("It is blank.")
    return text.strip()
