"""Earlier names of starters, as JSON in a pipeline's row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Alias:
    """An earlier name that still leads to a pipeline.

    Attributes:
        name: The earlier key.
        inputs: Every input of that time as (earlier name, present name), in the order of the file.
        newly_required: Inputs that are required now and had no counterpart then.
    """

    name: str
    inputs: tuple[tuple[str, str], ...] = ()
    newly_required: tuple[str, ...] = ()


def dump_aliases(aliases: Sequence[Alias]) -> str:
    return json.dumps(
        [
            {"name": alias.name, "inputs": dict(alias.inputs), "newly_required": list(alias.newly_required)}
            for alias in aliases
        ],
        separators=(",", ":"),
    )


def load_aliases(text: str) -> tuple[Alias, ...]:
    if text == "[]":
        return ()
    return tuple(
        Alias(entry["name"], tuple(entry["inputs"].items()), tuple(entry["newly_required"]))
        for entry in json.loads(text)
    )
