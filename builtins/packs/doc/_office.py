"""Word, Excel and PowerPoint files to Markdown."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from packline import PackError, excerpt

from .._bounds import check_xml
from .._html import to_markdown
from .._markdown import tidy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pptx.slide import Slide

#: Rows of one sheet that are written out; a spreadsheet of data is not a text to read.
MAX_ROWS = 2_000
MAX_COLUMNS = 60


def read_docx(path: Path, called: str) -> tuple[str, str | None]:
    """Markdown and title of a Word document; pictures are left out.

    Raises:
        PackError: `invalid_input` when it is damaged, too large or too deep.
    """
    import mammoth  # type: ignore[import-untyped]

    _check_parts(path, called)
    with path.open("rb") as file:
        try:
            converted = mammoth.convert_to_html(
                file, convert_image=mammoth.images.img_element(lambda image: {"src": ""})
            )
        except RecursionError:
            raise
        except Exception as error:
            raise _damaged("Word document", error) from error
    return to_markdown(converted.value), _core_title(path)


def read_xlsx(path: Path) -> tuple[str, str | None, list[str]]:
    """A table for each sheet that has cells, under the sheet's name, with title and warnings.

    Raises:
        PackError: `invalid_input` when it is damaged or protected.
    """
    import python_calamine

    warnings: list[str] = []
    sections: list[str] = []
    try:
        workbook = python_calamine.load_workbook(str(path))
        for sheet in workbook.sheets_metadata:
            if sheet.typ != python_calamine.SheetTypeEnum.WorkSheet:
                continue
            rows = workbook.get_sheet_by_name(sheet.name).to_python(skip_empty_area=True)
            if rows:
                sections.append(f"## {_inline(sheet.name)}\n\n" + _sheet(rows, sheet.name, warnings))
    except python_calamine.PasswordError as error:
        raise PackError(
            "invalid_input", "The spreadsheet is protected with a password.", hint="Remove the password and try again."
        ) from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise _damaged("spreadsheet", error) from error
    return "\n\n".join(sections), _core_title(path), warnings


def _sheet(rows: Sequence[Sequence[object]], name: str, warnings: list[str]) -> str:
    width = max((i + 1 for row in rows for i, cell in enumerate(row) if cell not in ("", None)), default=0)
    shown = [row[: min(width, MAX_COLUMNS)] for row in rows[:MAX_ROWS]]
    if len(rows) > MAX_ROWS or width > MAX_COLUMNS:
        warnings.append(
            f"Sheet `{name}` has {len(rows)} rows and {width} columns; "
            f"the first {MAX_ROWS} rows and {MAX_COLUMNS} columns were read."
        )
    return _table([[_cell(value) for value in row] for row in shown])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    return _inline(str(value))


def read_pptx(path: Path, called: str) -> tuple[str, str | None, int]:
    """Markdown with a second-level heading for each slide, title, and number of slides; pictures are left out.

    Raises:
        PackError: `invalid_input` when it is damaged, too large or too deep, or the library is not installed.
    """
    try:
        import pptx
    except ImportError as error:
        raise PackError(
            "invalid_input",
            "PowerPoint files cannot be read here: the Python library `python-pptx` is not installed.",
            hint="Install it with `pip install 'packline[slides]'`, or save the slides as PDF.",
        ) from error

    _check_parts(path, called)
    try:
        slides = list(pptx.Presentation(str(path)).slides)
        sections = ["\n\n".join(_slide(number, slide)) for number, slide in enumerate(slides, start=1)]
        title = _core_title(path)
    except RecursionError:
        raise
    except Exception as error:
        raise _damaged("presentation", error) from error
    return "\n\n".join(sections), title, len(slides)


def _slide(number: int, slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    heading = _inline(title.text_frame.text) if title is not None else ""
    yield f"## {heading or f'Slide {number}'}"
    for shape in _reading_order(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False):
            yield _table([[_inline(cell.text) for cell in row.cells] for row in shape.table.rows])
        elif getattr(shape, "has_text_frame", False):
            paragraphs = [
                f"{'  ' * paragraph.level}- {text}"
                for paragraph in shape.text_frame.paragraphs
                if (text := _inline("".join(run.text for run in paragraph.runs)))
            ]
            if paragraphs:
                yield "\n".join(paragraphs)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
        text = " ".join(notes.text.split())
        if text:
            yield f"> Speaker notes: {text}"


def _reading_order(shapes: Iterable[Any]) -> list[Any]:
    """Shapes with those inside groups, from top to bottom and left to right."""
    flat: list[Any] = []
    for shape in shapes:
        flat += _reading_order(shape.shapes) if getattr(shape, "shape_type", None) == 6 else [shape]
    return sorted(flat, key=lambda shape: (shape.top or 0, shape.left or 0))


def _table(rows: Sequence[Sequence[str]]) -> str:
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return tidy("\n".join(lines))


def _inline(text: str) -> str:
    """Text on one line that cannot break a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _check_parts(path: Path, called: str) -> None:
    """Refuses an Office file with a part that is too large or too deep, see `check_xml`."""
    import zipfile
    import zlib

    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith((".xml", ".rels")):
                try:
                    with archive.open(entry) as part:
                        check_xml(part, called)
                except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, OSError):
                    continue  # damaged or encrypted: the parser names it when it opens the same part


def _core_title(path: Path) -> str | None:
    """`dc:title` of an Office file; None when there is none or the file has no such part."""
    import zipfile
    from xml.etree import ElementTree

    try:
        with zipfile.ZipFile(path) as archive:
            root = ElementTree.fromstring(archive.read("docProps/core.xml"))
    except (zipfile.BadZipFile, KeyError, OSError, ElementTree.ParseError):
        return None
    title = root.findtext("{http://purl.org/dc/elements/1.1/}title") or ""
    return " ".join(title.split())[:500] or None


def _damaged(what: str, error: Exception) -> PackError:
    return PackError(
        "invalid_input",
        f"The {what} is damaged: {excerpt(str(error), 300) or type(error).__name__}.",
        hint="Open it, save it again and retry.",
    )
