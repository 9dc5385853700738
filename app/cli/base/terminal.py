"""A console whose texts cannot command the terminal; apart from `output`, because rich is slow to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

from app.cli.base.defusing import defused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType


class DefusedConsole(Console):
    """Colours and tables are drawn; the control characters within texts are not passed on."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of a renderable, their texts defused."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(defused(segment.text), segment.style)
