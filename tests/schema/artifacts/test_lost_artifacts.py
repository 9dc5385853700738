"""Runs that go on although an artifact of theirs is lost: made anew, or refused with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock, patch

import pytest
from pydantic import BaseModel

from packline import Pack, PackContext, PackError, pack
from store.files.artifacts import erase_artifacts, find_artifact
from store.files.blob_port import BlobsUnavailableError
from tests.support.front_door import command, ended, look, ran, save, step
from tests.support.packs import FileMade, FileWanted, Text, Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

_PREVIEW = """query ($id: ID!) { run(id: $id) { resumePreview(definition: OF_RUN) {
    allowed issues { path argument rule severity message hint } steps { key action reason } } } }"""


class Wanted(BaseModel):
    """Which file to read."""

    artifact_id: str


@pack("test.reader", version="1.0.0", effects="none", repeatable=True)
async def reader(ctx: PackContext, given: Wanted) -> Text:
    """Reads a file."""
    return Text(text=(await ctx.open_artifact(given.artifact_id)).path.read_text())


@pack("test.lone", version="1.0.0", effects="none", repeatable=False)
async def lone(ctx: PackContext, given: FileWanted) -> FileMade:
    """Makes a file, and makes no second one like it."""
    ref = await ctx.save_artifact(given.name, given.content.encode(), given.media_type)
    return FileMade(artifact_id=ref.artifact_id, name=ref.name)


@pack("test.passes", version="1.0.0", effects="none", repeatable=True)
async def passes(ctx: PackContext, given: Wanted) -> Wanted:
    """Hands on what it was given."""
    if not given.artifact_id:
        raise PackError("invalid_input", "Nothing to hand on.")
    return given


PACKS: list[Pack] = [reader, lone, passes]


async def failed_run(it: Product, maker: str = "test.artifact") -> tuple[str, str]:
    """A run whose second step failed and whose third needs the file of the first; its id and the file's."""
    await save(
        it,
        "files",
        step("o", maker, content="Hello."),
        step("k", "test.switch", text="x"),
        step("z", "test.reader", artifact_id="${{ steps.o.output.artifact_id }}"),
    )
    run = await ran(it, "files")
    assert run["state"] == "FAILED"
    made = await look(it, run["id"], select="steps { output { json } }")
    return run["id"], made["steps"][0]["output"]["json"]["artifact_id"]


async def lose(it: Product, artifact_id: str) -> None:
    """Takes the content away from the disk, behind the server's back."""
    found = await find_artifact(it.services.store, artifact_id)
    assert found is not None
    blobs: Any = it.services.engine.resources.blobs
    blobs.path(found.digest).unlink()


async def erase(it: Product, artifact_id: str) -> None:
    """Erases it the way retention does."""
    assert await it.services.store.write(erase_artifacts, [artifact_id]) == 1


async def preview(it: Product, run_id: str) -> Any:
    return (await it.query(_PREVIEW, {"id": run_id}))["run"]["resumePreview"]


@pytest.mark.parametrize("losing", [lose, erase])
@pytest.mark.parametrize("database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_lost_file_is_made_anew(tmp_path: Path, losing: Any, database_url: str) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, *PACKS], database_url=database_url) as it:
        run_id, artifact_id = await failed_run(it)
        bench.failing = False
        assert [each["action"] for each in (await preview(it, run_id))["steps"]] == ["REUSE", "RUN", "RUN"]
        await losing(it, artifact_id)
        plan = await preview(it, run_id)
        assert plan["allowed"]
        assert [each["action"] for each in plan["steps"]] == ["RUN_AGAIN", "RUN", "RUN"]
        assert artifact_id in plan["steps"][0]["reason"]
        await command(it, "resumeRun", id=run_id, waitSeconds=20)
        run = await ended(it, run_id)
        assert run["state"] == "SUCCEEDED"
        assert run["output"]["json"]["text"] == "Hello."
        assert bench.calls("test.artifact") == 2


async def test_one_that_cannot_be_made_anew_is_refused_with_the_reason(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, *PACKS]) as it:
        run_id, artifact_id = await failed_run(it, "test.lone")
        await lose(it, artifact_id)
        plan = await preview(it, run_id)
        assert not plan["allowed"]
        (wrong,) = plan["issues"]
        assert (wrong["path"], wrong["rule"], wrong["severity"]) == (["steps", "o"], "artifact_gone", "ERROR")
        assert artifact_id in wrong["message"]
        assert "cannot be repeated" in wrong["message"]
        assert (await command(it, "resumeRun", id=run_id))["__typename"] == "InvalidProblem"


