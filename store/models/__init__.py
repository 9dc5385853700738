"""The tables.

Instants are aware UTC (`UTCDateTime` through SQLModel's plain `datetime`); enums are strings checked by
`store.states`; definitions and payloads are JSON as TEXT, because JSONB refuses some strings and reorders
keys. Ids are a type prefix and a ULID, so ordering by id is ordering by creation.
"""

from store.models.artifacts import ArtifactRow, BlobRow, PreviewRow
from store.models.attempt_records import (
    CachedFileRow,
    CachedResultRow,
    CacheEntryRow,
    LogLineRow,
    SessionRow,
    TranscriptRow,
)
from store.models.callers import AuditRow, CallerRow, CallerSlotRow, TokenRow
from store.models.credentials import CredentialGrantRow, CredentialRow, McpToolRow, VaultRow
from store.models.declaring import complete_for_postgresql
from store.models.memory import DefaultOverrideRow, MemoryEntryRow, MemoryStateRow
from store.models.pipelines import GapProposalRow, PipelineRow, PipelineVersionRow
from store.models.runs import AttemptRow, JoinedKeyRow, RunEventRow, RunRow, RunStepRow

__all__ = [
    "ArtifactRow",
    "AttemptRow",
    "AuditRow",
    "BlobRow",
    "CacheEntryRow",
    "CachedFileRow",
    "CachedResultRow",
    "CallerRow",
    "CallerSlotRow",
    "CredentialGrantRow",
    "CredentialRow",
    "DefaultOverrideRow",
    "GapProposalRow",
    "JoinedKeyRow",
    "LogLineRow",
    "McpToolRow",
    "MemoryEntryRow",
    "MemoryStateRow",
    "PipelineRow",
    "PipelineVersionRow",
    "PreviewRow",
    "RunEventRow",
    "RunRow",
    "RunStepRow",
    "SessionRow",
    "TokenRow",
    "TranscriptRow",
    "VaultRow",
    "complete_for_postgresql",
]
