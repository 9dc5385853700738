"""`slides.render` in all formats and themes, on full, empty, hostile and multilingual slides."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packline import Missing, PackError
from tests.support.pack_harness import Harness, load_module, load_pack, run_in_process

render = load_pack("slides/render.py")
module = load_module("slides/render.py")
deck = load_module("slides/_deck.py")
fit = load_module("slides/_fit.py")
glyphs = load_module("slides/_glyphs.py")
markdown = load_module("slides/_markdown.py")
themes = load_module("slides/_themes.py")
typeset = load_module("slides/_typeset.py")

HERE = Path(module.__file__ or "").parent
needs_pdf = pytest.mark.skipif(importlib.util.find_spec("typst") is None, reason="the `slides` extra is not installed")

TALK = """---
title: Lights at sea
author: Ada Example
---
<!-- layout: title -->
# Lights at sea

A short history

Ada Example

---

## Agenda

1. Fires
2. Lenses
3. Numbers

---

## Fires

- Sailors steered by **fires** on *hills*
- See [the list](https://example.org/list) and `Fl(2) W 10s`
  - nested point

<!-- notes: Say it slowly. -->

---

## Numbers

| Order | Focal length |
|---|---:|
| First | 920 |
| Second | 700 |

---

## Code

```python
print("hello")
```

---

> The sea does not send a bill.
>
> — A miller

---

## Key takeaways

- One
- Two
"""
HOSTILE = (
    '#read("/etc/passwd") #import "@preview/cetz:0.3.0" $x^2$ #while true {} @label \\u{41} '
    "<script>alert(1)</script> <img src=x onerror=alert(1)>"
)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


async def content(harness: Harness, output: dict[str, Any]) -> bytes:
    return harness.read_artifact(output["artifact"]["artifact_id"])


def pdf_text(data: bytes) -> str:
    pdf_oxide = pytest.importorskip("pdf_oxide")
    document = pdf_oxide.PdfDocument.from_bytes(data)
    return "\n".join(document.extract_text(page) for page in range(document.page_count()))


# ---- every format


@needs_pdf
@pytest.mark.parametrize("theme", ["light", "dark", "corporate", "warm"])
async def test_a_pdf_has_a_page_for_each_slide_in_every_theme(harness: Harness, theme: str) -> None:
    output = await harness.call(render, {"markdown": TALK, "theme": theme})
    data = await content(harness, output)
    assert data.startswith(b"%PDF-")
    assert output["pages"] == 7 == typeset.count_pages(data)
    assert output["theme"] == theme
    assert output["artifact"]["name"] == "lights-at-sea.pdf"
    assert output["artifact"]["media_type"] == "application/pdf"
    assert output["warnings"] == harness.warnings == []


@needs_pdf
async def test_a_pdf_carries_properties_bookmarks_tags_and_text(harness: Harness) -> None:
    data = await content(harness, await harness.call(render, {"markdown": TALK}))
    assert b"/Outlines" in data
    assert b"/StructTreeRoot" in data
    assert b"Ada Example" in data
    assert b'<rdf:li xml:lang="x-default">Lights at sea</rdf:li>' in data
    assert b"/URI" in data
    assert b"example.org/list" in data
    text = pdf_text(data)
    for words in ("Sailors steered by", "Focal length", "920", "print", "The sea does not send a bill", "A miller"):
        assert words in text
    assert "Say it slowly" not in text


@needs_pdf
async def test_the_same_deck_gives_the_same_bytes(harness: Harness) -> None:
    for wanted in ("pdf", "pptx", "html"):
        first = await harness.call(render, {"markdown": TALK, "format": wanted})
        second = await harness.call(render, {"markdown": TALK, "format": wanted})
        assert first["artifact"]["digest"] == second["artifact"]["digest"], wanted


@needs_pdf
async def test_a_powerpoint_file_is_native(harness: Harness) -> None:
    pptx = pytest.importorskip("pptx")
    output = await harness.call(render, {"markdown": TALK, "format": "pptx", "theme": "dark"})
    data = await content(harness, output)
    assert zipfile.is_zipfile(io.BytesIO(data))
    shown = pptx.Presentation(io.BytesIO(data))
    assert shown.core_properties.title == "Lights at sea"
    assert shown.core_properties.author == "Ada Example"
    titles = [slide.shapes.title.text_frame.text if slide.shapes.title else None for slide in shown.slides]
    assert titles == ["Lights at sea", "Agenda", "Fires", "Numbers", "Code", None, "Key takeaways"]
    assert output["pages"] == len(titles)
    assert shown.slides[2].notes_slide.notes_text_frame.text == "Say it slowly."
    (table,) = [shape.table for shape in shown.slides[3].shapes if shape.has_table]
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Order", "Focal length"],
        ["First", "920"],
        ["Second", "700"],
    ]
    links = [
        run.hyperlink.address
        for shape in shown.slides[2].shapes
        if shape.has_text_frame
        for paragraph in shape.text_frame.paragraphs
        for run in paragraph.runs
    ]
    assert "https://example.org/list" in links


@needs_pdf
async def test_nothing_but_ornaments_reaches_over_a_powerpoint_slide(harness: Harness) -> None:
    pptx = pytest.importorskip("pptx")
    bullets = "\n".join(f"- Point {n} about the lights of the northern coast and what became of them" for n in range(9))
    rows = "\n".join(
        f"| {n} | some longer words that wrap in their cell for sure, twice over | {n * n} |" for n in range(12)
    )
    source = f"{TALK}\n---\n\n## Full\n\n{bullets}\n\n---\n\n## Rows\n\n| a | b | c |\n|---|---|---|\n{rows}\n"
    output = await harness.call(render, {"markdown": source, "format": "pptx"})
    shown = pptx.Presentation(io.BytesIO(await content(harness, output)))
    for slide in shown.slides:
        for shape in slide.shapes:
            if shape.has_table or (shape.has_text_frame and shape.text_frame.text):
                assert shape.left >= 0
                assert shape.top >= 0
                assert shape.left + shape.width <= shown.slide_width
                assert shape.top + shape.height <= shown.slide_height


async def test_html_is_one_file_that_runs_nothing_of_its_authors(harness: Harness) -> None:
    links = "[x](javascript:alert(1)) [y](data:text/html,hi)"
    source = f"{TALK}\n---\n\n## Bad\n\n- {HOSTILE}\n- {links}\n\n```\n</script><script>\n```"
    output = await harness.call(render, {"markdown": source, "format": "html"})
    page = (await content(harness, output)).decode()
    assert output["pages"] == page.count('<section class="slide') == 8
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.S)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    for kind, text in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    body = page.split("<body>")[1].replace(f"<script>{script}</script>", "")
    assert not re.search(
        r"<(?:script|img|iframe|object|link|style)\b|\son\w+=|style=|javascript:|data:text", _tags_of(body)
    )
    assert not re.search(r"url\(|@import|https?://", style)
    assert "Say it slowly." in page
    assert "ArrowRight" in script
    assert "@media print" in style


def _tags_of(body: str) -> str:
    return " ".join(re.findall(r"<[^>]*>", body))


async def test_html_needs_no_extra(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "python_module", _nothing_installed)
    output = await harness.call(render, {"markdown": TALK, "format": "html"})
    assert output["pages"] == 7
    assert render.services == ()


@pytest.mark.parametrize("wanted", ["pdf", "pptx"])
async def test_without_the_extra_other_formats_say_what_to_install(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    monkeypatch.setattr(module, "python_module", _nothing_installed)
    with pytest.raises(PackError) as caught:
        await harness.call(render, {"markdown": TALK, "format": wanted})
    failure = caught.value.failure
    assert (failure.code, failure.field) == ("invalid_input", "format")
    assert "packline[slides]" in (failure.hint or "")
    assert "html" in (failure.hint or "")
    assert harness.artifacts == {}


def _nothing_installed(name: str, *, extra: str) -> Any:
    class Absent:
        def probe(self) -> Missing:
            return Missing(f"The Python library `{name}` is not installed.", f"pip install 'packline[{extra}]'.")

    return Absent()


# ---- what does not fit


@needs_pdf
async def test_a_full_slide_is_split_and_nothing_is_lost(harness: Harness) -> None:
    bullets = "\n".join(f"- Bullet number {n} tells of the lights of the northern coast" for n in range(40))
    output = await harness.call(render, {"markdown": f"## Many\n\n{bullets}\n\n---\n\n## Next\n\nShort."})
    assert output["pages"] >= 4
    text = pdf_text(await content(harness, output))
    for n in range(40):
        assert f"Bullet number {n} " in text
    assert "Many (1/" in text
    assert any("Many" in warning for warning in output["warnings"])


@needs_pdf
@pytest.mark.parametrize(
    "body",
    [
        "\n".join(f"line_{n} = {n}" for n in range(120)).join(("```python\n", "\n```")),
        "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | {'words ' * 12} |" for n in range(40)),
        "A sentence that is repeated to fill the page and more. " * 120,
        "x" * 3000,
        "| a | b |\n|---|---|\n| one | " + "An endless cell of a table. " * 150 + "|",
        "- " + "A single bullet without an end. " * 100,
        "> " + "A quotation without an end. " * 100,
        "```\n" + "y" * 2000 + "\n```",
        "| "
        + " | ".join(f"column{n}" for n in range(18))
        + " |\n|"
        + "---|" * 18
        + "\n| "
        + " | ".join(["value"] * 18)
        + " |",
    ],
    ids=["code", "rows", "prose", "word", "cell", "bullet", "quote", "long line", "columns"],
)
async def test_whatever_the_content_no_slide_runs_over(body: str) -> None:
    pages, slides, shares = await run_in_process(typeset_alone, f"# T\n\nintro\n\n---\n\n## Big\n\n{body}")
    assert pages == slides >= 2
    assert max(shares) <= 1.001


def typeset_alone(source: str) -> tuple[int, int, list[float]]:
    """Pages, slides, and for each slide the share of its room it takes as it was set.

    Runs in a process of its own: a process that has used the compiler must not be forked any more.
    """
    setter = typeset.Typesetter("light")
    made = setter.typeset(markdown.read_deck(source), "pdf")
    data = typeset.deck_json(made.deck, "light", ["Inter"], ["JetBrains Mono"])
    for slide, entry in zip(made.deck.slides, data["slides"], strict=True):
        if slide.layout in ("content", "closing"):  # at exactly the size that was chosen
            entry["sizes"] = [(slide.scale, air) for size, air in typeset.SIZES if size == slide.scale][-1:] or [
                (slide.scale, typeset.SIZES[-1][1])
            ]
    return typeset.count_pages(made.content[0]), len(made.deck.slides), [need for _, need in setter._fits(data)]


@needs_pdf
async def test_a_single_piece_too_large_to_split_is_named(harness: Harness) -> None:
    cell = "An endless cell of a table, which nobody should write. " * 60
    output = await harness.call(render, {"markdown": f"# T\n\n---\n\n## Big\n\n| a | b |\n|---|---|\n| one | {cell} |"})
    assert any("Big" in warning and "too large to split" in warning for warning in output["warnings"])


def test_a_split_leaves_no_heading_or_lead_in_behind() -> None:
    source = markdown.read_deck(
        "## T\n\n" + "\n\n".join(f"### Head {n}\n\nThese three count:\n\n- a{n}\n- b{n}\n- c{n}" for n in range(8))
    )
    (slide,) = source.slides
    for parts in range(2, 9):
        for piece in fit.split_slide(slide, parts):
            last = piece.blocks[-1]
            assert not isinstance(last, deck.Subheading)
            assert not (isinstance(last, deck.Paragraph) and deck.plain(last.runs).endswith(":"))


def test_numbered_lists_and_table_heads_go_on_after_a_split() -> None:
    numbered = markdown.read_deck("## T\n\n" + "\n".join(f"{n}. step {n}" for n in range(1, 31))).slides[0]
    first, second = fit.split_slide(numbered, 2)
    assert second.blocks[0].start == 1 + len(first.blocks[0].items)
    table = markdown.read_deck("## T\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20).slides[0]
    assert {deck.plain(piece.blocks[0].head[0]) for piece in fit.split_slide(table, 3)} == {"a"}


# ---- what goes in


@needs_pdf
async def test_hostile_text_is_shown_and_never_run(harness: Harness) -> None:
    output = await harness.call(
        render,
        {
            "markdown": f"# {HOSTILE}\n\n---\n\n## {HOSTILE}\n\n- {HOSTILE}\n\n```typ\n{HOSTILE}\n```\n\n> {HOSTILE}",
            "title": HOSTILE,
            "author": HOSTILE,
            "footer": HOSTILE,
        },
    )
    text = pdf_text(await content(harness, output)).replace("\u200b", "")
    assert '#read("/etc/passwd")' in text
    assert "root:" not in text
    assert output["pages"] >= 2


@pytest.mark.parametrize("text", ["", " \n\t", "---\n\n---", "<!-- notes: only notes -->", "![only](picture.png)"])
async def test_nothing_to_show_is_refused(harness: Harness, text: str) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(render, {"markdown": text, "format": "html"})
    failure = caught.value.failure
    assert (failure.code, failure.field) == ("invalid_input", "markdown")
    assert failure.hint


async def test_too_many_slides_are_refused(harness: Harness) -> None:
    with pytest.raises(PackError, match="201 slides; at most 200"):
        await harness.call(render, {"markdown": "\n\n---\n\n".join(["# A"] * 201), "format": "html"})


@pytest.mark.parametrize("wanted", ["pdf", "html"])
async def test_a_table_of_thousands_of_rows_is_refused_before_it_is_typeset(harness: Harness, wanted: str) -> None:
    if wanted == "pdf":
        pytest.importorskip("typst")
    source = "## T\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 6_000
    with pytest.raises(PackError, match="more than 300 pages") as caught:
        await harness.call(render, {"markdown": source, "format": wanted})
    assert caught.value.failure.field == "markdown"


@pytest.mark.parametrize("change", [{"format": "docx"}, {"theme": "neon"}, {"colour": "red"}])
async def test_input_outside_the_contract_is_refused(harness: Harness, change: dict[str, Any]) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(render, {"markdown": TALK, **change})
    assert caught.value.failure.code == "invalid_input"


async def test_pictures_are_left_out_with_a_warning(harness: Harness) -> None:
    output = await harness.call(
        render, {"markdown": "# A\n\nText ![x](https://example.org/x.png)\n\n---\n\n## B\n\nMore", "format": "html"}
    )
    assert any("1 picture was left out" in warning for warning in output["warnings"])
    assert b"x.png" not in await content(harness, output)


def test_breaks_need_no_empty_line_and_code_and_comments_keep_theirs() -> None:
    read = markdown.read_deck(
        "# One\ntext\n---\n## Two\n\n```yaml\n---\na: 1\n---\n```\n\n<!--\n---\nlong note\n-->\n---\n## Three\n\nend"
    )
    assert [deck.plain(slide.title) for slide in read.slides] == ["One", "Two", "Three"]
    assert read.slides[1].blocks[0].text == "---\na: 1\n---"
    assert "long note" in read.slides[1].notes


def test_without_breaks_headings_start_slides() -> None:
    read = markdown.read_deck("# One\n\na\n\n## Two\n\nb\n\n### Deeper\n\nc")
    assert [deck.plain(slide.title) for slide in read.slides] == ["One", "Two"]
    assert any("no `---` lines" in warning for warning in read.warnings)


def test_a_marp_deck_reads_as_it_should() -> None:
    read = markdown.read_deck(
        "---\nmarp: true\ntheme: gaia\npaginate: true\ntitle: Talk\n---\n\n<!-- _class: lead -->\n# Talk\n\nHello"
        "\n\n---\n\n<!-- _backgroundColor: black -->\n# Slide\n\n- a\n\n<!-- Presenter note -->"
    )
    assert read.title == "Talk"
    assert [slide.layout for slide in read.slides] == ["section", "content"]
    assert read.slides[1].notes == "Presenter note"


@pytest.mark.parametrize(
    ("source", "layout"),
    [
        ("# T\n\nSub\n\n---\n\n## End\n\nx", "title"),
        ("# Alone\n\n- a", "content"),
        ("x\n\n---\n\n# Part two\n\n---\n\nx", "section"),
        ("x\n\n---\n\n## Agenda\n\n- a\n- b\n\n---\n\nx", "agenda"),
        ("x\n\n---\n\n> Words\n\n---\n\nx", "quote"),
        ("x\n\n---\n\ny\n\n---\n\n## Summary\n\n- a", "closing"),
        ("x\n\n---\n\n<!-- layout: quote -->\n## Not a quote\n\n- a\n\n---\n\nx", "content"),
    ],
)
def test_layouts_follow_the_content(source: str, layout: str) -> None:
    assert layout in [slide.layout for slide in markdown.read_deck(source).slides]


def test_short_statements_become_cards_and_narrow_pieces_stand_side_by_side() -> None:
    cards = (
        "## T\n\n- **Fast**: one commit for each step\n- **Small**: a laptop is enough\n- **Open**: the code is yours"
    )
    (slide,) = markdown.read_deck(cards).slides
    assert isinstance(slide.blocks[0], deck.Cards)
    (slide,) = markdown.read_deck("## T\n\n- a\n- b\n\n```py\nx = 1\ny = 2\nz = 3\n```").slides
    assert len(slide.columns) == 2
    (slide,) = markdown.read_deck("## T\n\n### Before\n\n- a\n- b\n\n### After\n\n- c\n- d").slides
    assert len(slide.columns) == 2
    (slide,) = markdown.read_deck("## T\n\n" + "\n".join(f"- item {n}" for n in range(10))).slides
    assert [len(column[0].items) for column in slide.columns] == [5, 5]


def test_figures_are_set_right_and_years_are_not() -> None:
    (slide,) = markdown.read_deck(
        "## T\n\n| a | b | c |\n|---|---|---|\n| 1999 | 3.5 % | x |\n| 2001 | 1,200 | y |"
    ).slides
    assert slide.blocks[0].aligns == ("left", "right", "left")


# ---- fonts and colours


@pytest.fixture
def only_shipped_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    typst = pytest.importorskip("typst")

    class OnlyShipped:
        def __new__(cls, **arguments: Any) -> Any:
            return real(**{**arguments, "include_system_fonts": False})

    real = typst.Fonts
    monkeypatch.setattr(typst, "Fonts", OnlyShipped)


@needs_pdf
@pytest.mark.usefixtures("only_shipped_fonts")
async def test_the_worlds_scripts_can_be_read_without_any_font_installed(harness: Harness) -> None:
    words = "日本語 中文 한국어 العربية עברית हिन्दी ไทย Ελλάδα Привет 🚀 😀 ✓ → ✅"
    output = await harness.call(render, {"markdown": f"# {words}\n\n---\n\n## Ü\n\nfine"})
    assert output["warnings"] == []


@needs_pdf
@pytest.mark.usefixtures("only_shipped_fonts")
async def test_scripts_no_font_has_are_named(harness: Harness) -> None:
    output = await harness.call(render, {"markdown": "# ᠠ 日本語 🚀\n\n---\n\n## Ü\n\nfine"})
    (warning,) = output["warnings"]
    for words in ("Mongolian", "fonts-noto-core"):
        assert words in warning
    for words in ("Chinese", "emoji", "\u2192"):
        assert words not in warning


def test_fonts_ship_with_their_licence() -> None:
    fonts = HERE / "fonts"
    files = sorted(path.name for path in fonts.iterdir())
    assert "OFL.txt" in files
    licence = (fonts / "OFL.txt").read_text()
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "The Inter Project Authors" in licence
    assert "The JetBrains Mono Project Authors" in licence
    assert "Noto Project Authors" in licence
    assert "Droid Sans Fallback" in (HERE.parents[2] / "NOTICE").read_text()
    assert sum(path.stat().st_size for path in fonts.iterdir()) <= 8_000_000
    shown = {
        "Inter": "Aé",
        "JetBrainsMono": "Aé",
        "DroidSansFallback": "日中한あ",
        "NotoEmoji": "🚀",
        "NotoSansArabic": "ع",
    }
    for family, characters in shown.items():
        for path in fonts.glob(f"{family}*"):
            codes = glyphs.character_codes(path)
            assert all(glyphs._has(codes, ord(character)) for character in characters), path.name


def test_a_file_that_is_no_font_has_no_characters(tmp_path: Path) -> None:
    (tmp_path / "x.ttf").write_bytes(b"\x00\x01\x00\x00\x00\x02short")
    assert glyphs.character_codes(tmp_path / "x.ttf") == []
    assert glyphs.character_codes(tmp_path / "absent.ttf") == []


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", sorted(themes.THEMES))
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("fg", "bg"),
        ("fg", "card"),
        ("fg", "zebra"),
        ("fg", "closing_bg"),
        ("fg2", "bg"),
        ("fg2", "card"),
        ("dim", "bg"),
        ("dim", "closing_bg"),
        ("accent_text", "bg"),
        ("accent_text", "card"),
        ("link", "bg"),
        ("link", "closing_bg"),
        ("chip_fg", "chip"),
        ("table_head_fg", "table_head"),
        ("code_fg", "code_bg"),
        ("code_dim", "code_bg"),
        ("code_keyword", "code_bg"),
        ("code_string", "code_bg"),
        ("code_number", "code_bg"),
        ("code_name", "code_bg"),
        ("title_fg", "title_bg"),
        ("title_dim", "title_bg"),
        ("title_accent", "title_bg"),
        ("title_fg", "section_bg"),
    ],
)
def test_text_can_be_read_on_its_ground(name: Any, text: str, ground: str) -> None:
    colours = themes.THEMES[name].colours()
    assert contrast(colours[text], colours[ground]) >= 4.5, (colours[text], colours[ground])


# ---- anything at all


@given(st.text(alphabet='ab #*_`|->\n\t![]()<>~1.:é日—"\\', max_size=300))
def test_any_markdown_reads_and_splits(text: str) -> None:
    for slide in markdown.read_deck(text).slides:
        pieces = fit.split_slide(slide, 3)
        shown = "".join(deck.slide_texts(slide)).replace(" ", "").replace("\n", "")
        if pieces is not None and slide.layout == "content" and not slide.title:
            kept = "".join(t for piece in pieces for t in deck.slide_texts(piece)).replace(" ", "").replace("\n", "")
            assert sorted(set(shown)) == sorted(set(kept))


def test_file_names_are_plain() -> None:
    assert module.file_stem("Über: die / See?! 日本", "slides") == "über-die-see-日本"
    assert module.file_stem("///", "slides") == "slides"
    assert len(module.file_stem("word " * 60, "slides")) <= 60


def test_links_lead_to_the_web_or_to_mail_only() -> None:
    source = (
        "## T\n\n[a](smb://host/share) [b](/relative) [c](https://example.org) [d](mailto:a@example.org) [e](ms-word:x)"
    )
    (slide,) = markdown.read_deck(source).slides
    links = [run.href for block in slide.blocks for run in block.runs if run.href]
    assert links == ["https://example.org", "mailto:a@example.org"]
