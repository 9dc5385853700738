"""Describes each capability that the catalog lacks for a request, with a proposal of what to write. Pure.

Without a model a pack is proposed, made from what no entry covers: the unknown verb and the kinds of the facts and of
what is mentioned. It is a starting point for the author of the pack. A routing model may also propose a pipeline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from catalog.routing.concepts import thesaurus
from catalog.words import as_written, telling_words
from runner.excerpts import excerpt
from runner.packs.pack import PACK_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.routing.facts import Facts
    from catalog.routing.request_parts import RequestPart
    from catalog.routing.signals import RequestSignals
    from catalog.search import Entry, RefT

#: Longest name of a missing capability, in characters.
MAX_NAME = 120
#: Longest part of the request that the text of an issue quotes, in characters.
MAX_QUOTE = 2_000
#: Most gaps of one request.
MAX_GAPS = 5
#: Largest gap that is kept, in bytes of JSON.
MAX_GAP_BYTES = 20_000
_PIPELINE_NAME = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)*")
#: Area of the packs that work on a kind.
_AREAS = {
    "pdf": "doc", "docx": "doc", "xlsx": "doc", "pptx": "slides", "document": "doc", "html": "web", "url": "web",
    "source_url": "web", "repo_url": "repo", "repo_name": "github", "issue_number": "github", "mp3": "audio",
    "audio": "audio", "mp4": "video", "video": "video", "image": "image", "email": "email", "markdown": "text",
    "text": "text", "json": "data", "srt_captions": "video",
}  # fmt: skip
#: Kinds that are passed as a file.
_FILES = frozenset(("pdf", "docx", "xlsx", "pptx", "document", "mp3", "audio", "mp4", "video", "image"))


class Proposal(BaseModel):
    """What would close a gap: a pack somebody could write, or a pipeline of packs that exist."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Literal["propose_pack", "draft_pipeline"] = Field(
        description="`draft_pipeline` if packs of the catalog do it in a chain, else `propose_pack`."
    )
    name: str = Field(max_length=100, description="`area.verb` of a pack, `some-words` of a pipeline.")
    summary: str = Field(min_length=1, max_length=500, description="What it would do, one sentence.")
    packs: list[str] = Field(
        default_factory=list,
        validate_default=True,
        max_length=20,
        description="For a pipeline, the packs it would run, in order.",
    )
    input_schema: dict[str, JsonValue] = Field(description="JSON Schema of what it would be given.")
    output_schema: dict[str, JsonValue] = Field(description="JSON Schema of what it would return.")
    integration_pattern: str = Field(min_length=1, max_length=1000, description="How it would get at what it needs.")
    why_useful: str = Field(min_length=1, max_length=1000, description="What it would make possible.")

    @field_validator("name")
    @classmethod
    def _names_what_is_proposed(cls, name: str, info: ValidationInfo) -> str:
        action = info.data.get("action")
        if action == "propose_pack" and not PACK_NAME.fullmatch(name):
            raise PydanticCustomError("name", "a pack is named `area.verb`, in lower case")
        if action == "draft_pipeline" and not _PIPELINE_NAME.fullmatch(name):
            raise PydanticCustomError("name", "a pipeline is named `some-words`, in lower case")
        return name

    @field_validator("packs")
    @classmethod
    def _belong_to_a_pipeline(cls, packs: list[str], info: ValidationInfo) -> list[str]:
        action = info.data.get("action")  # missing if it is wrong, which is the only issue then
        if action is not None and bool(packs) != (action == "draft_pipeline"):
            raise PydanticCustomError("packs", "a pipeline runs at least one pack, and only a pipeline names packs")
        return packs


