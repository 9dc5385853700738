"""Words of packs that the API shows as enums: levels of lines, statuses of files, effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from packline import PackContext, pack
from store.database.dialects import Sql
from tests.support.front_door import command
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from tests.support.product import Product

LEVELS = ["debug", "INFO", "warn", "critical", "loud", "", None, ["error"]]
SHOWN = ["DEBUG", "INFO", "WARNING", "ERROR", "INFO", "INFO", "INFO", "INFO"]


class Nothing(BaseModel):
    """Takes and gives nothing."""


class Kept(BaseModel):
    """What to keep."""

    status: Any = Field(description="The status to keep a file with.")


@pack("test.levels", version="1.0.0", effects="none", repeatable=True)
async def say(ctx: PackContext, given: Nothing) -> Nothing:
    """Says something at each level."""
    for level in LEVELS:
        ctx.log("Said.", level)  # type: ignore[arg-type]
    return given


@pack("test.status", version="1.0.0", effects="none", repeatable=True)
async def keep(ctx: PackContext, given: Kept) -> Nothing:
    """Keeps a file with a status, which the protocol does not offer."""
    await ctx.save_artifact("a.txt", b"1", "text/plain", status=given.status)  # type: ignore[call-arg]
    return Nothing()


async def log_of(it: Product, run_id: str) -> list[str]:
    query = "query ($id: ID!) { run(id: $id) { steps { attempts { id log(first: 50) { nodes { level } } } } } }"
    found = (await it.query(query, {"id": run_id}))["run"]["steps"][0]["attempts"][0]
    return [line["level"] for line in found["log"]["nodes"]]


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_any_word_may_be_a_level(tmp_path: Path, database: str) -> None:
    async with product(tmp_path, [say, keep], database_url=database) as it:
        run = (await command(it, "runPack", pack="test.levels", input={}, waitSeconds=20))["run"]
        assert run["state"] == "SUCCEEDED"
        assert await log_of(it, run["id"]) == SHOWN

        def as_before(conn: Connection) -> None:
            conn.run(Sql("UPDATE log_line SET level = 'critical' WHERE sequence = 1"), {})
            conn.run(Sql("UPDATE log_line SET level = 'loud' WHERE sequence = 2"), {})

        await it.services.store.write(as_before)
        assert await log_of(it, run["id"]) == ["ERROR", "INFO", *SHOWN[2:]]

        failed = (await command(it, "runPack", pack="test.status", input={"status": "best"}, waitSeconds=20))["run"]
        assert failed["failure"]["code"] == "HANDLER_FAILED"
        assert "'best' is not a valid ArtifactStatus" in failed["failure"]["message"]
        assert (await it.query("{ artifacts { nodes { name status } } }"))["artifacts"]["nodes"] == []
