"""The units of work that move a run: submit, claim, settle, wait, cancel, resume, release.

Every unit of a worker starts with the fenced UPDATE of its run (`epoch` must still be its own) and writes the change
and its events in the same transaction. Zero rows changed by the fence means that somebody else owns the run now:
`LostLeaseError`, and nothing is written.

Lock order on PostgreSQL: the caller's slot (claims only), then the run, then everything below the run.
"""

from store.runs.claim import (
    Due,
    Snapshot,
    abandon,
    claim,
    due,
    release_leases,
    renew,
    snapshot,
)
from store.runs.commands import (
    acknowledge,
    delete_run,
    request_cancel,
    resume,
)
from store.runs.held import (
    fail_run,
    record_progress,
    release,
    rewind,
)
from store.runs.settle import (
    fail_step,
    finish_run,
    settle,
    start_attempt,
)
from store.runs.submit import (
    submit,
)
from store.runs.values import (
    AttemptEnd,
    AttemptStart,
    Claim,
    ClaimedStep,
    Fail,
    FailNext,
    Fence,
    GoOn,
    IdempotencyClashError,
    LostLeaseError,
    NewArtifact,
    NewRun,
    NewStep,
    NotClaimed,
    Pause,
    QueueFullError,
    Refusal,
    Resume,
    ResumeStep,
    Settled,
    Spent,
    SpentKeyError,
    Submitted,
    Succeed,
    Wait,
    WrongStateError,
)

__all__ = [
    "AttemptEnd",
    "AttemptStart",
    "Claim",
    "ClaimedStep",
    "Due",
    "Fail",
    "FailNext",
    "Fence",
    "GoOn",
    "IdempotencyClashError",
    "LostLeaseError",
    "NewArtifact",
    "NewRun",
    "NewStep",
    "NotClaimed",
    "Pause",
    "QueueFullError",
    "Refusal",
    "Resume",
    "ResumeStep",
    "Settled",
    "Snapshot",
    "Spent",
    "SpentKeyError",
    "Submitted",
    "Succeed",
    "Wait",
    "WrongStateError",
    "abandon",
    "acknowledge",
    "claim",
    "delete_run",
    "due",
    "fail_run",
    "fail_step",
    "finish_run",
    "record_progress",
    "release",
    "release_leases",
    "renew",
    "request_cancel",
    "resume",
    "rewind",
    "settle",
    "snapshot",
    "start_attempt",
    "submit",
]
