"""Defaults that an input schema declares inside its inputs count like those at its top, on every way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from packline import PackContext, pack
from tests.support.front_door import step
from tests.support.surfaces import states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Page(BaseModel):
    """Of what a deck is made."""

    size: str = Field(default="A4", description="Its size.")
    margin: int | None = Field(default=None, description="Its margin.")


class Wanted(BaseModel):
    """What is wanted."""

    page: Page = Field(description="Its page.")
    pages: list[Page] = Field(default_factory=list, description="More of them.")


class Given(BaseModel):
    """What was given."""

    given: Any = Field(default=None, description="Anything.")


@pack("test.given", version="1.0.0", effects="none", repeatable=True)
async def given(ctx: PackContext, input: Given) -> Given:
    """Gives what it is given."""
    return Given(given=input.given)


@pack("test.wanted", version="1.0.0", effects="none", repeatable=True)
async def wanted(ctx: PackContext, input: Wanted) -> Wanted:
    """Gives what it is given, defaults included."""
    return input


#: What the house has beside its usual packs.
PACKS = (given, wanted)

SIZED = {"type": "object", "properties": {"size": {"type": "string", "default": "A4"}}}
FIELDS: dict[str, Any] = {
    "deep": {"type": "object", "properties": {"page": SIZED, "n": {"default": 7}}},
    "list": {"type": "array", "items": SIZED},
    "pair": {"type": "array", "prefixItems": [SIZED, {"type": "integer"}], "items": SIZED},
    "open": {"type": "object", "additionalProperties": {"properties": {"size": {"default": "A4"}}}},
    "named": {"$ref": "#/$defs/page"},
    "chosen": {"$ref": "#/$defs/unit"},
    "both": {"allOf": [SIZED, {"properties": {"dpi": {"default": 300}}}]},
    "maybe": {"anyOf": [{"$ref": "#/$defs/page"}, {"type": "null"}]},
    "shape": {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"default": 1}}},
            {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"default": 2}}},
        ]
    },
    "either": {
        "type": "object",
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {"default": 1}},
    },
    "whole": {"type": "object", "default": {"x": {}}, "properties": {"x": SIZED}},
    "nested": {"$ref": "#/$defs/tree"},
}
DEFS = {
    "page": {**SIZED, "required": []},
    "unit": {"type": "string", "default": "mm"},
    "tree": {
        "type": "object",
        "properties": {"leaf": {"default": True}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    },
}
GIVEN: dict[str, Any] = {
    "deep": {"page": {}},
    "list": [{}, {"size": "A5"}],
    "pair": [{}, 1, {}],
    "open": {"first": {}, "second": {"size": None}},
    "named": {},
    "both": {},
    "maybe": {},
    "shape": {"kind": "square"},
    "either": {"b": 1},
    "nested": {"children": [{"children": [{"leaf": False}]}]},
}
FILLED: dict[str, Any] = {
    "deep": {"page": {"size": "A4"}, "n": 7},
    "list": [{"size": "A4"}, {"size": "A5"}],
    "pair": [{"size": "A4"}, 1, {"size": "A4"}],
    "open": {"first": {"size": "A4"}, "second": {"size": None}},
    "named": {"size": "A4"},
    "chosen": "mm",
    "both": {"size": "A4", "dpi": 300},
    "maybe": {"size": "A4"},
    "shape": {"kind": "square", "side": 2},
    "either": {"b": 1},
    "whole": {"x": {"size": "A4"}},
    "nested": {"leaf": True, "children": [{"leaf": True, "children": [{"leaf": False}]}]},
}


def of(names: Any) -> dict[str, Any]:
    """An input schema with these of the fields."""
    return {"type": "object", "$defs": DEFS, "properties": {name: FIELDS[name] for name in names}}


async def run_of(api: Api, operation: str, **arguments: Any) -> dict[str, Any]:
    run: dict[str, Any] = (await api.me.call(operation, waitSeconds=20, **arguments))["run"]
    assert run["state"] == "SUCCEEDED", run["failure"]
    return run


@states("run_pipeline", "check_pipeline", "preview_rerun", "rerun_run")
async def test_defaults_count_wherever_they_are_declared(api: Api) -> None:
    schema = of(FIELDS)
    steps = [step("a", "test.given", given={name: f"${{{{ inputs.{name} }}}}" for name in FIELDS})]
    await api.save(*steps, inputs=schema)
    checked = await api.me.call(
        "check_pipeline", definition={"document": {"name": "x", "steps": steps, "inputs": schema}}, inputs=GIVEN
    )
    assert checked["valid"], checked["issues"]

    run = await run_of(api, "run_pipeline", pipeline=api.key, inputs=GIVEN)

    assert run["inputs"] == FILLED
    assert run["output"]["json"]["given"] == FILLED
    preview = await api.me.call("preview_rerun", id=run["id"], inputs={"deep": {}})
    assert preview["allowed"], preview["issues"]
    again = await run_of(api, "rerun_run", id=run["id"], inputs={"deep": {}, "whole": None})
    assert again["inputs"] == {**FILLED, "deep": {"n": 7}}, "what is left out whole is not made"


@states("run_pack", "run_pipeline")
async def test_a_pack_puts_its_own_defaults_inside_what_it_is_given(api: Api) -> None:
    called = await run_of(api, "run_pack", pack="test.wanted", input={"page": {}, "pages": [{}]})
    made = {"size": "A4", "margin": None}
    assert called["output"]["json"] == {"page": made, "pages": [made]}

    await api.save(step("a", "test.wanted", page="${{ inputs.page }}", pages="${{ inputs.pages }}"))
    run = await run_of(api, "run_pipeline", pipeline=api.key, inputs={"page": {}, "pages": [{}]})
    assert run["inputs"] == {"page": {"size": "A4"}, "pages": [{"size": "A4"}]}, "of null nothing is said"
    assert run["output"]["json"] == {"page": made, "pages": [made]}


@states("run_pipeline")
async def test_one_start_is_one_run_whether_defaults_are_given_or_not(api: Api) -> None:
    await api.save(step("hold", "test.slow", text="${{ inputs.deep.page.size }}"), inputs=of(["deep"]))
    first = await api.me.call("run_pipeline", pipeline=api.key, inputs={"deep": {"page": {}}})
    second = await api.me.call("run_pipeline", pipeline=api.key, inputs={"deep": {"page": {"size": "A4"}, "n": 7}})
    assert (second["run"]["id"], second["coalesced"]) == (first["run"]["id"], True)


def node(*children: str, of: str) -> dict[str, Any]:
    """An object with these properties, each of which is made when it is absent."""
    return {"type": "object", "properties": {name: {"$ref": f"#/$defs/{of}", "default": {}} for name in children}}


@pytest.mark.parametrize(
    ("definitions", "limit"),
    [
        ({"n0": node("child", of="n0")}, "64 levels"),
        # Come to the limit after 20,000 of 131,070 defaults.
        ({**{f"n{k}": node("a" * 50, "b" * 50, of=f"n{k + 1}") for k in range(16)}, "n16": {}}, "1,048,576 bytes"),
    ],
    ids=["endless", "doubling"],
)
@states("run_pipeline", "check_pipeline", "rerun_run")
async def test_defaults_that_come_to_no_end_are_refused(api: Api, definitions: Any, limit: str) -> None:
    schema = {"type": "object", "$defs": definitions, "properties": {"q": {"$ref": "#/$defs/n0"}}}
    steps = [step("a", "test.given", given="${{ inputs.q? }}")]
    await api.save(*steps, inputs=schema)
    told = f"The defaults added to the input `q` exceed the limit of {limit}."
    document = {"name": "x", "steps": steps, "inputs": schema}
    checked = await api.me.call("check_pipeline", definition={"document": document}, inputs={"q": {}})
    assert [issue["message"] for issue in checked["issues"]] == [told]
    refused = await api.refusal("run_pipeline", pipeline=api.key, inputs={"q": {}})
    assert (refused.code, told in refused.message) == ("INVALID", True)

    run = await run_of(api, "run_pipeline", pipeline=api.key, inputs={})
    refused = await api.refusal("rerun_run", id=run["id"], inputs={"q": {}})
    assert (refused.code, refused.message) == ("INVALID", told)
