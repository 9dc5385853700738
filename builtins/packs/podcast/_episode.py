"""Encodes an episode as MP3 with its properties and chapters, and reads it again; runs in a worker process."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from packline import PackError

from .._audio.marks import chapter_marks
from .._audio.track import Track, levelled, loudness

if TYPE_CHECKING:
    from collections.abc import Iterator

    import av

PRELOAD = ("av",)
SOUND_RATE = 44_100
_BITS = 96_000


@dataclass(frozen=True, slots=True)
class Episode:
    """What the file says about itself.

    Attributes:
        title: Of the episode.
        artist: Who speaks.
        comment: What it is about.
        chapters: Beginning in seconds and title, ascending; empty for none.
    """

    title: str
    artist: str
    comment: str
    chapters: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in a finished episode by reading it again: length in seconds, and loudness."""

    seconds: float
    lufs: float


def make_episode(episode: Episode, track: Track, path: str) -> Facts:
    """Writes the MP3 and reads it again."""
    import av

    try:
        with av.open(path, "w", format="mp3", options={"id3v2_version": "3"}) as container:
            container.metadata.update(
                {"title": episode.title, "artist": episode.artist, "genre": "Podcast", "comment": episode.comment}
            )
            if episode.chapters:
                container.set_chapters(chapter_marks(episode.chapters, track.seconds))
            sound = container.add_stream("libmp3lame", rate=SOUND_RATE)
            sound.layout = "stereo"
            sound.bit_rate = _BITS
            position = 0
            for frame in levelled(track, SOUND_RATE):
                frame.pts, frame.time_base = position, Fraction(1, SOUND_RATE)
                position += frame.samples
                container.mux(sound.encode(frame))
            container.mux(sound.encode(None))
    except av.FFmpegError as error:
        raise PackError("handler_failed", f"The episode cannot be encoded: {error}.") from error
    except OSError as error:
        raise PackError("resource_exhausted", f"The episode cannot be written: {error}.") from error
    return read_facts(path)


def read_facts(path: str) -> Facts:
    """Decodes the whole file: how long it is, and how loud."""
    import av

    with av.open(path) as container:
        sound = container.streams.audio[0]
        samples = 0

        def counted() -> Iterator[av.AudioFrame]:
            nonlocal samples
            for frame in container.decode(sound):
                samples += frame.samples
                yield frame

        lufs = loudness(counted(), sound.rate, "stereo")
        return Facts(samples / sound.rate, lufs)
