"""Writes a deck as one HTML file: own styles and script, no outside address, readable without the script.

Slides follow one another down the page; the script adds keys, and shrinks what is too high for the window. The
content policy in the head lets nothing but these very styles and this script run.
"""

from __future__ import annotations

import base64
import hashlib
import html
from pathlib import Path

import nh3

from ._deck import Block, Cards, Code, Deck, Listing, Paragraph, Quote, Run, Runs, Slide, Subheading, Table, plain
from ._fit import estimate_needs, estimate_scale, fit_by
from ._layout import column_shares
from ._themes import THEMES, Theme, ThemeName
from ._words import breakable

_HERE = Path(__file__).resolve().parent

_TAGS = {
    "a", "aside", "blockquote", "br", "code", "div", "em", "figure", "figcaption", "footer", "h1", "h2", "h3", "header",
    "li", "main", "ol", "p", "pre", "s", "section", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"class", "dir", "id"},
    "a": {"href"},
    "ol": {"start"},
    "th": {"scope"},
    "section": {"aria-label"},
    "aside": {"aria-label"},
    "pre": {"tabindex"},
}
_SCALES = ("78", "85", "92", "100", "112", "115")


def render_html(deck: Deck, theme: ThemeName) -> tuple[str, Deck]:
    """The deck as a complete HTML document, and the deck as it was set."""
    fitted, _ = fit_by(deck, estimate_needs)
    look = THEMES[theme]
    colours = ";".join(f"--{name}:{value}" for name, value in look.colours().items())
    scales = "".join(f".k{scale}{{--k:{int(scale) / 100}}}" for scale in _SCALES)
    style = f":root{{{colours};{_ornament(look)}}}{(_HERE / 'deck.css').read_text(encoding='utf-8')}{scales}"
    script = (_HERE / "deck.js").read_text(encoding="utf-8")
    count = len(fitted.slides)
    body = "".join(_slide(slide, number, count, fitted.footer) for number, slide in enumerate(fitted.slides, start=1))
    clean = nh3.clean(
        f'<main class="{look.decor}">{body}</main>',
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    author = f'<meta name="author" content="{html.escape(deck.author)}">' if deck.author else ""
    document = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{html.escape(deck.title)}</title>{author}<style>{style}</style></head>"
        f"<body>{clean}<script>{script}</script></body></html>\n"
    )
    return document, fitted


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _ornament(look: Theme) -> str:
    def tinted(colour: str, strength: float) -> str:
        red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
        return f"rgba({red},{green},{blue},{strength:.2f})"

    one, two = tinted(look.accent, look.tint / 100), tinted(look.accent2, look.tint * 0.8 / 100)
    return f"--one:{one};--two:{two}"


def _slide(slide: Slide, number: int, count: int, footer: str) -> str:
    scale = f" k{_nearest_scale(slide)}" if slide.layout in ("content", "closing") else ""
    heading = ""
    if slide.heading:
        tag = "h1" if slide.layout == "title" else "h2"
        length = len(plain(slide.heading))
        long = ' class="longer"' if length > 84 else ' class="long"' if length > 40 else ""
        heading = f"<{tag}{long}{_direction(slide.heading)}>{_inline(slide.heading)}</{tag}>"
    columns = [column for column in slide.columns if column]
    if len(columns) > 1:
        parts = "".join(f'<div class="col">{_blocks(column)}</div>' for column in columns)
        share = column_shares(slide.columns)[0]
        shape = " narrow-first" if share < 0.47 else " narrow-last" if share > 0.53 else ""
        body = f'<div class="body cols{shape}">{parts}</div>'
    else:
        body = f'<div class="body">{_blocks(slide.blocks)}</div>' if slide.blocks else ""
    ornament = '<div class="ornament o1"></div><div class="ornament o2"></div>'
    notes = f'<aside class="notes" aria-label="Notes">{html.escape(slide.notes)}</aside>' if slide.notes else ""
    foot = f'<footer class="foot"><span>{html.escape(footer)}</span><span>{number} / {count}</span></footer>'
    return (
        f'<section class="slide {slide.layout}" id="slide-{number}" aria-label="Slide {number} of {count}">'
        f"{ornament if slide.layout in ('title', 'section') else ''}"
        f'<div class="stage{scale}">{heading}{body}{foot}</div>{notes}</section>'
    )


def _nearest_scale(slide: Slide) -> str:
    wanted = estimate_scale(slide) * 100
    return min(_SCALES, key=lambda scale: abs(int(scale) - wanted))


def _blocks(blocks: tuple[Block, ...]) -> str:
    return "".join(_block(block) for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Paragraph(runs):
            return f"<p{_direction(runs)}>{_inline(runs)}</p>"
        case Subheading(runs):
            return f"<h3{_direction(runs)}>{_inline(runs)}</h3>"
        case Listing(items, ordered, start):
            entries = "".join(
                f"<li{_direction(item.runs)}>{_inline(item.runs)}{_blocks(item.children)}</li>" for item in items
            )
            return f'<ol start="{start}">{entries}</ol>' if ordered else f"<ul>{entries}</ul>"
        case Table():
            return _table(block)
        case Code(text, language):
            label = f'<span class="label">{html.escape(language)}</span>' if language else ""
            small = ' class="small"' if max(len(line) for line in text.split("\n")) > 84 else ""
            return f'<pre{small} tabindex="0">{label}<code>{html.escape(text)}</code></pre>'
        case Quote(paragraphs, source):
            words = "".join(f"<p{_direction(runs)}>{_inline(runs)}</p>" for runs in paragraphs)
            long = ' class="long"' if sum(len(plain(runs)) for runs in paragraphs) > 180 else ""
            caption = f"<figcaption>\u2014 {_inline(source)}</figcaption>" if source else ""
            return f"<figure><blockquote{long}>{words}</blockquote>{caption}</figure>"
        case Cards(cards):
            four = " four" if len(cards) == 4 else ""
            entries = "".join(
                f'<div class="card"><h3>{_inline(lead)}</h3><p{_direction(body)}>{_inline(body)}</p></div>'
                for lead, body in cards
            )
            return f'<div class="cards{four}">{entries}</div>'


def _table(table: Table) -> str:
    classes = {"left": "", "right": ' class="r"', "center": ' class="c"'}
    marks = [classes[align] for align in table.aligns]
    head = "".join(f'<th scope="col"{mark}>{_inline(cell)}</th>' for mark, cell in zip(marks, table.head, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{mark}>{_inline(cell)}</td>" for mark, cell in zip(marks, row, strict=True)) + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _inline(runs: Runs) -> str:
    return "".join(_run(run) for run in runs)


def _run(run: Run) -> str:
    text = html.escape(breakable(run.text)).replace("\n", "<br>")
    if run.code:
        text = f"<code>{text}</code>"
    for tag, wanted in (("s", run.strike), ("em", run.italic), ("strong", run.bold)):
        if wanted:
            text = f"<{tag}>{text}</{tag}>"
    return f'<a href="{html.escape(run.href)}">{text}</a>' if run.href else text


def _direction(runs: Runs) -> str:
    return "" if all(character < "\u0590" for character in plain(runs)) else ' dir="auto"'
