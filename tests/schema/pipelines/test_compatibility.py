"""Starts and resumes after packs were upgraded: a definition that no longer fits is refused before anything runs."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from pydantic import BaseModel, Field, create_model

from packline import Pack, PackContext, PackError, pack
from resolvers.pipelines import versions
from runner.definitions.compatibility import misfits
from runner.packs.registry import PackSource
from tests.support.front_door import command, look, ran, save, start, step
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

_PREVIEW = """query ($id: ID!, $input: JSON) { run(id: $id) { resumePreview(stepInput: $input) {
    allowed issues { path argument rule severity message hint } steps { key action } } } }"""
_PREVIEW_RERUN = """query ($id: ID!, $from: Key) { run(id: $id) { rerunPreview(fromStep: $from) {
    allowed issues { path argument rule severity message hint } } } }"""

_AVAILABILITY = """{ pipeline(id: "two") { ...Lacking } pipelines { nodes { ...Lacking } } }
    fragment Lacking on Pipeline { availability { usable missing { kind name steps message hint } } }"""
_USABLE = "{ pipelines(filter: {usable: USABLE}) { nodes { key } } }"


def moving(name: str, version: str, takes: dict[str, Any], gives: dict[str, Any], *, fails: bool = False) -> Pack:
    """A pack whose fields are given as pydantic takes them; it gives back what it takes, else a default."""
    taken: type[BaseModel] = create_model("Taken", **takes)
    given: type[BaseModel] = create_model("Given", **gives)

    async def moves(ctx: PackContext, input: BaseModel) -> BaseModel:
        """Moves values on."""
        if fails:
            raise PackError("invalid_input", "Not yet.")
        return given.model_validate(input.model_dump())

    moves.__annotations__.update({"input": taken, "return": given})
    return pack(name, version=version, effects="none", repeatable=True)(moves)


def gives(version: str, kind: type = int, field: str = "x", *, fails: bool = False) -> Pack:
    return moving("test.gives", version, {"text": (str, "")}, {field: (kind, kind("1"))}, fails=fails)


def count(version: str = "1.0.0", *, fails: bool = False, **takes: Any) -> Pack:
    fields = takes or {"number": (int, ...)}
    return moving("test.count", version, fields, {"number": (int, 1)}, fails=fails)


NUMBER = step("b", "test.count", number="${{ steps.a.output.x }}")


@pytest.mark.parametrize(
    ("packs", "place", "said"),
    [
        ([gives("1.1.0", str), count()], ["number"], "`number` of test.count takes a whole number"),
        ([gives("1.1.0", field="y"), count()], ["number"], "has no field `x`"),
        ([gives("2.0.0", str), count()], ["number"], "takes a whole number"),
        ([gives("1.0.0"), count("1.1.0", number=(str, ...))], ["number"], "`number` of test.count takes text"),
        ([gives("1.0.0"), count("1.1.0", number=(int, ...), unit=(str, ...))], ["unit"], "is missing"),
        ([gives("1.0.0"), count("1.1.0", amount=(int, 1))], ["number"], "not a known field"),
    ],
)
async def test_a_start_is_refused_where_the_packs_of_today_no_longer_fit(
    tmp_path: Path, packs: list[Pack], place: list[str], said: str
) -> None:
    async with product(tmp_path, [gives("1.0.0"), count()]) as it:
        await save(it, "two", step("a", "test.gives"), NUMBER)
        done = await ran(it, "two")
        assert done["state"] == "SUCCEEDED"
    async with product(tmp_path, packs) as it:
        told = await it.query(_AVAILABILITY)
        for lacking in (told["pipeline"]["availability"], told["pipelines"]["nodes"][0]["availability"]):
            (missing,) = lacking["missing"]
            assert (lacking["usable"], missing["kind"], missing["steps"]) == (False, "PACK", ["b"])
            assert said in missing["message"]
            assert "Fix the pipeline" in missing["hint"]
        for usable, keys in (("false", ["two"]), ("true", [])):
            nodes = (await it.query(_USABLE.replace("USABLE", usable)))["pipelines"]["nodes"]
            assert [one["key"] for one in nodes] == keys
        for answer in (
            await start(it, "two"),
            await start(it, "two", dryRun=True),
            await command(it, "rerunRun", id=done["id"], inputs={}),
            await command(it, "rerunRun", id=done["id"], inputs={}, fromStep="a"),
        ):
            assert answer["__typename"] == "InvalidProblem", answer
            wrong = answer["issues"][0]
            assert wrong["path"] == ["steps", "b", "input", *place]
            assert wrong["message"].startswith("Step `b`: ")
            assert said in wrong["message"]
            assert wrong["hint"].endswith(
                "Fix the pipeline and save it, or install the version of the pack it was made for."
            )
        assert (await it.query("{ runs(first: 5) { nodes { id } } }"))["runs"]["nodes"] == [{"id": done["id"]}]
        plan = (await it.query(_PREVIEW_RERUN, {"id": done["id"]}))["run"]["rerunPreview"]
        assert not plan["allowed"]
        assert plan["issues"][0]["path"] == ["steps", "b", "input", *place]


async def test_inputs_taken_from_packs_are_held_to_the_packs_of_today(tmp_path: Path) -> None:
    async with product(tmp_path, [count()]) as it:
        await save(it, "one", step("b", "test.count", number="${{ inputs.number }}"))
        assert (await ran(it, "one", {"number": 2}))["state"] == "SUCCEEDED"
    async with product(tmp_path, [count("1.1.0", number=(list[int], ...))]) as it:
        answer = await start(it, "one", {"number": 2})
        assert [issue["path"] for issue in answer["issues"]] == [["steps", "b", "input", "number"]]
        await save(it, "one", step("b", "test.count", number="${{ inputs.number }}"), description="Saved anew.")
        assert (await start(it, "one", {"number": [2]}))["__typename"] == "StartRunSuccess"


async def test_it_is_found_out_once_for_a_version_and_the_packs_there_are(tmp_path: Path) -> None:
    async with product(tmp_path, [gives("1.0.0"), count()]) as it:
        await save(it, "two", step("a", "test.gives"), NUMBER)
        with patch("resolvers.pipelines.versions.misfits", wraps=misfits) as asked:
            for _ in range(3):
                assert (await ran(it, "two"))["state"] == "SUCCEEDED"
            assert asked.call_count == 1
            newer = PackSource("entry_point", "test")
            it.services.registry.put(newer, [("test", gives("1.3.0", str))])
            for _ in range(2):
                assert (await start(it, "two"))["__typename"] == "InvalidProblem"
            assert asked.call_count == 2
            it.services.registry.remove(newer)
            assert (await ran(it, "two"))["state"] == "SUCCEEDED"
            await save(it, "two", step("a", "test.gives"), NUMBER, description="Another version.")
            assert (await ran(it, "two"))["state"] == "SUCCEEDED"
            assert asked.call_count == 4


async def test_what_is_wrong_with_the_inputs_and_missing_is_told_at_once(tmp_path: Path) -> None:
    steps = (step("a", "test.gives", text="${{ inputs.text }}"), NUMBER, step("c", "test.gone"))
    gone = moving("test.gone", "1.0.0", {}, {})
    async with product(tmp_path, [gives("1.0.0"), count(), gone]) as it:
        await save(it, "three", *steps, inputs={"type": "object", "properties": {"text": {"type": "string"}}})
    async with product(tmp_path, [gives("1.1.0", str), count()]) as it:
        answer = await start(it, "three", {"text": 1})
        assert [(issue["path"][0], issue["rule"]) for issue in answer["issues"]] == [
            ("inputs", "wrong_type"),
            ("steps", "type_mismatch"),
            ("steps", "missing_pack"),
        ]
        answer = await start(it, "three", {"text": "x"})
        assert [issue["rule"] for issue in answer["issues"]] == ["type_mismatch", "missing_pack"]


async def failed(tmp_path: Path, *packs: Pack, steps: tuple[dict[str, Any], ...]) -> str:
    async with product(tmp_path, packs) as it:
        await save(it, "two", *steps)
        run = await ran(it, "two")
        assert run["state"] == "FAILED"
        return str(run["id"])


async def preview(it: Product, run_id: str, step_input: Any = None) -> Any:
    return (await it.query(_PREVIEW, {"id": run_id, "input": step_input}))["run"]["resumePreview"]


async def test_a_url_with_credentials_in_an_output_does_not_prevent_a_resume_on_another_version(tmp_path: Path) -> None:
    address = moving("test.gives", "1.0.0", {}, {"x": (str, "https://me:secret@git.example/")})
    run_id = await failed(
        tmp_path, address, count(fails=True, number=(str, ...)), steps=(step("a", "test.gives"), NUMBER)
    )
    async with product(tmp_path, [address, count("1.1.0", number=(str, ...))]) as it:
        plan = await preview(it, run_id)
        assert (plan["allowed"], plan["issues"]) == (True, [])


async def test_a_resume_tells_what_a_stand_in_no_longer_takes(tmp_path: Path) -> None:
    run_id = await failed(tmp_path, gives("1.0.0"), count(fails=True), steps=(step("a", "test.gives"), NUMBER))
    async with product(tmp_path, [gives("1.0.0"), count("1.1.0", number=(int, ...), unit=(str, ...))]) as it:
        plan = await preview(it, run_id)
        assert not plan["allowed"]
        (wrong,) = plan["issues"]
        assert (wrong["path"], wrong["severity"]) == (["steps", "b", "input", "unit"], "ERROR")
        assert "would run on test.count 1.1.0" in wrong["message"]
        assert "install test.count 1.0.0 again" in wrong["hint"]
        refused = await command(it, "resumeRun", id=run_id)
        assert [issue["path"] for issue in refused["issues"]] == [wrong["path"]]
        assert (await look(it, run_id))["resumeCount"] == 0
        repaired = {"number": 1, "unit": "cm"}
        assert (await preview(it, run_id, repaired))["allowed"]
        resumed = await command(it, "resumeRun", id=run_id, stepInput=repaired, waitSeconds=20)
        assert resumed["run"]["state"] == "SUCCEEDED"


async def test_the_value_decides_where_it_is_known(tmp_path: Path) -> None:
    """The schemas alone prove nothing here: 1 fits a number up to 5, and not one above."""
    run_id = await failed(tmp_path, gives("1.0.0"), count(fails=True), steps=(step("a", "test.gives"), NUMBER))
    for bound, allowed in ((5, True), (0, False)):
        limited = count("1.1.0", number=(int, Field(le=bound)))
        async with product(tmp_path, [gives("1.0.0"), limited]) as it:
            assert (await preview(it, run_id))["allowed"] is allowed


async def test_a_later_step_is_judged_by_what_can_be_proved(tmp_path: Path) -> None:
    run_id = await failed(tmp_path, gives("1.0.0", fails=True), count(), steps=(step("a", "test.gives"), NUMBER))
    async with product(tmp_path, [gives("1.1.0"), count("1.1.0", number=(str, ...))]) as it:
        plan = await preview(it, run_id)
        assert {(tuple(issue["path"]), issue["rule"]) for issue in plan["issues"]} >= {
            (("steps", "b", "input", "number"), "schema_mismatch")
        }
    async with product(tmp_path, [gives("1.1.0"), count("1.1.0")]) as it:
        assert (await preview(it, run_id))["allowed"]


async def test_a_call_of_one_pack_is_looked_at_too(tmp_path: Path) -> None:
    async with product(tmp_path, [count(fails=True)]) as it:
        answer = await command(it, "runPack", pack="test.count", input={"number": 1}, waitSeconds=20)
        run_id = answer["run"]["id"]
    async with product(tmp_path, [count("1.1.0", amount=(int, ...))]) as it:
        plan = await preview(it, run_id)
        assert "test.count 1.1.0" in plan["issues"][0]["message"]


async def test_a_re_run_from_a_step_holds_reused_results_to_the_new_pack(tmp_path: Path) -> None:
    async with product(tmp_path, [gives("1.0.0"), count()]) as it:
        await save(it, "two", step("a", "test.gives"), NUMBER)
        run_id = (await ran(it, "two"))["id"]
    async with product(tmp_path, [gives("1.1.0", str), count("1.1.0", number=(int, Field(le=0)))]) as it:
        answer = await command(it, "rerunRun", id=run_id, inputs={}, fromStep="b")
        assert [issue["path"] for issue in answer["issues"]] == [["steps", "b", "input", "number"]]
        assert "it must be at most 0" in answer["issues"][0]["message"]
    async with product(tmp_path, [gives("1.1.0", str), count("1.1.0")]) as it:
        answer = await command(it, "rerunRun", id=run_id, inputs={}, fromStep="b", waitSeconds=20)
        assert answer["run"]["state"] == "SUCCEEDED", "what was recorded is a number, whatever the pack gives now"


def test_what_does_not_fit_is_noted_in_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large versions are looked at in threads, while the event loop looks at small ones."""
    monkeypatch.setattr(versions, "_MISFITS_CACHE_SIZE", 2)
    kept = versions.Versions()

    def note(worker: int) -> None:
        for number in range(100_000):
            kept._cache_misfits(f"{worker}-{number}", 1, ())

    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(note, range(3)))
    finally:
        sys.setswitchinterval(often)
    assert len(kept._misfits) == 2
