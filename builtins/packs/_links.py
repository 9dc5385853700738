"""Links in Markdown that is put together here: written so that nothing breaks out, and reduced to known addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packline import excerpt

from ._writing import one_line, same_address

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The repetitions are bounded and begin differently, so that no text takes more than a few hundred steps a character.
_ADDRESS = r"\(\s{0,9}<?((?:[^()\s<>]|\([^()\s<>]{0,200}\)){0,2000})>?(?:\s{1,9}[\"'(][^\n]{0,200}?[\"')])?\s{0,9}\)"
_LINK = re.compile(
    rf"!?\[((?:\\.|[^\[\]\\\n]|\[[^\[\]\n]{{0,200}}\]){{0,400}})\]{_ADDRESS}|<(https?://[^<>\s]{{1,2000}})>",
    re.IGNORECASE,
)
#: What is left of a link whose words are longer or stranger than that.
_TAIL = re.compile(rf"\]{_ADDRESS}")
_BARE = re.compile(
    r"(?<!\w)https?://[^\s<>()\[\]\"'`\u3000-\u303f\uff00-\uffef]*"
    r"[^\s<>()\[\]\"'`.,;:!?*_\u3000-\u303f\uff00-\uffef]",
    re.IGNORECASE,
)


def link(label: str, url: str) -> str:
    """A link that neither its text nor its address can end early (CommonMark §6.3)."""
    text = excerpt(re.sub(r"([\\\[\]`*_<])", r"\\\1", one_line(label)), 300, ending="")
    target = re.sub(r"[\s()<>\[\]]", lambda match: f"%{ord(match.group()):02X}", url)
    return f"[{text}]({target})"


def linked(markdown: str) -> list[str]:
    """The addresses a text links to or names, in order."""
    return [
        *(match[2] if match[3] is None else match[3] for match in _LINK.finditer(markdown)),
        *_BARE.findall(_LINK.sub(" ", markdown)),
    ]


def only_known_links(markdown: str, known: Sequence[str]) -> tuple[str, list[str]]:
    """The text with every other address taken out, and those addresses.

    The words of a link stay; a picture becomes its description.
    """
    removed: list[str] = []

    def is_known(url: str) -> bool:
        return any(same_address(url, other) for other in known)

    def check_link(match: re.Match[str]) -> str:
        url = match[2] if match[3] is None else match[3]
        if is_known(url):
            return match.group().removeprefix("!")
        removed.append(url)
        return match[1] or ""

    def check_bare(match: re.Match[str]) -> str:
        if is_known(match.group()):
            return match.group()
        removed.append(match.group())
        return ""

    def check_tail(match: re.Match[str]) -> str:
        if is_known(match[1]):
            return match.group()
        removed.append(match[1])
        return "]"

    text = _LINK.sub(check_link, markdown)
    text = _LINK.sub(check_link, text)  # a picture inside a link leaves a link behind
    text = _BARE.sub(check_bare, _TAIL.sub(check_tail, text))
    return (re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", text) if removed else text), [url for url in removed if url]
