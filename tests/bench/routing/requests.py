"""The requests routing is measured by: read from `intents/*.txt`, half of them for tuning, half sealed.

Those of `training/*.txt` were written later, for fitting alone; nothing is measured by them.

A heading `[a, b]` names every right answer for the lines below it; `[gap near]` and `[gap far]` head what nothing here
does. ` :: ` begins what is at hand, as JSON: a route's context, and under `history` how often the caller used what.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

Part = Literal["development", "sealed", "training"]
FOLDER = Path(__file__).with_name("intents")
TRAINING_FOLDER = Path(__file__).with_name("training")


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its right answers.

    Attributes:
        topic: The file that contains it.
        answers: Keys of pipelines and names of packs; empty for a gap.
        gap: How far from the catalog a gap lies; None for what can be served.
        context: The context of the request, as in `route`.
        history: How often the caller used what, by id.
        part: By its folder, and there by a digest of the text, so that no line can be moved from one to the other.
    """

    text: str
    topic: str
    answers: frozenset[str]
    gap: Literal["near", "far"] | None
    context: dict[str, JSONValue] | None
    history: Mapping[str, int]
    part: Part


def read_requests() -> list[Request]:
    """The requests of the benchmark in the order of the files."""
    return _read(FOLDER)


def read_training() -> list[Request]:
    """Further requests that weights are fitted on."""
    return [replace(request, part="training") for request in _read(TRAINING_FOLDER)]


def _read(folder: Path) -> list[Request]:
    found: list[Request] = []
    for path in sorted(folder.glob("*.txt")):
        heading = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("[") and line.endswith("]"):
                heading = line[1:-1]
            elif line.strip() and not line.startswith("#"):
                found.append(_request(line, heading, path.stem))
    return found


def _request(line: str, heading: str, topic: str) -> Request:
    text, _, at_hand = line.partition(" :: ")
    context = json.loads(at_hand) if at_hand else {}
    history = context.pop("history", {})
    is_gap = heading.startswith("gap ")
    return Request(
        text=text.strip(),
        topic=topic,
        answers=frozenset() if is_gap else frozenset(name.strip() for name in heading.split(",")),
        gap=("near" if heading == "gap near" else "far") if is_gap else None,
        context=context or None,
        history=history,
        part="sealed" if hashlib.sha256(line.encode()).digest()[0] % 2 else "development",
    )
