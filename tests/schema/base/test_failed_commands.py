"""A command that fails unexpectedly leaves the answers of the commands next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from store.database.dialects import Sql
from tests.support.front_door import GAP
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

_BREAK = Sql("ALTER TABLE gap_proposal RENAME TO gone")
_COMMANDS = """mutation ($gap: GapWarningInput!) {
    before: setLearning(paused: true) { ... on DefaultsSuccess { defaults { learningPaused } } }
    failing: saveGapProposal(userIntent: "Sing.", gap: $gap) { __typename }
    after: createToken(name: "late", scopes: [READ]) { ... on CreateTokenSuccess { token { name } } }
}"""


@pytest.mark.asyncio
async def test_a_failed_command_leaves_the_answers_of_the_others(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        await it.services.store.write(lambda conn: conn.run(_BREAK))

        answer = await it.answer(_COMMANDS, {"gap": GAP})

        assert answer.status == 200
        (error,) = answer.errors
        assert (error["path"], error["extensions"]["code"]) == (["failing"], "INTERNAL")
        assert answer.body["data"] == {
            "before": {"defaults": {"learningPaused": True}},
            "failing": None,
            "after": {"token": {"name": "late"}},
        }
