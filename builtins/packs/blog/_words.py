"""The title, address and length of a post."""

from __future__ import annotations

import re
import unicodedata

from packline import PackError, excerpt

#: A title that is nothing but a template's blank, in the notations people use.
_PLACEHOLDER = re.compile(
    r"\s*(?:\{\{[^{}]*\}\}|\$\{\{?[^{}]*\}\}?|<[A-Z_ -]+>"
    r"|\[(?:[A-Z][A-Z_ -]*|(?:your |insert |post |blog )*title(?: here)?)\]"
    r"|(?:your|insert|enter|add|the|my)(?: \w+)? title(?: here)?|title(?: goes)? here|untitled(?: post)?|title"
    r"|tbd|todo|fixme|xxx+|lorem ipsum.*|n/?a|null|none|undefined|test title)\s*[.!\u2026]*\s*",
    re.IGNORECASE,
)


def refuse_placeholder(title: str) -> None:
    """Lets a real title pass.

    Raises:
        PackError: `invalid_input` for a blank one and for a template's blank.
    """
    if not title:
        raise PackError("invalid_input", "`title` is blank.", field="title", hint="Give the post a title.")
    if _PLACEHOLDER.fullmatch(title):
        raise PackError(
            "invalid_input",
            f"`title` is \u201c{excerpt(title, 80)}\u201d, which looks like a blank that was never filled in.",
            field="title",
            hint="Give the post's own title; if it is meant to be called that, add a word to it.",
        )


def make_slug(title: str) -> str:
    """The title in lower-case letters, digits and dashes, at most 80 characters; accents are folded where they can."""
    folded = unicodedata.normalize("NFKD", title.replace("\u00df", "ss").replace("\u00f8", "o"))
    latin = "".join(character for character in folded if not unicodedata.combining(character))
    text = unicodedata.normalize("NFC", latin).lower().replace("'", "").replace("\u2019", "")
    slug = re.sub(r"[\W_]+", "-", text).strip("-")
    if len(slug) > 80:
        slug = slug[:80].rsplit("-", 1)[0] if "-" in slug[:80] else slug[:80]
    return slug or "post"
