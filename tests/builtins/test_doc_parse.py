"""`doc.parse` on real files of every format it reads, over HTTP and from the artifact store."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError
from tests.support import office_files as make
from tests.support.loopback_http import LoopbackHttp, Reply, gzipped, loopback_http, slow_drip
from tests.support.pack_harness import SAMPLES, Harness, load_module, load_pack, run_in_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

parse = load_pack("doc/parse.py")
module = load_module("doc/parse.py")
pdf = load_module("doc/_pdf.py")

PAPER = (SAMPLES / "lighthouses.pdf").read_bytes()
ARTICLE = (SAMPLES / "fresnel-lens.html").read_bytes()


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


@pytest.fixture
async def site() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({}) as running:
        yield running


async def read(
    harness: Harness, content: bytes, name: str = "file", media_type: str = "", **more: Any
) -> dict[str, Any]:
    ref = harness.add_artifact(name, content, media_type)
    return await harness.call(parse, {"artifact": ref.artifact_id, **more})


def read_damaged_copies(folder: str, count: int) -> list[str]:
    """What became of copies of the paper with random bytes changed; in a child, since panics write to stderr."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    outcomes = []
    for seed in range(count):
        dice = random.Random(seed)
        damaged = bytearray(PAPER)
        for _ in range(dice.choice([5, 50, 500])):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path = Path(folder) / "damaged.pdf"
        path.write_bytes(damaged)
        try:
            pdf.read_pdf(path)
            outcomes.append("text")
        except PackError as error:
            outcomes.append(str(error.failure.code))
    return outcomes


async def refused(harness: Harness, content: bytes, name: str = "file", media_type: str = "") -> PackError:
    with pytest.raises(PackError) as caught:
        await read(harness, content, name, media_type)
    return caught.value


class TestPdf:
    async def test_keeps_headings_tables_and_lists_of_the_shipped_paper(self, harness: Harness) -> None:
        output = await read(harness, PAPER)

        markdown = output["markdown"]
        assert output["format"] == "pdf"
        assert output["pages"] == 5
        assert output["title"] == "Lights at Sea: A Short History and Engineering of Lighthouses"
        assert not output["needs_ocr"]
        assert markdown.startswith("# Lights at Sea\n")
        assert markdown.count("\n## ") == 11
        assert markdown.count("\n### ") == 2
        assert "| Smeaton | 1759 | Dovetailed granite and Portland stone |" in markdown
        assert "\n1. Each stone was cut to dovetail" in markdown
        assert "- **Argand lamp, about 1780.**" in markdown
        assert output["word_count"] == len(markdown.split()) > 1_800
        assert harness.warnings == []

    async def test_page_breaks_leave_no_trace(self, harness: Harness) -> None:
        markdown = (await read(harness, PAPER))["markdown"]

        assert "\n---\n" not in markdown
        assert "Its light out as a beam.\n\n- **Electric" not in markdown
        assert "its light out as a beam.\n- **Electric arc, 1858.**" in markdown

    async def test_runs_in_a_process_of_its_own_and_tells_how_far_it_is(self, harness: Harness) -> None:
        await read(harness, PAPER)

        assert harness.processes_started == ["convert"]
        assert harness.progress[-1] == (1.0, "PDF of 5 pages read")

    async def test_a_password_is_asked_for(self, harness: Harness) -> None:
        error = await refused(harness, make.protected_pdf(PAPER, password="secret"))

        assert error.failure.code == "invalid_input"
        assert error.failure.field == "artifact"
        assert error.failure.hint == "Remove the password and try again."

    async def test_restrictions_without_a_password_do_not_matter(self, harness: Harness) -> None:
        output = await read(harness, make.protected_pdf(PAPER, password=""))

        assert output["markdown"].startswith("# Lights at Sea\n")

    async def test_scanned_pages_need_ocr_and_are_not_a_failure(self, harness: Harness) -> None:
        output = await read(harness, make.scanned_pdf(pages=2))

        assert output["needs_ocr"]
        assert output["markdown"] == ""
        assert harness.warnings == [
            "Pages 1, 2 of 2 gave no text (blank, scanned or damaged); run OCR over the document first if that matters."
        ]

    async def test_a_single_scanned_page_is_told_and_the_rest_read(self, harness: Harness) -> None:
        typeset = make.typeset_pdf("= First\nSome text here.\n#pagebreak()\nMore text there.")

        output = await read(harness, make.merged_pdf(typeset, make.scanned_pdf()))

        assert output["pages"] == 3
        assert not output["needs_ocr"]
        assert "More text there." in output["markdown"]
        assert [warning[:14] for warning in harness.warnings] == ["Page 3 of 3 ga"]

    @pytest.mark.parametrize(
        "content", [b"%PDF-1.7\nnothing more", PAPER[:4000], b"%PDF-1.4\n" + bytes(range(256)) * 20]
    )
    async def test_damage_is_the_callers_to_fix(self, harness: Harness, content: bytes) -> None:
        error = await refused(harness, content)

        assert error.failure.code == "invalid_input"
        assert "damaged" in error.failure.message
        assert "print it to a new PDF" in (error.failure.hint or "")

    async def test_whatever_the_damage_the_answer_is_pages_or_a_clean_refusal(self, harness: Harness) -> None:
        """pdf_oxide 0.3.78 panics on several of these; a panic may cost a page, never the step."""
        outcomes = await run_in_process(read_damaged_copies, str(harness.folder), 25)

        assert len(outcomes) == 25
        assert set(outcomes) == {"text", "invalid_input"}

    def test_a_panic_is_recognised_by_name(self) -> None:
        class PanicException(BaseException):
            pass

        def panic() -> None:
            raise PanicException("start byte index 5 is not a char boundary")

        def stop() -> None:
            raise KeyboardInterrupt

        with pytest.raises(pdf._UnreadableError):
            pdf._guarded(panic)
        with pytest.raises(KeyboardInterrupt):
            pdf._guarded(stop)

    def test_sentences_cut_by_a_page_are_joined(self) -> None:
        joined = pdf.join_pages(
            ["# A\n\nThis goes\n\n1", "on here.\n\n## B", "joined the list in\n\n- 2021.\n\nNext  one."]
        )

        assert joined == "# A\n\nThis goes on here.\n\n## B\n\njoined the list in 2021.\n\nNext one."

    def test_lost_words_are_told(self) -> None:
        from collections import Counter

        expected = Counter({"alpha": 10, "beta": 10})

        warnings = pdf._warnings(1, [], [], expected, "alpha " * 10)

        assert warnings == ["Only 50% of the document's words are in the Markdown; check its layout."]


