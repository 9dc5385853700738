"""Scenes in, an HTML composition out: the template and the looks. Nothing a model or a caller wrote is markup here."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._scenes import Column, Scene, Timed

Theme = Literal["light", "dark", "corporate", "warm"]
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Look:
    """Colours of a theme, as CSS writes them.

    Text colours keep a contrast of at least 4.5 to 1 on both grounds (WCAG 2.2, 1.4.3), which a test checks.

    Attributes:
        ground: Background, upper left.
        ground2: Background, lower right.
        ink: Headings and text.
        dim: Second lines.
        accent: Bars, bullets, figures.
        shape: Large round shapes behind, with their strength.
        shape2: The second of them.
        card: Behind columns.
    """

    ground: str
    ground2: str
    ink: str
    dim: str
    accent: str
    shape: str
    shape2: str
    card: str


LOOKS: dict[Theme, Look] = {
    "dark": Look("#0b1020", "#151b3b", "#f7f9ff", "#aeb8d8", "#8ea2ff", "#5b6cff3d", "#20c9b02e", "#ffffff12"),
    "light": Look("#fbfbff", "#eceffd", "#12183a", "#4d5678", "#4338ca", "#6366f12e", "#14b8a629", "#ffffffc4"),
    "corporate": Look("#0d2547", "#123a6b", "#ffffff", "#c0d2ea", "#6cc1ff", "#2f8be63d", "#ffffff14", "#ffffff14"),
    "warm": Look("#fff8ef", "#fbe6d0", "#3a1d10", "#74503c", "#b5400f", "#f9731633", "#f4b40038", "#ffffffb0"),
}


@dataclass(frozen=True, slots=True)
class Film:
    """What goes into a document.

    Attributes:
        title: Of the whole video; small on each scene.
        scenes: In order, without gaps.
        theme: Look.
        aspect_ratio: `16:9`, `9:16` or `1:1`.
        audio_artifact: Id of its sound, or None.
        language: BCP 47 tag.
    """

    title: str
    scenes: Sequence[Timed]
    theme: Theme
    aspect_ratio: str
    audio_artifact: str | None
    language: str = "en"


def composition(film: Film) -> str:
    """The HTML document; it plays by itself in a browser, too."""
    look = LOOKS[film.theme]
    colours = "".join(
        f"--{name}:{getattr(look, name)};"
        for name in ("ground", "ground2", "ink", "dim", "accent", "shape", "shape2", "card")
    )
    audio = f' data-audio="artifact:{escape(film.audio_artifact)}"' if film.audio_artifact else ""
    length = f"{film.scenes[-1].end:g}"
    css = (_HERE / "composition.css").read_text("utf-8")
    player = (_HERE / "player.js").read_text("utf-8")
    scenes = "\n".join(_scene(film, index) for index in range(len(film.scenes)))
    return (
        "<!doctype html>\n"
        f'<html lang="{escape(film.language)}" data-duration="{length}" '
        f'data-aspect-ratio="{film.aspect_ratio}"{audio}>\n'
        f'<head>\n<meta charset="utf-8">\n<title>{escape(film.title)}</title>\n'
        f"<style>\n:root{{{colours}}}\n{css}</style>\n</head>\n"
        f'<body class="{film.theme}">\n{scenes}\n<script>\n{player}</script>\n</body>\n</html>\n'
    )


def _scene(film: Film, index: int) -> str:
    timed = film.scenes[index]
    scene = timed.scene
    length = timed.end - timed.start
    is_last = index == len(film.scenes) - 1
    # The last scene stays: a film that ends on an empty page looks broken off.
    leave = "" if is_last else f"--leave:{max(0.5, length - 0.45):.2f}s;"
    classes = f"scene {scene.layout} side-{index % 3}{' last' if is_last else ''}"
    return (
        f'<section class="{classes}" data-start="{timed.start:g}" data-end="{timed.end:g}"'
        f' style="{leave}--drift:{min(length, 3.2):.2f}s">\n'
        '<i class="shape one"></i><i class="shape two"></i>\n'
        f'<div class="content">{_content(scene)}</div>\n'
        f"{_footer(film, index)}</section>"
    )


def _footer(film: Film, index: int) -> str:
    if film.scenes[index].scene.layout in ("title", "closing"):
        return ""
    total = len(film.scenes)
    dots = "".join(f"<b{' class=on' if number == index else ''}></b>" for number in range(total)) if total <= 16 else ""
    return f'<footer><span>{escape(_cut(film.title, 60))}</span><span class="dots">{dots}</span></footer>\n'


def _content(scene: Scene) -> str:
    match scene.layout:
        case "title" | "closing":
            return f'<div class="bar"></div>{_words("h1", scene.title)}{_line("sub", scene.text, 2)}'
        case "statement":
            return f"{_line('kicker', scene.text, 0)}{_words('h1', scene.title)}"
        case "bullets":
            points = "".join(
                f'<li class="{_size(point)}" style="--n:{number}"><b></b><span>{escape(point)}</span></li>'
                for number, point in enumerate(scene.bullets, 2)
            )
            dense = " dense" if sum(_width(point) for point in scene.bullets) > 330 else ""
            return f'{_words("h2", scene.title)}<ul class="points{dense}">{points}</ul>'
        case "quote":
            return f'<div class="mark"></div>{_words("blockquote", scene.text)}{_line("by", scene.source, 4)}'
        case "statistic":
            return (
                f"{_line('kicker', scene.title, 0)}"
                f'<div class="figure f{min(4, max(1, -(-_width(scene.figure) // 4)))}">{escape(scene.figure)}</div>'
                f"{_line('meaning', scene.text, 3)}{_line('by', scene.source, 4)}"
            )
        case "comparison":
            columns = "".join(
                _column(column, number)
                for number, column in enumerate((scene.left, scene.right), 2)
                if column is not None
            )
            return f'{_words("h2", scene.title)}<div class="columns">{columns}</div>'


def _column(column: Column, number: int) -> str:
    points = "".join(f"<li><b></b><span>{escape(point)}</span></li>" for point in column.points)
    return f'<div class="column" style="--n:{number}"><h3>{escape(column.title)}</h3><ul>{points}</ul></div>'


def _words(tag: str, text: str) -> str:
    """A heading whose words come in one after the other."""
    if not text:
        return ""
    words = re.split(r"(?<=\S)\s+", text.strip())
    spans = " ".join(f'<span style="--n:{min(number, 14)}">{escape(word)}</span>' for number, word in enumerate(words))
    return f'<{tag} class="words {_size(text)}">{spans}</{tag}>'


def _line(name: str, text: str, number: int) -> str:
    return f'<p class="{name} {_size(text)}" style="--n:{number}">{escape(text)}</p>' if text else ""


def _width(text: str) -> int:
    """Characters, wide ones counted twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _size(text: str) -> str:
    """A class for the length of a text, from `s1` (a few words) to `s5`."""
    longest = max((_width(word) for word in text.split()), default=0)
    width = _width(text)
    for step, (limit, word) in enumerate(((26, 13), (52, 17), (92, 21), (150, 26)), 1):
        if width <= limit and longest <= word:
            return f"s{step}"
    return "s5"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
