"""Descriptions of the scopes; import this before any type with a field of type Scope."""

from schema.base.enums import described_enum
from store.states import Scope

__all__ = ["Scope"]

described_enum(
    Scope,
    "What a token allows its caller to do.",
    {
        "READ": "Read the catalog, pipelines, and the caller's own runs, artifacts and memory.",
        "OBSERVE": "Read the runs, artifacts and transcripts of all callers. Includes READ.",
        "RUN": "Start, resume, re-run and cancel runs; change the caller's own defaults.",
        "WRITE": "Create, change, copy and delete pipelines; save gap proposals; delete runs.",
        "MANAGE": "Full access for administrators: credentials, callers, settings, audit. Includes all other scopes.",
    },
)
