"""Assigns voices to speakers so that listeners can distinguish them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packline import PackContext, PackError

from .._audio.narrator import Passage, Spoken, speak_passages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


async def speak_script(
    ctx: PackContext,
    speakers: Sequence[tuple[str, str | None]],
    passages: Sequence[Passage],
    folder: Path,
    *,
    allow_silent: bool,
) -> Spoken:
    """Has all passages spoken, each speaker's by one voice.

    Args:
        ctx: The step.
        speakers: Names with the voices asked for; without one, the first gets the server's, the second another one.
        passages: In order.
        folder: Where the sound is kept.
        allow_silent: Whether nothing may be heard in the end.

    Raises:
        PackError: what the gateway raised; `invalid_input` when nothing could be spoken.
    """
    total = sum(len(sentence.said) + 1 for passage in passages for sentence in passage.sentences) or 1
    done = 0

    def progressed(characters: int) -> None:
        nonlocal done
        done += characters
        ctx.progress(min(0.25 + 0.5 * done / total, 0.75), f"Spoke {min(done / total, 1):.0%} of the script")

    ctx.progress(0.25, f"Speaking {total:,} characters")
    spoken = Spoken()
    for index, (name, asked) in enumerate(speakers):
        first = spoken.voices.get(speakers[0][0]) if index else None
        voice = ctx.models.other_voice(first) if asked is None and first is not None else asked
        await speak_passages(ctx, passages, name, voice, folder, spoken, progressed)
        if first is not None and spoken.voices.get(name) == first and asked != first:
            await _tell_apart(ctx, passages, name, first, folder, spoken)
    for remark in spoken.remarks:
        ctx.warn(remark)
    if not spoken.sounds and not allow_silent:
        raise PackError(
            "invalid_input",
            "The voice could speak nothing of this text, so the episode would be silent.",
            field="source_text",
            hint="Use a voice that speaks the text's language, or set `allow_silent_output`.",
        )
    mute = sum(1 for passage in passages if passage.sentences and passage.key not in spoken.sounds)
    if spoken.sounds and mute:
        ctx.warn(f"Nothing could be spoken of {mute} of {len(passages)} turns; they are in the transcript only.")
    return spoken


async def _tell_apart(
    ctx: PackContext, passages: Sequence[Passage], speaker: str, voice: str, folder: Path, spoken: Spoken
) -> None:
    """Both speakers ended up with one voice, as when a provider failed between them; the second gets another."""
    other = ctx.models.other_voice(voice)
    if other is not None:
        for passage in passages:
            if passage.speaker == speaker:
                spoken.sounds.pop(passage.key, None)
        await speak_passages(ctx, passages, speaker, other, folder, spoken, lambda _: None)
    if spoken.voices.get(speaker) == voice:
        ctx.warn(f"Only the voice `{voice}` can be had, so both speakers sound alike.")
