"""What runs in a worker process for `slides.outline` and `slides.render`, so that parsing stays out of the server.

Arguments and results are plain values: they are pickled on their way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from packline import PackError

if TYPE_CHECKING:
    from ._deck import Deck

Format = Literal["pdf", "pptx", "html"]
Theme = Literal["light", "dark", "corporate", "warm"]

#: Imported before a worker starts on a job; each only starts threads once it is used.
PRELOAD = ("markdown_it", "typst", "pptx")
MAX_SLIDES = 200


class OutlineResult(TypedDict):
    """What `outline_text` returns; `markdown` is empty when the text holds too little."""

    markdown: str
    slide_count: int
    title: str
    image_prompts: list[tuple[int, str]]
    warnings: list[str]


class RenderResult(TypedDict):
    """What `render_deck` returns."""

    content: bytes
    pages: int
    title: str
    warnings: list[str]


def outline_text(
    text: str,
    max_slides: int,
    title: str | None,
    author: str | None,
    audience: str | None,
    angle: str | None,
    image_prompts: bool,
) -> OutlineResult:
    """Outlines a text; an empty `markdown` says that it holds too little."""
    from ._compose import Request, compose

    outline = compose(text, Request(max_slides, title, author, audience, angle, image_prompts))
    if outline is None:
        return {"markdown": "", "slide_count": 0, "title": "", "image_prompts": [], "warnings": []}
    return {
        "markdown": outline.markdown,
        "slide_count": outline.slide_count,
        "title": outline.title,
        "image_prompts": list(outline.image_prompts),
        "warnings": list(outline.warnings),
    }


def render_deck(
    markdown: str, wanted: Format, theme: Theme, title: str | None, author: str | None, footer: str | None
) -> RenderResult:
    """Reads, fits and writes a deck; runs in a worker process, so that its libraries stay out of the server."""
    from ._fit import MAX_PAGES, TooManyPagesError
    from ._markdown import read_deck

    deck = read_deck(markdown, title=title, author=author, footer=footer)
    if not deck.slides:
        raise PackError(
            "invalid_input",
            "`markdown` holds nothing that can be shown on a slide.",
            field="markdown",
            hint="Give headings, text, lists, tables or code; comments and pictures alone make no slide.",
        )
    if len(deck.slides) > MAX_SLIDES:
        raise PackError(
            "invalid_input",
            f"`markdown` holds {len(deck.slides)} slides; at most {MAX_SLIDES} can be rendered at once.",
            field="markdown",
            hint="Render it in parts, or shorten it with `slides.outline`.",
        )
    try:
        return _made(deck, wanted, theme)
    except TooManyPagesError:
        raise PackError(
            "invalid_input",
            f"`markdown` would fill more than {MAX_PAGES} pages, the most a deck may have.",
            field="markdown",
            hint="Shorten it, for instance with `slides.outline`, or render it in parts.",
        ) from None


def _made(deck: Deck, wanted: Format, theme: Theme) -> RenderResult:
    from ._fit import split_warnings

    if wanted == "html":
        from ._html import render_html

        document, fitted = render_html(deck, theme)
        return _rendered(document.encode(), fitted.title, len(fitted.slides), [*deck.warnings, *split_warnings(fitted)])
    from ._typeset import Typesetter, count_pages

    typeset = Typesetter(theme).typeset(deck, "pdf" if wanted == "pdf" else "none")
    count = len(typeset.deck.slides)
    warnings = [*typeset.warnings, *split_warnings(typeset.deck)]
    if wanted == "pptx":
        from ._pptx import render_pptx

        return _rendered(render_pptx(typeset.deck, theme), deck.title, count, warnings)
    pages = count_pages(typeset.content[0])
    if pages != count:
        raise PackError("invalid_output", f"The PDF has {pages} pages although the deck has {count} slides.")
    return _rendered(typeset.content[0], deck.title, pages, warnings)


def _rendered(content: bytes, title: str, pages: int, warnings: list[str]) -> RenderResult:
    return {"content": content, "title": title, "pages": pages, "warnings": warnings}