class TestOffice:
    async def test_word(self, harness: Harness) -> None:
        body = (
            make.paragraph("Annual report", style="Heading1")
            + make.paragraph("Sales grew.", bold=True)
            + make.word_table([["Year", "Sales"], ["2024", "10 | 12"]])
        )

        output = await read(harness, make.docx(body, title="Report 2024"), "report.pdf", "application/pdf")

        assert output["format"] == "docx"
        assert output["title"] == "Report 2024"
        assert output["pages"] is None
        assert "# Annual report\n\n**Sales grew.**" in output["markdown"]
        assert "| Year | Sales |\n| --- | --- |\n" in output["markdown"]

    async def test_spreadsheet(self, harness: Harness) -> None:
        sheets = {"Sales": [["Year", "Sales"], [2024, 10.5], [2025, "a|b"]], "Empty": []}

        output = await read(harness, make.xlsx(sheets))

        assert output["format"] == "xlsx"
        assert output["markdown"] == "## Sales\n\n| Year | Sales |\n| --- | --- |\n| 2024 | 10.5 |\n| 2025 | a\\|b |"

    async def test_a_long_sheet_is_cut_and_said_so(self, harness: Harness) -> None:
        output = await read(harness, make.xlsx({"Log": [["n"], *[[n] for n in range(2_500)]]}))

        assert output["markdown"].count("\n| ") == 2_001
        assert harness.warnings == [
            "Sheet `Log` has 2501 rows and 1 columns; the first 2000 rows and 60 columns were read."
        ]

    async def test_presentation(self, harness: Harness) -> None:
        deck = make.pptx([("Lights", ["Seen from afar", "Told apart"], "Say hello"), ("", ["Only text"], "")])

        output = await read(harness, deck)

        assert output["format"] == "pptx"
        assert output["pages"] == 2
        assert output["markdown"] == (
            "## Lights\n\n- Seen from afar\n- Told apart\n\n> Speaker notes: Say hello\n\n## Slide 2\n\n- Only text"
        )

    async def test_an_archive_that_unpacks_to_too_much_is_refused_unread(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(load_module("doc/_formats.py"), "MAX_UNPACKED_BYTES", 100_000)

        error = await refused(harness, make.zipped({"word/document.xml": b"0" * 200_000}))

        assert error.failure.code == "invalid_input"
        assert "unpacks to 200,000 bytes" in error.failure.message

    @pytest.mark.parametrize(
        "content",
        [
            make.zipped({"word/document.xml": "<broken"}),
            make.zipped({"xl/workbook.xml": "<broken"}),
            make.zipped({"ppt/presentation.xml": "<broken"}),
            make.docx("")[:400],
        ],
    )
    async def test_damage_is_the_callers_to_fix(self, harness: Harness, content: bytes) -> None:
        error = await refused(harness, content)

        assert error.failure.code == "invalid_input"
        assert "damaged" in error.failure.message

    async def test_a_protected_office_file_says_so(self, harness: Harness) -> None:
        container = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(500)

        error = await refused(harness, container, "plan.docx")

        assert error.failure.message == "`plan.docx` is protected with a password."


class TestText:
    async def test_html_is_read_from_top_to_bottom(self, harness: Harness) -> None:
        output = await read(harness, ARTICLE, "page")

        assert output["format"] == "html"
        assert output["title"] == "How a Fresnel lens works"
        assert "| Third | 500 mm |" in output["markdown"]
        assert "<" not in output["markdown"]

    @pytest.mark.parametrize(
        ("content", "name", "expected"),
        [
            (b"# Title\n\n- a\n- b\n", "x", "markdown"),
            (b"No marks at all.", "notes.md", "markdown"),
            (b"Just a line of text.", "x.txt", "text"),
            ("Größe".encode("utf-16"), "x", "text"),
            (b"<!DOCTYPE html><p>Hi</p>", "x.txt", "html"),
        ],
    )
    async def test_content_decides(self, harness: Harness, content: bytes, name: str, expected: str) -> None:
        assert (await read(harness, content, name))["format"] == expected

    async def test_other_charsets_are_understood(self, harness: Harness) -> None:
        latin = "<html><head><meta charset=iso-8859-15></head><body><p>10 € für Öl</p></body></html>"

        output = await read(harness, latin.encode("iso-8859-15"))

        assert output["markdown"] == "10 € für Öl"

    @pytest.mark.parametrize(
        "content", [b"\x89PNG\r\n\x1a\n" + bytes(100), bytes(5000), b"{\\rtf1 x}", b"PK\x03\x04zip"]
    )
    async def test_unknown_formats_are_refused_with_a_way_out(self, harness: Harness, content: bytes) -> None:
        error = await refused(harness, content)

        assert error.failure.code == "invalid_input"
        assert error.failure.hint

    @pytest.mark.parametrize("content", [b"", b"  \n ", b"<html><body></body></html>"])
    async def test_nothing_to_read_is_said(self, harness: Harness, content: bytes) -> None:
        assert (await refused(harness, content)).failure.code == "invalid_input"

    async def test_a_long_text_is_cut_and_kept_whole(self, harness: Harness) -> None:
        text = "\n\n".join(f"# Part {n}\n\n" + "word " * 40 for n in range(50))

        output = await read(harness, text.encode(), max_chars=2_000)

        assert output["truncated"]
        assert 1_500 < len(output["markdown"]) <= 2_000
        assert output["markdown"].endswith("word")
        full = output["full_markdown"]
        assert full["name"] == "Part 0.md"
        assert harness.read_artifact(full["artifact_id"]).decode().count("# Part") == 50
        assert len(harness.warnings) == 1


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>Lamp</title><path d="M0 0h9v9z"/><text>Words</text></svg>'


class TestPictures:
    @pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "text/xml", "text/plain", ""])
    @pytest.mark.parametrize(
        "before",
        [
            "",
            "\ufeff \n",
            '<?xml version="1.0"?>\n<!-- ' + "Drawn by hand. " * 1_000 + "-->",
            '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [<!-- it\'s --><!ENTITY a "]>">]>\n',
        ],
    )
    async def test_an_svg_is_refused_whatever_it_is_called(
        self, harness: Harness, media_type: str, before: str
    ) -> None:
        error = await refused(harness, (before + SVG).encode(), "lamp.md", media_type)

        assert error.failure.code == "invalid_input"
        assert error.failure.message == "`lamp.md` is a picture (SVG), not a text."
        assert error.failure.hint
        assert not error.failure.retryable

    @pytest.mark.parametrize(
        ("content", "kind"),
        [
            (SVG.replace("<svg", "<s:svg").replace("</svg", "</s:svg"), "SVG"),
            (SVG.replace("<text>Words</text>", "<foreignObject><html><p>Hi</p></html></foreignObject>"), "SVG"),
            ("%!PS-Adobe-3.0 EPSF-3.0\n0 0 moveto", "PostScript"),
            ("/* XPM */\nstatic char *a[] = {};", "XPM"),
            ("#define a_width 16\n#define a_height 7\nstatic char a[] = {};", "XBM"),
            ("P1\n# by hand\n2 2\n0 1 1 0\n", "PNM"),
        ],
    )
    async def test_pictures_written_as_text_are_refused(self, harness: Harness, content: str, kind: str) -> None:
        for charset in ("utf-8", "utf-16"):
            error = await refused(harness, content.encode(charset), "x.txt", "text/plain")
            assert error.failure.message == f"`x.txt` is a picture ({kind}), not a text."

    @pytest.mark.parametrize("content", ["P1 2024 15 items are open", "P3\n2 2\nroom 7, 2 people"])
    async def test_a_text_that_begins_like_a_picture_is_read(self, harness: Harness, content: str) -> None:
        assert content.split()[-1] in (await read(harness, content.encode()))["markdown"]

    async def test_a_document_type_full_of_comments_is_read_once(self, harness: Harness) -> None:
        content = "<!DOCTYPE x [" + "<!--" * 200_000
        assert (await read(harness, content.encode(), "x.txt", "text/plain"))["format"] == "text"

    async def test_what_is_declared_a_picture_is_one(self, harness: Harness) -> None:
        error = await refused(harness, b"# Title\n\n- a\n", "x", "image/x-unknown")

        assert error.failure.message == "`x` is a picture (image/x-unknown), not a text."

    async def test_drawings_in_a_page_leave_nothing_in_its_text(self, harness: Harness) -> None:
        page = (
            f"<html><body><h1>Lens {SVG}</h1>{SVG}<p>Before <a href='data:image/svg+xml,{SVG}'>link</a> "
            f"<img src='data:image/svg+xml,<path/>' alt='A lamp'> after {SVG}</p><ul><li>{SVG} item</li></ul></body>"
        )

        output = await read(harness, page.encode())

        assert output["title"] == "Lens"
        assert output["markdown"] == "# Lens\n\nBefore link *A lamp* after\n\n- item"

    async def test_a_text_about_svg_is_a_text(self, harness: Harness) -> None:
        output = await read(harness, b"# How to draw\n\n```xml\n<svg><path d='M0'/></svg>\n```\n", "x.md")

        assert "<svg>" in output["markdown"]

    async def test_a_page_in_another_encoding_is_a_page(self, harness: Harness) -> None:
        assert (await read(harness, "<html><p>Hi</p></html>".encode("utf-16")))["markdown"] == "Hi"


