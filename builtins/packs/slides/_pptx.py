"""Writes a deck as a PowerPoint file: native titles, text, tables, shapes and notes, in the same look as the PDF.

Geometry is in points on a 960 x 540 slide (13.33 x 7.5 inch).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ._deck import Block, Cards, Code, Deck, Listing, Paragraph, Quote, Run, Runs, Slide, Subheading, Table, plain
from ._layout import column_shares
from ._pptx_measures import (
    BODY_BOTTOM,
    BODY_SIZE,
    BODY_WIDTH,
    CARD_GAP,
    CELL_MARGIN,
    GUTTER,
    HEIGHT,
    MARGIN,
    WIDTH,
    card_measures,
    code_measures,
    group_height,
    grouped,
    line_count,
    size_for,
    table_measures,
)
from ._pptx_xml import (
    DATE,
    Pptx,
    adapt_master,
    align_right,
    bullet,
    emu,
    indent,
    mixed,
    next_paragraph,
    paragraph_properties,
    plain_style,
    pt,
    rgb,
    run_properties,
    saved,
    text_frame_of,
)
from ._themes import THEMES, Theme, ThemeName
from ._typeset import is_right_to_left

if TYPE_CHECKING:
    from collections.abc import Iterable

_MONO = "Consolas"


def render_pptx(deck: Deck, theme: ThemeName) -> bytes:
    """The deck, already fitted, as the bytes of a .pptx file. Raises ImportError without python-pptx."""
    return _Writer(deck, THEMES[theme]).bytes()


class _Writer:
    """Draws one deck."""

    def __init__(self, deck: Deck, theme: Theme) -> None:
        from pptx import Presentation

        self._deck = deck
        self._theme = theme
        made: Pptx = Presentation()
        made.slide_width = emu(WIDTH)
        made.slide_height = emu(HEIGHT)
        self._presentation = made
        adapt_master(self._presentation)

    def bytes(self) -> bytes:
        for number, slide in enumerate(self._deck.slides, start=1):
            _SlideWriter(self._presentation, self._theme, self._deck, slide, number).draw()
        properties = self._presentation.core_properties
        properties.title = self._deck.title[:255]
        properties.author = self._deck.author[:255]
        properties.last_modified_by = ""
        properties.created = properties.modified = datetime(*DATE, tzinfo=UTC).replace(tzinfo=None)
        return saved(self._presentation, self._theme)


class _SlideWriter:
    """Draws one slide."""

    def __init__(self, presentation: Pptx, theme: Theme, deck: Deck, slide: Slide, number: int) -> None:
        self._theme = theme
        self._deck = deck
        self._slide = slide
        self._number = number
        self._page = presentation.slides.add_slide(presentation.slide_layouts[5])
        self._shapes = self._page.shapes
        self._sent_back = 0

    def draw(self) -> None:
        slide, theme = self._slide, self._theme
        match slide.layout:
            case "title" | "section":
                self._cover()
            case "agenda":
                self._agenda()
            case "quote":
                self._quote()
            case "content" | "closing":
                self._background(theme.closing_bg if slide.layout == "closing" else theme.bg)
                if slide.layout == "closing":
                    self._rectangle(0, 0, 12, HEIGHT, theme.accent)
                self._content()
        if not slide.heading:
            self._shapes.title.element.getparent().remove(self._shapes.title.element)
        if slide.notes:
            self._page.notes_slide.notes_text_frame.text = slide.notes

    # ---- layouts

    def _cover(self) -> None:
        theme, slide = self._theme, self._slide
        back = theme.title_bg if slide.layout == "title" else theme.section_bg
        self._background(back)
        self._ornament(back)
        size = size_for(plain(slide.heading), ((26, 54), (52, 46), (78, 40), (110, 34), (160, 27), (10_000, 21)))
        lines = line_count(plain(slide.heading), 620, size)
        below = [block for block in slide.blocks if isinstance(block, Paragraph)]
        height = lines * size * 1.12
        rest = sum(line_count(plain(block.runs), 660, 20) * 27 + 8 for block in below)
        top = max(70.0, (HEIGHT - height - rest - 60) / 2)
        self._rectangle(MARGIN + 4, top, 76, 6, theme.title_accent)
        self._title(MARGIN + 4, top + 22, 640, height + 8, size, theme.title_fg)
        frame = self._text(MARGIN + 4, top + height + 54, 640, max(rest, 30))
        for index, block in enumerate(below):
            last = index > 0 and index == len(below) - 1
            paragraph = next_paragraph(frame, index)
            paragraph.space_after = pt(8)
            self._runs(paragraph, block.runs, 17 if last else 21, theme.title_accent if last else theme.title_dim)

    def _agenda(self) -> None:
        theme, slide = self._theme, self._slide
        self._background(theme.bg)
        self._send_back(self._rectangle(0, 0, 300, HEIGHT, theme.title_bg))
        self._rectangle(MARGIN + 4, 66, 54, 5, theme.title_accent)
        size = size_for(plain(slide.heading), ((12, 34), (24, 28), (48, 22), (10_000, 16)))
        self._title(MARGIN + 4, 84, 196, 220, size, theme.title_fg)
        items = next(block.items for block in slide.blocks if isinstance(block, Listing))
        rows = [line_count(plain(item.runs), 500, 22) for item in items]
        unit = min(58.0, (BODY_BOTTOM - 66) / (len(items) + 0.6 * (sum(rows) - len(rows))))
        size = max(12.0, min(24.0, unit * 0.46))
        top = 60.0
        for index, (item, lines) in enumerate(zip(items, rows, strict=True)):
            height = unit * (1 + 0.6 * (lines - 1))
            if index:
                self._rectangle(348, top, 548, 0.75, theme.rule)
            number = self._text(348, top, 56, height, anchor="middle").paragraphs[0]
            self._runs(number, (Run(f"{index + 1:02d}", bold=True),), size, theme.accent_text)
            entry = self._text(404, top, 492, height, anchor="middle").paragraphs[0]
            self._runs(entry, item.runs, size, theme.fg)
            top += height
        self._furniture()

    def _quote(self) -> None:
        theme, slide = self._theme, self._slide
        self._background(theme.bg)
        quote = next(block for block in slide.blocks if isinstance(block, Quote))
        text = "\n".join(plain(runs) for runs in quote.paragraphs)
        size = size_for(text, ((90, 38), (160, 32), (240, 27), (320, 23), (10_000, 19)))
        height = line_count(text, 740, size) * size * 1.3
        top = max(130.0, (HEIGHT - height) / 2 - 6)
        mark = self._text(94, top - 74, 120, 90).paragraphs[0]
        self._runs(mark, (Run("\u201c", bold=True),), 120, theme.accent)
        if slide.heading:
            self._title(104, 44, 740, 30, 15, theme.accent_text)
        frame = self._text(104, top, 752, height + 6)
        for index, runs in enumerate(quote.paragraphs):
            self._runs(next_paragraph(frame, index), runs, size, theme.fg)
        if quote.source:
            under = top + height + 22
            self._rectangle(104, under + 11, 28, 3, theme.accent)
            self._runs(self._text(144, under, 700, 28).paragraphs[0], quote.source, 18, theme.dim)
        self._furniture()

    def _content(self) -> None:
        theme, slide = self._theme, self._slide
        top = 50.0
        if slide.heading:
            text = plain(slide.heading)
            size = size_for(text, ((44, 34), (52, 30), (116, 26), (150, 22), (10_000, 17)))
            height = line_count(text, BODY_WIDTH, size) * size * 1.14
            self._title(MARGIN, top, BODY_WIDTH, height, size, theme.fg)
            self._rectangle(MARGIN, top + height + 9, 54, 4.5, theme.accent)
            top += height + 42
        columns = [column for column in slide.columns if column] or [()]
        shares = column_shares(tuple(columns)) if len(columns) > 1 else [1.0]
        widths = [(BODY_WIDTH - GUTTER * (len(columns) - 1)) * share for share in shares]
        room = BODY_BOTTOM - top
        size = BODY_SIZE * slide.scale
        high = self._heights(columns, widths, size)
        while high > room and size > 7:
            size *= 0.96
            high = self._heights(columns, widths, size)
        top += max(0.0, min((room - high) * 0.2, 44.0))
        left = MARGIN
        for column, width in zip(columns, widths, strict=True):
            self._column(column, left, top, width, size)
            left += width + GUTTER
        self._furniture()

    def _heights(self, columns: list[tuple[Block, ...]], widths: list[float], size: float) -> float:
        """Height of the highest column at a type size."""
        return max(
            sum(group_height(group, width, size) + size * 0.8 for group in grouped(column)) - size * 0.8
            for column, width in zip(columns, widths, strict=True)
        )

    def _column(self, blocks: tuple[Block, ...], left: float, top: float, width: float, size: float) -> None:
        """Draws blocks from the top down; neighbouring texts share one box, so that PowerPoint reflows them."""
        for group in grouped(blocks):
            height = group_height(group, width, size)
            match group[0]:
                case Table() as table:
                    self._table(table, left, top, width, size)
                case Code() as code:
                    self._code(code, left, top, width, size)
                case Cards() as cards:
                    self._cards(cards, left, top, width, size)
                case _:
                    self._flow(group, left, top, width, min(height, BODY_BOTTOM - top), size)
            top += height + size * 0.8

    # ---- blocks

    def _flow(self, blocks: list[Block], left: float, top: float, width: float, height: float, size: float) -> None:
        frame = self._text(left, top, width, height)
        theme = self._theme
        index = 0
        for block in blocks:
            match block:
                case Paragraph(runs):
                    paragraph = next_paragraph(frame, index)
                    paragraph.space_after = pt(size * 0.7)
                    self._runs(paragraph, runs, size, theme.fg)
                    index += 1
                case Subheading(runs):
                    paragraph = next_paragraph(frame, index)
                    paragraph.space_after = pt(size * 0.45)
                    bold = tuple(Run(run.text, True, run.italic, run.code, run.strike, run.href) for run in runs)
                    self._runs(paragraph, bold, size * 1.04, theme.accent_text)
                    index += 1
                case Listing():
                    index = self._items(frame, block, index, 0, size)
                case Quote(paragraphs, source):
                    for runs in paragraphs:
                        paragraph = next_paragraph(frame, index)
                        paragraph.space_after = pt(size * 0.4)
                        indent(paragraph, 18, 0)
                        slanted = tuple(Run(run.text, run.bold, True, run.code, run.strike, run.href) for run in runs)
                        self._runs(paragraph, slanted, size, theme.fg2)
                        index += 1
                    if source:
                        paragraph = next_paragraph(frame, index)
                        indent(paragraph, 18, 0)
                        self._runs(paragraph, (Run("\u2014 "), *source), size * 0.8, theme.dim)
                        index += 1
                case _:
                    continue

    def _items(self, frame: Pptx, listing: Listing, index: int, depth: int, size: float) -> int:
        shown = size * (0.88**depth)
        for number, item in enumerate(listing.items, start=listing.start):
            paragraph = next_paragraph(frame, index)
            paragraph.level = min(depth, 8)
            paragraph.space_after = pt(size * (0.55 if depth == 0 else 0.3))
            indent(
                paragraph, 22.0 + 24.0 * depth + (8 if listing.ordered else 0), -(22.0 + (8 if listing.ordered else 0))
            )
            self._runs(paragraph, item.runs or (Run(""),), shown, self._theme.fg if depth == 0 else self._theme.fg2)
            bullet(
                paragraph,
                self._theme.accent if depth == 0 else self._theme.dim,
                number if listing.ordered else None,
                depth,
            )
            index += 1
            for child in item.children:
                index = self._items(frame, child, index, depth + 1, size)
        return index

    def _table(self, table: Table, left: float, top: float, width: float, body_size: float) -> None:
        size, columns, heights = table_measures(table, width, body_size)
        rows = (table.head, *table.rows)
        shape = self._shapes.add_table(
            len(rows), len(table.head), emu(left), emu(top), emu(sum(columns)), emu(sum(heights))
        )
        grid = shape.table
        grid.horz_banding = False
        for index, column in enumerate(columns):
            grid.columns[index].width = emu(column)
        for number, (row, height) in enumerate(zip(rows, heights, strict=True)):
            grid.rows[number].height = emu(height)
            for index, runs in enumerate(row):
                self._cell(grid.cell(number, index), runs, table.aligns[index], number, size)

    def _cell(self, cell: Pptx, runs: Runs, align: str, row: int, size: float) -> None:
        from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

        theme = self._theme
        cell.margin_left = cell.margin_right = emu(size * CELL_MARGIN)
        cell.margin_top = cell.margin_bottom = emu(size * 0.36)
        cell.vertical_anchor = MSO_ANCHOR.MIDDLE
        cell.fill.solid()
        cell.fill.fore_color.rgb = rgb(theme.table_head if row == 0 else theme.zebra if row % 2 == 0 else self._back)
        paragraph = cell.text_frame.paragraphs[0]
        bold = (
            tuple(Run(run.text, True, run.italic, run.code, run.strike, run.href) for run in runs) if row == 0 else runs
        )
        self._runs(paragraph, bold, size, theme.table_head_fg if row == 0 else theme.fg)
        paragraph.alignment = {"left": PP_ALIGN.LEFT, "right": PP_ALIGN.RIGHT, "center": PP_ALIGN.CENTER}[align]

    @property
    def _back(self) -> str:
        return self._theme.closing_bg if self._slide.layout == "closing" else self._theme.bg

    def _code(self, code: Code, left: float, top: float, width: float, body_size: float) -> None:
        lines, size, height = code_measures(code, width, body_size)
        frame = text_frame_of(
            self._box(left, top, width, height, self._theme.code_bg, self._theme.code_rule, 8), 18, 14
        )
        frame.word_wrap = False
        for index, line in enumerate(lines):
            paragraph = next_paragraph(frame, index)
            run = paragraph.add_run()
            run.text = line
            run.font.size = pt(size)
            run.font.name = _MONO
            run.font.color.rgb = rgb(self._theme.code_fg)
        if code.language:
            label = self._text(left + width - 130, top + 5, 120, 16).paragraphs[0]
            self._runs(label, (Run(code.language.upper(), bold=True),), 9, self._theme.code_dim)
            align_right(label)

    def _cards(self, block: Cards, left: float, top: float, width: float, size: float) -> None:
        columns, each, height = card_measures(block, width, size)
        for index, (lead, body) in enumerate(block.cards):
            x = left + (each + CARD_GAP) * (index % columns)
            y = top + (height + CARD_GAP) * (index // columns)
            frame = text_frame_of(self._box(x, y, each, height, self._theme.card, self._theme.rule, 6), 20, 20)
            self._rectangle(x, y, each, 5, self._theme.accent)
            paragraph = frame.paragraphs[0]
            paragraph.space_after = pt(size * 0.35)
            self._runs(paragraph, tuple(Run(run.text, True) for run in lead), size, self._theme.accent_text)
            self._runs(next_paragraph(frame, 1), body, size * 0.86, self._theme.fg)

    # ---- shapes

    def _title(self, left: float, top: float, width: float, height: float, size: float, colour: str) -> None:
        if not self._slide.heading:
            return
        from pptx.enum.text import MSO_ANCHOR

        shape = self._shapes.title
        shape.left, shape.top, shape.width, shape.height = emu(left), emu(top), emu(width), emu(height)
        frame = text_frame_of(shape, 0, 0)
        frame.vertical_anchor = MSO_ANCHOR.TOP
        paragraph = frame.paragraphs[0]
        paragraph.line_spacing = 0.95
        bold = tuple(Run(run.text, True, run.italic, run.code, run.strike, run.href) for run in self._slide.heading)
        self._runs(paragraph, bold, size, colour)

    def _text(self, left: float, top: float, width: float, height: float, anchor: str = "top") -> Pptx:
        from pptx.enum.text import MSO_ANCHOR

        shape = self._shapes.add_textbox(emu(left), emu(top), emu(width), emu(height))
        frame = text_frame_of(shape, 0, 0)
        frame.vertical_anchor = MSO_ANCHOR.MIDDLE if anchor == "middle" else MSO_ANCHOR.TOP
        return frame

    def _runs(self, paragraph: Pptx, runs: Iterable[Run], size: float, colour: str) -> None:
        shown = tuple(runs)
        for run in shown:
            for number, line in enumerate(run.text.split("\n")):
                if number:
                    paragraph.add_line_break()
                if not line:
                    continue
                made = paragraph.add_run()
                made.text = line
                font = made.font
                font.size = pt(size * (0.9 if run.code else 1))
                font.bold, font.italic = run.bold, run.italic
                font.color.rgb = rgb(self._theme.chip_fg if run.code else colour)
                if run.code:
                    font.name = _MONO
                if run.strike:
                    run_properties(made).set("strike", "sngStrike")
                if run.href:
                    made.hyperlink.address = run.href
        if is_right_to_left(plain(shown)):
            paragraph_properties(paragraph).set("rtl", "1")
            align_right(paragraph)

    def _rectangle(self, left: float, top: float, width: float, height: float, colour: str) -> Pptx:
        from pptx.enum.shapes import MSO_SHAPE

        return self._filled(MSO_SHAPE.RECTANGLE, left, top, width, height, colour)

    def _box(self, left: float, top: float, width: float, height: float, fill: str, line: str, radius: float) -> Pptx:
        from pptx.enum.shapes import MSO_SHAPE

        shape = self._filled(MSO_SHAPE.ROUNDED_RECTANGLE, left, top, width, height, fill)
        shape.adjustments[0] = min(0.5, radius / min(width, height))
        shape.line.color.rgb = rgb(line)
        shape.line.width = pt(0.75)
        return shape

    def _filled(self, kind: Pptx, left: float, top: float, width: float, height: float, colour: str) -> Pptx:
        shape = self._shapes.add_shape(kind, emu(left), emu(top), emu(width), emu(height))
        shape.fill.solid()
        shape.fill.fore_color.rgb = rgb(colour)
        shape.line.fill.background()
        plain_style(shape)
        return shape

    def _ornament(self, back: str) -> None:
        from pptx.enum.shapes import MSO_SHAPE

        theme = self._theme
        one = mixed(theme.accent, back, theme.tint / 100)
        two = mixed(theme.accent2, back, theme.tint * 0.8 / 100)
        match theme.decor:
            case "circles":
                self._send_back(self._filled(MSO_SHAPE.OVAL, 610, -170, 500, 500, one))
                self._send_back(self._filled(MSO_SHAPE.OVAL, 740, 400, 260, 260, two))
            case "ring":
                self._send_back(self._filled(MSO_SHAPE.OVAL, 537, -173, 566, 566, one))
                self._send_back(self._filled(MSO_SHAPE.OVAL, 583, -127, 474, 474, back))
                self._send_back(self._filled(MSO_SHAPE.OVAL, 750, 450, 180, 180, two))
            case "bands":
                for x, slant, colour in (
                    (660, 140, one),
                    (790, 90, mixed(theme.accent2, one, theme.tint * 0.8 / 100)),
                ):
                    builder = self._shapes.build_freeform(emu(x), 0)
                    builder.add_line_segments(
                        [(emu(WIDTH), 0), (emu(WIDTH), emu(HEIGHT)), (emu(x + slant), emu(HEIGHT))], close=True
                    )
                    band = builder.convert_to_shape()
                    band.fill.solid()
                    band.fill.fore_color.rgb = rgb(colour)
                    band.line.fill.background()
                    plain_style(band)
                    self._send_back(band)
                self._send_back(self._rectangle(0, 0, 14, HEIGHT, theme.title_accent))
            case "arcs":
                colour = back
                for index, radius in enumerate((310, 240, 170, 100)):
                    over = theme.accent if index % 2 == 0 else theme.accent2
                    colour = mixed(over, colour, theme.tint / 100 * (1 if index % 2 == 0 else 0.8))
                    self._send_back(
                        self._filled(MSO_SHAPE.OVAL, WIDTH - radius, HEIGHT - radius, 2 * radius, 2 * radius, colour)
                    )

    def _send_back(self, shape: Pptx) -> None:
        """Puts a shape behind the title, above those sent back before it."""
        tree = shape.element.getparent()
        tree.remove(shape.element)
        tree.insert(2 + self._sent_back, shape.element)  # the first two children are the group's own properties
        self._sent_back += 1

    def _background(self, colour: str) -> None:
        fill = self._page.background.fill
        fill.solid()
        fill.fore_color.rgb = rgb(colour)

    def _furniture(self) -> None:
        theme = self._theme
        count = len(self._deck.slides)
        self._rectangle(0, HEIGHT - 3, WIDTH, 3, theme.rule)
        self._rectangle(0, HEIGHT - 3, WIDTH * self._number / count, 3, theme.accent)
        if self._deck.footer and self._slide.layout != "agenda":
            shown = (
                self._deck.footer
                if len(self._deck.footer) <= 72
                else self._deck.footer[:71].rsplit(" ", 1)[0] + "\u2026"
            )
            self._runs(self._text(MARGIN, HEIGHT - 34, 600, 16).paragraphs[0], (Run(shown),), 10.5, theme.dim)
        page = self._text(WIDTH - MARGIN - 100, HEIGHT - 34, 100, 16).paragraphs[0]
        self._runs(page, (Run(f"{self._number} / {count}"),), 10.5, theme.dim)
        align_right(page)
