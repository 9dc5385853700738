"""Metadata of packs and pipelines, declared by their authors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Metadata(BaseModel):
    """What a pack or pipeline accepts, produces and is for; routing and search read nothing else.

    Kinds in `accepts` and `produces` come from the vocabulary in `catalog/kinds.yaml`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    accepts: list[str] = Field(default_factory=list, description="Kinds it accepts.")
    produces: list[str] = Field(default_factory=list, description="Kinds it produces.")
    intent_keywords: list[str] = Field(default_factory=list, description="Short phrases to match requests.")
    example_intents: list[str] = Field(default_factory=list, description="Requests it serves, in people's words.")
    typical_use: str | None = Field(default=None, description="When to use it, in one sentence.")
    limitations: list[str] = Field(default_factory=list, description="What it cannot do.")
    supersedes: list[str] = Field(default_factory=list, description="Packs a pipeline replaces; empty for packs.")
    practice: bool = Field(
        default=False, description="Whether it is for practice or demonstration; it is then offered only by name."
    )
