"""Makes the narrated video: pictures that dissolve into each other, sound, captions and chapters in one MP4.

Runs in a worker process. Pictures, sound and captions are fed to the file second by second, so that neither the
encoder nor the muxer holds more than a moment of it.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from packline import PackError

from .._audio.marks import chapter_marks
from .._audio.track import SILENT_LUFS, Track, levelled, loudness

if TYPE_CHECKING:
    from collections.abc import Iterator

    import av
    import numpy
    from av.container import OutputContainer
    from av.stream import Stream
    from av.subtitles.stream import SubtitleStream
    from numpy.typing import NDArray

    from .._audio.captions import Cue

PRELOAD = ("av",)
FRAMES_A_SECOND = 25
SOUND_RATE = 48_000
_SOUND_BITS = 128_000
_FRAME = Fraction(1, FRAMES_A_SECOND)
_TOLD_FRAMES = 50
_MILLISECOND = Fraction(1, 1000)
#: Still pictures need little: the fastest preset with its better entropy coder and transform looks the same at a
#: quarter of the time of `veryfast` (measured on slides at 1080p: 3 ms against 12 ms a frame).
_ENCODER = {
    "preset": "ultrafast",
    "crf": "19",
    "tune": "stillimage",
    "x264-params": "cabac=1:8x8dct=1:deblock=0,0:keyint=250:scenecut=0:aq-mode=1",
}
#: The styles an MP4's text track wants to know before its first caption.
_CAPTION_STYLE = (
    b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, "
    b"SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, "
    b"BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\nStyle: Default,Arial,16,&Hffffff,"
    b"&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,1\n\n[Events]\nFormat: Layer, Start, End, Style, Name, "
    b"MarginL, MarginR, MarginV, Effect, Text\n"
)


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture and how long it is seen.

    Attributes:
        picture: PNG file.
        frames: How many frames.
    """

    picture: str
    frames: int


