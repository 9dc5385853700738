"""Recognises a step's own objects at services without idempotency keys.

Every object made there carries a mark, the digest of the step's idempotency key. Before making anything a pack looks
for its mark, so that a step that runs again (after a crash, a lost answer, a resume) finds what it made before.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packline import PackContext

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: The service's clock may be behind ours by this much without hiding a mark.
CLOCK_SLACK = timedelta(hours=1)


def mark_of(ctx: PackContext) -> str:
    """32 hexadecimal digits; the key itself is not shown to the service's readers."""
    return hashlib.sha256(f"packline mark {ctx.idempotency_key}".encode()).hexdigest()[:32]


def not_before(ctx: PackContext) -> datetime:
    """The earliest instant at which the service can have dated work of this step: when its run was made, less slack.

    Run ids end in a ULID, whose first ten characters are the time in milliseconds.
    """
    milliseconds = 0
    for character in ctx.run_id.rpartition("_")[2][:10]:
        milliseconds = milliseconds * 32 + _CROCKFORD.index(character)
    return datetime.fromtimestamp(milliseconds / 1000, UTC) - CLOCK_SLACK
