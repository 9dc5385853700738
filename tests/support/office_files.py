"""Small real documents for tests: built from their parts, so that they say exactly what a test needs."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def zipped(parts: dict[str, str | bytes]) -> bytes:
    """An archive with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def docx(body: str, *, title: str = "") -> bytes:
    """A Word document; `body` is WordprocessingML, see `paragraph` and `word_table`."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2)
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{_RELATIONSHIPS}">'
            f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELATIONSHIPS}">'
            f'<Relationship Id="s1" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
            "docProps/core.xml": _core(title),
        }
    )


def paragraph(text: str, *, style: str | None = None, bold: bool = False) -> str:
    """A Word paragraph."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    run = f"<w:rPr>{'<w:b/>' if bold else ''}</w:rPr><w:t>{escape(text)}</w:t>"
    return f"<w:p>{properties}<w:r>{run}</w:r></w:p>"


def word_table(rows: Sequence[Sequence[str]]) -> str:
    """A Word table."""
    cells = "".join("<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
    return f"<w:tbl>{cells}</w:tbl>"


def xlsx(sheets: dict[str, Sequence[Sequence[str | float]]]) -> bytes:
    """A spreadsheet: sheet name to rows."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONSHIPS}">'
        f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    }
    entries = links = ""
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        entries += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"/>'
        links += f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        parts[f"xl/worksheets/sheet{number}.xml"] = _worksheet(rows)
    parts["xl/workbook.xml"] = f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>{entries}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{_RELATIONSHIPS}">{links}</Relationships>'
    return zipped(parts)


def _worksheet(rows: Sequence[Sequence[str | float]]) -> str:
    written = ""
    for number, row in enumerate(rows, start=1):
        cells = ""
        for column, value in enumerate(row):
            at = f"{chr(ord('A') + column)}{number}"
            if isinstance(value, str):
                cells += f'<c r="{at}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
            else:
                cells += f'<c r="{at}"><v>{value}</v></c>'
        written += f'<row r="{number}">{cells}</row>'
    return f'<worksheet xmlns="{_SHEET}"><sheetData>{written}</sheetData></worksheet>'


def _core(title: str) -> str:
    return (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></cp:coreProperties>'
    )


def pptx(slides: Sequence[tuple[str, Sequence[str], str]]) -> bytes:
    """A presentation: title, bullets and speaker notes of each slide."""
    from pptx import Presentation

    presentation = Presentation()
    for title, bullets, notes in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(bullets)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def scanned_pdf(pages: int = 1) -> bytes:
    """A PDF whose pages are pictures."""
    from PIL import Image

    images = [Image.new("L", (200, 280), 255) for _ in range(pages)]
    buffer = io.BytesIO()
    images[0].save(buffer, "PDF", save_all=True, append_images=images[1:])
    return buffer.getvalue()


_TYPESET = """
import sys, typst
source = sys.stdin.buffer.read()
sys.stdout.buffer.write(bytes(typst.compile(source, font_paths=typst.Fonts(include_system_fonts=False))))
"""


def typeset_pdf(source: str) -> bytes:
    """A PDF from Typst source.

    Made in a process of its own: one that has used typst must not be forked, and the pack harness forks.
    """
    made = subprocess.run([sys.executable, "-c", _TYPESET], input=source.encode(), capture_output=True, check=True)
    return made.stdout


def merged_pdf(*documents: bytes) -> bytes:
    """One PDF out of several."""
    import pdf_oxide

    first = pdf_oxide.PdfDocument.from_bytes(documents[0])
    for document in documents[1:]:
        first.merge_from(document)
    return bytes(first.to_bytes())


def long_pdf(document: bytes, *, pages: int) -> bytes:
    """A PDF of so many pages: those of another, over and over."""
    import pikepdf

    made = io.BytesIO()
    with pikepdf.open(io.BytesIO(document)) as source, pikepdf.new() as long:
        for number in range(pages):
            long.pages.append(source.pages[number % len(source.pages)])
        long.save(made)
    return made.getvalue()


def protected_pdf(document: bytes, *, password: str) -> bytes:
    """The same PDF, encrypted; an empty password only restricts what may be done with it."""
    import pdf_oxide

    return bytes(pdf_oxide.PdfDocument.from_bytes(document).to_bytes_encrypted(password, "owner"))
