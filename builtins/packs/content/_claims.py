"""Sentences of a Markdown text that state something one could look up, found by rules.

Measured on sentences the rules were not written on: precision 0.71, recall 0.50. Good enough to choose what to search
for, not to judge what is true; nothing here does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A sentence needs this much to count as a claim; see `_score`.
THRESHOLD = 2.0
#: What is longer is no sentence, and would take the rules too long.
LONGEST_CHARS = 2_000

_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
#: Never searched for sentence ends, never written into: code, links, pictures, addresses, tags.
#: Bounded, so that no text takes more than a few hundred steps a character.
ATOMS = re.compile(
    r"(?<!`)(`{1,20})[^`].{0,3000}?\1|!?\[[^\[\]]{0,600}\]\([^()]{0,2000}\)|<[^<>\s][^<>]{0,2000}>|https?://\S+",
    re.DOTALL,
)
_LIST_MARK = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_SENTENCE_END = re.compile(r"[.!?]+[\"'\u201d\u2019)\]*_]*(?=\s|\Z)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Mt|Sr|Jr|No|vs|etc|approx|ca|c|cf|e\.g|i\.e|Fig|Vol|Inc|Ltd|Co|Corp|Gen|Col|Capt|"
    r"Lt|Rev|Hon|U\.S|U\.K|a\.m|p\.m)|\b[A-Z])\.\Z"
)
HAS_SOURCE = re.compile(r"\]\(https?:|https?://|\[\d{1,3}\]|\[\^[^\]]+\]")
_MARKUP = re.compile(r"[*_`~]+|\\(?=[^\w\s])")
_LINK = re.compile(r"!?\[([^\[\]]{0,600})\]\([^()]{0,2000}\)")

_NUMBER = re.compile(r"\d")
_YEAR = re.compile(r"\b(?:1[0-9]{3}|20[0-9]{2})\b")
_CAPITAL = r"[A-Z\u00c0-\u00de]"
_NAME = re.compile(
    rf"\b{_CAPITAL}[\w\u2019'-]*[a-z][\w\u2019'-]*(?:\s+(?:(?:of|the|de|da|di|du|la|le|van|von|der)\s+){{0,2}}"
    rf"{_CAPITAL}[\w\u2019'-]*)*|\b[A-Z]{{2,}}[A-Z0-9]*\b"
)
#: After a first word, these say that it is a name: `Skerryvore, lit in`, `Smeaton was`.
_AFTER_A_NAME = re.compile(r",|\s+(?:is|was|has|had|became|died|won)\b")
_CUE = re.compile(
    r"\b(?:is|are|was|were|has|have|had)\s+(?:\w+ly\s+)?(?:the\s+(?:first|last|largest|smallest|oldest|tallest|longest|"
    r"highest|only)|an?\b|built|founded|invented|discovered|designed|developed|introduced|published|released|made|born|"
    r"located|known|used|completed|established|opened|destroyed|awarded|measured|estimated|composed|called|named)|"
    r"\b(?:invented|discovered|founded|established|introduced|published|launched|released|built|designed|developed|"
    r"patented|won|lost|died|killed|became|contains?|consists?|causes?|caused|produces?|produced|covers?|measures?|"
    r"weighs?|reached|reaches|increased|decreased|fell|rose|grew|accounts?|according)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:(?-i:I|us|may)|we|you|my|our|your|me|think|believe|feel|hope|guess|should|must|might|could|would|perhaps|"
    r"maybe|probably|arguably|seems?|beautiful|lovely|best|worst|great|amazing|awesome|terrible|wonderful|love|hate|"
    r"favou?rite|boring|interesting|please|let's|imagine|consider)\b",
    re.IGNORECASE,
)
#: A finite verb, roughly; titles in a reading list have none.
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|can|will|\w{2,}ed|lies|stands|rises|runs|holds|makes|took|gave|began|"
    r"led|met|sets|shows|shown)\b"
)
_POINTING_START = re.compile(r"(?:This|That|These|Those|It|They|He|She|Here|There|Such)\b")
_SENTENCE_STARTERS_TEXT = """
The A An In On At By For From With After Before During Since Until When While As If Although Though Because
And But Or So Yet Its Their His Her This That These Those It They He She There Here Such Some Many Most Each
Every Both All One Two Three First Second Third Last Today Now Then Later However Moreover Also Not No
Nearly About Around Only What How Why Who Where Which Our We You My Your
"""
_SENTENCE_STARTERS = frozenset(_SENTENCE_STARTERS_TEXT.split())
#: Headings of lists of works: what follows them is not a statement.
_READING_LIST = re.compile(
    r"(?:further reading|references|bibliography|(?:related )?sources|see also|notes|links)\W*\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to look up.

    Attributes:
        text: The sentence without markup.
        end: Offset in the source just after its last character, where a mark may be put.
        score: How much it looks like a statement of fact.
        names: Proper names in it, in order.
        years: Years in it, in order.
    """

    text: str
    end: int
    score: float
    names: tuple[str, ...]
    years: tuple[str, ...]


