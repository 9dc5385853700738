"""Scenes of a composition, and the ones that need no model: a description's own sentences, one after the other."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Sequence

Layout = Literal["title", "statement", "bullets", "quote", "statistic", "comparison", "closing"]
Example = Literal["explainer", "product-intro", "how-to", "news", "data-story"]

MAX_SCENES = 40
MIN_SCENE_SECONDS = 2.5
LEAST_SECONDS = 1.51
#: A viewer's reading speed on screen, words a second, slower than on paper.
_WORDS_PER_SECOND = 2.8
_LEAD_SECONDS = 1.8
#: After a full stop and closing quotes, before what may begin a sentence; East Asian stops need no space.
_SENTENCE = re.compile(r"(?<=[.!?…])[\"”\u2019)]*\s+(?=[\"“\u2018(]?[^\W\d_a-z]|[\"“]?\d)|(?<=[。\uff01\uff1f])")
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)")
_QUOTE = re.compile(r"[“\"„«]([^”\"“»]{12,220})[”\"“»]\s*(?:[-—\u2013,]\s*(.{2,60}))?$")
#: The line below a table's headings, or one drawn across: nothing to read.
_RULE = re.compile(r"(?:```|~~~).*|\|?(?:\s*:?-{2,}:?\s*\|?)+")
_FIGURE = re.compile(
    r"(?<![\w.])(?:[$€£¥]\s?\d[\d.,]*\s?(?:k|m|bn|million|billion)?"
    r"|\d[\d.,]*\s?(?:%|percent|per cent|million|billion|times|x)(?!\w))",
    re.IGNORECASE,
)


class Column(BaseModel):
    """One side of a comparison."""

    title: str = Field(max_length=60, description="Title of this side.")
    points: list[str] = Field(default_factory=list, max_length=4, description="What is true of it, a few words each.")


class Scene(BaseModel):
    """What one scene says; how it looks is the template's business."""

    layout: Layout = Field(
        description="`title` opens, `statement` is one big sentence, `bullets` a heading and points, `quote` "
        "somebody's words, `statistic` one big figure, `comparison` two columns, `closing` ends."
    )
    title: str = Field(default="", max_length=160, description="Heading, or the statement itself.")
    text: str = Field(default="", max_length=320, description="Line below it; the quoted words; what a figure means.")
    bullets: list[str] = Field(default_factory=list, max_length=5, description="Points, a few words each.")
    figure: str = Field(default="", max_length=16, description="The figure, such as `42 %`.")
    source: str = Field(default="", max_length=80, description="Who said it, or where the figure is from.")
    left: Column | None = Field(default=None, description="First side of a comparison.")
    right: Column | None = Field(default=None, description="Second side of a comparison.")
    duration_seconds: float | None = Field(
        default=None, ge=1.5, le=720, description="Seconds it is shown; by default by the length of the texts."
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """A scene with its place in time, in seconds."""

    scene: Scene
    start: float
    end: float


def words_of(scene: Scene) -> int:
    """Words on a scene; in scripts without spaces every two characters count as one."""
    parts = [scene.title, scene.text, *scene.bullets, scene.figure, scene.source]
    for column in (scene.left, scene.right):
        if column is not None:
            parts += [column.title, *column.points]
    text = " ".join(parts)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text.split()) + wide // 2


def scene_problem(scene: Scene) -> str | None:
    """What a scene lacks to be shown, or None."""
    match scene.layout:
        case "bullets" if not scene.bullets:
            return "has no bullets"
        case "quote" if not scene.text:
            return "has no text to quote"
        case "statistic" if not scene.figure:
            return "has no figure"
        case "comparison" if scene.left is None or scene.right is None:
            return "lacks a side"
        case "title" | "statement" | "closing" if not scene.title:
            return "has no title"
    return None


def timed(scenes: Sequence[Scene], seconds: float | None) -> list[Timed]:
    """Scenes one after the other: as long as reading them takes, or sharing out a given length.

    Args:
        scenes: At least one.
        seconds: Length of the whole, or None. Scenes that say how long they stand keep that where it is possible.
    """
    natural = [scene.duration_seconds or _natural(scene) for scene in scenes]
    if seconds is not None:
        # Each gets a minimum; the rest is shared in proportion to the text to read.
        least = min(LEAST_SECONDS, seconds / len(scenes))
        rest = (seconds - least * len(scenes)) / sum(natural)
        natural = [least + length * rest for length in natural]
    result, start = [], 0.0
    for index, (scene, length) in enumerate(zip(scenes, natural, strict=True)):
        is_last = index == len(scenes) - 1 and seconds is not None
        end = round(seconds, 3) if is_last and seconds is not None else round(start + length, 2)
        result.append(Timed(scene, round(start, 2), end))
        start = end
    return result


def _natural(scene: Scene) -> float:
    return round(min(14.0, max(3.5, _LEAD_SECONDS + words_of(scene) / _WORDS_PER_SECOND)), 1)


