"""What agents read, said and did: entries, and how far a process was kept apart."""

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
    "What sort of entry a transcript has.",
    {
        "PROMPT": "What the agent was told.",
        "MESSAGE": "What it said.",
        "OUTPUT": "Other standard output.",
        "ERROR_OUTPUT": "Standard error.",
        "TOOL_CALL": "A tool or command it called.",
        "TOOL_RESULT": "What came back.",
        "DENIAL": "A command or call that was refused.",
        "USAGE": "Tokens and cost it reported.",
        "CUT": "The middle is left out: more than 8 MiB.",
    },
)


@strawberry.type(description="An entry of an agent's transcript; secrets masked.")
class TranscriptEntry:
    sequence: Long = strawberry.field(description="Counts from 1 within the attempt.")
    at: datetime | None = strawberry.field(description="When; null for what is left out.")
    kind: TranscriptKind = strawberry.field(description="What sort of entry.")
    text: str | None = strawberry.field(description="As text, where it is text.")
    data: JSON | None = strawberry.field(
        description="The rest: tool name, arguments, result, exit code, tokens; how many entries are left out."
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


@strawberry.type(description="Proof of where a replayed result came from.")
class CacheReceipt:
    cache_key: str = strawberry.field(description="Digest of everything that decides the result.")
    made_at: datetime = strawberry.field(description="When the result was made.")
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

    @strawberry.field(description="The attempt that made it; null once pruned, or to those who may not see it.")
    async def made_by(self, info: Info) -> 'Annotated[Attempt, strawberry.lazy("schema.runs.attempts")] | None':
        from schema.runs.attempts import load_attempt

        return await load_attempt(info, self.attempt_id)
