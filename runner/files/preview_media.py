"""Draws the poster frame of a video and the waveform of a sound, with PyAV.

Runs in a worker process, see `runner.files.preview_worker`.
"""

from __future__ import annotations

import array
from typing import TYPE_CHECKING

import av

from runner.files.preview_drawing import PIXELS, SIDE, DrawnPreview, webp

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

#: Number of peaks in a waveform, each of an equal part of the sound.
PEAKS = 240
#: Longer sounds are sampled: of each part only a moment is decoded.
WHOLE_SECONDS = 900.0
_MOMENT_SECONDS = 0.25
_RATE = 8000
#: The poster frame is taken at this time, after a fade from black, or earlier in a short video.
_POSTER_SECONDS = 3.0
_FRAMES = 200


def draw_media(path: str) -> DrawnPreview:
    """Draw a frame of a video, or return the peaks of a sound, with the duration."""
    with av.open(path, metadata_errors="ignore") as container:
        seconds = _duration(container)
        pictures = [stream for stream in container.streams.video if not _is_cover(stream)]
        if pictures:
            return _frame(container, pictures[0], seconds)
        if container.streams.audio:
            return _waveform(container, seconds)
    return DrawnPreview("none", reason="The file has neither sound nor pictures.")


def _duration(container: InputContainer) -> float | None:
    if container.duration is None or container.duration <= 0:
        return None
    return float(container.duration) / av.time_base


def _is_cover(stream: VideoStream) -> bool:
    """Return whether a stream is only the cover picture of a sound file."""
    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def _frame(container: InputContainer, stream: VideoStream, seconds: float | None) -> DrawnPreview:
    width, height = stream.codec_context.width, stream.codec_context.height
    if not width or not height:
        return DrawnPreview(
            "none", reason="The video does not say how large its pictures are.", duration_seconds=seconds
        )
    if width * height > PIXELS:
        return DrawnPreview(
            "none",
            reason=f"A preview of {width} x {height} pixels would be too large to draw.",
            duration_seconds=seconds,
        )
    stream.thread_type = "AUTO"
    wanted = min(_POSTER_SECONDS, (seconds or 0) / 10)
    best = None
    for number, frame in enumerate(container.decode(stream)):
        best = frame
        if number >= _FRAMES or (frame.time or 0) >= wanted:
            break
    if best is None:
        return DrawnPreview("none", reason="The video has no frame.", duration_seconds=seconds)
    scale = min(1.0, SIDE / max(best.width, best.height))
    small = best.reformat(max(2, round(best.width * scale)), max(2, round(best.height * scale)), "rgb24")
    picture = small.to_image()  # type: ignore[no-untyped-call] # PyAV leaves it without types
    rotation = int(getattr(best, "rotation", 0) or 0) % 360
    if rotation:
        picture = picture.rotate(rotation, expand=True)
        if rotation in (90, 270):
            width, height = height, width
    return DrawnPreview("frame", webp(picture), width=width, height=height, duration_seconds=seconds)


def _waveform(container: InputContainer, seconds: float | None) -> DrawnPreview:
    if seconds is not None and seconds > WHOLE_SECONDS:
        levels = _sampled(container, seconds)
    else:
        samples = _samples(container, None)
        seconds = len(samples) / _RATE if samples else seconds
        size = max(1, -(-len(samples) // PEAKS))
        levels = [_peak(samples[start : start + size]) for start in range(0, len(samples), size)]
    if not levels:
        return DrawnPreview("none", reason="The file has no sound.", duration_seconds=seconds)
    peaks = tuple(round(level / 32768, 4) for level in levels)
    return DrawnPreview("waveform", peaks=peaks, duration_seconds=None if seconds is None else round(seconds, 3))


def _sampled(container: InputContainer, seconds: float) -> list[int]:
    levels = []
    for number in range(PEAKS):
        container.seek(round(seconds * number / PEAKS * av.time_base))
        levels.append(_peak(_samples(container, _MOMENT_SECONDS)))
    return levels


def _samples(container: InputContainer, limit_seconds: float | None) -> array.array[int]:
    """Decode samples of one channel at `_RATE` from the container's present position."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=_RATE)
    limit = round((WHOLE_SECONDS * 2 if limit_seconds is None else limit_seconds) * _RATE)
    samples = array.array("h")
    for frame in container.decode(audio=0):
        for piece in resampler.resample(frame):
            samples.frombytes(bytes(piece.planes[0])[: piece.samples * 2])
        if len(samples) >= limit:
            break
    return samples


def _peak(samples: array.array[int]) -> int:
    return max(max(samples), -min(samples)) if samples else 0
