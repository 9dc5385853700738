"""Ids: a type prefix and a ULID, the same text on every surface."""

from __future__ import annotations

from typing import Literal

from ulid import ULID

Prefix = Literal[
    "pipe",
    "pver",
    "run",
    "step",
    "att",
    "art",
    "call",
    "tok",
    "aud",
    "sess",
    "cred",
    "mem",
    "gap",
    "res",
    "trig",
    "fire",
    "sec",
    "dlv",
]


def new_id(prefix: Prefix) -> str:
    """Make an id such as `run_01J…`; ids of one process sort as they were made, unless its clock is set back."""
    return f"{prefix}_{ULID()}"


def with_prefix(prefix: Prefix, id: str) -> str:
    """Make an id from another id's ULID, where at most one is needed: a new ULID takes 11 µs to make and to write."""
    return f"{prefix}_{id.partition('_')[2]}"
