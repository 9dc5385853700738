"""Describes what the catalog lacks for a request, as a pack to write. Pure; calls no model.

The proposal is made from what no entry covers: the unknown verb and the kinds of the facts and of what is mentioned. It
is a starting point for the author of the pack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from catalog.routing.concepts import thesaurus
from catalog.words import as_written, telling_words
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.routing.facts import Facts
    from catalog.routing.signals import RequestSignals
    from catalog.search import Entry, RefT

#: Longest excerpt of the request in a gap, in characters.
MAX_INTENT = 500
#: Largest gap that is kept, in bytes of JSON.
MAX_GAP_BYTES = 20_000
#: Area of the packs that work on a kind.
_AREAS = {
    "pdf": "doc", "docx": "doc", "xlsx": "doc", "pptx": "slides", "document": "doc", "html": "web", "url": "web",
    "source_url": "web", "repo_url": "repo", "repo_name": "github", "issue_number": "github", "mp3": "audio",
    "audio": "audio", "mp4": "video", "video": "video", "image": "image", "email": "email", "markdown": "text",
    "text": "text", "json": "data", "srt_captions": "video",
}  # fmt: skip
#: Kinds that are passed as a file.
_FILES = frozenset(("pdf", "docx", "xlsx", "pptx", "document", "mp3", "audio", "mp4", "video", "image"))


class ProposedPack(BaseModel):
    """A pack somebody could write."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$", max_length=100, description="`area.verb`.")
    input_schema: dict[str, JsonValue] = Field(description="JSON Schema of what it would be given.")
    output_schema: dict[str, JsonValue] = Field(description="JSON Schema of what it would return.")
    integration_pattern: str = Field(min_length=1, max_length=1000, description="How it would get at what it needs.")
    why_useful: str = Field(min_length=1, max_length=1000, description="What it would make possible.")


class GapWarning(BaseModel):
    """A capability the catalog lacks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    missing_capability: str = Field(min_length=1, max_length=1000, description="What cannot be done.")
    proposed_pack: ProposedPack = Field(description="A pack that would do it.")


@dataclass(frozen=True, slots=True)
class IssueText:
    """A gap as an issue."""

    title: str
    body: str


def describe_gap(request: str, facts: Facts, signals: RequestSignals, nearest: Sequence[Entry[RefT]]) -> GapWarning:
    """Describe what is missing for a request that no entry serves.

    Args:
        request: The user's words.
        facts: The facts of the request.
        signals: The request compared with the catalog.
        nearest: The nearest entries, the best first.
    """
    intent = excerpt(" ".join(request.split()), MAX_INTENT)
    deed, unknown = _deed(facts.text, signals)
    kind = facts.facts[0].kinds[0] if facts.facts else _named_kind(signals)
    area = _AREAS.get(kind or "", "custom")
    lacks = f" No pack or pipeline here knows {_listed(unknown)}." if unknown else ""
    near = nearest[0] if nearest else None
    nearest_text = (
        f" The nearest is {near.name}, which does something else: {near.metadata.typical_use or near.description}"
        if near
        else ""
    )
    return GapWarning(
        missing_capability=excerpt(f"Nothing here can do this: “{intent}”.{lacks}{nearest_text}", 1000),
        proposed_pack=ProposedPack(
            name=f"{area}.{deed}",
            input_schema=_input_schema(facts, kind),
            output_schema={
                "type": "object",
                "required": ["result"],
                "properties": {"result": {"type": "string", "description": f"The result of: {excerpt(intent, 200)}"}},
            },
            integration_pattern=_integration(kind),
            why_useful=_why(kind, nearest, intent),
        ),
    )


def issue_text(intent: str, gap: GapWarning) -> IssueText:
    """Write a gap as the title and body of an issue; its texts are escaped for Markdown."""
    pack = gap.proposed_pack
    quoted = "\n".join(f"> {line}" for line in excerpt(intent, 2000).splitlines() or [""])
    title = excerpt(f"New pack {pack.name}: {' '.join(intent.split())}", 120)
    body = (
        f"## Wanted\n\n{quoted}\n\n{_plain(gap.missing_capability)}\n\n"
        f"## Proposed pack `{pack.name}`\n\n{_plain(pack.why_useful)}\n\n"
        f"**How it would work.** {_plain(pack.integration_pattern)}\n\n"
        f"Input:\n\n{_fenced(pack.input_schema)}\n\nOutput:\n\n{_fenced(pack.output_schema)}\n"
    )
    return IssueText(title, body)


def _named_kind(signals: RequestSignals) -> str | None:
    """Return the kind of the first thing that a request mentions to work on; None when there is none."""
    vocabulary = thesaurus().concepts
    for role in ("given", "plain"):
        for name in signals.concepts.things.get(role, ()):
            for kind in _AREAS:
                if kind in vocabulary[name].kinds:
                    return kind
    return None


def _deed(text: str, signals: RequestSignals) -> tuple[str, list[str]]:
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


def _why(kind: str | None, nearest: Sequence[Entry[RefT]], intent: str) -> str:
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
