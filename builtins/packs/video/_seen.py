"""Rules for compositions as they look: texts that leave the stage, overlap, are too small or too faint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packline import PackError

from ._rules import MAX_FINDINGS, Finding, timed_windows
from ._stage import Asset, Stage, open_stage

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_INSTANTS = 60
#: On a stage of 720 CSS pixels; smaller is unreadable on a phone.
LEAST_FONT_PIXELS = 14.0
SMALL_FONT_PIXELS = 18.0
#: WCAG 2.2, 1.4.3: normal text, and large text (24 px, or 18.7 px bold).
_CONTRAST, _LARGE_CONTRAST = 4.5, 3.0
_MARGIN = 2.0
_OVERLAP = 0.12


def seen_findings(html: str, aspect_ratio: str, assets: Mapping[str, Asset]) -> list[Finding]:
    """Loads a composition and looks at each scene when everything of it is there.

    Runs in a worker process. What keeps the composition from being loaded is a finding, not an error.
    """
    found: dict[tuple[str, str, str], Finding] = {}
    try:
        with open_stage(html, aspect_ratio, 1.0, assets) as stage:
            duration = stage.evaluate("__packlinePlayer.duration()")
            for instant in _instants(html, float(duration) if isinstance(duration, int | float) else 10.0):
                stage.seek(instant)
                for finding in _at(stage, stage.look(), instant):
                    _add(found, finding)
                if len(found) >= MAX_FINDINGS:
                    break
            blocked, failed = stage.report()
        for address in blocked:
            _add(found, Finding("outside-resource", "error", f"It asks for `{address[:120]}`, which is not loaded."))
        for text in failed:
            _add(found, Finding("script-fails", "error", f"A script fails: {text}"))
    except PackError as error:
        if error.failure.code not in ("invalid_input", "timeout", "resource_exhausted"):
            raise
        _add(found, Finding("does-not-run", "error", error.failure.message))
    return list(found.values())


def _add(found: dict[tuple[str, str, str], Finding], finding: Finding) -> None:
    found.setdefault((finding.rule, finding.element, finding.message), finding)


def _instants(html: str, duration: float) -> list[float]:
    """When to look: late in each window, in order, so that time never runs backwards."""
    duration = min(duration, 720.0)
    windows = timed_windows(html)
    if not windows:
        return [round(duration * part / 8, 3) for part in range(1, 8)]
    # Before the last half second, in which a scene may leave.
    late = {round(max(start + (end - start) * 0.5, min(end - 0.6, start + 4.0)), 3) for start, end in windows}
    instants = sorted(instant for instant in late if instant < duration)
    step = -(-len(instants) // _MAX_INSTANTS) or 1
    return instants[::step]


def _at(stage: Stage, seen: Any, instant: float) -> list[Finding]:  # noqa: ANN401
    found = []
    texts = seen["texts"]
    for text in texts:
        found += _of_text(text, stage.width, stage.height, instant)
    for index, one in enumerate(texts):
        for other in texts[index + 1 :]:
            if _overlap(one["box"], other["box"]) > _OVERLAP:
                message = f"“{_cut(one['text'])}” and “{_cut(other['text'])}” overlap."
                found.append(Finding("text-overlap", "error", message, one["element"], instant))
    if seen["missing"]:
        found.append(Finding("missing-glyphs", "warning", missing_glyphs(seen["missing"])))
    return found


def missing_glyphs(characters: list[str]) -> str:
    """A sentence on characters no font has."""
    signs = " ".join(characters[:12])
    return f"No font on this machine has {signs}; install one, such as fonts-noto-cjk or fonts-noto-color-emoji."


def _of_text(text: Mapping[str, Any], width: int, height: int, instant: float) -> list[Finding]:
    found = []
    left, top, right, bottom = text["box"]
    said, element = f"“{_cut(text['text'])}”", text["element"]
    if left < -_MARGIN or top < -_MARGIN or right > width + _MARGIN or bottom > height + _MARGIN:
        found.append(Finding("text-outside", "error", f"{said} leaves the stage.", element, instant))
    elif text["clipped"]:
        found.append(Finding("text-clipped", "error", f"{said} is cut off by the element around it.", element, instant))
    size = text["size"]
    if size < SMALL_FONT_PIXELS:
        severity = "error" if size < LEAST_FONT_PIXELS else "warning"
        message = f"{said} is set in {size:g} pixels; {SMALL_FONT_PIXELS:g} and more can be read."
        found.append(Finding("text-small", "error" if severity == "error" else "warning", message, element, instant))
    ratio = least_contrast(text["colour"], text["grounds"])
    is_large = size >= 24 or (text["bold"] and size >= 18.66)
    needed = _LARGE_CONTRAST if is_large else _CONTRAST
    if ratio is not None and ratio < needed:
        message = f"{said} has a contrast of {ratio:.1f} to 1 to its background; {needed:g} to 1 can be read."
        found.append(Finding("contrast", "error" if ratio < 2 else "warning", message, element, instant))
    return found


def least_contrast(colour: list[float] | None, grounds: list[list[float]] | None) -> float | None:
    """The smallest contrast of a text to its possible backgrounds (WCAG 2.2); None if unknown."""
    if not colour or not grounds:
        return None
    strength = colour[3]
    ratios = []
    for ground in grounds:
        shown = [value * strength + below * (1 - strength) for value, below in zip(colour[:3], ground, strict=True)]
        light, dark = sorted((_luminance(shown), _luminance(ground)), reverse=True)
        ratios.append((light + 0.05) / (dark + 0.05))
    return min(ratios)


def _luminance(colour: list[float]) -> float:
    parts = [value / 255 for value in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _overlap(one: list[float], other: list[float]) -> float:
    """How much of the smaller box the other covers, 0 to 1."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or high <= 0:
        return 0.0
    area = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return wide * high / area if area > 0 else 0.0


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:39].rstrip() + "…"
