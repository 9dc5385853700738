"""Lists for people: one line an entry that fits the terminal, or with `--long` a block of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.text import Text

    from app.cli.base.output import Output

#: Least width of a column that is cut before a column for wide terminals is shown, and on any terminal.
_COMFORTABLE, _LEAST = 40, 8
_GAP = 2
#: Characters that would break a line or move the columns.
_ONE_LINE = str.maketrans("\n\r\t", "   ")


class Column(NamedTuple):
    """A column of a list.

    Attributes:
        name: Its heading.
        fits: `whole` is never cut, `cut` is cut to the width of the terminal, `wide` is shown where there is room for
            it, `long` only in blocks of lines.
    """

    name: str
    fits: Literal["whole", "cut", "wide", "long"] = "whole"


def print_list(
    output: Output, columns: Sequence[Column], rows: Iterable[Sequence[object]], *, empty: str, long: bool
) -> None:
    """Print texts or rich texts, a row for each entry; the first column names the entry.

    Args:
        output: The output.
        columns: The columns, in the order of the cells.
        rows: The cells of each entry.
        empty: The sentence to print if there are no rows.
        long: Whether to print each entry as a block of lines, with all columns.
    """
    from rich.text import Text

    cells = [[one if isinstance(one, Text) else Text(str(one)) for one in row] for row in rows]
    if not cells:
        output.say(empty)
    elif long:
        _print_blocks(output, columns, cells)
    else:
        _print_lines(output, columns, cells)


def _print_blocks(output: Output, columns: Sequence[Column], rows: list[list[Text]]) -> None:
    from rich.table import Table
    from rich.text import Text

    for row in rows:
        output.console.print(Text.assemble(row[0], style="bold"), soft_wrap=True)
        block = Table.grid(padding=(0, _GAP, 0, 0))
        block.add_column(style="dim", no_wrap=True)
        block.add_column(overflow="fold")
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell.plain:
                block.add_row(f"    {column.name}", cell)
        output.console.print(block)


def _print_lines(output: Output, columns: Sequence[Column], rows: list[list[Text]]) -> None:
    from rich.text import Text

    for row in rows:
        for cell in row:
            cell.plain = cell.plain.translate(_ONE_LINE)
    heading = [Text(column.name, style="dim") for column in columns]
    widest = [max(cell.cell_len for cell in cells) for cells in zip(heading, *rows, strict=True)]
    widths = _widths(columns, widest, output.console.width)
    for row in (heading, *rows):
        line = Text()
        for index, width in widths.items():
            cell = row[index]
            cell.truncate(width, overflow="ellipsis", pad=True)
            line.append_text(cell).append(" " * _GAP)
        line.rstrip()
        # The terminal wraps what is wider; rich would break the id.
        output.console.print(line, soft_wrap=True)


def _widths(columns: Sequence[Column], widest: Sequence[int], total: int) -> dict[int, int]:
    """The width of each column that is shown, by its index."""
    shown = {index for index, column in enumerate(columns) if column.fits in ("whole", "cut")}
    cut = [index for index, column in enumerate(columns) if column.fits == "cut"]

    def room() -> int:
        """What the cut columns may take."""
        return total - sum(widest[index] for index in shown if index not in cut) - _GAP * (len(shown) - 1)

    for index, column in enumerate(columns):
        if column.fits == "wide":
            shown.add(index)
            if room() < sum(min(widest[one], _COMFORTABLE) for one in cut):
                shown.discard(index)
    widths = {index: widest[index] for index in sorted(shown)}
    left = room()
    for count, index in enumerate(sorted(cut, key=lambda one: widest[one])):
        widths[index] = min(widest[index], max(_LEAST, left // (len(cut) - count)))
        left -= widths[index]
    return widths
