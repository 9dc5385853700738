"""Records of the store that use cases take and return, for the surfaces to import.

States and scopes are in `store.states`.
"""

from runner.gateway.budgets import BudgetState
from store.access.audit import AuditFilter, AuditRecord
from store.access.callers import CallerFilter, CallerRecord
from store.access.tokens import TokenRecord
from store.database.paging import PageWindow
from store.files.artifacts import ArtifactOrder, ArtifactRecord
from store.files.previews import PreviewKind, PreviewRecord
from store.memory.entries import MemoryRecord, TargetKind
from store.pipelines.gaps import GapProposalRecord
from store.pipelines.reads import ListedPipeline, PipelineOrder, PipelineRecord, VersionBody, VersionRecord
from store.pipelines.usage import Usage
from store.runs.budgets import CallerSpendingRecord
from store.runs.events import EventRecord
from store.runs.logs import LogLineRecord, LogQuery
from store.runs.reads import RunRecord
from store.runs.sessions import SessionRecord
from store.runs.spending import NOTHING, Spending
from store.runs.step_reads import AttemptRecord, StepRecord
from store.runs.workers import TakeoverRecord, WorkerRecord
from store.secrets.credentials import KEEP, CredentialRecord
from store.triggers.firings import FiringOutcome
from store.triggers.reads import FiringRecord, TriggerFilter, TriggerRecord
from store.triggers.webhooks import KEEP_DAYS

__all__ = [
    "KEEP",
    "KEEP_DAYS",
    "NOTHING",
    "ArtifactOrder",
    "ArtifactRecord",
    "AttemptRecord",
    "AuditFilter",
    "AuditRecord",
    "BudgetState",
    "CallerFilter",
    "CallerRecord",
    "CallerSpendingRecord",
    "CredentialRecord",
    "EventRecord",
    "FiringOutcome",
    "FiringRecord",
    "GapProposalRecord",
    "ListedPipeline",
    "LogLineRecord",
    "LogQuery",
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
    "TakeoverRecord",
    "TargetKind",
    "TokenRecord",
    "TriggerFilter",
    "TriggerRecord",
    "Usage",
    "VersionBody",
    "VersionRecord",
    "WorkerRecord",
]