def nested(element: str, times: int, *, closed: bool = True) -> bytes:
    """A page with elements such as `ul><li` within each other."""
    ends = "".join(f"</{name}>" for name in reversed(element.replace("<", "").split(">")))
    return f"<html><body>{f'<{element}>' * times}x{ends * times if closed else ''}</body></html>".encode()


def _spin(*_: object) -> None:
    while True:
        pass


def _hoard(*_: object) -> None:
    kept = []
    while True:
        kept.append(bytes(1 << 20))


class TestLimits:
    async def test_a_pdf_of_too_many_pages_is_refused_before_any_is_read(self, harness: Harness) -> None:
        error = await refused(harness, make.long_pdf(PAPER, pages=1501), "all.pdf")

        assert error.failure.code == "invalid_input"
        assert error.failure.message == "`all.pdf` has 1,501 pages; at most 1,500 are read."
        assert error.failure.hint == "Split the document into parts of up to 1,500 pages."
        assert error.failure.field == "artifact"
        assert not error.failure.retryable

    async def test_a_pdf_of_many_pages_is_read(self, harness: Harness) -> None:
        assert (await read(harness, make.long_pdf(PAPER, pages=300)))["pages"] == 300

    @pytest.mark.parametrize("element", ["div", "b", "b id=x", "table><tr><td", "ul><li", "blockquote", "made-up"])
    @pytest.mark.parametrize("closed", [True, False])
    async def test_a_page_nested_too_deeply_is_refused_before_it_is_parsed(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch, element: str, closed: bool
    ) -> None:
        monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", None)

        error = await refused(harness, nested(element, 100_000, closed=closed), "deep.html")

        assert error.failure.code == "invalid_input"
        assert error.failure.message.startswith("`deep.html` has more than 2,000 elements open within each other")
        assert error.failure.hint
        assert not error.failure.retryable

    async def test_marks_that_multiply_are_refused_before_they_do(self, harness: Harness) -> None:
        page = "<html>" + "".join(f"<b id={number}><p>" for number in range(20_000))

        assert "2,000 elements open" in (await refused(harness, page.encode())).failure.message

    @pytest.mark.parametrize("element", ["div", "b", "blockquote", "ul><li"])
    async def test_a_page_the_converter_is_too_shallow_for_is_refused(self, harness: Harness, element: str) -> None:
        error = await refused(harness, nested(element, 1_000), "deep.html")

        assert error.failure.code == "invalid_input"
        assert error.failure.message.startswith("`deep.html` holds too many elements within each other")

    @pytest.mark.parametrize("element", ["div", "b", "blockquote"])
    async def test_a_page_nested_200_deep_is_read(self, harness: Harness, element: str) -> None:
        assert "x" in (await read(harness, nested(element, 200)))["markdown"]

    async def test_a_page_of_too_many_elements_is_refused_before_it_is_parsed(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", None)

        error = await refused(harness, b"<html>" + b"<br>" * 300_000, "wide.html")

        assert error.failure.message == "`wide.html` has more than 250,000 elements, the limit for a page of HTML."

    async def test_a_large_page_that_leaves_end_tags_out_is_read(self, harness: Harness) -> None:
        rows = "<table>" + "<tr><td>one<td>two" * 1_500 + "</table>" + "<ul>" + "<li>item<p><a name=x>text" * 3_000

        assert (await read(harness, f"<html><body>{rows}".encode()))["markdown"].count("item") == 3_000

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("<w:p/>" * 400_001, "`x.docx` has more than 250,000 elements in one part, the limit."),
            ("<w:tbl><w:tr><w:tc>" * 100_000, "`x.docx` nests its content more than 200 elements deep."),
        ],
    )
    async def test_a_word_document_too_large_or_too_deep_is_refused_before_it_is_parsed(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch, body: str, message: str
    ) -> None:
        monkeypatch.setattr("mammoth.convert_to_html", None)

        error = await refused(harness, make.docx(body), "x.docx")

        assert (error.failure.code, error.failure.message) == ("invalid_input", message)
        assert error.failure.hint

    async def test_tables_in_tables_of_a_word_document_are_not_damage(self, harness: Harness) -> None:
        inner = make.paragraph("Deep")
        deep = "<w:tbl><w:tr><w:tc>" * 60 + inner + f"{inner}</w:tc></w:tr></w:tbl>" * 60

        error = await refused(harness, make.docx(deep), "x.docx")

        assert error.failure.message.startswith("`x.docx` holds too many elements within each other")

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux enforces the limits")
    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (_spin, "`x.txt` was not read within 1 seconds of processor time."),
            (_hoard, "`x.txt` could not be read: its reader ran out of the 448 MiB it has, or broke over it."),
        ],
    )
    async def test_what_passes_all_checks_meets_the_limits_of_the_process(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Callable[..., None], message: str
    ) -> None:
        convert = load_module("doc/_convert.py")
        monkeypatch.setattr(convert, "CPU_SECONDS", 1)
        monkeypatch.setattr(module, "CPU_SECONDS", 1)
        monkeypatch.setattr(convert, "detect", function)

        error = await refused(Harness(tmp_path), b"text", "x.txt")

        assert (error.failure.code, error.failure.message) == ("resource_exhausted", message)
        assert error.failure.field == "artifact"
        assert not error.failure.retryable


