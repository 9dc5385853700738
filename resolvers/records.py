"""The values that use cases return and take: all that a surface needs of what the store declares.

States and scopes are in `store.states`.
"""

from store.artifacts import ArtifactRecord
from store.audit import AuditFilter, AuditRecord
from store.callers import CallerRecord
from store.credentials import KEEP, CredentialRecord
from store.events import EventRecord
from store.gap_proposals import GapProposalRecord
from store.logs import LogLineRecord
from store.memory import MemoryRecord, TargetKind
from store.paging import PageWindow
from store.pipeline_reads import ListedPipeline, PipelineOrder, PipelineRecord, VersionBody, VersionRecord
from store.previews import PreviewKind, PreviewRecord
from store.run_reads import RunRecord
from store.sessions import SessionRecord
from store.spending import NOTHING, Spending
from store.step_reads import AttemptRecord, StepRecord
from store.tokens import TokenRecord
from store.usage import Usage

__all__ = [
    "KEEP",
    "NOTHING",
    "ArtifactRecord",
    "AttemptRecord",
    "AuditFilter",
    "AuditRecord",
    "CallerRecord",
    "CredentialRecord",
    "EventRecord",
    "GapProposalRecord",
    "ListedPipeline",
    "LogLineRecord",
    "MemoryRecord",
    "PageWindow",
    "PipelineOrder",
    "PipelineRecord",
    "PreviewKind",
    "PreviewRecord",
    "RunRecord",
    "SessionRecord",
    "Spending",
    "StepRecord",
    "TargetKind",
    "TokenRecord",
    "Usage",
    "VersionBody",
    "VersionRecord",
]
