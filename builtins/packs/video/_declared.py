"""What a composition says about itself, read without a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

_ARTIFACT = re.compile(r"(?:artifact:)?(art_[0-9A-Za-z]{1,40})\Z")
_RATIOS = ("16:9", "9:16", "1:1")


@dataclass(frozen=True, slots=True)
class Declarations:
    """A composition's own words.

    Attributes:
        title: Text of its `<title>`; empty when there is none.
        duration_seconds: `data-duration` of the root element or the body; None when missing or no positive number.
        aspect_ratio: `data-aspect-ratio` of the root element; 16:9 when missing or unknown.
        audio_artifact: Id in `data-audio` of the root element, or None.
    """

    title: str
    duration_seconds: float | None
    aspect_ratio: str
    audio_artifact: str | None


def declarations(html: str) -> Declarations:
    """Reads what a composition declares."""
    tree = LexborHTMLParser(html)
    root = dict(tree.root.attributes) if tree.root is not None else {}
    body = dict(tree.body.attributes) if tree.body is not None else {}
    title = tree.css_first("title")
    ratio = root.get("data-aspect-ratio") or "16:9"
    audio = _ARTIFACT.match(root.get("data-audio") or "")
    return Declarations(
        title=" ".join(title.text().split()) if title is not None else "",
        duration_seconds=positive(root.get("data-duration")) or positive(body.get("data-duration")),
        aspect_ratio=ratio if ratio in _RATIOS else "16:9",
        audio_artifact=audio[1] if audio else None,
    )


def positive(text: str | None) -> float | None:
    """The positive finite number a text begins with, as browsers read it, or None."""
    found = re.match(r"\s*(\d+\.?\d*|\.\d+)", text or "")
    value = float(found[1]) if found else 0.0
    return value if 0 < value < float("inf") else None
