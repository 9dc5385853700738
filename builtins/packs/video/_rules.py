"""Rules for compositions that need no browser, only the document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

Severity = Literal["error", "warning"]
MAX_SECONDS = 720.0
MAX_FINDINGS = 100

_LOADED = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "link": ("href",),
    "source": ("src", "srcset"),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
_NOT_SHOWN = ("video", "audio", "iframe", "frame", "object", "embed", "portal")
_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", re.IGNORECASE)
_ALLOWED = re.compile(r"\s*(data:|blob:|#|artifact:art_|about:blank)", re.IGNORECASE)
_CALLS = (
    (re.compile(r"\b(?:alert|confirm|prompt)\s*\("), "opens a dialog"),
    (re.compile(r"\bfetch\s*\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b|\bsendBeacon\b"), "uses the network"),
    (re.compile(r"\bRTCPeerConnection\b"), "uses the network"),
    (re.compile(r"\bwindow\.open\s*\("), "opens a window"),
    (re.compile(r"\bserviceWorker\b|\bnew\s+(?:Shared)?Worker\b"), "starts a worker"),
    (re.compile(r"\blocation\s*(?:\.href)?\s*=[^=]|\blocation\.(?:assign|replace|reload)\s*\("), "leaves the page"),
    (re.compile(r"\bimport\s*\(|\bimport\s+[\w{*]"), "loads a module"),
    (re.compile(r"\bwhile\s*\(\s*(?:true|1)\s*\)|\bfor\s*\(\s*;\s*;\s*\)"), "may loop without end"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a rule has to say.

    Attributes:
        rule: Name of the rule.
        severity: Errors spoil the video; warnings may.
        message: For people, one sentence.
        element: Which element, as CSS would name it; empty for the document.
        at_seconds: When it shows, or None.
    """

    rule: str
    severity: Severity
    message: str
    element: str = ""
    at_seconds: float | None = None


def static_findings(html: str) -> list[Finding]:
    """What is wrong with the document itself."""
    tree = LexborHTMLParser(html)
    found = [*_resources(tree), *_timeline(tree), *_scripts(tree)]
    body = tree.body
    if body is None or (not body.text(strip=True) and not body.css("img, svg, canvas, script")):
        found.append(Finding("empty", "error", "The composition shows nothing."))
    return found[:MAX_FINDINGS]


def timed_windows(html: str) -> list[tuple[float, float]]:
    """Start and end of each timed element of the body, in seconds; ends left open are those of the document."""
    tree = LexborHTMLParser(html)
    duration = _duration(tree) or MAX_SECONDS
    windows = []
    for node in _timed(tree):
        start, end = _window(node, duration)
        if start is not None and end is not None and end > start:
            windows.append((start, end))
    return windows


def _duration(tree: LexborHTMLParser) -> float | None:
    for node in (tree.root, tree.body):
        value = _number(node.attributes.get("data-duration")) if node is not None else None
        if value is not None and value > 0:
            return value
    return None


def _number(text: str | None) -> float | None:
    found = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)", text or "")
    return float(found[0]) if found else None


def _timed(tree: LexborHTMLParser) -> list[LexborNode]:
    return tree.css("body [data-start], body [data-end]")


def _window(node: LexborNode, duration: float) -> tuple[float | None, float | None]:
    start = _number(node.attributes.get("data-start")) if "data-start" in node.attributes else 0.0
    end: float | None = duration
    if "data-end" in node.attributes:
        end = _number(node.attributes.get("data-end"))
    elif "data-duration" in node.attributes and start is not None:
        length = _number(node.attributes.get("data-duration"))
        end = None if length is None else start + length
    return start, end


def element_name(node: LexborNode) -> str:
    """An element as CSS would name it."""
    attributes = node.attributes
    name = node.tag or "?"
    if attributes.get("id"):
        return f"{name}#{attributes['id']}"
    return name + "".join(f".{word}" for word in (attributes.get("class") or "").split()[:2])


