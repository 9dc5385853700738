"""The scopes of a caller as the schema describes them; imported before any type that has a field of them."""

from schema.base.enums import described_enum
from store.states import Scope

__all__ = ["Scope"]

described_enum(
    Scope,
    "What a caller may do.",
    {
        "READ": "Read the catalog, pipelines, and one's own runs, artifacts and memory.",
        "OBSERVE": "Read the runs, artifacts and transcripts of other callers; carries READ.",
        "RUN": "Start, resume, re-run and cancel runs; keep own defaults.",
        "WRITE": "Save, copy and delete pipelines; keep proposals for missing packs; delete runs.",
        "MANAGE": "Everything of everybody: credentials, callers, settings, audit; carries all other scopes.",
    },
)
