"""Captions with times, as SRT and WebVTT: cues of at most two lines, broken where one would pause."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: A line of captions (Netflix's and the BBC's guides agree on 37 to 42 characters), and lines of a cue.
LINE_CHARACTERS = 42
_LINES = 2
#: A cue stays at least this long where the next one leaves room.
_SHORTEST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown from one moment to another.

    Attributes:
        start: Seconds from the beginning.
        end: Later than `start`.
        text: One or two lines.
        speaker: Who says it; empty when captions need not name the speaker.
    """

    start: float
    end: float
    text: str
    speaker: str = ""


def cues_of(
    spans: Iterable[tuple[float, float, str]], *, speaker: str = "", line_characters: int = LINE_CHARACTERS
) -> list[Cue]:
    """Cues for sentences and when they are said; a long sentence becomes several, its time shared by length."""
    cues: list[Cue] = []
    for start, end, sentence in spans:
        pieces = _pieces(sentence, line_characters)
        total = sum(width(piece) for piece in pieces) or 1
        at = start
        for piece in pieces:
            until = at + (end - start) * width(piece) / total
            cues.append(Cue(at, until, _in_lines(piece, line_characters), speaker))
            at = until
    return spread(cues)


def spread(cues: Sequence[Cue]) -> list[Cue]:
    """The same cues, none too short to be read where there is room and none beyond the next one's start."""
    made = []
    for index, cue in enumerate(cues):
        limit = cues[index + 1].start if index + 1 < len(cues) else cue.end + _SHORTEST_SECONDS
        end = min(max(cue.end, cue.start + _SHORTEST_SECONDS), max(limit, cue.start + 0.05))
        made.append(Cue(cue.start, end, cue.text, cue.speaker))
    return made


def to_srt(cues: Sequence[Cue]) -> str:
    """SubRip: numbered cues, times with a comma."""
    blocks = []
    for number, cue in enumerate(cues, start=1):
        said = f"{cue.speaker}: {cue.text}" if cue.speaker else cue.text
        blocks.append(f"{number}\n{clock(cue.start, ',')} --> {clock(cue.end, ',')}\n{_one_block(said)}\n")
    return "\n".join(blocks)


def to_vtt(cues: Sequence[Cue]) -> str:
    """WebVTT (W3C): the speaker as a voice span, markup characters as references."""
    blocks = ["WEBVTT\n"]
    for cue in cues:
        text = html.escape(_one_block(cue.text), quote=False)
        said = f"<v {html.escape(cue.speaker, quote=False)}>{text}" if cue.speaker else text
        blocks.append(f"{clock(cue.start, '.')} --> {clock(cue.end, '.')}\n{said}\n")
    return "\n".join(blocks)


def clock(seconds: float, point: str = ".") -> str:
    """`00:01:02.345`."""
    milliseconds = max(0, round(seconds * 1000))
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}{point}{rest % 1000:03d}"


def short_clock(seconds: float) -> str:
    """`1:02`, or `1:01:02` from an hour on."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def width(text: str) -> int:
    """Characters as they are seen: East Asian ones are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _pieces(sentence: str, line_characters: int) -> list[str]:
    limit = line_characters * _LINES - 6
    words = _words(sentence)
    count = -(-width(sentence) // limit)
    target = width(sentence) / max(count, 1)
    pieces, current = [], ""
    for word in words:
        longer = current + word
        enough = width(current) >= target * 0.75 and re.search(r"[,;:\u2014\u3001]\s*$", current)
        if current.strip() and (width(longer.rstrip()) > limit or enough or width(current) >= target * 1.15):
            pieces.append(current.strip())
            current = word
        else:
            current = longer
    if current.strip():
        pieces.append(current.strip())
    if len(pieces) > 1 and width(pieces[-1]) < 12 and width(pieces[-2]) + width(pieces[-1]) < limit + 6:
        pieces[-2:] = [f"{pieces[-2]} {pieces[-1]}"]
    return pieces


def _words(text: str) -> list[str]:
    """Pieces a line may be broken between, each with the space after it; scripts without spaces break anywhere."""
    return [
        piece
        for word in re.findall(r"\S+\s*", text)
        for piece in (re.findall(r".\s*", word) if width(word) > 1.5 * len(word) or len(word) > 60 else [word])
    ]


def _in_lines(piece: str, line_characters: int) -> str:
    """One line, or two of about the same length."""
    if width(piece) <= line_characters:
        return piece
    words = _words(piece)
    best, lines = None, piece
    for cut in range(1, len(words)):
        first, second = "".join(words[:cut]).strip(), "".join(words[cut:]).strip()
        badness = abs(width(first) - width(second)) - (8 if first[-1:] in ",;:" else 0)
        if best is None or badness < best:
            best, lines = badness, f"{first}\n{second}"
    return lines


def _one_block(text: str) -> str:
    """Without blank lines and arrows, which would end a cue or look like its times."""
    return re.sub(r"\n\s*\n+", "\n", text).replace("-->", "\u2192").strip()
