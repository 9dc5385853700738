"""Chapter marks as containers store them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from av.container import Chapter

_MILLISECOND = Fraction(1, 1000)


def chapter_marks(starts: Sequence[tuple[float, str]], end: float) -> list[Chapter]:
    """Chapters from where each begins, in seconds ascending, and the end of the last."""
    borders = [*(start for start, _ in starts), end]
    return [
        {
            "id": number + 1,
            "start": round(start * 1000),
            "end": max(round(borders[number + 1] * 1000), round(start * 1000) + 1),
            "time_base": _MILLISECOND,
            "metadata": {"title": title},
        }
        for number, (start, title) in enumerate(starts)
    ]