async def test_one_the_run_was_given_is_told_and_nothing_runs_again_for_it(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, *PACKS]) as it:
        _, artifact_id = await failed_run(it)
        await save(
            it,
            "given",
            step("o", "test.passes", artifact_id="${{ inputs.file }}"),
            step("k", "test.switch", text="x"),
            step("z", "test.reader", artifact_id="${{ steps.o.output.artifact_id }}"),
        )
        run = await ran(it, "given", {"file": artifact_id})
        assert run["state"] == "FAILED"
        await lose(it, artifact_id)
        plan = await preview(it, run["id"])
        assert [each["action"] for each in plan["steps"]] == ["REUSE", "RUN", "RUN"]
        (told,) = plan["issues"]
        assert (told["rule"], told["severity"]) == ("artifact_gone", "WARNING")
        assert artifact_id in told["message"]


async def test_one_that_a_step_yet_to_run_is_given_is_told_with_the_input_to_change(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, *PACKS]) as it:
        _, artifact_id = await failed_run(it)
        await save(
            it,
            "given",
            step("k", "test.switch", text="x"),
            step("z", "test.reader", artifact_id="${{ inputs.file }}"),
        )
        run = await ran(it, "given", {"file": artifact_id})
        assert (run["state"], (await preview(it, run["id"]))["issues"]) == ("FAILED", [])
        await lose(it, artifact_id)
        plan = await preview(it, run["id"])
        assert plan["allowed"], "perhaps nobody reads it"
        (told,) = plan["issues"]
        assert (told["path"], told["rule"], told["severity"]) == (["inputs", "file"], "artifact_gone", "WARNING")
        assert artifact_id in told["message"]
        query = "query ($id: ID!) { run(id: $id) { rerunPreview { allowed issues { rule } } } }"
        again = (await it.query(query, {"id": run["id"]}))["run"]["rerunPreview"]
        assert again == {"allowed": False, "issues": [{"rule": "artifact_gone"}]}
        refused = await command(it, "rerunRun", id=run["id"], inputs={})
        assert (refused["__typename"], refused["issues"][0]["path"]) == ("InvalidProblem", ["inputs", "file"])


@pytest.mark.parametrize("database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_start_is_refused_a_file_it_cannot_read(tmp_path: Path, database_url: str) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, *PACKS], database_url=database_url) as it:
        bench.failing = False
        await save(it, "given", step("z", "test.reader", artifact_id="${{ inputs.file }}"))
        await save(it, "made", step("o", "test.artifact", content="Hello."))
        made = await ran(it, "made")
        own = made["output"]["json"]["artifact_id"]
        other = await it.token_for("bo", "RUN", "READ")
        words = {}
        for lost, token in (("art_01J00000000000000000000000", None), (own, other)):
            for dry in (False, True):
                refused = await command(
                    it, "runPipeline", pipeline="given", inputs={"file": lost}, dryRun=dry, token=token
                )
                (told,) = refused["issues"]
                assert (told["path"], told["rule"], told["severity"]) == (["inputs", "file"], "artifact_gone", "ERROR")
                assert "give its id as `file`" in told["hint"]
                words[token] = told["message"].replace(lost, "ART")
            refused = await command(it, "runPack", pack="test.reader", input={"artifact_id": lost}, token=token)
            assert refused["issues"][0]["path"] == ["input", "artifact_id"]
        assert words[None] == words[other], "what belongs to others does not exist"
        assert (await ran(it, "given", {"file": own}))["state"] == "SUCCEEDED"
        await erase(it, own)
        assert (await command(it, "runPipeline", pipeline="given", inputs={"file": own}))["code"] == "INVALID"
        lookups = AsyncMock(side_effect=AssertionError("nothing is read for these"))
        with patch("runner.files.lost_artifacts.find_artifacts", lookups):
            await ran(it, "made", {})
            started = await command(it, "runPack", pack="test.switch", input={"text": f"About {own}."}, dryRun=True)
        assert started["__typename"] != "InvalidProblem"


async def test_nothing_is_made_anew_while_the_place_of_contents_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, *PACKS]) as it:
        run_id, _ = await failed_run(it)

        async def away(digest: str) -> None:
            raise BlobsUnavailableError("It does not answer.")

        monkeypatch.setattr(it.services.engine.resources.blobs, "content", away)
        assert [each["action"] for each in (await preview(it, run_id))["steps"]] == ["REUSE", "RUN", "RUN"]