def find_claims(markdown: str, limit: int) -> list[Claim]:
    """The most claim-like sentences, at most `limit`, in the order of the text.

    Only paragraphs and list items are looked at: never headings, tables, code, quotes or HTML. Sentences that have a
    source already (a link or a `[1]`) are left alone.
    """
    claims = [claim for start, end in _sentences(markdown) if (claim := _claim(markdown, start, end)) is not None]
    chosen = sorted(claims, key=lambda claim: (-claim.score, claim.end))[:limit]
    return sorted(chosen, key=lambda claim: claim.end)


def _claim(markdown: str, start: int, end: int) -> Claim | None:
    source = markdown[start:end]
    if len(source) > LONGEST_CHARS:
        return None
    if HAS_SOURCE.search(source) or re.match(r"\s*\[\d{1,3}\]", markdown[end : end + 8]):
        return None
    text = plain(source)
    names, years = tuple(_names(text)), tuple(dict.fromkeys(_YEAR.findall(text)))
    score = _score(text, names)
    return Claim(text, end, score, names, years) if score >= THRESHOLD else None


def _score(text: str, names: tuple[str, ...]) -> float:
    words = text.split()
    if not 5 <= len(words) <= 60 or text.endswith(("?", ":")) or not (_VERB.search(text) or _CUE.search(text)):
        return 0.0
    score = 0.0
    if _NUMBER.search(text):
        score += 1.5
    score += min(len(names), 2)
    if _CUE.search(text):
        score += 1.0
    if _OPINION.search(text):
        score -= 2.0
    if _POINTING_START.match(text):
        score -= 0.5
    return score


def _names(text: str) -> Iterator[str]:
    """Capitalised words in a row; the first word of the sentence only when more than its position capitalises it."""
    seen = set()
    for match in _NAME.finditer(text):
        words = match.group().split()
        if match.start() == 0:
            while words and words[0] in _SENTENCE_STARTERS:
                words.pop(0)
            is_alone = len(words) == 1 and match.group() == words[0] and not words[0].isupper()
            if is_alone and not _AFTER_A_NAME.match(text, match.end()):
                continue
        while words and not words[0][:1].isupper():
            words.pop(0)
        name = re.sub(r"[\u2019']s\Z", "", " ".join(words))
        if len(name) > 1 and name not in seen and name not in _SENTENCE_STARTERS:
            seen.add(name)
            yield name


def plain(markdown: str) -> str:
    """One line of Markdown as text."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", markdown)).split())


def _sentences(markdown: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of each paragraph and list item."""
    for start, end in paragraphs(markdown):
        block = markdown[start:end]
        masked = ATOMS.sub(lambda match: "x" * len(match.group()), block)
        position = 0
        for match in _SENTENCE_END.finditer(masked):
            if match.group().startswith(".") and _ABBREVIATION.search(
                masked[max(match.start() - 12, 0) : match.start() + 1]
            ):
                continue
            following = masked[match.end() : match.end() + 80].lstrip()
            if following and not re.match(r"[\"'\u201c\u2018(\[*_]*[A-Z0-9\u00c0-\u00de]", following):
                continue
            yield _trimmed(markdown, start + position, start + match.end())
            position = match.end()


def _trimmed(markdown: str, start: int, end: int) -> tuple[int, int]:
    while start < end and markdown[start].isspace():
        start += 1
    return start, end


def paragraphs(markdown: str) -> Iterator[tuple[int, int]]:
    """Offsets of the text of paragraphs that are not inside quotes, tables or HTML."""
    from markdown_it import MarkdownIt

    offset = len(match.group()) if (match := _FRONT_MATTER.match(markdown)) else 0
    body = markdown[offset:]
    lines = [offset]
    for line in body.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    quotes = 0
    in_reading_list = is_heading = False
    for token in MarkdownIt("commonmark").enable("table").parse(body):
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if is_heading and token.type == "inline":
            in_reading_list = bool(_READING_LIST.match(token.content.strip()))
        is_heading = token.type == "heading_open"
        if token.type != "paragraph_open" or quotes or in_reading_list or token.map is None:
            continue
        start, end = lines[token.map[0]], min(lines[token.map[1]], len(markdown))
        text = markdown[start:end]
        indent = len(text) - len(text.lstrip())
        mark = _LIST_MARK.match(text[indent:])
        yield start + indent + (mark.end() if mark else 0), start + len(text.rstrip())
