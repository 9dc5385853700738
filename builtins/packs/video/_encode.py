"""Pictures and sound in, an MP4 out: H.264 and AAC through PyAV, written as it comes."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import av
from av.audio.fifo import AudioFifo
from av.audio.resampler import AudioResampler
from av.codec import CodecContext
from av.error import FFmpegError

from packline import PackError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

SAMPLE_RATE = 48_000
AUDIO_BITS = 160_000
#: Constant quality of x264: 18 is seen as lossless, 23 is its default.
QUALITY = "22"
_TOLERANCE_SECONDS = 0.05


def audio_seconds(path: str, limit: float) -> float:
    """Length of a sound file, by decoding it: what headers say is often wrong.

    Args:
        path: The file.
        limit: Reading stops behind this many seconds.

    Raises:
        PackError: `invalid_input` when it holds no sound that can be read.
    """
    samples = 0
    for frame in _sound(path):
        samples += frame.samples
        if samples > limit * SAMPLE_RATE:
            break
    if samples == 0:
        raise _no_sound()
    return samples / SAMPLE_RATE


def _no_sound() -> PackError:
    return PackError(
        "invalid_input",
        "The audio artifact holds no sound that can be read.",
        field="audio_artifact",
        hint="Give an MP3, WAV, M4A, OGG or FLAC file.",
    )


def _sound(path: str) -> Iterator[Any]:
    """The sound as frames of 48 kHz stereo; damaged parts are left out as players do."""
    resampler = AudioResampler(format="fltp", layout="stereo", rate=SAMPLE_RATE)
    try:
        with av.open(path) as container:
            if not container.streams.audio:
                raise _no_sound()
            for frame in container.decode(container.streams.audio[0]):
                frame.pts = None
                yield from resampler.resample(frame)
            yield from resampler.resample(None)
    except FFmpegError as error:
        raise _no_sound() from error


class Film:
    """An MP4 being written; a context manager, which completes the file unless it is left by an exception.

    Args:
        path: Where to.
        width: In pixels, even; as is `height`.
        height: See above.
        fps: Pictures a second.
        audio: A sound file to lay under, or None.
    """

    def __init__(self, path: Path, width: int, height: int, fps: int, audio: str | None) -> None:
        # The index goes to the front, so that players start before they have the whole file.
        self._file = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        self._fps = fps
        self._count = 0
        self._video = self._file.add_stream("libx264", rate=fps)
        self._video.width, self._video.height, self._video.pix_fmt = width, height, "yuv420p"
        self._video.time_base = Fraction(1, fps)
        self._video.gop_size = 2 * fps
        context = self._video.codec_context
        context.color_range = 1  # MPEG
        context.colorspace = context.color_primaries = context.color_trc = 1  # BT.709
        self._video.options = {"preset": "veryfast", "crf": QUALITY}
        self._decoder: Any = CodecContext.create("mjpeg", "r")
        self._picture: Any = None
        self._audio: Any = None
        self._sound: Iterator[Any] = iter(())
        self._fifo = AudioFifo()
        self._heard = 0
        if audio is not None:
            self._audio = self._file.add_stream("aac", rate=SAMPLE_RATE)
            self._audio.bit_rate = AUDIO_BITS
            self._audio.layout = "stereo"
            self._sound = _sound(audio)

    def __enter__(self) -> Film:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        with contextlib.suppress(FFmpegError):
            self._file.close()

    @property
    def frames(self) -> int:
        """Pictures so far."""
        return self._count

    def show(self, jpeg: bytes) -> None:
        """Makes a picture the one that is added from now on."""
        from av.packet import Packet

        decoded = self._decoder.decode(Packet(jpeg))
        # JPEG is BT.601 in full range; video of this size is BT.709 in the limited one.
        self._picture = decoded[0].reformat(
            width=self._video.width,
            height=self._video.height,
            format="yuv420p",
            src_colorspace="ITU601",
            dst_colorspace="ITU709",
            src_color_range="JPEG",
            dst_color_range="MPEG",
        )

    def add(self) -> None:
        """Adds the picture that is shown once, and the sound that belongs to its time."""
        self._picture.pts = self._count
        self._picture.time_base = Fraction(1, self._fps)
        self._count += 1
        self._file.mux(self._video.encode(self._picture))
        if self._audio is not None:
            self._hear(self._count / self._fps)

    def _hear(self, seconds: float) -> None:
        size = self._audio.codec_context.frame_size or 1024
        while self._heard < seconds * SAMPLE_RATE:
            part = self._fifo.read(size)
            if part is None:
                frame = next(self._sound, None)
                if frame is None:
                    self._hear_rest()
                    return
                frame.pts = None
                self._fifo.write(frame)
                continue
            self._encode_sound(part)

    def _hear_rest(self) -> None:
        rest = self._fifo.read(0, partial=True) if self._fifo.samples else None
        if rest is not None:
            self._encode_sound(rest)

    def _encode_sound(self, frame: Any) -> None:  # noqa: ANN401
        frame.pts = self._heard
        frame.time_base = Fraction(1, SAMPLE_RATE)
        frame.sample_rate = SAMPLE_RATE
        self._heard += frame.samples
        self._file.mux(self._audio.encode(frame))

    def _finish(self) -> None:
        self._file.mux(self._video.encode(None))
        if self._audio is not None:
            self._hear(math.inf)
            self._file.mux(self._audio.encode(None))


def film_problem(path: Path, width: int, height: int, seconds: float, audio_seconds: float | None) -> str | None:
    """What is wrong with a finished MP4, or None: it opens, decodes, and is as large and long as it should be."""
    try:
        with av.open(str(path)) as film:
            video = film.streams.video[0] if film.streams.video else None
            if video is None or video.duration is None or video.time_base is None:
                return "it holds no pictures"
            if (video.width, video.height) != (width, height):
                return f"its pictures are {video.width}x{video.height} instead of {width}x{height}"
            length = float(video.duration * video.time_base)
            if abs(length - seconds) > _TOLERANCE_SECONDS:
                return f"it lasts {length:.2f} s instead of {seconds:.2f} s"
            if audio_seconds is not None:
                if not film.streams.audio:
                    return "it holds no sound"
                if length + _TOLERANCE_SECONDS < audio_seconds:
                    return f"it ends after {length:.2f} s, before its sound of {audio_seconds:.2f} s"
            if next(film.decode(video), None) is None:
                return "no picture can be decoded"
    except FFmpegError as error:
        return f"it cannot be read: {error}"
    return None
