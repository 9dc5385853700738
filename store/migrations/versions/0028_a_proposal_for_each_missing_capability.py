"""A kept gap names one missing capability, why it is missing, and a proposal with the action to take."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import op

if TYPE_CHECKING:
    from collections.abc import Callable

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_GAPS = sa.table("gap_proposal", sa.column("id"), sa.column("user_intent"), sa.column("gap"))
#: Longest name of a missing capability, and longest summary made of a request, in characters.
_NAME = 120
_SUMMARY = 400
#: Longest name of a pack that the older form takes, in characters.
_PACK_NAME = 100


def upgrade() -> None:
    _rewrite(_with_proposal)


def downgrade() -> None:
    """Keep what the older form has a place for; a proposed pipeline becomes a pack of its name."""
    _rewrite(_with_pack)


def _rewrite(change: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    connection = op.get_bind()
    for row in connection.execute(sa.select(_GAPS)).all():
        gap = change(row.user_intent, json.loads(row.gap))
        text = json.dumps(gap, ensure_ascii=False, separators=(",", ":"))
        connection.execute(sa.update(_GAPS).where(_GAPS.c.id == row.id).values(gap=text))


def _with_proposal(intent: str, gap: dict[str, Any]) -> dict[str, Any]:
    if "proposed_pack" not in gap:
        return gap
    wanted = " ".join(intent.split())
    pack = gap["proposed_pack"]
    return {
        "missing_capability": _shortened(wanted, _NAME),
        "why_missing": gap["missing_capability"],
        "proposal": {
            "action": "propose_pack",
            "name": pack["name"],
            "summary": f"A pack that does this: {_shortened(wanted, _SUMMARY)}",
            "packs": [],
            **{key: value for key, value in pack.items() if key != "name"},
        },
    }


def _with_pack(_: str, gap: dict[str, Any]) -> dict[str, Any]:
    if "proposal" not in gap:
        return gap
    proposal = gap["proposal"]
    kept = ("input_schema", "output_schema", "integration_pattern", "why_useful")
    name = proposal["name"] if "." in proposal["name"] else f"custom.{proposal['name'].replace('-', '_')}"
    return {
        "missing_capability": gap["why_missing"],
        "proposed_pack": {"name": "".join(islice(name, _PACK_NAME)), **{key: proposal[key] for key in kept}},
    }


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
