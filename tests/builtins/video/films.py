"""What the video tests share: a browser or a skip, compositions, and a look into films."""

from __future__ import annotations

import hashlib
import io
import math
import struct
import wave
from typing import TYPE_CHECKING

import pytest

from tests.support.pack_harness import load_module

if TYPE_CHECKING:
    from pathlib import Path

chromium = load_module("video/_chromium.py")


def needs_chromium() -> None:
    """Skips the test where there is no browser; CI counts that as failed."""
    if chromium.find_chromium() is None:
        pytest.skip("there is no Chromium on this machine")


def page(body: str, seconds: float = 1.0, style: str = "", root: str = "") -> str:
    """A small composition."""
    return (
        f'<!doctype html><html data-duration="{seconds:g}" {root}><head><title>Test film</title>'
        f"<style>html,body{{margin:0;height:100%;background:#102030;color:#fff;font:40px Inter}}{style}</style></head>"
        f"<body>{body}</body></html>"
    )


def tone(seconds: float) -> bytes:
    """A WAV file of 440 Hz."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        samples = (int(9000 * math.sin(2 * math.pi * 440 * n / 16_000)) for n in range(int(16_000 * seconds)))
        sound.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return file.getvalue()


def frame_digests(path: Path) -> list[str]:
    """A digest of each decoded picture."""
    av = pytest.importorskip("av")
    with av.open(str(path)) as film:
        return [hashlib.sha256(bytes(frame.planes[0])).hexdigest() for frame in film.decode(video=0)]


def colour_at(path: Path, number: int, x: int, y: int) -> tuple[int, int, int]:
    """A pixel of a decoded picture, as a player shows it."""
    av = pytest.importorskip("av")
    with av.open(str(path)) as film:
        for index, frame in enumerate(film.decode(video=0)):
            if index == number:
                rgb = frame.reformat(format="rgb24", src_colorspace="ITU709", dst_colorspace="ITU709")
                plane = rgb.planes[0]
                at = y * plane.line_size + x * 3
                return tuple(bytes(plane)[at : at + 3])  # type: ignore[return-value]
    raise AssertionError(f"there is no frame {number}")