def _resources(tree: LexborHTMLParser) -> Iterator[Finding]:
    def outside(address: str, node: LexborNode) -> Finding | None:
        if not address.strip() or _ALLOWED.match(address):
            return None
        return Finding(
            "outside-resource",
            "error",
            f"`{address.strip()[:120]}` is not loaded: a composition reaches no network. Use a data: address or "
            "`artifact:art_…`.",
            element_name(node),
        )

    for tag, names in _LOADED.items():
        for node in tree.css(tag):
            for name in names:
                value = node.attributes.get(name) or ""
                parts = [part.split()[0] for part in value.split(",") if part.split()] if name == "srcset" else [value]
                if value.strip().lower().startswith("data:"):
                    continue
                yield from filter(None, (outside(part, node) for part in parts))
    for node in tree.css("style"):
        for found in _URL.finditer(node.text()):
            yield from filter(None, [outside(found[1] or found[2] or "", node)])
    for node in tree.css("[style]"):
        for found in _URL.finditer(node.attributes.get("style") or ""):
            yield from filter(None, [outside(found[1] or found[2] or "", node)])
    for tag in _NOT_SHOWN:
        for node in tree.css(tag):
            yield Finding("not-shown", "error", f"<{tag}> is not shown in a video.", element_name(node))
    for node in tree.css("meta[http-equiv]"):
        if (node.attributes.get("http-equiv") or "").lower() == "refresh":
            yield Finding("leaves-page", "error", "The document sends its reader elsewhere by a refresh.", "meta")


def _timeline(tree: LexborHTMLParser) -> Iterator[Finding]:
    duration = _duration(tree)
    if duration is None:
        hint = 'put `data-duration="20"` (seconds) on the root element'
        yield Finding("duration", "error", f"The composition does not say how long it lasts: {hint}.", "html")
        return
    if duration > MAX_SECONDS:
        yield Finding(
            "duration", "error", f"It lasts {duration:g} seconds; at most {MAX_SECONDS:g} can be filmed.", "html"
        )
    shown: list[tuple[float, float]] = []
    timed = _timed(tree)
    for node in timed:
        start, end = _window(node, duration)
        name = element_name(node)
        if start is None or end is None or start < 0:
            yield Finding("timeline", "error", "Its data-start or data-end is not a number of seconds.", name)
            continue
        if end <= start:
            yield Finding("timeline", "error", f"It ends at {end:g} s, not after its start at {start:g} s.", name)
            continue
        if start >= duration:
            yield Finding("timeline", "error", f"It starts at {start:g} s, after the end at {duration:g} s.", name)
        elif end > duration + 0.05:
            yield Finding("timeline", "warning", f"It ends at {end:g} s, after the end at {duration:g} s.", name)
        shown.append((start, end))
    if shown and not _has_untimed_text(tree):
        for start, end in _gaps(shown, duration):
            yield Finding("timeline", "error", f"Nothing is shown from {start:g} s to {end:g} s.", "", start)


def _has_untimed_text(tree: LexborHTMLParser) -> bool:
    """Whether there is text outside of all timed elements."""
    copy = LexborHTMLParser(tree.html or "")
    for node in copy.css("body [data-start], body [data-end], script, style"):
        node.decompose()
    return bool(copy.body is not None and (copy.body.text(strip=True) or copy.body.css("img, svg, canvas")))


def _gaps(windows: list[tuple[float, float]], duration: float) -> Iterator[tuple[float, float]]:
    reached = 0.0
    for start, end in sorted(windows):
        if start > reached + 0.05:
            yield reached, min(start, duration)
        reached = max(reached, end)
    if reached < duration - 0.05:
        yield reached, duration


def _scripts(tree: LexborHTMLParser) -> Iterator[Finding]:
    for node in tree.css("script"):
        source = node.text()
        for pattern, what in _CALLS:
            if pattern.search(source):
                yield Finding(
                    "script", "error", f"A script {what}; that has no effect in a video, or spoils it.", "script"
                )
    for node in tree.css("a[href], form"):
        yield Finding("links", "warning", "Nobody can click in a video.", element_name(node))
