"""`video.compose`: a description in, an HTML composition out."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, Field

from packline import ArtifactRef, Metadata, ModelNeed, PackContext, PackError, PostCondition, excerpt, pack

from .._file_names import file_stem
from ._scenes import Example, Scene

WRITER = "writer"
MAX_SECONDS = 720.0
_PROBE_SECONDS = 60.0


class Input(BaseModel):
    """What the video is about and how it should look."""

    description: str = Field(
        default="",
        max_length=60_000,
        description="What the video says: a brief, a text, notes; headings and lists are understood. May be left out "
        "when `scenes` are given.",
    )
    title: str | None = Field(default=None, max_length=120, description="Title; else the text's own.")
    scenes: list[Scene] | None = Field(
        default=None, min_length=1, max_length=40, description="The scenes themselves, when nobody is to write them."
    )
    example: Example | None = Field(
        default=None,
        description="Plan to follow: `explainer`, `product-intro`, `how-to`, `news` or `data-story`.",
    )
    style: str | None = Field(default=None, max_length=300, description="Tone for the writer, such as `calm, factual`.")
    theme: Literal["light", "dark", "corporate", "warm"] = Field(default="dark", description="Look.")
    aspect_ratio: Literal["16:9", "9:16", "1:1"] = Field(default="16:9", description="Shape of the picture.")
    duration_seconds: float | None = Field(
        default=None,
        ge=2,
        le=MAX_SECONDS,
        description="Length of the video; else that of its sound, else as long as reading takes.",
    )
    audio_artifact: str | None = Field(
        default=None, max_length=64, description="Id of a sound file that will lie under it, `art_…`."
    )
    mode: Literal["auto", "model", "deterministic"] = Field(
        default="auto",
        description="`model` has the writer model plan the scenes, `deterministic` takes the description's own "
        "sentences, `auto` uses a model where there is one.",
    )
    model: str | None = Field(default=None, max_length=120, description="A configured `provider:name` to try first.")


class Output(BaseModel):
    """The composition."""

    composition_html: str = Field(description="One HTML document for `video.render`; it also plays in a browser.")
    artifact: ArtifactRef = Field(description="The same as a file, to look at before rendering.")
    title: str = Field(description="Title of the video.")
    duration_seconds: float = Field(gt=0, description="How long it lasts.")
    aspect_ratio: str = Field(description="Shape of the picture.")
    theme: str = Field(description="Look.")
    scenes: list[Scene] = Field(min_length=1, description="What it shows, with the length of each scene.")
    audio_artifact: str | None = Field(description="The sound that lies under it.")
    mode: Literal["given", "model", "deterministic"] = Field(
        description="`given`: the scenes came with the input. `model`: a model planned them. `deterministic`: they are "
        "the description's own sentences, chosen without a model."
    )
    model: str | None = Field(description="The model that planned the scenes.")


def _is_declared(output: Output, _files: object) -> str | None:
    if f'data-duration="{output.duration_seconds:g}"' not in output.composition_html[:1000]:
        return "it does not declare its length"
    return None


@pack(
    "video.compose",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=300,
    models=[ModelNeed(WRITER, required=False)],
    cost="One writer call: it reads the description and writes some 30 words a scene; nothing without a model.",
    post_conditions=[PostCondition("the composition declares its length", _is_declared)],
    metadata=Metadata(
        accepts=["description", "brief", "text", "markdown", "source_content", "audio"],
        produces=["composition_html", "html"],
        intent_keywords=[
            "video composition",
            "storyboard",
            "text to video",
            "explainer video",
            "animated text",
            "motion graphics",
            "scenes for a video",
            "video from a brief",
        ],
        example_intents=[
            "Make a short explainer video about our new feature",
            "Storyboard this announcement as animated scenes",
            "Turn the notes into an upright video for phones",
            "I have a voice recording; compose pictures that fit its length",
            "a 30 second product intro in the dark look",
            "Compose a how-to video from these steps",
            "Show these figures as a little data story",
            "Draft the video first, I want to see the HTML before you render it",
            "Square clip for social media with three statements",
        ],
        typical_use="Use this to plan and design a video of animated text before `video.render` films it.",
        limitations=[
            "Shows text, figures and shapes; it makes no photographs, drawings, charts or filmed scenes.",
            "Without a writer model it shows the description's own sentences and invents no headings.",
            "Makes an HTML composition, not a video file; for that use `video.render`.",
            "Does not listen to the sound: scenes share out its length, they do not follow its words.",
            "Has seven layouts and four themes; for others edit the HTML before rendering it.",
            "At most 40 scenes and 12 minutes; makes no speech, for that use `podcast.generate`.",
        ],
    ),
)
async def compose(ctx: PackContext, input: Input) -> Output:
    """Plans scenes for a description and draws them as an animated HTML composition.

    With a writer model the scenes are planned by it: titles, statements, points, quotes, figures, comparisons, as data
    that our template draws, so nothing a model writes is ever markup. Without one they are the description's own
    sentences. The length is the one given, else that of the sound, else what reading takes.
    """
    from ._document import Film, composition
    from ._scenes import fewest_to, timed

    seconds = await _seconds(ctx, input)
    title, language, scenes, mode, model = await _plan(ctx, input, seconds)
    if seconds is not None:
        fitting = fewest_to(scenes, seconds)
        if len(fitting) < len(scenes):
            ctx.warn(f"{seconds:g} seconds have room for {len(fitting)} scenes; {len(scenes) - len(fitting)} left out.")
        scenes = fitting
    placed = timed(scenes, seconds)
    length = placed[-1].end
    if length > MAX_SECONDS:
        raise PackError(
            "invalid_input",
            f"The scenes take {length:.0f} seconds; at most {MAX_SECONDS:.0f} are possible.",
            field="scenes" if input.scenes else "description",
            hint="Give fewer or shorter scenes, or a `duration_seconds`.",
        )
    html = composition(Film(title, placed, input.theme, input.aspect_ratio, input.audio_artifact, language))
    artifact = await ctx.save_artifact(f"{file_stem(title, 'video')}.html", html.encode(), "text/html; charset=utf-8")
    ctx.progress(1.0, f"{len(placed)} scenes, {length:g} seconds: {title}")
    return Output(
        composition_html=html,
        artifact=artifact,
        title=title,
        duration_seconds=length,
        aspect_ratio=input.aspect_ratio,
        theme=input.theme,
        scenes=[
            place.scene.model_copy(update={"duration_seconds": round(place.end - place.start, 2)}) for place in placed
        ],
        audio_artifact=input.audio_artifact,
        mode=mode,
        model=model,
    )


async def _seconds(ctx: PackContext, input: Input) -> float | None:
    """The length asked for, or that of the sound."""
    if input.audio_artifact is None:
        return input.duration_seconds
    file = await ctx.open_artifact(input.audio_artifact)
    if input.duration_seconds is not None:
        return input.duration_seconds
    from ._job import measure_audio

    found = await ctx.run_in_process(measure_audio, str(file.path), timeout_seconds=_PROBE_SECONDS)
    if found > MAX_SECONDS:
        raise PackError(
            "invalid_input",
            f"The sound {file.ref.name} lasts more than {MAX_SECONDS:.0f} seconds, the most a video may.",
            field="audio_artifact",
            hint="Give a shorter recording, or a `duration_seconds`.",
        )
    return round(found + 0.5, 2)


async def _plan(
    ctx: PackContext, input: Input, seconds: float | None
) -> tuple[str, str, list[Scene], Literal["given", "model", "deterministic"], str | None]:
    """Title, language, scenes, who planned them, and the model that did."""
    from ._scenes import scene_problem, split_description

    if input.scenes:
        for number, scene in enumerate(input.scenes):
            if problem := scene_problem(scene):
                raise PackError(
                    "invalid_input",
                    f"Scene {number + 1} with layout `{scene.layout}` {problem}.",
                    field=f"scenes[{number}]",
                    hint="Fill it in, or choose another layout.",
                )
        title = input.title or next((scene.title for scene in input.scenes if scene.title), "Video")
        return title, "en", list(input.scenes), "given", None
    if not re.search(r"\w", input.description):
        raise PackError(
            "invalid_input",
            "`description` is empty, so there is nothing to show.",
            field="description",
            hint="Say what the video is about in a few sentences, or give `scenes`.",
        )
    missing = ctx.models.missing(WRITER) if input.mode != "deterministic" else None
    if input.mode == "model" and missing is not None:
        raise PackError("invalid_input", missing.message, field="mode", hint=f"{missing.hint} Or choose mode `auto`.")
    if input.mode == "deterministic" or missing is not None:
        _warn_unused(ctx, input)
        scenes = split_description(input.description, input.title, input.example)
        ctx.log(f"No model: {len(scenes)} scenes of the description's own sentences.")
        return _short(scenes[0].title), "en", scenes, "deterministic", None
    title, language, scenes, model = await _by_model(ctx, input, seconds)
    return title, language, scenes, "model", model


async def _by_model(ctx: PackContext, input: Input, seconds: float | None) -> tuple[str, str, list[Scene], str]:
    from ._writer import Storyboard, instructions_for, prompt_for, unsourced_figures, usable

    count = 7 if seconds is None else max(3, min(24, round(seconds / 7)))
    ctx.progress(0.1, f"Planning about {count} scenes")
    answer = await ctx.models.structured(
        WRITER,
        Storyboard,
        prompt_for(input.description, input.title, count, seconds),
        instructions=instructions_for(input.style, input.example),
        model=input.model,
    )
    scenes, dropped = usable(answer.value.scenes)
    if not scenes:
        raise PackError("invalid_output", "The model planned only empty scenes.", hint="Run the step again.")
    if dropped:
        ctx.warn(f"{dropped} empty scenes the model planned were left out.")
    if new := unsourced_figures(scenes, f"{input.description} {input.title or ''}"):
        ctx.warn(f"The description does not hold the figures {', '.join(new[:5])}; check them in the scenes.")
    language = (
        answer.value.language if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?", answer.value.language) else "en"
    )
    return _short(input.title or answer.value.title), language, scenes, answer.model


def _warn_unused(ctx: PackContext, input: Input) -> None:
    if input.style:
        ctx.warn("No model planned these scenes, so `style` did not change their wording.")
    if input.model:
        ctx.warn("No model was asked, so `model` had no effect.")


def _short(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= 120 else excerpt(title, 119, ending="").rstrip() + "…"