def fewest_to(scenes: Sequence[Scene], seconds: float) -> list[Scene]:
    """As many scenes as a length has room for: the first and last stay, the ones between are taken evenly."""
    room = max(1, min(MAX_SCENES, int(seconds // MIN_SCENE_SECONDS)))
    if len(scenes) <= room:
        return list(scenes)
    if room == 1:
        return [scenes[0]]
    return [scenes[round(index * (len(scenes) - 1) / (room - 1))] for index in range(room)]


def split_description(description: str, title: str | None, example: Example | None) -> list[Scene]:
    """Scenes made of a description's own sentences; empty when it holds none.

    Headings and lists become scenes with points, quoted words quotes, sentences with a figure statistics, other
    sentences one big line each. The same text gives the same scenes.
    """
    blocks = _blocks(description)
    heading = next((text for kind, text, _ in blocks if kind == "heading"), "")
    sentences = [text for kind, text, _ in blocks if kind == "sentence"]
    if not heading and not sentences and not any(kind == "list" for kind, _, _ in blocks):
        return []
    opening = title or heading or _clause(sentences[0] if sentences else blocks[0][2][0], 90)
    scenes = [Scene(layout="title", title=opening[:160], text=_subtitle(opening, sentences))]
    used = {_plain(opening), _plain(scenes[0].text)}
    current = ""
    for kind, text, items in blocks:
        if kind == "heading":
            current = "" if _plain(text) in used else text
            continue
        if kind == "list":
            for start in range(0, len(items), 5):
                points = [_clause(item, 110) for item in items[start : start + 5]]
                scenes.append(Scene(layout="bullets", title=current or _named(example), bullets=points))
            current = ""
            continue
        if _plain(text) in used:
            continue
        used.add(_plain(text))
        scenes.append(_scene_of(text, current))
        current = ""
    if len(scenes) > 2:
        scenes.append(Scene(layout="closing", title=opening[:160]))
    return scenes[: MAX_SCENES - 1] + scenes[-1:] if len(scenes) > MAX_SCENES else scenes


def _named(example: Example | None) -> str:
    return {"how-to": "Step by step", "news": "In short", "data-story": "In figures"}.get(example or "", "At a glance")


def _scene_of(sentence: str, heading: str) -> Scene:
    quote = _QUOTE.search(sentence)
    if quote is not None:
        source = (quote[2] or "").strip(" .") or _clause(sentence[: quote.start()].strip(" :,"), 60)
        return Scene(layout="quote", text=quote[1].strip(), source=source)
    figure = _FIGURE.search(sentence)
    if figure is not None and len(figure[0]) <= 16 and len(sentence) <= 220:
        return Scene(layout="statistic", title=heading[:160], figure=_figure(figure[0]), text=sentence)
    if heading:
        return Scene(layout="statement", title=_clause(sentence, 150), text=heading[:160])
    return Scene(layout="statement", title=_clause(sentence, 150))


def _figure(text: str) -> str:
    text = re.sub(r"\s*(?:percent|per cent)\b", " %", text, flags=re.IGNORECASE)
    return " ".join(text.split()).rstrip(".,")


def _subtitle(opening: str, sentences: Sequence[str]) -> str:
    for sentence in sentences[:2]:
        if _plain(sentence) != _plain(opening) and len(sentence) <= 140 and not _FIGURE.search(sentence):
            return sentence
    return ""


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()


def _clause(text: str, limit: int) -> str:
    """A text, or its beginning up to a clause's or a word's end."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text.rstrip(" .;:,") if text.count(".") <= 1 else text
    cut = text[:limit]
    for mark in ("; ", ": ", " — ", " \u2013 ", ", "):
        at = cut.rfind(mark)
        if at > limit // 2:
            return cut[:at]
    return cut[: max(cut.rfind(" "), limit // 2)].rstrip(" ,;:") + "…"


def _blocks(text: str) -> list[tuple[str, str, list[str]]]:
    """`(kind, text, items)` in order; kind is heading, sentence or list. Tables are lists of rows; code is left out."""
    blocks: list[tuple[str, str, list[str]]] = []
    prose: list[str] = []
    items: list[str] = []
    rows: list[list[str]] = []
    in_code = False

    def close() -> None:
        if prose:
            joined = " ".join(prose)
            blocks.extend(("sentence", part.strip(), []) for part in _SENTENCE.split(joined) if _plain(part))
            prose.clear()
        if items:
            blocks.append(("list", "", list(items)))
            items.clear()
        if points := _points_of(rows):
            blocks.append(("list", "", points))
        rows.clear()

    for line in text.replace("\r\n", "\n").split("\n"):
        bare = _inline(line.strip())
        if line.lstrip().startswith(("```", "~~~")):
            close()
            in_code = not in_code
        if in_code or _RULE.fullmatch(bare):
            continue
        if bare.startswith("|"):
            if prose or items:
                close()
            rows.append([cell.strip() for cell in bare.strip("|").split("|")])
            continue
        if rows:
            close()
        item = _ITEM.match(line)
        if not bare:
            if prose:
                close()
        elif line.lstrip().startswith("#"):
            close()
            if _plain(bare):
                blocks.append(("heading", bare.lstrip("# ").rstrip("# "), []))
        elif item is not None:
            if prose:
                close()
            items.append(_inline(item[1].strip()))
        else:
            if items:
                close()
            prose.append(bare)
    close()
    return blocks


def _points_of(rows: list[list[str]]) -> list[str]:
    """A table's rows as points: what a row is about, then its other cells by their headings."""
    if not rows:
        return []
    headings, *body = rows
    points = []
    for row in body or [headings]:
        said = [
            f"{heading} {cell}" if heading and body else cell
            for heading, cell in zip([*headings, *([""] * len(row))][1:], row[1:], strict=False)
            if cell
        ]
        points.append(": ".join(part for part in (row[0], ", ".join(said)) if part))
    return points


def _inline(text: str) -> str:
    """Markdown's emphasis, code and links as plain text."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", text)
