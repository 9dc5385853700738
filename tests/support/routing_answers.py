"""What a routing model answers in tests of what is made of it."""

from __future__ import annotations

from typing import Any


def podcast_on_tides() -> dict[str, Any]:
    """A good answer to "something spoken on tides", over what ships; changed by some tests to a bad one."""
    return {
        "kind": "pipeline",
        "id": "builtin.research-podcast",
        "inputs": [{"name": "query", "value": "tides"}],
        "why": "It makes audio.",
        "confidence": 0.9,
        "alternatives": [{"kind": "pack", "id": "research.deep", "why": "Text only.", "confidence": 0.2}],
        "gaps": [],
    }
