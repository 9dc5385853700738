"""`practice.review`: looks slides over, and fails once on purpose, so that somebody can practise Resume."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack

_CROWDED_WORDS = 90


class Input(BaseModel):
    """Slides, and whether the practice failure is wanted."""

    markdown: str = Field(
        description="Slides as Markdown, one slide between `---` lines.", min_length=1, max_length=500_000
    )
    practice_failure: bool = Field(
        default=True,
        description="Fail on the first attempt of this step, on purpose; the second one goes through.",
    )


class Output(BaseModel):
    """The slides as they came, and what was noticed about them."""

    markdown: str = Field(description="The slides, unchanged.")
    slide_count: int = Field(description="How many slides there are.", ge=0)
    word_count: int = Field(description="How many words are on them.", ge=0)
    remarks: list[str] = Field(description="What a reader may stumble over, a sentence each; empty when all is well.")


@pack(
    "practice.review",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=10,
    metadata=Metadata(
        practice=True,
        accepts=["outline_markdown", "markdown"],
        produces=["outline_markdown", "json"],
        intent_keywords=[
            "practice failure",
            "practise resume",
            "check slides",
            "review outline",
            "fail on purpose",
            "count slides",
        ],
        example_intents=[
            "Let me practise what to do when a step fails",
            "Fail once so that I can try Resume",
            "Show my team how a failed run is picked up again",
            "Count the slides before rendering them",
            "Check whether a slide of this deck is too full",
            "Look over the outline for empty slides",
            "Which slides have no heading?",
            "Put a harmless failure into my test pipeline",
        ],
        typical_use="Use this in a practice pipeline, between slides.outline and slides.render, to learn Resume.",
        limitations=[
            "Fails on the first attempt of its step unless practice_failure is false; "
            "give the step retry max_attempts 1, or the failure is retried away.",
            "Checks only length, headings and emptiness; it has no opinion about the content.",
        ],
    ),
)
async def review(ctx: PackContext, input: Input) -> Output:
    """Counts slides and words and notes crowded, empty and untitled slides; the first attempt fails, as practice.

    What decides is the number of the attempt, which goes on counting over a resume. A new run starts at one again.
    """
    if input.practice_failure and ctx.attempt_number == 1:
        ctx.log("This failure is made on purpose and says nothing about your installation.")
        raise PackError(
            "upstream_unavailable",
            "Practice failure: this step fails the first time, on purpose. Nothing is wrong.",
            cause="This step fails in its first attempt, so that you can practise Resume.",
            hint=f"Resume this run on its page, run `packline resume {ctx.run_id}`, or call the tool resume_run. "
            "The steps before this one are kept, and this one goes through.",
            remedy="resume",
            detail={"practice": True},
        )
    slides = split_slides(input.markdown)
    remarks = [remark for number, slide in enumerate(slides, start=1) for remark in slide.remarks(number)]
    for remark in remarks:
        ctx.log(remark)
    ctx.progress(1.0, f"Looked over {len(slides)} slides")
    return Output(
        markdown=input.markdown,
        slide_count=len(slides),
        word_count=sum(slide.word_count for slide in slides),
        remarks=remarks,
    )


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide's lines.

    Attributes:
        lines: What is on it, comments and blank lines left out.
    """

    lines: tuple[str, ...]

    @property
    def word_count(self) -> int:
        """Words with a letter or a digit in them."""
        return sum(1 for line in self.lines for word in line.split() if any(char.isalnum() for char in word))

    def remarks(self, number: int) -> list[str]:
        """What a reader may stumble over."""
        if not self.lines:
            return [f"Slide {number} is empty."]
        found = []
        if not any(line.startswith("#") for line in self.lines):
            found.append(f"Slide {number} has no heading.")
        if self.word_count > _CROWDED_WORDS:
            found.append(f"Slide {number} has {self.word_count} words; {_CROWDED_WORDS} are plenty for one slide.")
        return found


def split_slides(markdown: str) -> list[Slide]:
    """The slides between `---` lines; settings at the top, comments and breaks inside fenced code are none."""
    slides: list[list[str]] = [[]]
    fence = ""
    in_comment = False
    for line in _without_settings(markdown.splitlines()):
        stripped = line.strip()
        if not fence and (in_comment or stripped.startswith("<!--")):
            in_comment = "-->" not in stripped
            continue
        if stripped.startswith(("```", "~~~")) and fence in ("", stripped[:3]):
            fence = "" if fence else stripped[:3]
        if not fence and len(stripped) >= 3 and set(stripped) == {"-"}:
            slides.append([])
        elif stripped:
            slides[-1].append(stripped)
    return [Slide(tuple(lines)) for lines in slides]


def _without_settings(lines: list[str]) -> list[str]:
    """The lines after a block of `key: value` between two `---` at the very top."""
    if not lines or lines[0].strip() != "---":
        return lines
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            return lines[number + 1 :]
        if ":" not in line:
            break
    return lines
