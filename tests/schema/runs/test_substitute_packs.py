"""Runs that go on after a pack was upgraded: which version stands in for the one of the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, create_model

from packline import Pack, PackContext, PackError, pack
from tests.support.front_door import command, look, ran, save, step
from tests.support.packs import Text  # noqa: TC001 - packs read their annotations
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

_PREVIEW = """query ($id: ID!) { run(id: $id) { resumePreview(definition: OF_RUN) {
    allowed issues { path argument rule severity message hint }
    steps { key action effects mayRepeatEffects } } } }"""


class Count(BaseModel):
    """What the second step takes."""

    number: int


def giving(version: str, kind: type = int, value: Any = 1, *, field: str = "x") -> Pack:
    """A pack that fails in its first version and gives a field of some type in others."""
    output: type[BaseModel] = create_model("Given", **{field: (kind, ...)})  # type: ignore[call-overload]

    async def gives(ctx: PackContext, input: Text) -> BaseModel:
        """Gives a value."""
        if version == "1.0.0":
            raise PackError("invalid_input", "Not yet.")
        return output(**{field: value})

    gives.__annotations__["return"] = output
    return pack("test.gives", version=version, effects="none", repeatable=True)(gives)


@pack("test.count", version="1.0.0", effects="none", repeatable=True)
async def count(ctx: PackContext, input: Count) -> Count:
    """Takes a number."""
    return input


async def failed_run(tmp_path: Path, version: str | None = None, second: str = "${{ steps.a.output.x }}") -> str:
    """A run whose first step failed on version 1.0.0 of its pack."""
    fixed = {} if version is None else {"version": version}
    async with product(tmp_path, [giving("1.0.0"), count]) as it:
        await save(it, "two", step("a", "test.gives", **fixed), step("b", "test.count", number=second))
        run = await ran(it, "two")
        assert run["state"] == "FAILED"
        return str(run["id"])


async def preview(it: Product, run_id: str) -> Any:
    return (await it.query(_PREVIEW, {"id": run_id}))["run"]["resumePreview"]


async def test_a_version_whose_output_no_longer_fits_is_refused_before_it_runs(tmp_path: Path) -> None:
    run_id = await failed_run(tmp_path)
    async with product(tmp_path, [giving("1.2.0", str, "one"), count]) as it:
        plan = await preview(it, run_id)
        assert not plan["allowed"]
        (wrong,) = plan["issues"]
        assert (wrong["path"], wrong["rule"], wrong["severity"]) == (["steps", "a"], "schema_mismatch", "ERROR")
        assert "test.gives 1.2.0" in wrong["message"]
        assert "`number` of test.count takes a whole number" in wrong["message"]
        refused = await command(it, "resumeRun", id=run_id)
        assert refused["__typename"] == "InvalidProblem"
        assert [issue["rule"] for issue in refused["issues"]] == ["schema_mismatch"]
        assert (await look(it, run_id))["resumeCount"] == 0


@pytest.mark.parametrize(
    ("kind", "field", "second", "allowed"),
    [
        (int, "x", "${{ steps.a.output.x }}", True),
        (int, "y", "${{ steps.a.output.x }}", False),
        (int, "y", "${{ steps.a.output.x | default(7) }}", True),
        (str, "x", "${{ steps.a.output.x | default(7) }}", False),
        (float, "x", "${{ steps.a.output.x }}", True),  # some numbers are whole: it cannot be told
    ],
)
async def test_what_is_not_proved_wrong_may_stand_in(
    tmp_path: Path, kind: type, field: str, second: str, *, allowed: bool
) -> None:
    run_id = await failed_run(tmp_path, second=second)
    async with product(tmp_path, [giving("1.1.0", kind, 1, field=field), count]) as it:
        assert (await preview(it, run_id))["allowed"] is allowed


async def test_the_version_that_ran_is_told_of_the_step(tmp_path: Path) -> None:
    run_id = await failed_run(tmp_path)
    read = "query ($id: ID!) { run(id: $id) { state steps { packVersion attempts { packVersion notes } } } }"
    async with product(tmp_path, [giving("1.2.0"), count]) as it:
        before = (await it.query(read, {"id": run_id}))["run"]
        assert [each["packVersion"] for each in before["steps"]] == ["1.0.0", None]
        await command(it, "resumeRun", id=run_id, waitSeconds=20)
        after = (await it.query(read, {"id": run_id}))["run"]
        assert after["state"] == "SUCCEEDED"
        first = after["steps"][0]
        assert first["packVersion"] == "1.2.0"
        assert [attempt["packVersion"] for attempt in first["attempts"]] == ["1.0.0", "1.2.0"]
        assert first["attempts"][1]["notes"] == ["runs on 1.2.0 instead of 1.0.0"]


@pytest.mark.parametrize(("version", "allowed"), [("1.0.0", False), ("1", True)])
async def test_a_version_named_exactly_is_not_replaced(tmp_path: Path, version: str, *, allowed: bool) -> None:
    run_id = await failed_run(tmp_path, version)
    async with product(tmp_path, [giving("1.1.0"), count]) as it:
        plan = await preview(it, run_id)
        assert plan["allowed"] is allowed
        answer = await command(it, "resumeRun", id=run_id, waitSeconds=20)
        if allowed:
            assert answer["run"]["state"] == "SUCCEEDED"
        else:
            assert answer["__typename"] == "UnavailableProblem"
            message = plan["issues"][0]["message"]
            assert message.startswith("Version 1.0.0 of "), message
            assert message.endswith("is not installed; installed: 1.1.0."), message


@pytest.mark.parametrize("installed", [giving("2.0.0"), giving("1.2.0", str), None])
async def test_a_step_that_cannot_run_here_is_not_said_to_repeat_an_effect(
    tmp_path: Path, installed: Pack | None
) -> None:
    run_id = await failed_run(tmp_path)
    async with product(tmp_path, [count] if installed is None else [installed, count]) as it:
        plan = await preview(it, run_id)
        assert not plan["allowed"]
        assert [issue["rule"] for issue in plan["issues"] if issue["severity"] == "WARNING"] == []
        assert not any(each["mayRepeatEffects"] for each in plan["steps"])
        if installed is not None:
            assert plan["steps"][0]["effects"] == "NONE"


@pytest.mark.parametrize(
    ("version", "hint"),
    [
        (None, "A re-run uses the installed version. To resume instead, save the pipeline with a step that fits an "),
        ("1.0.0", "Install it, or save the pipeline with a step that fits an installed version, and resume with its "),
    ],
)
async def test_a_run_whose_pack_has_a_new_major_version_says_how_to_go_on(
    tmp_path: Path, version: str | None, hint: str
) -> None:
    run_id = await failed_run(tmp_path, version)
    async with product(tmp_path, [giving("2.0.0"), count]) as it:
        refused = await command(it, "resumeRun", id=run_id)
        (lack,) = refused["missing"]
        assert lack["message"] == "Version 1.0.0 of pack test.gives is not installed; installed: 2.0.0."
        assert lack["hint"].startswith(hint)
        if version is None:
            again = await command(it, "rerunRun", id=run_id, inputs={}, waitSeconds=20)
            assert again["run"]["state"] == "SUCCEEDED"
        await save(it, "two", step("a", "test.gives", version="2"), step("b", "test.count", number=1))
        resumed = await command(it, "resumeRun", id=run_id, definition="CURRENT", waitSeconds=20)
        assert resumed["run"]["state"] == "SUCCEEDED"
