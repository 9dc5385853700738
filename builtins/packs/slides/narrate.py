"""`slides.narrate`: slide Markdown in, a narrated video with captions out."""

from __future__ import annotations

import asyncio
from pathlib import Path
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

from .._audio.captions import to_srt, to_vtt
from .._audio.engagement import Engagement, chapters_of, written
from .._audio.narrator import Passage, Spoken, speak_passages
from .._audio.spoken import WORDS_PER_MINUTE
from .._audio.workspace import watched, workspace
from .._file_names import file_stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packline import ArtifactFile

    from .._audio.spoken import Sentence
    from .._audio.track import Track
    from ._narration import Drawn
    from ._timing import Timing
    from ._video import Facts

    Sentences = tuple[Sentence, ...]

Theme = Literal["light", "dark", "corporate", "warm"]
Resolution = Literal["720p", "1080p"]

_HEIGHTS: dict[Resolution, int] = {"720p": 720, "1080p": 1080}
DRAW_SECONDS = 150.0
#: Longer videos would outlast the step on a small machine.
MAX_MINUTES = 30
_FADE_FRAMES = 11
#: Sound quieter than this is no narration.
_AUDIBLE_LUFS = -40.0
_TOLERANCE_SECONDS = 0.5


class Input(BaseModel):
    """The slides, who speaks, and how the video should look."""

    markdown: str = Field(
        max_length=400_000,
        description="Slides in Markdown, one between `---` lines; `slides.outline` writes this. "
        "`<!-- notes: … -->` holds what is said on a slide; without it, what the slide shows is read out.",
        examples=["# Hello\n\nA first deck\n\n---\n\n## One thing\n\n- It works\n\n<!-- notes: It works, really. -->"],
    )
    voice: str | None = Field(
        default=None,
        max_length=100,
        description="Who speaks, `provider:name`, such as `offline:heart`; else the server's choice.",
    )
    theme: Theme = Field(default="light", description="Look of the slides.")
    resolution: Resolution = Field(default="1080p", description="Height of the picture, 16:9.")
    title: str | None = Field(
        default=None, max_length=300, description="Title in the file's properties; else the first slide's."
    )
    author: str | None = Field(default=None, max_length=200, description="Author in the file's properties.")
    footer: str | None = Field(
        default=None, max_length=200, description="Line at the foot of each slide; else the title. Empty for none."
    )
    allow_silent_output: bool = Field(
        default=False, description="Make a silent video with captions when there is no voice, instead of refusing."
    )
    model: str | None = Field(
        default=None,
        max_length=100,
        description="Model that writes the video's title and description, `provider:name`; else the server's writer.",
    )


class Output(BaseModel):
    """The video and what belongs to it."""

    artifact: ArtifactRef = Field(description="The video, MP4 (H.264, AAC) with captions and chapters inside.")
    captions_srt: ArtifactRef | None = Field(description="The captions as SRT; null when nothing is said.")
    captions_vtt: ArtifactRef | None = Field(description="The captions as WebVTT; null when nothing is said.")
    poster: ArtifactRef = Field(description="The first slide as PNG.")
    duration_seconds: float = Field(gt=0, description="How long the video lasts.")
    slide_count: int = Field(ge=1, description="Slides in the video.")
    has_narration: bool = Field(description="Whether a voice is heard.")
    voice: str | None = Field(description="Who speaks, `provider:name`; null in a silent video.")
    loudness_lufs: float | None = Field(description="Integrated loudness (EBU R128); null in a silent video.")
    width: int = Field(description="Points across.")
    height: int = Field(description="Points down.")
    engagement: Engagement = Field(description="Title, description, keywords and chapters for publishing.")


