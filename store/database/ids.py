"""Ids: a type prefix and a ULID, the same text on every surface."""

from __future__ import annotations

from typing import Literal

from ulid import ULID

Prefix = Literal["pipe", "pver", "run", "step", "att", "art", "call", "tok", "aud", "sess", "cred", "mem", "gap", "res"]


def new_id(prefix: Prefix) -> str:
    """Make an id such as `run_01J…`; ids of one process sort as they were made, unless its clock is set back."""
    return f"{prefix}_{ULID()}"


def with_prefix(prefix: Prefix, id: str) -> str:
    """Make an id of the ULID of another one, of which there is one at most: a ULID takes 11 µs to make and to write."""
    return f"{prefix}_{id.partition('_')[2]}"
