"""Turns written text into what a voice should say: sentences without markup, addresses and signs nobody pronounces."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

#: Reading aloud takes about 150 words a minute.
WORDS_PER_MINUTE = 150
_LONGEST_SENTENCE = 500
#: Characters of a script without spaces count for about half a word each.
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ABBREVIATIONS = frozenset(
    {"dr", "mr", "mrs", "ms", "prof", "st", "vs", "e.g", "i.e", "fig", "approx", "inc", "ltd", "jr", "sr"}
)
_SENTENCE_END = re.compile(r"(?:(?<=[.!?\u2026])[\"'\u201d\u2019)\]]*\s+|(?<=[\u3002\uff01\uff1f])\s*)(?=\S)")
_FENCE = re.compile(r"(?ms)^(```|~~~).*?^\1[^\n]*$")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)")
_NO_TEXT = re.compile(r"\[\s*\]\([^)]*\)")
_MARK = re.compile(r"\s?\[(?:\d{1,3}|\^[^\]]{1,20})\]")
_ADDRESS = re.compile(r"<?\bhttps?://(?:www\.)?([^\s/<>()]+)[^\s<>()]*>?")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_LINE_START = re.compile(r"(?m)^[ \t]*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|___|__|~~|`+)(?=\S)(.+?)(?<=\S)\1")
#: Signs and what they are called.
_SAID = (
    (re.compile(r"\s*(?:\u2192|->|=>|\u21d2|\u27a1\ufe0f?)\s*"), " to "),
    (re.compile(r"\s*[\u2014]\s*|\s+[\u2013-]{1,2}\s+"), ", "),
    (re.compile(r"(?<=\d)\s*\u2013\s*(?=\d)"), " to "),
    (re.compile(r"\s*&\s*"), " and "),
    (re.compile(r"\u2265"), " at least "),
    (re.compile(r"\u2264"), " at most "),
    (re.compile(r"(?<=\d)\s*[\u00d7]\s*(?=\d)|(?<=\d)x(?=\d)"), " by "),
    (re.compile(r"\s*\u00d7\s*"), " times "),
    (re.compile(r"\u2248|~(?=\d)"), " about "),
    (re.compile(r"(?<=\w)_(?=\w)"), " "),
    (re.compile(r"(?<=\w)\(\)"), ""),
)
_ENGLISH = frozenset(
    """
    the a an and or but of to in on at by for from with as is are was were be been it its this that these those you we
    they he she i not no do does can will would has have had if so there what which when how all more your our their
    """.split()  # noqa: SIM905 - a list of quoted words is no easier to read
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    Attributes:
        shown: The sentence as written in captions and transcripts.
        said: What a voice is given; empty when nothing of it can be spoken.
    """

    shown: str
    said: str


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, Markdown taken off."""
    found = []
    for line in plain_lines(text):
        for piece in split_sentences(line):
            said = pronounced(piece)
            found.append(Sentence(piece, said))
    return found


def plain_lines(text: str) -> list[str]:
    """The paragraphs, headings and list items of Markdown as plain text, each closed by a full stop."""
    text = unicodedata.normalize("NFC", text)
    text = _TAG.sub(" ", _FENCE.sub("\n", text))
    text = _LINK.sub(r"\1", _NO_TEXT.sub("", _PICTURE.sub("", text)))
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        current: list[str] = []
        for line in paragraph.splitlines():
            if re.fullmatch(r"\s*(?:[-*_=]\s*){3,}|\s*\|?[\s:|-]+\|?\s*", line):
                continue
            starts = _LINE_START.match(line)
            if starts and current:
                lines.append(" ".join(current))
                current = []
            current.append(_LINE_START.sub("", line).strip().strip("|").replace(" | ", ", "))
            if starts and starts[0].lstrip().startswith("#"):
                lines.append(" ".join(current))
                current = []
        if current:
            lines.append(" ".join(current))
    return [closed for line in lines if (closed := _closed(_without_marks(line)))]


def split_sentences(line: str) -> list[str]:
    """The sentences of a line; a full stop after a title or an initial ends none."""
    pieces: list[str] = []
    start = 0
    for found in _SENTENCE_END.finditer(line):
        before = line[start : found.start()]
        word = before.rstrip(".\u2026").rpartition(" ")[2].lower().lstrip("(\"'\u201c")
        initial = len(word) == 1 and word.isalpha() and before.endswith(".")
        numbered = word == "no" and line[found.end()].isdigit()
        if before.endswith(".") and (initial or numbered or word in _ABBREVIATIONS or line[found.end()].islower()):
            continue
        pieces.append(line[start : found.end()].strip())
        start = found.end()
    pieces.append(line[start:].strip())
    return [part for piece in pieces if piece for part in _bounded(piece)]


def _bounded(sentence: str) -> list[str]:
    """The sentence, cut at a comma or a space where it is longer than anybody would write."""
    parts = []
    while len(sentence) > _LONGEST_SENTENCE:
        head = sentence[:_LONGEST_SENTENCE]
        cut = max(head.rfind(", ", 200) + 1, head.rfind("; ", 200) + 1) or head.rfind(" ", 100)
        cut = cut if cut > 0 else _LONGEST_SENTENCE
        parts.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [*parts, sentence] if sentence else parts


def pronounced(sentence: str) -> str:
    """What a voice should be given for a sentence."""
    text = _ADDRESS.sub(lambda found: found[1].rstrip(".,;:").replace(".", " dot "), _MARK.sub("", sentence))
    for sign, word in _SAID:
        text = sign.sub(word, text)
    text = "".join(character for character in text if unicodedata.category(character) not in ("So", "Sk", "Co", "Cs"))
    text = re.sub(r"[*_`#|\\{}<>^\[\]]+", " ", text).replace("\ufe0f", "")
    text = re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r"\s+", " ", text)).strip(" ,;")
    return text if any(character.isalnum() for character in text) else ""


def reading_seconds(text: str) -> float:
    """How long reading a text aloud takes."""
    dense = len(_DENSE.findall(text))
    words = len(re.findall(r"\w+", _DENSE.sub(" ", text))) + dense / 2
    return words * 60 / WORDS_PER_MINUTE


def looks_english(text: str) -> bool:
    """Whether at least one word in nine is one of the commonest of English."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return not words or sum(word in _ENGLISH for word in words) >= len(words) / 9


def _without_marks(line: str) -> str:
    previous = None
    while previous != line:
        previous, line = line, _EMPHASIS.sub(r"\2", line)
    return re.sub(r"\s+", " ", _MARK.sub("", line)).strip()


def _closed(line: str) -> str:
    if not any(character.isalnum() for character in line):
        return ""
    return line if line.rstrip("\"'\u201d\u2019)")[-1:] in tuple(".!?\u2026:;\u3002\uff01\uff1f") else f"{line}."
