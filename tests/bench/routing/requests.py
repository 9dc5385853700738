"""The requests routing is measured by: read from `intents/*.txt`, half of them for tuning, half sealed.

A heading `[a, b]` names every right answer for the lines below it; `[gap near]` and `[gap far]` head what nothing here
does. ` :: ` begins what is at hand, as JSON: a route's context, and under `history` how often the caller used what.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

Part = Literal["development", "sealed"]
FOLDER = Path(__file__).with_name("intents")


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its right answers.

    Attributes:
        topic: File it stands in.
        answers: Keys of pipelines and names of packs; empty for a gap.
        gap: How far from the catalog a gap lies; None for what can be served.
        context: What is at hand.
        history: How often the caller used what, by id.
        part: By a digest of the text, so that no line can be moved from one part to the other.
    """

    text: str
    topic: str
    answers: frozenset[str]
    gap: Literal["near", "far"] | None
    context: Mapping[str, JSONValue] | None
    history: Mapping[str, int]
    part: Part


def read_requests() -> list[Request]:
    """All requests in the order of the files."""
    found: list[Request] = []
    for path in sorted(FOLDER.glob("*.txt")):
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