class GapWarning(BaseModel):
    """A capability the catalog lacks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    missing_capability: str = Field(
        min_length=1, max_length=200, description="Name of what cannot be done, in the words of the request."
    )
    why_missing: str = Field(min_length=1, max_length=1000, description="Why nothing in the catalog does it.")
    proposal: Proposal = Field(description="What would do it.")


@dataclass(frozen=True, slots=True)
class IssueText:
    """A gap as an issue."""

    title: str
    body: str


def describe_gaps(missing: Sequence[RequestPart[RefT]]) -> tuple[GapWarning, ...]:
    """Describe what is missing for parts of a request that no entry serves, each with a proposal of its own name."""
    gaps: list[GapWarning] = []
    for part in missing:
        gap = _gap(part)
        taken = {other.proposal.name for other in gaps}
        names = (
            f"{gap.proposal.name}{ending}" for ending in ("", *(f"_{number}" for number in range(2, MAX_GAPS + 1)))
        )
        proposal = gap.proposal.model_copy(update={"name": next(name for name in names if name not in taken)})
        gaps.append(gap.model_copy(update={"proposal": proposal}))
    return tuple(gaps)


def issue_text(intent: str, gap: GapWarning) -> IssueText:
    """Write a gap as the title and body of an issue; its texts are escaped for Markdown."""
    proposal = gap.proposal
    noun = "pipeline" if proposal.action == "draft_pipeline" else "pack"
    quoted = "\n".join(f"> {line}" for line in excerpt(intent, MAX_QUOTE).splitlines() or [""])
    title = excerpt(f"New {noun} {proposal.name}: {' '.join(gap.missing_capability.split())}", 120)
    packs = f"Packs, in order: {_listed(proposal.packs)}.\n\n" if proposal.packs else ""
    body = (
        f"## Wanted\n\n{quoted}\n\nMissing: {_plain(gap.missing_capability)}\n\n{_plain(gap.why_missing)}\n\n"
        f"## Proposed {noun} `{proposal.name}`\n\n{_plain(proposal.summary)}\n\n{_plain(proposal.why_useful)}\n\n"
        f"**How it would work.** {_plain(proposal.integration_pattern)}\n\n{packs}"
        f"Input:\n\n{_fenced(proposal.input_schema)}\n\nOutput:\n\n{_fenced(proposal.output_schema)}\n"
    )
    return IssueText(title, body)


def _gap(part: RequestPart[RefT]) -> GapWarning:
    facts, signals = part.facts, part.ranking.signals
    intent = " ".join(part.text.split())
    verb, unknown = _verb(facts.text, signals)
    nearest = [choice.entry for choice in part.ranking.choices]
    return GapWarning(
        missing_capability=excerpt(intent, MAX_NAME),
        why_missing=excerpt(_why_missing(unknown, nearest), 1000),
        proposal=_pack(facts, signals, verb, intent, nearest),
    )


def _why_missing(unknown: Sequence[str], nearest: Sequence[Entry[RefT]]) -> str:
    lacks = f"No pack or pipeline here knows {_listed(unknown)}." if unknown else "No pack or pipeline here does this."
    if not nearest:
        return lacks
    near = nearest[0]
    use = near.metadata.typical_use or near.description
    return f"{lacks} The nearest is {near.name}, which does something else: {use}"


def _pack(facts: Facts, signals: RequestSignals, verb: str, intent: str, nearest: Sequence[Entry[RefT]]) -> Proposal:
    kind = facts.facts[0].kinds[0] if facts.facts else _named_kind(signals)
    return Proposal(
        action="propose_pack",
        name=f"{_AREAS.get(kind or '', 'custom')}.{verb}",
        summary=f"A pack that does this: {excerpt(intent, 200)}",
        input_schema=_input_schema(facts, kind),
        output_schema={
            "type": "object",
            "required": ["result"],
            "properties": {"result": {"type": "string", "description": f"The result of: {excerpt(intent, 200)}"}},
        },
        integration_pattern=_integration(kind),
        why_useful=_why_useful(kind, nearest, intent),
    )


def _named_kind(signals: RequestSignals) -> str | None:
    """Return the kind of the first thing that a request mentions to work on; None when there is none."""
    vocabulary = thesaurus().concepts
    for role in ("given", "plain"):
        for name in signals.concepts.things.get(role, ()):
            for kind in _AREAS:
                if kind in vocabulary[name].kinds:
                    return kind
    return None


def _verb(text: str, signals: RequestSignals) -> tuple[str, list[str]]:
    """Return the verb for the pack's name, and the words that the catalog does not know, as written."""
    written = as_written(text)
    unknown = [written[term.stem] for term in signals.terms if term.sureness < 1 and term.stem in written]
    telling = [written[word] for word in telling_words(text) if word in written]
    first = unknown[0] if unknown and telling and unknown[0] == telling[0] else (telling or ["do"])[0]
    verb = re.sub(r"[^a-z0-9_]", "", first.encode("ascii", "ignore").decode())[:40]
    return (verb if verb and verb[0].isalpha() else "do"), unknown[:5]


def _input_schema(facts: Facts, kind: str | None) -> dict[str, JsonValue]:
    if kind in ("url", "source_url", "repo_url"):
        name, field = ("repo_url" if kind == "repo_url" else "url"), {"type": "string", "format": "uri"}
    elif kind in _FILES or (facts.facts and kind not in ("email", "issue_number", "repo_name")):
        name, field = "artifact", {"type": "string", "description": f"Id of the {kind or 'file'} to work on."}
    else:
        name, field = "text", {"type": "string", "description": "What to work on."}
    return {"type": "object", "required": [name], "properties": {name: {**field}}}


def _integration(kind: str | None) -> str:
    if kind in ("url", "source_url"):
        return "Fetch the address with ctx.http; where a sign-in is needed, a credential from the vault."
    if kind in ("repo_url", "repo_name", "issue_number"):
        return "Call the host's API with ctx.http and a credential from the vault, or work in a session of repo.fetch."
    if kind in _FILES:
        return "Read the artifact in ctx.run_in_process with a library for this format, and write the result as one."
    return "A service's HTTP API through ctx.http with a credential from the vault, or a library in ctx.run_in_process."


def _why_useful(kind: str | None, nearest: Sequence[Entry[RefT]], intent: str) -> str:
    fitting = [
        entry.id for entry in nearest if entry.kind == "pack" and (kind is None or kind in entry.metadata.accepts)
    ]
    chained = fitting or [entry.id for entry in nearest if entry.kind == "pack"]
    chain = f" It could be chained with {_listed(chained[:3])}." if chained else ""
    return f"Would serve requests such as “{excerpt(intent, 200)}”.{chain}"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def _fenced(schema: dict[str, JsonValue]) -> str:
    import json

    text = json.dumps(schema, indent=2, ensure_ascii=False).replace("```", "'''")
    return f"```json\n{text}\n```"
