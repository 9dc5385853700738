"""States and causes of runs; import this before any type that refers to them."""

from __future__ import annotations

from schema.base.enums import described_enum
from store.states import RunCause, RunState

described_enum(
    RunState,
    "The state of a run. SUCCEEDED, FAILED and CANCELLED are final unless the run is resumed.",
    {
        "QUEUED": "Accepted, but not started.",
        "RUNNING": "A step is running or about to start.",
        "WAITING": "Waiting for a retry, a session or its start time, without occupying a worker.",
        "CANCELLING": "Being cancelled; its steps have not all stopped yet.",
        "SUCCEEDED": "All steps succeeded.",
        "FAILED": "A step failed and is not retried automatically.",
        "CANCELLED": "Cancelled before it finished.",
    },
)
described_enum(
    RunCause,
    "What started a run.",
    {
        "PERSON": "A person, in the web page, on the command line or with a script.",
        "AGENT": "An agent, over MCP.",
        "SCHEDULE": "A trigger with a schedule.",
        "WEBHOOK": "A webhook.",
        "RUN_ENDED": "A trigger that fires when a run ends.",
        "RERUN": "A re-run of another run.",
        "A2A": "Another agent, over A2A.",
    },
)

__all__ = ["RunCause", "RunState"]
