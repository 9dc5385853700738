"""HTML on its way to Markdown: bytes to text, markup to Markdown, facts from the head."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import WebAddressError, read_web_address

from ._bounds import check_html
from ._markdown import tidy

if TYPE_CHECKING:
    from bs4 import Tag
    from selectolax.lexbor import LexborHTMLParser, LexborNode

#: Byte order marks, and the first character of a page in UTF-16 without one.
_BOMS = (
    *((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")),
    *((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be")),
)
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{2,40})""")

#: Never part of what a page says.
_NOISE = (
    "script, style, noscript, template, iframe, object, embed, svg, canvas, form, button, input, select, textarea, "
    "dialog, [hidden], [aria-hidden=true], [role=dialog], [role=alertdialog]"
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the page says about itself; any of it may be missing."""

    title: str | None = None
    byline: str | None = None
    published: str | None = None


def decode(body: bytes, declared: str | None = None) -> str:
    """Bytes of a text or page as text, never failing.

    Looks, in this order, at a byte order mark, the charset the server declared, the one the page declares and UTF-8,
    and takes the first that fits without error, else the first that fits but for a few bytes; then a statistical
    guess, and Windows-1252 at the end. What does not fit becomes a replacement mark.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, errors="replace")
    head = body[:4096]
    declared_in_page = _META_CHARSET.search(head) or _XML_CHARSET.search(head)
    candidates = [declared, declared_in_page.group(1).decode("ascii") if declared_in_page else None, "utf-8"]
    for errors in ("strict", "replace"):
        for candidate in candidates:
            try:
                text = body.decode(_as_browsers_read(candidate or ""), errors=errors)
            except (LookupError, UnicodeDecodeError, ValueError):
                continue
            if errors == "strict" or _fits(text):
                return text
    from charset_normalizer import from_bytes

    guess = from_bytes(body[:200_000]).best()
    return body.decode(guess.encoding if guess else "cp1252", errors="replace")


def _fits(text: str) -> bool:
    """Whether so few bytes could not be decoded that the charset is right: in a wrong one, most cannot."""
    failed = text.count("\ufffd")
    return failed * 10 <= len(text) - len(text.encode("ascii", errors="ignore")) - failed


def _as_browsers_read(name: str) -> str:
    """Pages labelled Latin-1 or ASCII are Windows-1252 in practice (WHATWG Encoding Standard)."""
    canonical = codecs.lookup(name).name
    return "cp1252" if canonical in ("iso8859-1", "ascii") else canonical


def parse(html: str, called: str = "The page") -> LexborHTMLParser:
    """The document tree, without its drawings (`<svg>`), whose titles would pass for the page's.

    Args:
        html: The page.
        called: What messages call it.

    Raises:
        PackError: `invalid_input` for a page that is too large or too deep.
    """
    from selectolax.lexbor import LexborHTMLParser

    check_html(html, called)
    tree = LexborHTMLParser(html)
    for drawing in tree.css("svg"):
        drawing.decompose()
    return tree


def remove_noise(tree: LexborHTMLParser) -> None:
    """Takes out what is never content: scripts, forms, dialogs, hidden parts, addresses that are whole files."""
    for node in tree.css(_NOISE):
        if node.tag not in ("html", "body"):
            node.decompose()
    for link in tree.css("a[href]"):
        if (link.attributes.get("href") or "").lstrip().lower().startswith("data:"):
            link.unwrap()


def absolute_link(target: str, base_url: str) -> str | None:
    """Where a link leads, escaped so that it can be written in Markdown; None for scripts and what leads nowhere."""
    try:
        return read_web_address(target, base=base_url).href
    except WebAddressError:
        mail = target.strip()
        return mail if mail.lower().startswith("mailto:") else None


def make_links_absolute(root: LexborNode, base_url: str) -> int:
    """Rewrites addresses against `base_url` and drops script links; returns how many web links there are."""
    count = 0
    for node in root.css("a[href]"):
        target = absolute_link(node.attributes.get("href") or "", base_url)
        if target is None:
            node.unwrap()
        else:
            node.attrs["href"] = target
            count += 0 if target.lower().startswith("mailto:") else 1
    return count


def to_markdown(html: str) -> str:
    """Markup as Markdown: ATX headings, `-` bullets, pipe tables, fenced code; pictures become their description.

    Raises:
        RecursionError: for markup nested thousands deep.
    """
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            del text, parent_tags
            description = " ".join(str(el.attrs.get("alt") or "").split())
            return f"*{description}*" if description else ""

    converter = Converter(
        heading_style="ATX",
        bullets="-",
        strong_em_symbol="*",
        newline_style="BACKSLASH",
        code_language_callback=_code_language,
        table_infer_header=True,
        escape_asterisks=True,
        escape_underscores=False,
        wrap=True,
        wrap_width=None,
    )
    return tidy(str(converter.convert(html)))


def _code_language(element: Tag) -> str | None:
    for candidate in (element, element.find("code")):
        for name in (candidate.get("class") or []) if candidate is not None else []:
            if name.startswith(("language-", "lang-")):
                return str(name.split("-", 1)[1])
    return None


def page_facts(tree: LexborHTMLParser) -> PageFacts:
    """Title, author and date from the head, structured data and common markup; the page's own claim, unchecked."""
    linked = _json_ld(tree)
    return PageFacts(
        title=_first(
            _meta(tree, "og:title"),
            _text(tree, "article h1, main h1"),
            linked.get("headline"),
            _text(tree, "h1"),
            _text(tree, "title"),
        ),
        byline=_first(
            linked.get("author"),
            _meta(tree, "author"),
            _text(tree, "[rel=author], [itemprop=author], .byline .author, .author-name"),
        ),
        published=_first(
            _meta(tree, "article:published_time"),
            linked.get("datePublished"),
            _meta(tree, "date"),
            _attribute(tree, "article time[datetime], main time[datetime]", "datetime"),
        ),
    )


def _first(*values: str | None) -> str | None:
    for value in values:
        text = " ".join((value or "").split())
        if text:
            return text[:500]
    return None


def _meta(tree: LexborHTMLParser, name: str) -> str | None:
    return _attribute(tree, f'meta[name="{name}"], meta[property="{name}"]', "content")


def _attribute(tree: LexborHTMLParser, selector: str, attribute: str) -> str | None:
    node = tree.css_first(selector)
    return node.attributes.get(attribute) if node else None


def _text(tree: LexborHTMLParser, selector: str) -> str | None:
    node = tree.css_first(selector)
    return node.text(separator=" ") if node else None


def _json_ld(tree: LexborHTMLParser) -> dict[str, str]:
    """`headline`, `author` and `datePublished` of the first article in the page's JSON-LD."""
    for node in tree.css('script[type="application/ld+json"]'):
        try:
            data = json.loads(node.text())
        except (ValueError, RecursionError):
            continue
        entries = data if isinstance(data, list) else data.get("@graph", [data]) if isinstance(data, dict) else []
        for entry in entries if isinstance(entries, list) else []:
            if not isinstance(entry, dict) or not ({"headline", "datePublished"} & entry.keys()):
                continue
            found = {key: entry[key] for key in ("headline", "datePublished") if isinstance(entry.get(key), str)}
            author = entry.get("author")
            author = author[0] if isinstance(author, list) and author else author
            author = author.get("name") if isinstance(author, dict) else author
            if isinstance(author, str):
                found["author"] = author
            return found
    return {}