class TestAddresses:
    async def test_reads_what_an_address_serves_whatever_it_is_called(
        self, harness: Harness, site: LoopbackHttp
    ) -> None:
        site.routes["/start"] = Reply(status=302, headers={"location": "/papers/download"})
        site.routes["/papers/download"] = Reply(PAPER, headers={"content-type": "text/html"})

        output = await harness.call(parse, {"source_url": site.url("/start") + "#page=2"})

        assert output["format"] == "pdf"
        assert output["source_url"] == site.url("/papers/download")

    async def test_the_declared_charset_counts(self, harness: Harness, site: LoopbackHttp) -> None:
        body = "<p>Привет, мир</p>".encode("koi8-r")
        site.routes["/"] = Reply(b"<html>" + body, headers={"content-type": "text/html; charset=koi8-r"})

        assert (await harness.call(parse, {"source_url": site.url()}))["markdown"] == "Привет, мир"

    @pytest.mark.parametrize(
        ("status", "code"), [(404, "not_found"), (403, "credential_invalid"), (503, "upstream_unavailable")]
    )
    async def test_errors_blame_the_right_side(
        self, harness: Harness, site: LoopbackHttp, status: int, code: str
    ) -> None:
        site.routes["/"] = Reply(status=status)

        with pytest.raises(PackError) as caught:
            await harness.call(parse, {"source_url": site.url()})

        assert caught.value.failure.code == code
        assert caught.value.failure.field == "source_url"

    async def test_a_body_that_unpacks_to_too_much_is_cut_off(
        self, harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MAX_DOWNLOAD_BYTES", 1_000_000)
        site.routes["/"] = gzipped(b"0" * 3_000_000)

        with pytest.raises(PackError) as caught:
            await harness.call(parse, {"source_url": site.url()})

        assert caught.value.failure.code == "resource_exhausted"

    async def test_a_trickle_ends_at_the_total_time(
        self, harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "DOWNLOAD_SECONDS", 0.3)
        site.routes["/"] = slow_drip

        async with asyncio.timeout(60):
            with pytest.raises(PackError) as caught:
                await harness.call(parse, {"source_url": site.url()})

        assert caught.value.failure.code == "timeout"

    async def test_a_page_built_to_be_slow_is_not_tried_again(
        self, harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "PARSE_SECONDS", 0.3)
        site.routes["/"] = Reply(b"<p>A <b>bold</b> word.</p>" * 100_000, headers={"content-type": "text/html"})

        with pytest.raises(PackError) as caught:
            await harness.call(parse, {"source_url": site.url()})

        assert caught.value.failure.code == "resource_exhausted"
        assert "0.3 seconds" in caught.value.failure.message
        assert not caught.value.failure.retryable

    async def test_private_addresses_are_refused(self, harness: Harness, site: LoopbackHttp) -> None:
        harness.allow = ""

        with pytest.raises(PackError) as caught:
            await harness.call(parse, {"source_url": site.url()})

        assert caught.value.failure.code == "policy_denied"
        assert site.requests == []

    @pytest.mark.parametrize(
        "url", ["ftp://example.org/a", "file:///etc/passwd", "report.pdf", "http://u:p@x/", "http://["]
    )
    async def test_what_is_not_a_web_address_is_refused(self, harness: Harness, url: str) -> None:
        with pytest.raises(PackError) as caught:
            await harness.call(parse, {"source_url": url})

        assert caught.value.failure.code == "invalid_input"
        assert caught.value.failure.field == "source_url"


@pytest.mark.parametrize("input", [{}, {"artifact": "art_1", "source_url": "https://example.org"}, {"path": "/etc"}])
async def test_exactly_one_source(harness: Harness, input: dict[str, Any]) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(parse, input)

    assert caught.value.failure.code == "invalid_input"


async def test_an_artifact_that_is_gone(harness: Harness) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(parse, {"artifact": "art_gone"})

    assert caught.value.failure.code == "artifact_failed"


def _abort(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def test_a_document_that_kills_its_reader_is_told_as_the_documents_fault(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module("doc/parse.py"), "convert", _abort)
    file = harness.add_artifact("bomb.pdf", b"%PDF-1.4", "application/pdf")
    with pytest.raises(PackError, match=r"`bomb\.pdf` could not be read") as caught:
        await harness.call(parse, {"artifact": file.artifact_id})
    assert (caught.value.failure.code, caught.value.failure.field) == ("resource_exhausted", "artifact")