def _is_video(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        if opened.read(8)[4:] != b"ftyp":
            return "the file does not begin like an MP4 file"
    return None


def _is_heard(output: Output, _files: object) -> str | None:
    if output.has_narration and (output.loudness_lufs is None or output.loudness_lufs < _AUDIBLE_LUFS):
        return f"its sound measures {output.loudness_lufs} LUFS, which is silence"
    return None


def _marks_are_inside(output: Output, _files: object) -> str | None:
    late = [each.title for each in output.engagement.chapters if each.start_seconds >= output.duration_seconds]
    return f"the chapter {late[0]!r} begins after the end" if late else None


@pack(
    "slides.narrate",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=1500,
    services=[python_module("typst", extra="slides"), python_module("av", extra="audio")],
    models=[ModelNeed("voice", required=False), ModelNeed("writer", required=False)],
    cost="with a voice of a provider, as many characters of speech as the notes have; with a writer, one short call "
    "for title and description; nothing with the offline voice and no writer",
    post_conditions=[
        PostCondition("the video is a readable MP4 file", _is_video),
        PostCondition("a narrated video can be heard", _is_heard),
        PostCondition("chapters lie within the video", _marks_are_inside),
    ],
    metadata=Metadata(
        accepts=["outline_markdown", "markdown"],
        produces=["narrated_video", "mp4", "srt_captions", "engagement_metadata"],
        intent_keywords=[
            "narrated video",
            "narrate slides",
            "slides to video",
            "voice over",
            "talking slides",
            "explainer video",
            "video with captions",
            "mp4 from slides",
            "record a presentation",
        ],
        example_intents=[
            "Turn these slides into a narrated video",
            "I need an MP4 of my deck with someone reading the notes",
            "Make a voice-over for this presentation, with subtitles",
            "record this talk for me, I have no time to speak it",
            "Create an explainer video out of my outline, dark theme",
            "Video from the Markdown slides, 720p is enough",
            "Give me the deck as a film with captions in SRT",
            "Read my speaker notes aloud over the slides",
            "A silent slideshow video is fine if there is no voice",
        ],
        typical_use="Use this when slides are written in Markdown and a video is wanted in which a voice presents "
        "them.",
        limitations=[
            "Reads the slides' notes word for word, or reads out what a slide shows; it writes no script. For slides "
            "with notes from prose use `slides.outline` first.",
            "The offline voice speaks English only; other languages need a voice of a provider.",
            "Shows still slides that dissolve into each other: no animations, pictures, music or camera.",
            "Makes 16:9 video only, 720p or 1080p.",
            "Code and pictures are not read out.",
            f"At most {MAX_MINUTES} minutes of speech and 200 slides.",
            "Needs the `slides` and `audio` extras.",
        ],
    ),
)
async def narrate(ctx: PackContext, input: Input) -> Output:
    """Makes a narrated video out of slide Markdown: slides as pictures, their notes spoken, captions and chapters.

    Each slide stays as long as its text is spoken; slides dissolve into each other, the sound is levelled to -16 LUFS.
    The video carries captions and chapters; captions come as SRT and WebVTT, too. The voice is the server's first that
    can speak, at last an offline one; what was replaced is a warning. Without any voice it is refused, unless
    `allow_silent_output` is set: then slides stay as long as reading their text takes.
    """
    if not input.markdown.strip():
        raise PackError(
            "invalid_input",
            "`markdown` is empty, so there are no slides to narrate.",
            field="markdown",
            hint="Give slides in Markdown separated by `---` lines, such as the output of `slides.outline`.",
        )
    has_voice = _has_voice(ctx, input)
    async with workspace() as folder:
        drawn = await _draw(ctx, input, folder)
        _require_short(drawn.minutes)
        passages = [scene.sentences for scene in drawn.scenes]
        spoken = await _speak(ctx, input, passages, folder) if has_voice else Spoken()
        return await _film(ctx, input, drawn, passages, spoken, folder)


def _has_voice(ctx: PackContext, input: Input) -> bool:
    lacking = ctx.models.missing("voice")
    if lacking is None:
        return True
    if not input.allow_silent_output:
        raise PackError(
            "invalid_input",
            f"The slides cannot be narrated here: {lacking.message}",
            field="allow_silent_output",
            hint=f"{lacking.hint} Or set `allow_silent_output` for a silent video with captions.",
        )
    ctx.warn(
        f"The video is silent: {lacking.message} Slides stay as long as reading takes "
        f"({WORDS_PER_MINUTE} words a minute)."
    )
    return False


async def _draw(ctx: PackContext, input: Input, folder: Path) -> Drawn:
    from ._narration import draw_slides

    ctx.progress(0.05, "Drawing the slides")
    height = _HEIGHTS[input.resolution]
    drawn = await ctx.run_in_process(
        draw_slides,
        input.markdown,
        input.theme,
        input.title,
        input.author,
        input.footer,
        height,
        str(folder),
        timeout_seconds=DRAW_SECONDS,
    )
    for warning in drawn.warnings:
        ctx.warn(warning)
    unnoted = sum(not scene.from_notes and not scene.leads for scene in drawn.scenes)
    if unnoted:
        ctx.log(f"{unnoted} of {len(drawn.scenes)} slides have no notes; what they show is read out.")
    return drawn


def _require_short(minutes: float) -> None:
    if minutes > MAX_MINUTES:
        raise PackError(
            "invalid_input",
            f"`markdown` holds about {minutes:.0f} minutes of speech; at most {MAX_MINUTES} make one video.",
            field="markdown",
            hint="Shorten the notes, or make several videos.",
        )


async def _speak(ctx: PackContext, input: Input, passages: Sequence[Sentences], folder: Path) -> Spoken:
    spoken = Spoken()
    lines = [Passage(index, passage) for index, passage in enumerate(passages)]
    total = sum(len(sentence.said) + 1 for passage in passages for sentence in passage) or 1
    done = 0

    def progressed(characters: int) -> None:
        nonlocal done
        done += characters
        ctx.progress(min(0.15 + 0.35 * done / total, 0.5), f"Spoke {min(done / total, 1):.0%} of the text")

    ctx.progress(0.15, f"Speaking {total:,} characters")
    await speak_passages(ctx, lines, "", input.voice, folder, spoken, progressed)
    for remark in spoken.remarks:
        ctx.warn(remark)
    mute = [index + 1 for index, passage in enumerate(passages) if passage and index not in spoken.sounds]
    if not spoken.sounds and not input.allow_silent_output:
        raise PackError(
            "invalid_input",
            "The voice could speak nothing of these slides, so the video would be silent.",
            field="markdown",
            hint="Use a voice that speaks the slides' language, or set `allow_silent_output`.",
        )
    if mute:
        shown = ", ".join(map(str, mute[:8])) + (" and others" if len(mute) > 8 else "")
        ctx.warn(f"Nothing could be spoken of the text of these slides, so they are silent: {shown}.")
    return spoken


async def _sound(ctx: PackContext, timing: Timing, folder: Path) -> Track:
    from .._audio.track import join_clips

    return await ctx.run_in_process(
        join_clips, list(timing.clips), str(folder / "track.pcm"), timeout_seconds=60 + timing.seconds
    )


async def _film(
    ctx: PackContext, input: Input, drawn: Drawn, passages: Sequence[Sentences], spoken: Spoken, folder: Path
) -> Output:
    from ._timing import captions_of, timing_of
    from ._video import Film, Shot, make_video

    timing = timing_of(passages, spoken.sounds)
    track = await _sound(ctx, timing, folder)
    cues = await asyncio.to_thread(captions_of, timing, track)
    title = input.title or drawn.title
    chapters = chapters_of(
        [(start, scene.title) for start, scene in zip(timing.starts, drawn.scenes, strict=True)], timing.seconds
    )
    said = [
        sentence.shown
        for passage, scene in zip(passages, drawn.scenes, strict=True)
        for sentence in passage
        if not scene.leads or scene.from_notes
    ]
    engagement = await written(ctx, "video", title, said, chapters, input.model)
    filming = f"Making {timing.seconds:.0f} seconds of video"
    ctx.progress(0.55, filming)
    height = _HEIGHTS[input.resolution]
    film = Film(
        shots=tuple(Shot(scene.picture, frames) for scene, frames in zip(drawn.scenes, timing.frames, strict=True)),
        width=height * 16 // 9,
        height=height,
        fade_frames=_FADE_FRAMES,
        cues=tuple(cues),
        chapters=tuple((chapter.start_seconds, chapter.title) for chapter in chapters),
        title=title,
        author=input.author or "",
        description=engagement.description,
    )
    path = folder / "video.mp4"
    async with watched(folder / "frames", sum(timing.frames), lambda share: ctx.progress(0.55 + 0.38 * share, filming)):
        facts = await ctx.run_in_process(make_video, film, track, str(path), timeout_seconds=120 + 8 * timing.seconds)
    has_narration = bool(spoken.sounds)
    _check(facts, timing, has_narration)
    stem = file_stem(title, "video")
    ctx.progress(0.95, "Saving the video")
    artifact = await ctx.save_artifact(f"{stem}.mp4", path, "video/mp4")
    ctx.progress(1.0, f"{len(drawn.scenes)} slides, {facts.seconds:.0f} seconds: {title}")
    return Output(
        artifact=artifact,
        captions_srt=await _save_text(ctx, f"{stem}.srt", to_srt(cues), "application/x-subrip"),
        captions_vtt=await _save_text(ctx, f"{stem}.vtt", to_vtt(cues) if cues else "", "text/vtt; charset=utf-8"),
        poster=await ctx.save_artifact(f"{stem}.png", Path(drawn.scenes[0].picture), "image/png"),
        duration_seconds=round(facts.seconds, 3),
        slide_count=len(drawn.scenes),
        has_narration=has_narration,
        voice=spoken.voices.get("") if has_narration else None,
        loudness_lufs=round(facts.lufs, 1) if has_narration else None,
        width=facts.width,
        height=facts.height,
        engagement=engagement,
    )


def _check(facts: Facts, timing: Timing, has_narration: bool) -> None:
    """The finished file against what was planned."""
    for what, seconds in (("picture", facts.video_seconds), ("sound", facts.audio_seconds)):
        if abs(seconds - timing.seconds) > _TOLERANCE_SECONDS:
            raise PackError(
                "invalid_output", f"The video's {what} lasts {seconds:.2f} s; {timing.seconds:.2f} s were planned."
            )
    if has_narration and facts.lufs < _AUDIBLE_LUFS:
        raise PackError("invalid_output", f"The video's sound measures {facts.lufs:.1f} LUFS, which is silence.")


async def _save_text(ctx: PackContext, name: str, text: str, media_type: str) -> ArtifactRef | None:
    return await ctx.save_artifact(name, text.encode(), media_type) if text else None
