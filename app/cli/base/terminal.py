"""A console whose texts cannot command the terminal; a separate module, because rich is slow to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

from app.cli.base.defusing import defused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType


class DefusedConsole(Console):
    """A console that draws colours and tables, but replaces control characters in texts."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(defused(segment.text), segment.style)