@dataclass(frozen=True, slots=True)
class Film:
    """What the video is made of.

    Attributes:
        shots: In order.
        width: In points; even, as is `height`.
        height: In points.
        fade_frames: Length of a dissolve; it begins the later shot.
        cues: Captions, in order.
        chapters: Beginning in seconds and title, ascending; empty for none.
        title: In the file's properties.
        author: In the file's properties; may be empty.
        description: In the file's properties; may be empty.
        language: Of the captions, ISO 639-2.
    """

    shots: tuple[Shot, ...]
    width: int
    height: int
    fade_frames: int
    cues: tuple[Cue, ...]
    chapters: tuple[tuple[float, str], ...]
    title: str
    author: str = ""
    description: str = ""
    language: str = "eng"


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in a finished video by reading it again.

    Attributes:
        seconds: Of the longer of picture and sound.
        video_seconds: Of the picture.
        audio_seconds: Of the sound.
        width: In points.
        height: In points.
        lufs: Loudness of the sound; `SILENT_LUFS` for silence.
        captions: How many.
        chapters: How many.
    """

    seconds: float
    video_seconds: float
    audio_seconds: float
    width: int
    height: int
    lufs: float
    captions: int
    chapters: int


def make_video(film: Film, track: Track, path: str) -> Facts:
    """Writes the video and reads it again.

    Raises:
        PackError: `invalid_output` when the file is not what was asked for.
    """
    import av

    try:
        with av.open(path, "w", format="mp4", options={"movflags": "+faststart"}) as container:
            _write(container, film, track, os.path.join(os.path.dirname(path), "frames"))
    except av.FFmpegError as error:
        raise PackError("handler_failed", f"The video cannot be encoded: {error}.") from error
    except OSError as error:
        raise PackError("resource_exhausted", f"The video cannot be written: {error}.") from error
    return read_facts(path)


def _report_progress(path: str, frames: int) -> None:
    """Write the number of finished frames to the file that `watched` reads."""
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.write(str(frames))
    os.replace(f"{path}.new", path)


def read_facts(path: str) -> Facts:
    """Reads a video: streams, first picture, the whole sound."""
    import av

    with av.open(path) as container:
        if not container.streams.video or not container.streams.audio:
            raise PackError("invalid_output", "The video lacks a picture or a sound track.")
        picture, sound = container.streams.video[0], container.streams.audio[0]
        first = next(container.decode(picture), None)
        if first is None:
            raise PackError("invalid_output", "The video's picture cannot be read.")
        container.seek(0)
        lufs = loudness(container.decode(sound), sound.rate, "stereo")
        captions = 0
        if container.streams.subtitles:
            container.seek(0)
            captions = sum(1 for packet in container.demux(container.streams.subtitles[0]) if packet.size > 2)
        video_seconds = _stream_seconds(picture.duration, picture.time_base)
        audio_seconds = _stream_seconds(sound.duration, sound.time_base)
        return Facts(
            max(video_seconds, audio_seconds),
            video_seconds,
            audio_seconds,
            first.width,
            first.height,
            lufs if math.isfinite(lufs) else SILENT_LUFS,
            captions,
            len(container.chapters()),
        )


def _stream_seconds(duration: int | None, time_base: Fraction | None) -> float:
    return float(duration * time_base) if duration and time_base else 0.0


def _write(container: OutputContainer, film: Film, track: Track, progress_file: str) -> None:
    container.metadata.update(
        {key: value for key, value in (("title", film.title), ("artist", film.author)) if value}
        | ({"comment": film.description} if film.description else {})
    )
    picture = container.add_stream("libx264", rate=FRAMES_A_SECOND, options=dict(_ENCODER))
    picture.width, picture.height, picture.pix_fmt = film.width, film.height, "yuv420p"
    picture.time_base = _FRAME
    coder = picture.codec_context
    coder.color_range, coder.colorspace, coder.color_primaries, coder.color_trc = 1, 1, 1, 1  # BT.709, video levels
    coder.thread_count = 2
    sound = container.add_stream("aac", rate=SOUND_RATE)
    sound.layout = "stereo"
    sound.bit_rate = _SOUND_BITS
    texts = _add_captions(container, film)
    total = sum(shot.frames for shot in film.shots)
    if film.chapters:
        container.set_chapters(chapter_marks(film.chapters, total / FRAMES_A_SECOND))
    frames = _sound_frames(track)
    cues = list(film.cues)
    heard = 0.0
    for number, frame in enumerate(_picture_frames(film)):
        moment = number / FRAMES_A_SECOND
        while heard <= moment + 0.5:
            samples = next(frames, None)
            if samples is None:
                heard = math.inf
                break
            heard += samples.samples / SOUND_RATE
            container.mux(sound.encode(samples))
        while texts is not None and cues and cues[0].start <= moment:
            container.mux(_caption(texts, cues.pop(0)))
        if number % _TOLD_FRAMES == 0:
            _report_progress(progress_file, number)
        frame.pts, frame.time_base = number, _FRAME
        container.mux(picture.encode(frame))
    if texts is not None:
        container.mux([_caption(texts, cue) for cue in cues])
    for samples in frames:
        container.mux(sound.encode(samples))
    container.mux(picture.encode(None))
    container.mux(sound.encode(None))


def _sound_frames(track: Track) -> Iterator[av.AudioFrame]:
    """The levelled sound, its times recounted: filters leave gaps of a sample where they round."""
    position = 0
    for frame in levelled(track, SOUND_RATE):
        frame.pts, frame.time_base = position, Fraction(1, SOUND_RATE)
        position += frame.samples
        yield frame


def _picture_frames(film: Film) -> Iterator[av.VideoFrame]:
    """Every frame: each shot dissolves from the one before, then stays."""
    before: NDArray[numpy.uint8] | None = None
    for shot in film.shots:
        still = _picture(shot.picture, film.width, film.height)
        now = still.to_ndarray().astype("u1", copy=False)
        fade = min(film.fade_frames, shot.frames // 2) if before is not None else 0
        for step in range(fade):
            assert before is not None
            yield _from_array(_mixed(before, now, (step + 1) / (fade + 1)), key=False)
        for step in range(shot.frames - fade):
            # A key frame at the start of each slide, so that players can jump to it at once.
            still.pict_type = 1 if step == 0 else 0
            yield still
        before = now


def _picture(path: str, width: int, height: int) -> av.VideoFrame:
    import av

    with av.open(path, format="png_pipe") as source:
        drawn = next(source.decode(video=0))
        return drawn.reformat(width, height, "yuv420p", dst_color_range="MPEG", dst_colorspace="ITU709")


def _mixed(one: NDArray[numpy.uint8], other: NDArray[numpy.uint8], share: float) -> NDArray[numpy.uint8]:
    """A share of `other` over `one`; eased, so that the dissolve neither starts nor stops abruptly."""
    import numpy as np

    eased = round(256 * (share * share * (3 - 2 * share)))
    mixed = (one.astype(np.uint16) * np.uint16(256 - eased) + other.astype(np.uint16) * np.uint16(eased)) >> 8
    return mixed.astype(np.uint8)


def _from_array(picture: NDArray[numpy.uint8], *, key: bool) -> av.VideoFrame:
    import av

    frame = av.VideoFrame.from_ndarray(picture, "yuv420p")
    frame.pict_type = 1 if key else 0
    return frame


def _add_captions(container: OutputContainer, film: Film) -> SubtitleStream | None:
    if not film.cues:
        return None
    texts = container.add_stream("mov_text")
    texts.metadata["language"] = film.language
    texts.time_base = _MILLISECOND
    texts.codec_context.subtitle_header = _CAPTION_STYLE
    return texts


def _caption(stream: SubtitleStream, cue: Cue) -> av.Packet[Stream]:
    """A caption as a sample of a text track: its length and its text (3GPP TS 26.245, 5.17)."""
    import av

    content = cue.text.encode()
    packet: av.Packet[Stream] = av.Packet(len(content).to_bytes(2, "big") + content)
    packet.stream = stream
    packet.time_base = _MILLISECOND
    packet.pts = packet.dts = round(cue.start * 1000)
    packet.duration = max(1, round(cue.end * 1000) - round(cue.start * 1000))
    return packet
