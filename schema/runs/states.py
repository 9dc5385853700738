"""Where runs stand and what starts them; described before any type refers to them."""

from __future__ import annotations

from schema.base.enums import described_enum
from store.states import RunCause, RunState

described_enum(
    RunState,
    "Where a run stands. SUCCEEDED, FAILED and CANCELLED are final until a resume.",
    {
        "QUEUED": "Accepted, not started.",
        "RUNNING": "A step is running or about to.",
        "WAITING": "Waiting for a retry or a session; no worker is held.",
        "CANCELLING": "Being cancelled; its steps have not let go yet.",
        "SUCCEEDED": "Every step succeeded.",
        "FAILED": "A step failed for good.",
        "CANCELLED": "Cancelled before the end.",
    },
)
described_enum(
    RunCause,
    "What started a run.",
    {
        "PERSON": "A person, in the page, on the command line or by a script.",
        "AGENT": "An agent, over MCP.",
        "SCHEDULE": "A schedule. Nothing starts runs by one yet.",
        "WEBHOOK": "A webhook. Nothing starts runs by one yet.",
        "RERUN": "The re-run of another run.",
        "A2A": "Another agent platform, over A2A. None is served yet.",
    },
)

__all__ = ["RunCause", "RunState"]
