"""Has passages spoken and keeps the sound in files, so that an hour of it does not fill the server's memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packline import PackError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from packline import PackContext, SpeechAnswer

    from .spoken import Sentence

#: Limits of the gateway (`Models.speak_all`), with room to spare.
_TEXT_CHARACTERS = 4_000
_BATCH_CHARACTERS = 9_000
#: A voice that had to be replaced midway is given this many chances to stay the same to the end.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """What one speaker says in one go.

    Attributes:
        key: Tells it from the others.
        sentences: In order; may be empty.
        speaker: Who says it.
    """

    key: int
    sentences: tuple[Sentence, ...]
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Sound:
    """Spoken sentences in a file.

    Attributes:
        path: Signed 16-bit samples of one channel.
        sample_rate: Samples a second.
        samples: Their number.
        sentences: What is heard.
    """

    path: str
    sample_rate: int
    samples: int
    sentences: tuple[Sentence, ...]


@dataclass(slots=True)
class Spoken:
    """Everything that was spoken.

    Attributes:
        sounds: By passage; one of several pieces where a passage is long, none where nothing could be spoken.
        voices: By speaker, `provider:name`.
        remarks: What was not done as asked, for `ctx.warn`.
    """

    sounds: dict[int, list[Sound]] = field(default_factory=dict)
    voices: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


async def speak_passages(
    ctx: PackContext,
    passages: Sequence[Passage],
    speaker: str,
    voice: str | None,
    folder: Path,
    spoken: Spoken,
    progressed: Callable[[int], None],
) -> None:
    """Has one speaker's passages spoken by one voice, and adds them to `spoken`.

    Args:
        ctx: Of the step.
        passages: Of any speaker; others' are left out.
        speaker: Whose.
        voice: `provider:name`, or None for the gateway's choice.
        folder: Where the sound is kept.
        spoken: Added to.
        progressed: Called with the number of characters spoken.

    Raises:
        PackError: what the gateway raised.
    """
    pieces = [(passage.key, piece) for passage in passages if passage.speaker == speaker for piece in _pieces(passage)]
    for _ in range(_ROUNDS):
        made, used, remarks = await _in_one_voice(ctx, pieces, voice, folder, progressed)
        spoken.remarks += [remark for remark in remarks if remark not in spoken.remarks]
        if len(used) <= 1:
            break
        voice = used[-1]  # begin again with the voice that took over
    if used:
        spoken.voices[speaker] = used[-1]
    for key, sound in made:
        spoken.sounds.setdefault(key, []).append(sound)


async def _in_one_voice(
    ctx: PackContext,
    pieces: Sequence[tuple[int, tuple[Sentence, ...]]],
    voice: str | None,
    folder: Path,
    progressed: Callable[[int], None],
) -> tuple[list[tuple[int, Sound]], list[str], list[str]]:
    """The sounds, the voices that spoke, and what was remarked; ends early once a second voice is heard."""
    made: list[tuple[int, Sound]] = []
    used: list[str] = []
    remarks: list[str] = []
    for batch in _batches(pieces):
        texts = [" ".join(sentence.said for sentence in piece if sentence.said) for _, piece in batch]
        answers = await ctx.models.speak_all(texts, voice=used[0] if used else voice)
        for (key, piece), answer in zip(batch, answers, strict=True):
            if answer.voice not in used:
                used.append(answer.voice)
            if answer.replaced and answer.replaced not in remarks:
                remarks.append(answer.replaced)
            if answer.pcm:
                made.append((key, await _kept(answer, piece, folder, f"{key}-{len(made)}.pcm")))
        progressed(sum(map(len, texts)))
        if len(used) > 1:
            break
    return made, used, remarks


async def _kept(answer: SpeechAnswer, piece: tuple[Sentence, ...], folder: Path, name: str) -> Sound:
    path = folder / name
    try:
        await asyncio.to_thread(path.write_bytes, answer.pcm)
    except OSError as error:
        raise PackError(
            "resource_exhausted", f"The spoken text cannot be kept: {error}.", hint="Free disk space, then resume."
        ) from error
    return Sound(str(path), answer.sample_rate, len(answer.pcm) // 2, piece)


def _pieces(passage: Passage) -> list[tuple[Sentence, ...]]:
    """The passage in parts short enough to be spoken at once, cut between sentences."""
    parts: list[list[Sentence]] = []
    size = 0
    for sentence in passage.sentences:
        if not parts or size + len(sentence.said) > _TEXT_CHARACTERS:
            parts.append([])
            size = 0
        parts[-1].append(sentence)
        size += len(sentence.said) + 1
    return [tuple(part) for part in parts if any(sentence.said for sentence in part)]


def _batches(
    pieces: Sequence[tuple[int, tuple[Sentence, ...]]],
) -> list[list[tuple[int, tuple[Sentence, ...]]]]:
    batches: list[list[tuple[int, tuple[Sentence, ...]]]] = []
    size = 0
    for key, piece in pieces:
        length = sum(len(sentence.said) + 1 for sentence in piece)
        if not batches or size + length > _BATCH_CHARACTERS:
            batches.append([])
            size = 0
        batches[-1].append((key, piece))
        size += length
    return batches
