"""`catalog.route`: a request in plain words in, what to run for it out. Runs nothing."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from packline import Metadata, PackContext, pack


class Input(BaseModel):
    """The request and the caller's context."""

    user_intent: str = Field(
        min_length=1,
        max_length=20_000,
        description="The request, in the user's words.",
        examples=["Slides from https://example.org/article for new engineers"],
    )
    context: JsonValue = Field(
        default=None,
        description="What the caller has: `inputs` by name, `files` and `artifacts` with name and media type, earlier "
        "`runs`, or any text.",
    )


class Recommendation(BaseModel):
    """The best answer."""

    kind: Literal["pipeline", "pack", "none"] = Field(description="Kind of entry; `none` if nothing fits.")
    id: str | None = Field(description="Its id; null when nothing fits.")
    suggested_inputs: dict[str, JsonValue] = Field(description="Inputs filled in, each valid for the target.")
    input_sources: dict[str, Literal["request", "context", "defaults", "model"]] = Field(
        description="Where each suggested input came from."
    )
    missing_inputs: list[str] = Field(description="Required inputs still to be asked for.")
    missing_requirements: list[str] = Field(description="What it cannot have here; empty when it can run.")
    why: str = Field(description="Why this one.")
    confidence: float = Field(ge=0, le=1, description="How certain the answer is.")


class Alternative(BaseModel):
    """Another answer."""

    kind: Literal["pipeline", "pack"] = Field(description="Kind of entry.")
    id: str = Field(description="Its id.")
    suggested_inputs: dict[str, JsonValue] = Field(description="Inputs filled in, each valid for the target.")
    input_sources: dict[str, Literal["request", "context", "defaults", "model"]] = Field(
        description="Where each suggested input came from."
    )
    missing_inputs: list[str] = Field(description="Required inputs still to be asked for.")
    missing_requirements: list[str] = Field(description="What it cannot have here; empty when it can run.")
    why: str = Field(description="Why this one.")
    confidence: float = Field(ge=0, le=1, description="How well it fits.")


class Proposal(BaseModel):
    """What would close a gap."""

    action: Literal["propose_pack", "draft_pipeline"] = Field(
        description="Whether a pack has to be written, or a pipeline drafted from packs of the catalog."
    )
    name: str = Field(description="`area.verb` of a pack, `some-words` of a pipeline.")
    summary: str = Field(description="What it would do.")
    packs: list[str] = Field(description="For a pipeline, the packs it would run, in order.")
    input_schema: dict[str, JsonValue] = Field(description="Schema of the inputs it would take.")
    output_schema: dict[str, JsonValue] = Field(description="Schema of the output it would return.")
    integration_pattern: str = Field(description="How it would reach the service or data it needs.")
    why_useful: str = Field(description="What it would make possible.")


class Gap(BaseModel):
    """A capability the catalog lacks."""

    missing_capability: str = Field(description="Name of what cannot be done.")
    why_missing: str = Field(description="Why nothing in the catalog does it.")
    proposal: Proposal = Field(description="What would do it.")


class Output(BaseModel):
    """What to run for the request."""

    recommendation: Recommendation = Field(description="The best answer.")
    alternatives: list[Alternative] = Field(
        description="Other answers, at most 5: first those for further parts of the request, then the next best."
    )
    gap_warnings: list[Gap] = Field(description="Each capability that is missing here; empty when none is.")
    reasoning: str = Field(description="How the choice was made.")
    decided_by: str = Field(description="`lexical`, or the model that chose.")


@pack(
    "catalog.route",
    version="2.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=60,
    metadata=Metadata(
        accepts=["brief", "text", "query"],
        produces=["json"],
        intent_keywords=[
            "which pipeline",
            "what should I run",
            "choose a pack",
            "find the right pipeline",
            "route a request",
            "is there something that does",
            "missing capability",
        ],
        example_intents=[
            "What should I run to get slides out of a PDF?",
            "Which pipeline is right for this?",
            "Is there a pack that can read spreadsheets?",
            "Recommend a workflow for turning interviews into posts",
            "Tell me what fits this wish and why",
            "Pick the best pipeline and fill in its inputs",
            "Can Packline do this at all, and if not, what is missing?",
            "Compare the pipelines that could serve my request",
        ],
        typical_use="Use this to find out which pipeline or pack serves a request, before running anything.",
        limitations=[
            "Runs nothing; the caller confirms and starts the run.",
            "Without a routing model it compares words and available inputs, not meaning.",
            "Names one pipeline or pack, not a chain of several.",
        ],
    ),
)
async def route(ctx: PackContext, input: Input) -> Output:
    """Says which pipeline or pack serves a request, with inputs filled in and reasons, or what is missing here."""
    return Output.model_validate(await ctx.catalog.route(input.user_intent, input.context))
