"""What PowerPoint files need beyond python-pptx's own words: units, bullets, indents, the master, fixed dates."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ._themes import Theme

#: python-pptx's objects, which it does not type.
Pptx: TypeAlias = Any

_EMU = 12_700
#: Entries carry one date, so that the same deck gives the same bytes.
DATE = (2020, 1, 1, 0, 0, 0)
_MAIN = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def emu(points: float) -> int:
    return round(points * _EMU)


def pt(points: float) -> int:
    return round(points * 100) * 127  # PowerPoint keeps hundredths of a point


def rgb(colour: str) -> Pptx:
    from pptx.dml.color import RGBColor

    make: Pptx = RGBColor.from_string
    return make(colour[1:].upper())


def mixed(over: str, under: str, share: float) -> str:
    """`over` laid on `under` with an opacity of `share`."""
    channels = (
        round(int(over[at : at + 2], 16) * share + int(under[at : at + 2], 16) * (1 - share)) for at in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def plain_style(shape: Pptx) -> None:
    """Takes off the theme's style, which would bring outline and shadow."""
    style = shape.element.find("{http://schemas.openxmlformats.org/presentationml/2006/main}style")
    if style is not None:
        shape.element.remove(style)


def text_frame_of(shape: Pptx, horizontal: float, vertical: float) -> Pptx:
    from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN

    frame = shape.text_frame
    frame.word_wrap = True
    frame.auto_size = MSO_AUTO_SIZE.NONE
    frame.margin_left = frame.margin_right = emu(horizontal)
    frame.margin_top = frame.margin_bottom = emu(vertical)
    frame.vertical_anchor = MSO_ANCHOR.TOP
    frame.paragraphs[0].alignment = PP_ALIGN.LEFT
    return frame


def next_paragraph(frame: Pptx, index: int) -> Pptx:
    from pptx.enum.text import PP_ALIGN

    paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
    paragraph.alignment = PP_ALIGN.LEFT
    return paragraph


def align_right(paragraph: Pptx) -> None:
    from pptx.enum.text import PP_ALIGN

    paragraph.alignment = PP_ALIGN.RIGHT


def paragraph_properties(paragraph: Pptx) -> Pptx:
    return paragraph._p.get_or_add_pPr()


def run_properties(run: Pptx) -> Pptx:
    return run._r.get_or_add_rPr()


def indent(paragraph: Pptx, margin: float, first: float) -> None:
    properties = paragraph_properties(paragraph)
    properties.set("marL", str(emu(margin)))
    properties.set("indent", str(emu(first)))


def bullet(paragraph: Pptx, colour: str, number: int | None, depth: int) -> None:
    """A native bullet, or automatic numbering that starts at `number`."""
    properties = paragraph_properties(paragraph)

    def add(parent: Pptx, tag: str, **attributes: str) -> Pptx:
        element = parent.makeelement(f"{_MAIN}{tag}", attributes)
        parent.append(element)
        return element

    add(add(properties, "buClr"), "srgbClr", val=colour[1:].upper())
    if number is None:
        add(properties, "buFont", typeface="Arial")
        add(properties, "buChar", char="\u2013" if depth == 1 else "\u2022")
    else:
        add(properties, "buFont", typeface="+mj-lt")
        add(properties, "buAutoNum", type="arabicPeriod", startAt=str(min(max(number, 1), 32_767)))


def adapt_master(presentation: Pptx) -> None:
    """Gives the default template's master 16:9 positions, for slides added later."""
    for holder in (presentation.slide_master, *presentation.slide_layouts):
        for shape in holder.placeholders:
            left, top, width, height = shape.left, shape.top, shape.width, shape.height
            if None not in (left, top, width, height):
                shape.left, shape.width = round(left * 4 / 3), round(width * 4 / 3)
                shape.top, shape.height = top, height


def saved(presentation: Pptx, theme: Theme) -> bytes:
    """The file, with our fonts and colours in its master's theme and fixed dates."""
    raw, fixed = BytesIO(), BytesIO()
    presentation.save(raw)
    rels = presentation.slide_master.part.rels.values()
    theme_name = next(rel.target_part.partname for rel in rels if rel.reltype.endswith("/theme")).removeprefix("/")
    with zipfile.ZipFile(raw) as source, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            made = zipfile.ZipInfo(entry.filename, date_time=DATE)
            made.compress_type = zipfile.ZIP_DEFLATED
            content = source.read(entry)
            target.writestr(made, _themed(content.decode(), theme) if entry.filename == theme_name else content)
    return fixed.getvalue()


def _themed(xml: str, theme: Theme) -> str:
    xml = re.sub(r'(<a:(?:major|minor)Font>\s*<a:latin typeface=")[^"]*', r"\1Inter", xml)
    palette = {
        "dk1": theme.fg, "lt1": theme.bg, "dk2": theme.fg2, "lt2": theme.card, "accent1": theme.accent,
        "accent2": theme.accent2, "accent3": theme.code_keyword, "accent4": theme.code_string,
        "accent5": theme.code_number, "accent6": theme.code_name, "hlink": theme.link, "folHlink": theme.link,
    }  # fmt: skip
    for name, colour in palette.items():
        xml = re.sub(
            rf"<a:{name}>.*?</a:{name}>",
            f'<a:{name}><a:srgbClr val="{colour[1:].upper()}"/></a:{name}>',
            xml,
            count=1,
            flags=re.DOTALL,
        )
    return xml
