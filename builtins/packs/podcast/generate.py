"""`podcast.generate`: a text in, a spoken episode out."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import (
    ArtifactRef,
    Metadata,
    ModelNeed,
    PackContext,
    PackError,
    PostCondition,
    pack,
    python_module,
)

from .._audio.engagement import Engagement, chapters_of, from_text
from .._audio.narrator import Passage, Spoken
from .._audio.spoken import WORDS_PER_MINUTE, sentences
from .._audio.workspace import workspace
from .._file_names import file_stem
from .._writing import WRITER_HELPS, count_words, use_model
from ._script import Script, Theme, script_seconds
from ._speaking import speak_script

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from packline import ArtifactFile


_AUDIBLE_LUFS = -40.0
_TOLERANCE_SECONDS = 0.6


class Speaker(BaseModel):
    """Somebody who speaks."""

    name: str = Field(min_length=1, max_length=60, description="As the others call them, and in the transcript.")
    voice: str | None = Field(
        default=None, max_length=100, description="`provider:name`; else the server's choice, unlike the others'."
    )


class Input(BaseModel):
    """What the episode is about, and who speaks."""

    source_text: str = Field(
        max_length=400_000, description="What the episode is about: Markdown or plain text. Nothing else is said."
    )
    title: str | None = Field(default=None, max_length=200, description="Title of the episode; else the text's own.")
    theme: Theme = Field(
        default="interview",
        description="Form of the conversation. Without a model, the speakers read the text in turn for every form.",
    )
    speakers: list[Speaker] = Field(
        default_factory=lambda: [Speaker(name="Host"), Speaker(name="Guest")],
        min_length=1,
        max_length=2,
        description="Who speaks; the first leads through the episode. A `solo-essay` has the first one only.",
    )
    duration_target_min: float = Field(default=5.0, ge=0.5, le=20, description="Minutes it should last, about.")
    audience: str | None = Field(
        default=None, max_length=100, description="Who listens, such as `new engineers`; for the model that writes."
    )
    mode: Literal["auto", "deterministic", "model"] = Field(
        default="auto",
        description="`model`: a model writes a conversation. `deterministic`: the speakers read the text's own "
        "sentences. `auto`: a model where one is configured.",
    )
    model: str | None = Field(
        default=None,
        max_length=200,
        description="A configured model, `provider:name`, to be tried first; else those of the role `writer`.",
    )
    allow_silent_output: bool = Field(
        default=False, description="Make a silent file and the transcript when there is no voice, instead of refusing."
    )


class Voiced(BaseModel):
    """Who spoke, and with which voice."""

    name: str = Field(description="As in the transcript.")
    voice: str | None = Field(description="`provider:name`; null when nothing was spoken.")


class Output(BaseModel):
    """The episode and what belongs to it."""

    artifact: ArtifactRef = Field(description="The episode, MP3 with title and chapters inside.")
    transcript: ArtifactRef = Field(description="Who says what and when, Markdown.")
    captions_vtt: ArtifactRef = Field(description="The transcript as WebVTT, with speakers.")
    title: str = Field(description="Title of the episode.")
    duration_seconds: float = Field(gt=0, description="How long it lasts.")
    turn_count: int = Field(ge=1, description="How often somebody else speaks, and the first time.")
    word_count: int = Field(ge=1, description="Words that are said.")
    speakers: list[Voiced] = Field(description="Who speaks.")
    script_mode: Literal["deterministic", "model"] = Field(
        description="`model`: a model wrote the conversation. `deterministic`: the text's own sentences are read."
    )
    script_model: str | None = Field(description="The model that wrote it.")
    has_narration: bool = Field(description="Whether voices are heard.")
    loudness_lufs: float | None = Field(description="Integrated loudness (EBU R128); null in a silent file.")
    engagement: Engagement = Field(description="Title, description, keywords and chapters for publishing.")


def _is_mp3(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        start = opened.read(3)
    return None if start == b"ID3" else "the file does not begin like an MP3 file with properties"


def _is_heard(output: Output, _files: object) -> str | None:
    if output.has_narration and (output.loudness_lufs is None or output.loudness_lufs < _AUDIBLE_LUFS):
        return f"its sound measures {output.loudness_lufs} LUFS, which is silence"
    return None


def _voices_differ(output: Output, _files: object) -> str | None:
    return None if output.turn_count >= len(output.speakers) else "a speaker says nothing"


@pack(
    "podcast.generate",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=1200,
    services=[python_module("av", extra="audio")],
    models=[ModelNeed("voice", required=False), WRITER_HELPS],
    cost="with a writer, one call with the source and about 200 tokens a minute of script; with a voice of a provider, "
    "about 900 characters a minute; nothing with the offline voice and no writer",
    post_conditions=[
        PostCondition("the episode is a readable MP3 file", _is_mp3),
        PostCondition("the episode can be heard", _is_heard),
        PostCondition("every speaker says something", _voices_differ),
    ],
    metadata=Metadata(
        accepts=["markdown", "text", "source_content", "grounded_markdown", "blog_markdown"],
        produces=["podcast_audio", "mp3", "audio", "engagement_metadata"],
        intent_keywords=[
            "podcast",
            "audio episode",
            "two hosts",
            "interview",
            "conversation",
            "listen to an article",
            "text to speech",
            "mp3",
            "audio version",
        ],
        example_intents=[
            "Turn this article into a podcast",
            "Make a ten-minute episode with two hosts from my notes",
            "I want to listen to this report on the train",
            "an audio version of the README, please, as an MP3",
            "Have two people debate this proposal",
            "Create an interview about our paper for new colleagues",
            "Podcast episode from the research, with chapters and a transcript",
            "Read this post aloud with one calm voice",
            "News round-up of these release notes, three minutes",
        ],
        typical_use="Use this when a text should be listened to as an episode with one or two speakers.",
        limitations=[
            "Without a writer model nobody discusses anything: the speakers read the text's own sentences in turn.",
            "The offline voice speaks English only, and its second speaker is the same voice, deeper; other languages "
            "need a voice of a provider.",
            "One or two speakers; no music, no sound effects, no recordings of one's own.",
            "Works from the text it is given; to look for material use `research.deep` or `web.scrape` first.",
            "At most 20 minutes.",
            "Makes no pictures; for a video use `slides.narrate`.",
            "Needs the `audio` extra.",
        ],
    ),
)
async def generate(ctx: PackContext, input: Input) -> Output:
    """Makes a podcast episode out of a text: a script, two voices, an MP3 with chapters, a transcript.

    With a writer model the script is a conversation in the form asked for that says only what the text says; figures
    and addresses the text does not hold are warned about. Without one the speakers read the text's own sentences in
    turn. The sound is levelled to -16 LUFS. Voices are the server's first that can speak, at last offline ones; what
    was replaced is a warning. Without any voice it is refused before anything is spent, unless `allow_silent_output`
    is set.
    """
    if not input.source_text.strip():
        raise PackError(
            "invalid_input",
            "`source_text` is empty, so there is nothing to talk about.",
            field="source_text",
            hint="Give the text the episode is about, as Markdown or plain text.",
        )
    speakers = _speakers(input)
    has_voice = _has_voice(ctx, input)
    script, model = await _script(ctx, input, [speaker.name for speaker in speakers])
    for remark in script.remarks:
        ctx.warn(remark)
    async with workspace() as folder:
        passages = [
            Passage(index, tuple(sentences(turn.text)), turn.speaker) for index, turn in enumerate(script.turns)
        ]
        spoken = Spoken()
        if has_voice:
            wanted = [(speaker.name, speaker.voice) for speaker in speakers]
            spoken = await speak_script(ctx, wanted, passages, folder, allow_silent=input.allow_silent_output)
        return await _produce(ctx, script, model, speakers, passages, spoken, folder)


def _speakers(input: Input) -> list[Speaker]:
    names = [" ".join(speaker.name.split()) for speaker in input.speakers]
    if any(not re.search(r"\w", name) for name in names) or len({name.casefold() for name in names}) < len(names):
        raise PackError(
            "invalid_input",
            f"The speakers {', '.join(f'`{name}`' for name in names)} look the same.",
            field="speakers",
            hint="Give each speaker a name of their own.",
        )
    found = [Speaker(name=name, voice=speaker.voice) for name, speaker in zip(names, input.speakers, strict=True)]
    return found[:1] if input.theme == "solo-essay" else found


def _has_voice(ctx: PackContext, input: Input) -> bool:
    lacking = ctx.models.missing("voice")
    if lacking is None:
        return True
    if not input.allow_silent_output:
        raise PackError(
            "invalid_input",
            f"The episode cannot be spoken here: {lacking.message}",
            field="allow_silent_output",
            hint=f"{lacking.hint} Or set `allow_silent_output` for a silent file with its transcript.",
        )
    ctx.warn(
        f"The episode is silent: {lacking.message} It lasts as long as reading takes "
        f"({WORDS_PER_MINUTE} words a minute)."
    )
    return False


async def _script(ctx: PackContext, input: Input, names: list[str]) -> tuple[Script, str | None]:
    if use_model(ctx, input.mode, "deterministic"):
        from ._dialogue import have_written

        ctx.progress(0.05, "Having the script written")
        return await have_written(
            ctx,
            input.source_text,
            input.title,
            input.theme,
            names,
            input.duration_target_min,
            input.audience,
            input.model,
        )
    from ._script import read_in_turn

    ctx.progress(0.05, "Putting the script together")
    script = await ctx.run_in_process(
        read_in_turn,
        input.source_text,
        input.title,
        input.theme,
        names,
        input.duration_target_min,
        timeout_seconds=60,
    )
    if script is None:
        raise PackError(
            "invalid_input",
            "`source_text` holds no sentence that can be read aloud.",
            field="source_text",
            hint="Give a few sentences at least; code, tables and pictures are not read.",
        )
    minutes = script_seconds(script.turns) / 60
    if minutes < 0.5 * input.duration_target_min:
        ctx.warn(f"The text is short: read aloud it takes {minutes:.1f} minutes, not {input.duration_target_min:g}.")
    return script, None


async def _produce(
    ctx: PackContext,
    script: Script,
    model: str | None,
    speakers: Sequence[Speaker],
    passages: Sequence[Passage],
    spoken: Spoken,
    folder: Path,
) -> Output:
    from .._audio.captions import to_vtt
    from .._audio.track import join_clips
    from ._episode import Episode, make_episode
    from ._timing import captions_of, timing_of, transcript_of

    timing = timing_of(script.turns, passages, spoken.sounds)
    track = await ctx.run_in_process(
        join_clips, list(timing.clips), str(folder / "track.pcm"), timeout_seconds=60 + timing.seconds
    )
    starts = [track.starts[index] for index in timing.first_clips]
    chapters = chapters_of(
        [(start, turn.chapter) for start, turn in zip(starts, script.turns, strict=True) if turn.chapter],
        track.seconds,
    )
    listing = from_text(script.title, script.heard, chapters)
    ctx.progress(0.8, f"Making {track.seconds / 60:.1f} minutes of MP3")
    path = folder / "episode.mp3"
    names = " and ".join(speaker.name for speaker in speakers)
    episode = Episode(
        script.title, names, listing.description, tuple((each.start_seconds, each.title) for each in chapters)
    )
    facts = await ctx.run_in_process(make_episode, episode, track, str(path), timeout_seconds=60 + track.seconds)
    if abs(facts.seconds - track.seconds) > _TOLERANCE_SECONDS:
        raise PackError(
            "invalid_output", f"The episode lasts {facts.seconds:.2f} s; {track.seconds:.2f} s were planned."
        )
    has_narration = bool(spoken.sounds)
    if has_narration and facts.lufs < _AUDIBLE_LUFS:
        raise PackError("invalid_output", f"The episode's sound measures {facts.lufs:.1f} LUFS, which is silence.")
    ctx.progress(0.95, "Saving the episode")
    stem = file_stem(script.title, "episode")
    transcript = transcript_of(script, starts, model, has_narration)
    cues = await asyncio.to_thread(captions_of, timing, passages, track)
    artifact = await ctx.save_artifact(f"{stem}.mp3", path, "audio/mpeg")
    ctx.progress(1.0, f"{facts.seconds / 60:.1f} minutes: {script.title}")
    return Output(
        artifact=artifact,
        transcript=await ctx.save_artifact(
            f"{stem}-transcript.md", transcript.encode(), "text/markdown; charset=utf-8"
        ),
        captions_vtt=await ctx.save_artifact(f"{stem}.vtt", to_vtt(cues).encode(), "text/vtt; charset=utf-8"),
        title=script.title,
        duration_seconds=round(facts.seconds, 3),
        turn_count=len(script.turns),
        word_count=sum(count_words(turn.text) for turn in script.turns),
        speakers=[Voiced(name=speaker.name, voice=spoken.voices.get(speaker.name)) for speaker in speakers],
        script_mode="deterministic" if model is None else "model",
        script_model=model,
        has_narration=has_narration,
        loudness_lufs=round(facts.lufs, 1) if has_narration else None,
        engagement=listing,
    )
