"""Revisions of the schema, and the lock under which they change."""

from __future__ import annotations

from pathlib import Path

#: Every revision of `store/migrations/versions`, oldest first: the beginnings of its files' names.
REVISIONS = tuple(sorted(path.name[:4] for path in Path(__file__).parent.parent.glob("migrations/versions/[0-9]*.py")))
#: `pg_advisory_xact_lock` key for creating or changing the schema: "packline" as eight ASCII bytes.
ADVISORY_LOCK = int.from_bytes(b"packline", "big")


def head_revision() -> str:
    """Return the revision that this release needs."""
    return REVISIONS[-1]
