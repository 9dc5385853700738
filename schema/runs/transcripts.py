"""Transcript entries of agents, and receipts of cached results."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from schema.base.context import Info
from schema.base.enums import described_enum
from schema.base.pagination import Connection
from schema.base.scalars import JSON, Long
from store.states import TranscriptKind

if TYPE_CHECKING:
    from schema.runs.attempts import Attempt

described_enum(
    TranscriptKind,
    "Kinds of transcript entries.",
    {
        "PROMPT": "The prompt given to the agent.",
        "MESSAGE": "A message from the agent.",
        "OUTPUT": "Other standard output.",
        "ERROR_OUTPUT": "Standard error output.",
        "TOOL_CALL": "A tool or command that the agent called.",
        "TOOL_RESULT": "The result of a tool or command.",
        "DENIAL": "A tool call or command that was denied.",
        "USAGE": "Tokens and cost reported by the agent.",
        "CUT": "A gap: the middle of a transcript that is too long is left out.",
    },
)


@strawberry.type(description="An entry in an agent's transcript. Secrets are masked.")
class TranscriptEntry:
    sequence: Long = strawberry.field(description="Number within the attempt, counted from 1.")
    at: datetime | None = strawberry.field(description="When the entry was recorded. Null for a CUT.")
    kind: TranscriptKind = strawberry.field(description="The kind of entry.")
    text: str | None = strawberry.field(description="The entry as text, if it is text.")
    data: JSON | None = strawberry.field(
        description="Further data: tool name, arguments, result, exit code, tokens; for a CUT, how many "
        "entries are missing."
    )

    @classmethod
    def of(cls, entry: dict[str, object]) -> "TranscriptEntry":
        at, data, text = entry.get("at"), entry.get("data"), entry.get("text")
        return cls(
            sequence=Long(int(str(entry["sequence"]))),
            at=datetime.fromisoformat(str(at)) if at is not None else None,
            kind=TranscriptKind(str(entry["kind"])),
            text=text if isinstance(text, str) else None,
            data=None if data is None else JSON(data),
        )


TranscriptEntryConnection = Connection[TranscriptEntry]


@strawberry.type(description="The source of a cached result.")
class CacheReceipt:
    cache_key: str = strawberry.field(description="Digest of everything that determines the result.")
    made_at: datetime = strawberry.field(description="When the result was produced.")
    attempt_id: strawberry.Private[str]

    @classmethod
    def read(cls, text: str | None) -> "CacheReceipt | None":
        """Parse the receipt of a row; None when the attempt ran."""
        if text is None:
            return None
        stored = orjson.loads(text)
        return cls(
            cache_key=stored["cache_key"],
            made_at=datetime.fromisoformat(stored["made_at"]),
            attempt_id=stored["made_by"],
        )

    @strawberry.field(
        description="The attempt that produced the result. Null once deleted, or if the caller may not see it."
    )
    async def made_by(self, info: Info) -> 'Annotated[Attempt, strawberry.lazy("schema.runs.attempts")] | None':
        from schema.runs.attempts import load_attempt

        return await load_attempt(info, self.attempt_id)
