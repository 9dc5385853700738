"""What a pack or pipeline is for, as its author declares it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Metadata(BaseModel):
    """What an entry takes, makes and is for; routing and search read nothing else.

    Kinds in `accepts` and `produces` come from the vocabulary in `catalog/kinds.yaml`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    accepts: list[str] = Field(default_factory=list, description="Kinds of thing it takes.")
    produces: list[str] = Field(default_factory=list, description="Kinds of thing it makes.")
    intent_keywords: list[str] = Field(default_factory=list, description="Short phrases a request is matched against.")
    example_intents: list[str] = Field(default_factory=list, description="Requests it serves, as people put them.")
    typical_use: str | None = Field(default=None, description="Use this when, one sentence.")
    limitations: list[str] = Field(default_factory=list, description="What it cannot do.")
    supersedes: list[str] = Field(default_factory=list, description="Packs a pipeline replaces; empty for packs.")
    practice: bool = Field(
        default=False, description="It exists to practise or demonstrate, and is offered only when asked for by name."
    )
