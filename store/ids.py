"""Ids: a type prefix and a ULID, the same text on every surface (CONTRACT 1.3)."""

from __future__ import annotations

from typing import Literal

from ulid import ULID

Prefix = Literal["pipe", "pver", "run", "step", "att", "art", "call", "tok", "aud", "sess"]


def new_id(prefix: Prefix) -> str:
    """A new id such as `run_01J…`; ids of one millisecond are in no particular order."""
    return f"{prefix}_{ULID()}"
