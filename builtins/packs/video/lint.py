"""`video.lint`: an HTML composition in, what would spoil its video out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack

if TYPE_CHECKING:
    from ._rules import Finding

LINT_SECONDS = 150.0


class Input(BaseModel):
    """The composition and how strict to be."""

    composition_html: str = Field(min_length=1, max_length=1_000_000, description="One HTML document.")
    aspect_ratio: Literal["16:9", "9:16", "1:1"] | None = Field(
        default=None, description="Shape of the picture; else what the composition declares, else 16:9."
    )
    strict: bool = Field(default=False, description="Fail this step when there is an error.")


class Issue(BaseModel):
    """Something that is not as it should be."""

    rule: str = Field(description="Name of the rule, such as `text-overlap`.")
    severity: Literal["error", "warning"] = Field(description="Errors spoil the video; warnings may.")
    message: str = Field(description="For people, one sentence.")
    element: str = Field(description="Which element, as CSS would name it; empty for the document.")
    at_seconds: float | None = Field(description="When it shows.")


class Output(BaseModel):
    """What was found."""

    ok: bool = Field(description="Whether there is no error.")
    checked: Literal["loaded", "static"] = Field(
        description="`loaded`: drawn in Chromium and looked at. `static`: only read, since there is no Chromium here."
    )
    errors: int = Field(ge=0, description="How many errors there are.")
    warnings: int = Field(ge=0, description="How many warnings there are.")
    issues: list[Issue] = Field(description="Errors first.")
    duration_seconds: float | None = Field(description="How long the composition says it lasts.")
    composition_html: str = Field(description="The composition, unchanged, for the next step.")


@pack(
    "video.lint",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=200,
    metadata=Metadata(
        accepts=["composition_html", "html"],
        produces=["composition_html", "json"],
        intent_keywords=[
            "check composition",
            "lint video",
            "validate composition",
            "text overflow",
            "overlapping text",
            "contrast check",
            "video quality check",
        ],
        example_intents=[
            "Check this composition before I render it",
            "Does any text run off the screen in my video?",
            "Validate the HTML for the video and stop when something is wrong",
            "Is the type large enough to read on a phone?",
            "find overlapping texts in the animation",
            "Make sure the video loads nothing from the internet",
            "Are there gaps in the timeline?",
            "Tell me what would go wrong if I filmed this page",
        ],
        typical_use="Use this between composing or editing an HTML composition and `video.render`, to catch what would "
        "spoil the film.",
        limitations=[
            "Looks at one moment of each scene, 60 at most; what goes wrong between them is not seen.",
            "Judges contrast against colours and gradients, not against pictures.",
            "Without Chromium it only reads the document and sees neither overflow nor contrast.",
            "Repairs nothing; edit the HTML or run `video.compose` again.",
            "Judges no taste, spelling or facts; for facts use `content.ground`.",
        ],
    ),
)
async def lint(ctx: PackContext, input: Input) -> Output:
    """Reads a composition and, where there is Chromium, draws each scene and looks at it.

    Rules: nothing from outside, a timeline without gaps that lasts as long as it says, no text off the stage, cut off
    or over another, type of 14 pixels at least, contrast, scripts that have no place in a video, characters no font
    has. With `strict` an error fails the step, with the list.
    """
    from ._chromium import find_chromium
    from ._declared import declarations
    from ._rules import static_findings

    declared = declarations(input.composition_html)
    # A hostile document may take a while to read; the server's event loop is not the place for it.
    found = await ctx.run_in_process(static_findings, input.composition_html, timeout_seconds=LINT_SECONDS)
    is_loaded = find_chromium() is not None
    if is_loaded:
        from ._assets import open_assets
        from ._seen import seen_findings

        ctx.progress(0.1, "Looking at the scenes")
        assets = await open_assets(ctx, input.composition_html, declared.audio_artifact)
        ratio = input.aspect_ratio or declared.aspect_ratio
        found += await ctx.run_in_process(
            seen_findings, input.composition_html, ratio, assets, timeout_seconds=LINT_SECONDS
        )
    else:
        ctx.warn("There is no Chromium here, so the composition was only read: overflow and contrast were not checked.")
    found.sort(key=lambda finding: finding.severity)
    errors = [finding for finding in found if finding.severity == "error"]
    if errors and input.strict:
        raise _refused(errors)
    ctx.progress(1.0, f"{len(errors)} errors, {len(found) - len(errors)} warnings")
    return Output(
        ok=not errors,
        checked="loaded" if is_loaded else "static",
        errors=len(errors),
        warnings=len(found) - len(errors),
        issues=[
            Issue(
                rule=finding.rule,
                severity=finding.severity,
                message=finding.message,
                element=finding.element,
                at_seconds=finding.at_seconds,
            )
            for finding in found
        ],
        duration_seconds=declared.duration_seconds,
        composition_html=input.composition_html,
    )


def _refused(errors: list[Finding]) -> PackError:
    first = "; ".join(_line(finding) for finding in errors[:5])
    more = f"; and {len(errors) - 5} more" if len(errors) > 5 else ""
    return PackError(
        "invalid_input",
        f"The composition has {len(errors)} error{'s' if len(errors) > 1 else ''}: {first}{more}",
        field="composition_html",
        hint="Repair them, or run without `strict` to render it as it is.",
        detail={"errors": "\n".join(map(_line, errors))},
    )


def _line(finding: Finding) -> str:
    place = f" ({finding.element})" if finding.element else ""
    when = f" at {finding.at_seconds:g} s" if finding.at_seconds is not None else ""
    return f"{finding.rule}{when}{place}: {finding.message}"
