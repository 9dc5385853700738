"""Defaults of declared inputs: held to what is asked of values that are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from pydantic import BaseModel, Field

from packline import PackContext, pack
from runner.definitions import check
from store.database.dialects import Sql
from tests.support.front_door import command, ran, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

_CHECK = "query ($d: PipelineDefinitionInput!) { checkPipeline(definition: $d) { valid issues { path rule message } } }"
_CREATE = """mutation ($d: PipelineDefinitionInput!) { createPipeline(definition: $d) {
    __typename ... on InvalidProblem { message issues { path rule } } } }"""


class Given(BaseModel):
    """What the pack takes; its own default it would refuse."""

    q: Any = None
    size: int = Field(default=0, ge=1)


@pack("test.takes", version="1.0.0", effects="none", repeatable=True)
async def takes(ctx: PackContext, given: Given) -> Given:
    """Gives back what it takes."""
    return given


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def refusing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """For what changes nothing."""
    async with product(tmp_path_factory.mktemp("refusing"), [takes]) as running:
        yield running


def document(**field: Any) -> dict[str, Any]:
    inputs = {"type": "object", "$defs": {"few": {"maximum": 3}}, "properties": {"q": field}}
    return {"key": "asks", "name": "Asks", "inputs": inputs, "steps": [step("a", "test.takes", q="${{ inputs.q }}")]}


@pytest.mark.parametrize(
    ("field", "path", "expected"),
    [
        ({"type": "integer", "default": "foo"}, [], '"foo"'),
        ({"type": "string", "enum": ["a", "b"], "default": "c"}, [], '"c"'),
        ({"$ref": "#/$defs/few", "default": 5}, [], "5"),
        ({"type": "array", "items": {"type": "string"}, "default": ["x", 2]}, ["1"], "2"),
        ({"type": "string", "default": "{{REPO_URL}}"}, [], "placeholder"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_default_that_does_not_fit_is_refused_at_save(
    refusing: Product, field: dict[str, Any], path: list[str], expected: str
) -> None:
    checked = (await refusing.query(_CHECK, {"d": {"document": document(**field)}}))["checkPipeline"]
    assert not checked["valid"]
    (issue,) = checked["issues"]
    assert issue["path"] == ["inputs", "properties", "q", "default", *path]
    assert issue["message"].startswith("The default of the input `q` does not fit: ")
    assert expected in issue["message"]
    refused = await refusing.mutate(_CREATE, {"d": {"document": document(**field)}})
    assert refused["__typename"] == "InvalidProblem"


async def test_a_default_that_fits_reaches_the_pack(tmp_path: Path) -> None:
    async with product(tmp_path, [takes]) as it:
        saved = await it.mutate(_CREATE, {"d": {"document": document(type="integer", default=2)}})
        assert saved["__typename"] == "PipelineSuccess"
        assert (await ran(it, "asks"))["inputs"] == {"q": 2}


async def test_a_default_that_was_saved_before_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, [takes]) as it:
        with monkeypatch.context() as earlier:
            earlier.setattr(check, "default_issues", lambda schema: [])
            saved = await it.mutate(_CREATE, {"d": {"document": document(type="integer", default="foo")}})
        assert saved["__typename"] == "PipelineSuccess"
        refused = await start(it, "asks")
        assert refused["__typename"] == "InvalidProblem"
        (issue,) = refused["issues"]
        assert issue["path"] == ["inputs", "q"]
        assert "The default of the input `q`" in issue["message"]
        assert (await ran(it, "asks", {"q": 7}))["state"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("field", "path", "expected"),
    [
        ({"properties": {"n": {"type": "integer", "default": "foo"}}}, ["properties", "n"], '"foo"'),
        ({"items": {"properties": {"n": {"enum": [1], "default": 2}}}}, ["items", "properties", "n"], "2"),
        (
            {"allOf": [{"properties": {"n": {"$ref": "#/$defs/few", "default": 5}}}]},
            ["allOf", "0", "properties", "n"],
            "5",
        ),
        ({"properties": {"n": {"default": "{{REPO_URL}}"}}}, ["properties", "n"], "placeholder"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_default_inside_an_input_that_does_not_fit_is_refused_at_save(
    refusing: Product, field: dict[str, Any], path: list[str], expected: str
) -> None:
    checked = (await refusing.query(_CHECK, {"d": {"document": document(**field)}}))["checkPipeline"]
    (issue,) = checked["issues"]
    assert (checked["valid"], issue["path"]) == (False, ["inputs", "properties", "q", *path, "default"])
    assert issue["message"].startswith("The default does not fit: ")
    assert expected in issue["message"]


async def test_a_default_inside_an_input_that_was_saved_before_is_refused_where_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = {"type": "object", "properties": {"n": {"type": "integer", "default": "foo"}}}
    async with product(tmp_path, [takes]) as it:
        with monkeypatch.context() as earlier:
            earlier.setattr(check, "inner_default_issues", lambda schema: [])
            saved = await it.mutate(_CREATE, {"d": {"document": document(**field)}})
        assert saved["__typename"] == "PipelineSuccess"
        refused = await start(it, "asks", {"q": {}})
        (issue,) = refused["issues"]
        assert issue["path"] == ["inputs", "q", "n"]
        assert issue["message"].startswith("The default of the input `q.n` does not fit: ")
        assert (await ran(it, "asks", {"q": {"n": 7}}))["state"] == "SUCCEEDED"
        assert (await ran(it, "asks"))["state"] == "SUCCEEDED"


async def test_what_a_run_recorded_without_a_default_is_no_change_when_it_is_resumed(tmp_path: Path) -> None:
    inner = {"type": "object", "properties": {"n": {"default": 1}}}
    inputs = {"type": "object", "properties": {"q": inner, "code": {"type": "string"}}}
    async with product(tmp_path, [takes, *Workbench().packs]) as it:
        read = step("a", "test.takes", q="${{ inputs.q }}")
        await save(it, "fails", read, step("b", "test.fail", code="${{ inputs.code }}"), inputs=inputs)
        run = await ran(it, "fails", {"q": {}, "code": "invalid_input"})
        assert run["inputs"]["q"] == {"n": 1}
        earlier = Sql("UPDATE run SET inputs = :inputs WHERE id = :id")
        recorded = {"inputs": '{"code":"invalid_input","q":{}}', "id": run["id"]}
        await it.services.store.write(lambda conn: conn.run(earlier, recorded))
        resumed = await command(it, "resumeRun", id=run["id"], inputs={"code": "not_found"}, waitSeconds=20)
        assert resumed["__typename"] == "RunSuccess", resumed
        assert resumed["run"]["inputs"] == {"q": {}, "code": "not_found"}
        assert len(resumed["run"]["steps"][0]["attempts"]) == 1
        again = await command(it, "rerunRun", id=run["id"], inputs={"q": {}}, waitSeconds=20)
        assert again["run"]["inputs"]["q"] == {"n": 1}


async def test_a_default_a_pack_would_refuse_itself_is_not_derived(tmp_path: Path) -> None:
    async with product(tmp_path, [takes]) as it:
        await save(it, "derived", step("a", "test.takes", size="${{ inputs.size }}"))
        run = await ran(it, "derived")
        assert (run["state"], run["inputs"]) == ("SUCCEEDED", {})
