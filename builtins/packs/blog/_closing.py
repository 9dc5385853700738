"""A post's closing: writing a plain one, finding the place for it, and knowing one that is there already."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packline import read_web_address

from .._links import link, linked
from .._writing import one_line, same_address

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A link definition nothing refers to: no Markdown renderer shows it, and it survives being saved and read again.
MARKER = '[//]: # "closing"'
_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+(.*)$")
_SOURCES = re.compile(r"(?:related )?sources|references|further reading|footnotes|notes", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """An address the closing may point to.

    Attributes:
        kind: Which input it came from.
        url: The address.
        label: What the link says where nobody has written it.
        lead: What one does there.
    """

    kind: str
    url: str
    label: str
    lead: str


def targets_of(project_url: str, github_url: str, source_url: str) -> list[Target]:
    """The addresses that were given, in the order in which they are shown; each address once."""
    made = []
    if project_url:
        made.append(Target("project_url", project_url, _host(project_url), "Try it or read more"))
    if github_url:
        made.append(Target("github_url", github_url, _repository(github_url), "See the code or take part"))
    if source_url:
        made.append(Target("source_url", source_url, _host(source_url), "Read the original"))
    return [
        target
        for number, target in enumerate(made)
        if not any(same_address(target.url, earlier.url) for earlier in made[:number])
    ]


def plain_closing(targets: Sequence[Target], audience: str) -> str:
    """A closing without a model: one sentence and a list of the addresses; empty when there is nothing to say."""
    if not targets:
        return ""
    opening = f"This post was written for {audience}. If it helped," if audience else "If this post helped,"
    if len(targets) == 1:
        target = targets[0]
        sentence = f"{target.lead[0].lower()}{target.lead[1:]} at {link(target.label, target.url)}."
        return f"## Where to go next\n\n{opening} {sentence}"
    return f"## Where to go next\n\n{opening} this is where to go on:\n\n{entries_of(targets)}"


def entries_of(targets: Sequence[Target]) -> str:
    """The addresses as a list."""
    return "\n".join(f"- **{target.lead}**: {link(target.label, target.url)}" for target in targets)


def missing_targets(markdown: str, targets: Sequence[Target]) -> list[Target]:
    """The addresses a closing does not point to."""
    present = linked(markdown)
    return [target for target in targets if not any(same_address(url, target.url) for url in present)]


def has_closing(markdown: str, closing: str = "") -> bool:
    """Whether a closing was appended before: ours by its marker, a given one by its words."""
    return MARKER in markdown or (bool(closing) and one_line(closing) in one_line(markdown))


def append(markdown: str, closing: str) -> str:
    """The post with the closing at its end, before a list of sources when it ends with one."""
    body = markdown.rstrip()
    before, after = body, ""
    headings = list(_HEADING.finditer(body))
    if headings and headings[-1][1] in ("##", "###") and _SOURCES.fullmatch(headings[-1][2].strip("# \t")):
        start = headings[-1].start()
        before, after = body[:start].rstrip(), body[start:]
    return "\n\n".join(part for part in (before, closing.strip(), MARKER, after) if part) + "\n"


def _host(url: str) -> str:
    _, _, shown = replace(read_web_address(url), query=None).readable.partition("//")
    shown = shown.removeprefix("www.").rstrip("/")
    return shown if len(shown) <= 50 else shown.partition("/")[0]


def _repository(url: str) -> str:
    address = read_web_address(url)
    names = [name for name in address.path.split("/") if name]
    if address.host.removeprefix("www.") == "github.com" and len(names) >= 2:
        return f"{names[0]}/{names[1].removesuffix('.git')} on GitHub"
    return _host(url)
