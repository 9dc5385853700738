"""When each slide is seen and each sentence heard: pure arithmetic between the voice and the video."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._audio.captions import Cue, cues_of, spread
from .._audio.spoken import Sentence, reading_seconds
from .._audio.track import Clip, Track

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .._audio.narrator import Sound

FRAMES_A_SECOND = 25
#: Silence before the first word of a slide, its dissolve included, and after the last.
_LEAD_SECONDS = 0.5
_TAIL_SECONDS = 0.55
_LAST_TAIL_SECONDS = 1.4
_BETWEEN_SECONDS = 0.4
#: Where less than this share of a slide's text is heard, as far as time tells, most of it was not spoken.
_HEARD_SHARE = 0.45
#: A slide on which nothing is said is seen this long at least.
_SILENT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Timing:
    """Sound and pictures in step.

    Attributes:
        clips: The sound track, silence included; as long as all frames together.
        frames: How long each slide is seen.
        spoken: For each clip the sentences heard in it.
        written: Cues of slides whose text is not heard, or only little of it.
    """

    clips: tuple[Clip, ...]
    frames: tuple[int, ...]
    spoken: tuple[tuple[Sentence, ...], ...]
    written: tuple[Cue, ...]

    @property
    def starts(self) -> list[float]:
        """When each slide appears, in seconds."""
        found, at = [], 0
        for frames in self.frames:
            found.append(at / FRAMES_A_SECOND)
            at += frames
        return found

    @property
    def seconds(self) -> float:
        """How long all of it lasts."""
        return sum(self.frames) / FRAMES_A_SECOND


def timing_of(passages: Sequence[Sequence[Sentence]], sounds: Mapping[int, Sequence[Sound]]) -> Timing:
    """Puts each slide's sound between its pauses; the pause after it ends with a frame.

    Args:
        passages: What each slide says.
        sounds: What was spoken of it, by its index; none for slides that stay silent, whose text is timed as if it
            were read at 150 words a minute.
    """
    rate = max((sound.sample_rate for each in sounds.values() for sound in each), default=24_000)
    rate = rate if rate % FRAMES_A_SECOND == 0 else 24_000
    clips: list[Clip] = []
    spoken: list[tuple[Sentence, ...]] = []
    frames: list[int] = []
    written: list[Cue] = []

    def silence(samples: int) -> None:
        clips.append(Clip(None, rate, samples))
        spoken.append(())

    at = 0.0
    for index, passage in enumerate(passages):
        tail = _LAST_TAIL_SECONDS if index == len(passages) - 1 else _TAIL_SECONDS
        here = sounds.get(index, ())
        said = sum(reading_seconds(sentence.shown) for sentence in passage)
        partly = sum(sound.samples / sound.sample_rate for sound in here) < _HEARD_SHARE * said
        if partly and here:
            written += _read_cues(passage, at + _LEAD_SECONDS)
        if not here:
            seconds = max(_SILENT_SECONDS, _LEAD_SECONDS + said + tail)
            frames.append(round(seconds * FRAMES_A_SECOND))
            silence(frames[-1] * rate // FRAMES_A_SECOND)
            written += _read_cues(passage, at + _LEAD_SECONDS)
        else:
            silence(round(_LEAD_SECONDS * rate))
            used = round(_LEAD_SECONDS * rate)
            for number, sound in enumerate(here):
                if number:
                    silence(round(_BETWEEN_SECONDS * rate))
                    used += round(_BETWEEN_SECONDS * rate)
                heard = () if partly else tuple(sentence for sentence in sound.sentences if sentence.said)
                weights = tuple(len(sentence.said) for sentence in heard)
                clips.append(Clip(sound.path, sound.sample_rate, sound.samples, "", weights))
                spoken.append(heard)
                used += math.ceil(sound.samples * rate / sound.sample_rate)
            seconds = max(used / rate, _LEAD_SECONDS + said if partly else 0.0) + tail
            frames.append(math.ceil(seconds * FRAMES_A_SECOND))
            silence(frames[-1] * rate // FRAMES_A_SECOND - used)
        at += frames[-1] / FRAMES_A_SECOND
    return Timing(tuple(clips), tuple(frames), tuple(spoken), tuple(written))


def captions_of(timing: Timing, track: Track) -> list[Cue]:
    """Cues for everything that is said, and for what is only written."""
    cues = list(timing.written)
    for sentences, spans in zip(timing.spoken, track.sentences, strict=True):
        cues += cues_of([(*span, sentence.shown) for span, sentence in zip(spans, sentences, strict=True)])
    cues.sort(key=lambda cue: cue.start)
    return spread(cues)


def _read_cues(passage: Sequence[Sentence], start: float) -> list[Cue]:
    spans = []
    for sentence in passage:
        end = start + reading_seconds(sentence.shown)
        if end > start:
            spans.append((start, end, sentence.shown))
        start = end
    return cues_of(spans)
