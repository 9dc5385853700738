"""The shape of a post as a model hands it over: what is sent back for repair, and what is put right here."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field, model_validator

from packline import excerpt

from .._writing import blanks, count_words, listed, one_line, unwrapped

EXCERPT_CHARS = 300
TAGS = 8
TAG_CHARS = 60

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})([ \t]+.*)")
_SPECIAL, _ESCAPED = re.compile(r"([\\`*_\[\]<])"), r"\\\1"
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:[A-Za-z_][\w-]*[ \t]*:.*\n|[ \t]+.*\n|-[ \t].*\n)+---[ \t]*\n")


class Post(BaseModel):
    """A blog post."""

    markdown: str = Field(description="The post's body in Markdown, without its title; sections begin with `## `.")
    excerpt: str = Field(description="One or two plain sentences for lists and previews, at most 300 characters.")
    tags: list[str] = Field(description="Two to six subjects, a word or two each, no `#`.")


def post_shape(source: str, title: str, minimum_words: int) -> type[Post]:
    """`Post` with what a post of this source must fulfil; what does not goes back to the model once."""

    class Checked(Post):
        @model_validator(mode="after")
        def _is_whole(self) -> Checked:
            body = body_of(self.markdown, title)
            words = count_words(body)
            if words < minimum_words:
                raise ValueError(f"markdown has {words} words; write at least {minimum_words}.")
            if found := blanks(f"{body}\n{self.excerpt}", source):
                raise ValueError(
                    f"markdown still has blanks to fill in: {listed(found)}. Write it out or leave it out."
                )
            if not one_line(self.excerpt):
                raise ValueError("excerpt is empty.")
            return self

    Checked.__name__ = Checked.__qualname__ = Post.__name__
    Checked.__doc__ = Post.__doc__
    return Checked


def body_of(markdown: str, title: str) -> str:
    """The body alone: no fence around it, no front matter, no title, sections from level two."""
    text = _FRONT_MATTER.sub("", unwrapped(markdown)).lstrip("\n")
    first, _, rest = text.partition("\n")
    heading = _HEADING.fullmatch(first.rstrip())
    if heading and (heading[1] == "#" or _key(heading[2]) == _key(title)):
        text = rest
    return _from_level_two(text).strip()


def _from_level_two(markdown: str) -> str:
    """The same with all headings a level lower when one of them is a title's."""
    lines = markdown.split("\n")
    headings: list[tuple[int, str, str]] = []
    fence = ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and (heading := _HEADING.fullmatch(line)):
            headings.append((number, heading[1], heading[2]))
    if any(marks == "#" for _, marks, _ in headings):
        for number, marks, rest in headings:
            lines[number] = f"{'#' * min(6, len(marks) + 1)}{rest}"
    return "\n".join(lines)


def titled(title: str, body: str) -> str:
    """The whole post: the title as its only heading of level one, then the body."""
    return f"# {_SPECIAL.sub(_ESCAPED, title)}\n\n{body}\n"


def excerpt_of(text: str) -> str:
    """The excerpt in one line, ended at a sentence or word when it is too long."""
    line = one_line(text)
    if len(line) <= EXCERPT_CHARS:
        return line
    cut = excerpt(line, EXCERPT_CHARS, ending="")
    sentence = max(cut.rfind(mark) for mark in (". ", "! ", "? ", "\u3002"))
    if sentence > EXCERPT_CHARS // 3:
        return cut[: sentence + 1]
    word = cut.rfind(" ")
    return f"{cut[: word if word > EXCERPT_CHARS // 2 else EXCERPT_CHARS - 1].rstrip(' ,;:')}\u2026"


def tags_of(tags: list[str]) -> list[str]:
    """Subjects without marks or repetitions, as many and as long as a post may have."""
    clean = [excerpt(one_line(tag).strip("#,;. "), TAG_CHARS, ending="").rstrip() for tag in tags]
    seen: dict[str, str] = {}
    for tag in clean:
        if tag:
            seen.setdefault(tag.lower(), tag)
    return list(seen.values())[:TAGS]


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()
