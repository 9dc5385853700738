"""`video.render`: an HTML composition in, an MP4 out."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import ArtifactRef, Metadata, PackContext, PostCondition, pack, python_module

from .._file_names import file_stem
from ._chromium import CHROMIUM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packline import ArtifactFile

AspectRatio = Literal["16:9", "9:16", "1:1"]
Resolution = Literal["720p", "1080p"]

#: As in `_job`.
RENDER_SECONDS = 1500.0


class Input(BaseModel):
    """The composition and how to film it."""

    composition_html: str = Field(
        min_length=1,
        max_length=1_000_000,
        description="One HTML document with its length in seconds as `data-duration` on the root element; "
        "`video.compose` writes this. It is drawn on a stage of 1280x720 CSS pixels (720x1280 upright, 720x720 "
        "square), reaches no network, and shows artifacts as `artifact:art_…`.",
    )
    resolution: Resolution = Field(default="720p", description="Pixels on the shorter side.")
    aspect_ratio: AspectRatio | None = Field(
        default=None, description="Shape of the picture; else what the composition declares, else 16:9."
    )
    fps: Literal[24, 30] = Field(default=24, description="Pictures a second.")
    audio_artifact: str | None = Field(
        default=None,
        max_length=64,
        description="Id of a sound file to lay under, `art_…`; else what the composition declares as `data-audio`.",
    )
    title: str | None = Field(default=None, max_length=200, description="Name of the file; else the document's title.")


class Output(BaseModel):
    """The video and what is known about it."""

    artifact: ArtifactRef = Field(description="The video, MP4 with H.264 and, with sound, AAC.")
    poster: ArtifactRef = Field(description="A picture of it, JPEG.")
    duration_seconds: float = Field(gt=0, description="How long it lasts.")
    width: int = Field(description="Of the picture, in pixels.")
    height: int = Field(description="Of the picture, in pixels.")
    fps: int = Field(description="Pictures a second.")
    frames: int = Field(ge=1, description="Pictures in it.")
    frames_drawn: int = Field(ge=1, description="How many differ from the one before and were drawn.")
    has_audio: bool = Field(description="Whether it has sound.")
    audio_seconds: float | None = Field(description="How long its sound lasts.")
    warnings: list[str] = Field(description="What is not quite as the composition says.")


def _is_film(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        start = opened.read(12)
    return None if start[4:8] == b"ftyp" else "the file does not begin like an MP4"


def _is_long_enough(output: Output, _files: object) -> str | None:
    if output.audio_seconds is not None and output.duration_seconds + 0.05 < output.audio_seconds:
        return f"it ends after {output.duration_seconds:.2f} s, before its sound of {output.audio_seconds:.2f} s"
    return None


@pack(
    "video.render",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=1560,
    services=[CHROMIUM, python_module("av", extra="audio")],
    post_conditions=[
        PostCondition("the video is a readable MP4 of the declared size and length", _is_film),
        PostCondition("the video lasts at least as long as its sound", _is_long_enough),
    ],
    metadata=Metadata(
        accepts=["composition_html", "html", "audio"],
        produces=["mp4", "video", "narrated_video", "image"],
        intent_keywords=[
            "render video",
            "html to video",
            "html to mp4",
            "make an mp4",
            "animation to video",
            "film a web page",
            "export composition",
            "video with my audio",
        ],
        example_intents=[
            "Render this HTML composition as an MP4",
            "Make a video file out of my animated web page",
            "I have the composition, film it in 1080p please",
            "Export the animation upright for a phone, 9:16",
            "Put this voice recording under the composition and give me the film",
            "turn the html into a square video for social media",
            "Same composition again with 30 frames a second",
            "I need the finished clip and a poster picture",
            "Record my CSS animation without a screen recorder",
        ],
        typical_use="Use this when an HTML composition is ready and a finished MP4 is wanted, with or without sound.",
        limitations=[
            "Films HTML, CSS and scripts; it does not write the composition: for that use `video.compose`.",
            "Lasts 12 minutes at most, in 720p or 1080p, with 24 or 30 frames a second.",
            "The composition reaches no network: pictures and fonts come along as data or as artifacts.",
            "`<video>`, `<audio>`, WebGL and animated GIFs do not play; animate with CSS or scripts.",
            "Scripts get a clock and random numbers of our own, so that the same input gives the same frames.",
            "Needs Chromium or Chrome on the machine; about 20 to 40 frames a second are drawn at 720p.",
            "Makes no speech; for narration use `podcast.generate` first.",
        ],
    ),
)
async def render(ctx: PackContext, input: Input) -> Output:
    """Films an HTML composition frame by frame and writes an MP4, with a sound file under it when given.

    Time is moved by the renderer, not by a clock: CSS animations, transitions, timers, `requestAnimationFrame`, `Date`
    and `Math.random` follow it, so that the same composition gives the same frames. Elements with `data-start` and
    `data-end` are visible within them, and animations in them count from there. The page is fenced in: no network, no
    files, no pop-ups; scripts that do not come to an end fail this step alone.
    """
    from ._assets import open_assets
    from ._declared import declarations
    from ._job import Job, render_composition
    from ._progress import heard_progress

    declared = declarations(input.composition_html)
    audio_id = input.audio_artifact or declared.audio_artifact
    audio = None
    if audio_id is not None:
        audio = str((await ctx.open_artifact(audio_id)).path)
    assets = await open_assets(ctx, input.composition_html, audio_id)
    ctx.progress(0.02, "Loading the composition")
    with tempfile.TemporaryDirectory(prefix="packline-video-") as name:
        folder = Path(name)
        with heard_progress(folder, ctx.progress) as pipe:
            job = Job(
                html=input.composition_html,
                aspect_ratio=input.aspect_ratio or declared.aspect_ratio,
                resolution=input.resolution,
                fps=input.fps,
                audio=audio,
                assets=assets,
                target=str(folder / "video.mp4"),
                progress=pipe,
            )
            made = await ctx.run_in_process(render_composition, job, timeout_seconds=RENDER_SECONDS + 30)
        for warning in made.warnings:
            ctx.warn(warning)
        ctx.progress(0.97, f"Saving {made.seconds:.1f} seconds of video")
        stem = file_stem(input.title or declared.title, "video")
        artifact = await ctx.save_artifact(f"{stem}.mp4", folder / "video.mp4", "video/mp4")
    poster = await ctx.save_artifact(f"{stem}-poster.jpg", made.poster, "image/jpeg")
    ctx.progress(1.0, f"{made.seconds:.1f} s of {made.width}x{made.height}, {made.drawn} of {made.frames} frames drawn")
    return Output(
        artifact=artifact,
        poster=poster,
        duration_seconds=round(made.seconds, 3),
        width=made.width,
        height=made.height,
        fps=input.fps,
        frames=made.frames,
        frames_drawn=made.drawn,
        has_audio=made.audio_seconds is not None,
        audio_seconds=None if made.audio_seconds is None else round(made.audio_seconds, 3),
        warnings=list(made.warnings),
    )
