"""The script of an episode, and the one that needs no model: the text's own sentences, read in turn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .._audio.spoken import WORDS_PER_MINUTE, looks_english, plain_lines, reading_seconds, split_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

Theme = Literal["interview", "debate", "explainer", "deep-dive", "news-roundup", "solo-essay"]

#: What one speaker reads before the other goes on.
_TURN_WORDS = 70
_HEADING = re.compile(r"(?m)^[ \t]{0,3}#{1,6}[ \t]+(.+?)[ \t#]*$")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_TABLE_LINE = re.compile(r"(?m)^[ \t]*\|.*$")
_FENCE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$")
#: Replaces code, so that the text before and after it still makes sense.
_LEFT_OUT = "\ufffc"
#: Parts nobody wants to hear.
_UNHEARD = frozenset(
    {"sources", "references", "bibliography", "license", "licence", "table of contents", "contents", "see also"}
)
_OPENINGS = ("First", "Next", "Then", "Now")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says before another does.

    Attributes:
        speaker: By name.
        text: Plain text.
        chapter: Title of the part that begins here; empty when none does.
    """

    speaker: str
    text: str
    chapter: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """An episode in writing.

    Attributes:
        title: Of the episode.
        turns: In order; at least one.
        heard: The sentences that say something about the subject, for a listing; greetings are none.
        remarks: What is not as asked, for `ctx.warn`.
    """

    title: str
    turns: tuple[Turn, ...]
    heard: tuple[str, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and the sentences under it."""

    heading: str
    sentences: tuple[str, ...]


def read_in_turn(text: str, title: str | None, theme: Theme, speakers: Sequence[str], minutes: float) -> Script | None:
    """A script of the text's own sentences, in their order, cut to length; None when it holds no sentence.

    The first speaker leads through it, the others read. Where the text is longer than asked for, the beginning of each
    part is kept, each in proportion to its length. The same text gives the same script.
    """
    own_title, parts = parts_of(text)
    if not any(part.sentences for part in parts):
        return None
    title = title or own_title or _shortened(next(part.sentences[0] for part in parts if part.sentences))
    kept = cut_to(parts, round(minutes * WORDS_PER_MINUTE))
    english = looks_english(" ".join(sentence for part in parts for sentence in part.sentences))
    host = speakers[0]
    turns: list[Turn] = []
    if english:
        turns.append(Turn(host, _welcome(title, speakers), title))
    else:
        turns.append(Turn(host, _closed(title), title))
    announced = 0
    for part in kept:
        if part.heading and part.heading.lower() != title.lower():
            opening = _OPENINGS[min(announced, 3) if announced < 3 else 1 + announced % 3]
            said = part.heading if part.heading.endswith("?") or not english else f"{opening}: {part.heading}"
            turns.append(Turn(host, _closed(said), part.heading))
            announced += 1
        turns += _read(part, speakers, theme, len(turns))
    if english:
        turns.append(Turn(host, f"That was: {_closed(title)} Thank you for listening."))
    remarks = []
    if theme == "debate":
        remarks.append("No model wrote the script, so nobody argues: the speakers take turns in reading the text.")
    heard = tuple(sentence for part in kept for sentence in part.sentences)
    return Script(title, tuple(_joined(turns)), heard, tuple(remarks))


def parts_of(text: str) -> tuple[str, list[Part]]:
    """The title a text gives itself, or nothing, and its parts."""
    text = text.replace("\r\n", "\n").strip()
    text = _TABLE_LINE.sub("", _FENCE.sub(f"\n\n{_LEFT_OUT}\n\n", _FRONT_MATTER.sub("", f"{text}\n")))
    pieces = _HEADING.split(text)
    title = ""
    parts = [Part("", _sentences(pieces[0]))]
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        said = " ".join(plain_lines(heading)).rstrip(".:")
        if said.lower() in _UNHEARD:
            continue
        if not title and not any(part.sentences for part in parts):
            title, said = said, ""
        parts.append(Part(said, _sentences(body)))
    return title, [part for part in parts if part.sentences]


def cut_to(parts: Sequence[Part], words: int) -> list[Part]:
    """The beginning of each part, together about so many words; at least one sentence of each while there is room."""
    sizes = [sum(map(_length, part.sentences)) for part in parts]
    total = sum(sizes)
    if total <= words * 1.15:
        return list(parts)
    kept: list[Part] = []
    left, weight = float(words), float(total)
    for part, size in zip(parts, sizes, strict=True):
        share = left * size / weight if weight else 0.0
        chosen: list[str] = []
        used = 0.0
        for sentence in part.sentences:
            length = _length(sentence)
            if chosen and used + length / 2 > share:
                break
            if not chosen and length > 2.5 * max(share, 12) and kept:
                break
            chosen.append(sentence)
            used += length
        weight -= size
        left = max(0.0, left - used)
        if chosen:
            kept.append(Part(part.heading, tuple(chosen)))
        if left < 8:
            break
    return kept


def script_seconds(turns: Sequence[Turn]) -> float:
    """How long reading all of it aloud takes, pauses left out."""
    return sum(reading_seconds(turn.text) for turn in turns)


def _read(part: Part, speakers: Sequence[str], theme: Theme, begun: int) -> list[Turn]:
    """The sentences in portions, a speaker for each; in an interview the one who is asked reads all."""
    portions: list[list[str]] = [[]]
    words = 0.0
    for sentence in part.sentences:
        if portions[-1] and words + _length(sentence) / 2 > _TURN_WORDS:
            portions.append([])
            words = 0.0
        portions[-1].append(sentence)
        words += _length(sentence)
    readers = list(speakers[1:]) or [speakers[0]]
    if theme not in ("interview", "solo-essay"):
        readers = [*readers, speakers[0]]
    offset = 0 if theme in ("interview", "solo-essay") or part.heading else begun
    return [Turn(readers[(offset + index) % len(readers)], " ".join(each)) for index, each in enumerate(portions)]


def _welcome(title: str, speakers: Sequence[str]) -> str:
    with_whom = f" With me is {speakers[1]}." if len(speakers) > 1 else ""
    return f"Welcome. This episode is about: {_closed(title)}{with_whom} What you will hear is the text itself."


def _joined(turns: Sequence[Turn]) -> list[Turn]:
    """Turns of one speaker after the other made one, unless a new part begins."""
    made: list[Turn] = []
    for turn in turns:
        if made and made[-1].speaker == turn.speaker and not turn.chapter:
            made[-1] = Turn(turn.speaker, f"{made[-1].text} {turn.text}", made[-1].chapter)
        else:
            made.append(turn)
    return made


def _sentences(body: str) -> tuple[str, ...]:
    found: list[str] = []
    stretches = body.split(_LEFT_OUT)
    for index, stretch in enumerate(stretches):
        here = [sentence for line in plain_lines(stretch) for sentence in split_sentences(line)]
        if index and here and here[0][0].islower():
            del here[0]
        if index < len(stretches) - 1 and here and here[-1].endswith(":"):
            del here[-1]
        found += here
    return tuple(sentence for sentence in found if _length(sentence) >= 2)


def _length(sentence: str) -> float:
    return reading_seconds(sentence) * WORDS_PER_MINUTE / 60


def _closed(text: str) -> str:
    text = text.strip()
    return text if text[-1:] in ".!?\u2026\u3002\uff1f\uff01" else f"{text}."


def _shortened(sentence: str) -> str:
    if len(sentence) <= 80:
        return sentence.rstrip(".")
    return sentence[: sentence.rfind(" ", 0, 78) if " " in sentence[:78] else 78].rstrip(" ,;:") + "\u2026"
