"""Finds the scripts of a text that no available font can show, from the fonts' character maps."""

from __future__ import annotations

import struct
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH")
_PACKAGES = {"Chinese, Japanese or Korean": "fonts-noto-cjk", "emoji": "fonts-noto-color-emoji"}
#: Plainer characters that say the same, for machines without an emoji font.
_PLAINER = {
    "\u2705": "\u2713",  # white heavy check mark -> check mark
    "\u2714": "\u2713",
    "\u274c": "\u2717",  # cross mark -> ballot x
    "\u2716": "\u2717",
    "\u2b50": "\u2605",
    "\u27a1": "\u2192",
    "\U0001f449": "\u2192",
}


def unknown_characters(texts: Iterable[str], font_files: Iterable[tuple[Path, int]]) -> set[str]:
    """Visible characters of `texts` that none of the font files has.

    Args:
        texts: What is to be shown.
        font_files: Files and the index of the font within each, for collections; read until nothing is left to find.
    """
    wanted = {character for text in texts for character in text if _is_visible(character)}
    for path, index in font_files:
        if not wanted:
            break
        codes = character_codes(path, index)
        wanted = {character for character in wanted if not _has(codes, ord(character))}
    return wanted


def replacements(unknown: set[str]) -> dict[str, str]:
    """What to show instead of pictorial characters no font has: a plainer sign, or nothing rather than a box."""
    found = {}
    for character in unknown:
        if character in _PLAINER:
            found[character] = _PLAINER[character]
        elif unicodedata.category(character) in ("So", "Sk"):
            found[character] = ""
    return found


def missing_warning(unknown: set[str]) -> str | None:
    """A sentence naming the scripts no font has and what to install, or None when there are none."""
    if not unknown:
        return None
    scripts: dict[str, list[str]] = {}
    for character in sorted(unknown):
        scripts.setdefault(script_of(character), []).append(character)
    packages = sorted({_PACKAGES.get(script, "fonts-noto-core") for script in scripts})
    shown = ", ".join(f"{script} ({' '.join(found[:3])})" for script, found in scripts.items())
    boxes = "emoji are left out, other characters show as boxes" if "emoji" in scripts else "they show as boxes"
    return (
        f"No font on this machine has these characters, so {boxes}: {shown}. "
        f"Install {', '.join(f'`{package}`' for package in packages)} or another font that has them."
    )


def script_of(character: str) -> str:
    """The script a character belongs to, as people call it."""
    code = ord(character)
    if 0x1F000 <= code <= 0x1FAFF or unicodedata.category(character) == "So":
        return "emoji"
    name = unicodedata.name(character, "")
    if name.startswith(_EAST_ASIAN):
        return "Chinese, Japanese or Korean"
    return name.split()[0].capitalize() if name else "unassigned characters"


def _is_visible(character: str) -> bool:
    if " " <= character <= "\u024f":  # Latin: every available font
        return False
    if "\ufe00" <= character <= "\ufe0f":  # variation selectors
        return False
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp", "Mn")


def _has(codes: list[tuple[int, int]], code: int) -> bool:
    low, high = 0, len(codes)
    while low < high:
        middle = (low + high) // 2
        if codes[middle][1] < code:
            low = middle + 1
        else:
            high = middle
    return low < len(codes) and codes[low][0] <= code


def character_codes(path: Path, index: int = 0) -> list[tuple[int, int]]:
    """Ranges of characters a font file has glyphs for, ascending; empty when the file cannot be read.

    Reads the `cmap` table, formats 4 and 12 (OpenType 1.9, "cmap").
    """
    try:
        with path.open("rb") as file:
            head = file.read(12)
            base = 0
            if head[:4] == b"ttcf":
                file.seek(12 + 4 * index)
                (base,) = struct.unpack(">I", file.read(4))
                file.seek(base)
                head = file.read(12)
            (count,) = struct.unpack(">H", head[4:6])
            for _ in range(count):
                tag, _, offset, length = struct.unpack(">4sIII", file.read(16))
                if tag == b"cmap":
                    file.seek(offset)
                    return _ranges(file.read(length))
    except (OSError, struct.error):
        return []
    return []


def _ranges(table: bytes) -> list[tuple[int, int]]:
    (count,) = struct.unpack_from(">H", table, 2)
    found: list[tuple[int, int]] = []
    for record in range(count):
        _, _, offset = struct.unpack_from(">HHI", table, 4 + 8 * record)
        (form,) = struct.unpack_from(">H", table, offset)
        if form == 12:
            (groups,) = struct.unpack_from(">I", table, offset + 12)
            for group in range(groups):
                first, last, _ = struct.unpack_from(">III", table, offset + 16 + 12 * group)
                found.append((first, last))
        elif form == 4:
            found.extend(_segments(table, offset))
    found.sort()
    merged: list[tuple[int, int]] = []
    for first, last in found:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _segments(table: bytes, offset: int) -> Iterable[tuple[int, int]]:
    """Ranges of a format 4 subtable; characters inside a segment that stand for no glyph are left out."""
    (twice,) = struct.unpack_from(">H", table, offset + 6)
    count = twice // 2
    ends = struct.unpack_from(f">{count}H", table, offset + 14)
    starts = struct.unpack_from(f">{count}H", table, offset + 16 + twice)
    range_offsets_at = offset + 16 + 3 * twice
    range_offsets = struct.unpack_from(f">{count}H", table, range_offsets_at)
    for segment, (first, last, jump) in enumerate(zip(starts, ends, range_offsets, strict=True)):
        if first == 0xFFFF:
            continue
        if jump in (0, 0xFFFF):
            yield first, last
            continue
        at = range_offsets_at + 2 * segment + jump
        for code, glyph in enumerate(struct.unpack_from(f">{last - first + 1}H", table, at), start=first):
            if glyph:
                yield code, code
