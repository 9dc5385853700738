"""When each turn of an episode is heard, and the transcript that tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._audio.captions import Cue, cues_of, short_clock
from .._audio.spoken import reading_seconds
from .._audio.track import Clip, Track

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .._audio.narrator import Passage, Sound
    from .._audio.spoken import Sentence
    from ._script import Script, Turn

_RATE = 24_000
_START_SECONDS = 0.4
_END_SECONDS = 1.0
#: Pauses before a turn: of another speaker, and where a new part begins.
_TURN_SECONDS = 0.45
_CHAPTER_SECONDS = 0.9
_PIECE_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class Timing:
    """The sound of an episode in order.

    Attributes:
        clips: Sound and silence.
        first_clips: For each turn the index of its first clip.
        heard: For each clip the turn it belongs to and its sentences; None for silence between turns.
    """

    clips: tuple[Clip, ...]
    first_clips: tuple[int, ...]
    heard: tuple[tuple[int, tuple[Sentence, ...]] | None, ...]

    @property
    def seconds(self) -> float:
        """How long all of it lasts, about."""
        return sum(clip.samples / clip.sample_rate for clip in self.clips)


def timing_of(turns: Sequence[Turn], passages: Sequence[Passage], sounds: Mapping[int, Sequence[Sound]]) -> Timing:
    """Turns one after the other with pauses; one without sound lasts as long as reading it when nothing is spoken."""
    clips: list[Clip] = []
    heard: list[tuple[int, tuple[Sentence, ...]] | None] = []
    first: list[int] = []

    def add(clip: Clip, what: tuple[int, tuple[Sentence, ...]] | None = None) -> None:
        clips.append(clip)
        heard.append(what)

    for index, (turn, passage) in enumerate(zip(turns, passages, strict=True)):
        pause = _START_SECONDS if index == 0 else _CHAPTER_SECONDS if turn.chapter else _TURN_SECONDS
        add(Clip(None, _RATE, round(pause * _RATE)))
        first.append(len(clips))
        pieces = sounds.get(index, ())
        if not pieces:
            seconds = 0.0 if sounds else reading_seconds(turn.text)
            add(Clip(None, _RATE, round(seconds * _RATE)), (index, passage.sentences))
        for number, sound in enumerate(pieces):
            if number:
                add(Clip(None, _RATE, round(_PIECE_SECONDS * _RATE)))
            said = tuple(sentence for sentence in sound.sentences if sentence.said)
            weights = tuple(len(sentence.said) for sentence in said)
            add(Clip(sound.path, sound.sample_rate, sound.samples, turn.speaker, weights), (index, said))
    add(Clip(None, _RATE, round(_END_SECONDS * _RATE)))
    return Timing(tuple(clips), tuple(first), tuple(heard))


def captions_of(timing: Timing, passages: Sequence[Passage], track: Track) -> list[Cue]:
    """Cues with their speakers, in order."""
    cues: list[Cue] = []
    for index, (what, clip) in enumerate(zip(timing.heard, timing.clips, strict=True)):
        if what is None:
            continue
        turn, said = what
        spans = track.sentences[index]
        if clip.path is None:
            spans = _read_spans(said, track.starts[index], clip.samples / clip.sample_rate)
        timed = [(*span, sentence.shown) for span, sentence in zip(spans, said, strict=True) if span[1] > span[0]]
        cues += cues_of(timed, speaker=passages[turn].speaker)
    return cues


def transcript_of(script: Script, starts: Sequence[float], model: str | None, has_narration: bool) -> str:
    """The episode in Markdown: parts as headings, each turn with its speaker and moment."""
    origin = (
        f"Script written by {model} from the source." if model else "Script: the source's own sentences, read in turn."
    )
    lines = [f"# {script.title}", "", f"*{origin}{'' if has_narration else ' Not spoken.'}*", ""]
    for number, (turn, start) in enumerate(zip(script.turns, starts, strict=True)):
        if turn.chapter and number:
            lines += [f"## {turn.chapter}", ""]
        lines += [f"**{turn.speaker}** ({short_clock(start)}): {turn.text}", ""]
    return "\n".join(lines)


def _read_spans(said: Sequence[Sentence], start: float, seconds: float) -> tuple[tuple[float, float], ...]:
    total = sum(reading_seconds(sentence.shown) for sentence in said) or 1.0
    spans = []
    for sentence in said:
        end = start + seconds * reading_seconds(sentence.shown) / total
        spans.append((start, end))
        start = end
    return tuple(spans)
