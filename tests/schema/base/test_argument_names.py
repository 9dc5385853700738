"""Refusals name arguments, operations and scopes as the surface that shows them does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from pydantic import BaseModel, Field

from app.cli.base.output import issue_line
from packline import PackContext, pack
from tests.support.front_door import save, step
from tests.support.mcp_agent import ToolRefused, agent, content_of
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="module")

_INVALID = "__typename ... on InvalidProblem { message issues { path argument rule message severity hint } }"
_COMMANDS = [
    ('runPipeline(pipeline: "brew", waitSeconds: -1)', ["waitSeconds"], "The wait is -1 s; use 0 to 50 s."),
    (
        'runPipeline(pipeline: "brew", deadlineSeconds: -1)',
        ["deadlineSeconds"],
        "The deadline is -1 s; use more than 0 s and at most 86400 s.",
    ),
    (
        'runPipeline(pipeline: "brew", idempotencyKey: "")',
        ["idempotencyKey"],
        "The idempotency key must have 1 to 200 characters.",
    ),
    ('runPipeline(pipeline: "brew", inputs: {txt: 1})', ["inputs", "txt"], None),
    ('deletePipeline(pipeline: "brew", confirmKey: "tea")', ["confirmKey"], None),
    (
        'saveGapProposal(userIntent: "", gap: {missingCapability: "", whyMissing: "", proposal: {action: PROPOSE_PACK, '
        'name: "", summary: "", packs: [], inputSchema: {}, outputSchema: {}, integrationPattern: "", whyUseful: ""}})',
        ["userIntent"],
        None,
    ),
    ('createToken(name: "a", scopes: [READ], expiresAt: "2000-01-01T00:00:00Z")', ["expiresAt"], None),
]
_QUERIES = [
    ('waitRun(id: "run_x", waitSeconds: -1) { __typename }', ["waitSeconds"], "The wait is -1 s; use 0 to 50 s."),
    ('artifactText(id: "art_x", limitBytes: 0) { __typename }', ["limitBytes"], None),
]


class Nap(BaseModel):
    seconds: float = Field(ge=0, le=300)


@pack("test.nap", version="1.0.0", effects="none", repeatable=True)
async def nap(ctx: PackContext, input: Nap) -> Nap:
    return input


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def it(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    async with product(tmp_path_factory.mktemp("names"), [*Workbench().packs, nap]) as made:
        await save(made, "brew", step("a", "test.echo", text="tea"))
        yield made


async def _refused(it: Product, call: str) -> dict[str, Any]:
    answer = await it.mutate(f"mutation {{ {call} {{ {_INVALID} }} }}")
    assert answer["__typename"] == "InvalidProblem", answer
    return answer


@pytest.mark.parametrize(("call", "path", "message"), _COMMANDS)
async def test_an_issue_of_a_command_has_the_argument_of_its_field(
    it: Product, call: str, path: list[str], message: str | None
) -> None:
    issue = (await _refused(it, call))["issues"][0]
    assert issue["path"] == path
    if message is not None:
        assert issue["message"] == message


@pytest.mark.parametrize(("call", "path", "message"), _QUERIES)
async def test_an_issue_of_a_query_has_the_argument_of_its_field(
    it: Product, call: str, path: list[str], message: str | None
) -> None:
    (error,) = (await it.answer(f"{{ {call} }}")).errors
    assert error["extensions"]["issues"][0]["path"] == path
    if message is not None:
        assert error["message"] == message


async def test_no_message_names_an_argument_as_another_surface_has_it(it: Product) -> None:
    for call, path, _ in _COMMANDS:
        refused = await _refused(it, call)
        for text in (refused["message"], *(issue["message"] for issue in refused["issues"])):
            assert path[0] == path[0].lower() or refused["issues"][0]["argument"] not in text
            assert "_" not in text


async def test_agents_read_the_parameter_of_their_tool(it: Product) -> None:
    async with agent(it) as client:
        with pytest.raises(ToolRefused) as caught:
            content_of(await client.call_tool("run_pipeline", {"pipeline": "brew", "idempotency_key": " "}))
        assert caught.value.error["field_errors"][0]["path"] == "idempotency_key"
        with pytest.raises(ToolRefused) as caught:
            content_of(await client.call_tool("run_pipeline", {"pipeline": "brew", "inputs": {"txt": 1}}))
        assert caught.value.error["field_errors"][0]["path"] == "inputs.txt"


async def test_people_read_the_option_of_their_command(it: Product) -> None:
    call = 'runPipeline(pipeline: "brew", deadlineSeconds: -1, idempotencyKey: "", inputs: {txt: 1})'
    deadline, key = (await _refused(it, call))["issues"]
    (field,) = (await _refused(it, 'runPipeline(pipeline: "brew", inputs: {txt: 1})'))["issues"]
    assert issue_line(deadline).startswith("error: --deadline: The deadline is -1 s")
    assert issue_line(key).startswith("error: --idempotency-key: ")
    assert issue_line(field).startswith("error: --input txt: ")


async def test_a_missing_scope_is_told_as_the_schema_has_it(it: Product) -> None:
    anna = await it.token_for("anna", "READ")
    refused = await it.mutate(
        """mutation { createToken(name: "a", scopes: [READ]) {
            ... on ForbiddenProblem { message requires operation } } }""",
        token=anna,
    )
    assert refused == {
        "message": "`createToken` needs the scope `MANAGE`, which your token does not have.",
        "requires": "MANAGE",
        "operation": "create_token",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seconds": 9999}, "`seconds` is 9999; it must be at most 300."),
        ({"seconds": -1}, "`seconds` is -1; it must be at least 0."),
        ({"seconds": "soon"}, '`seconds` is "soon"; it must be a number.'),
    ],
)
async def test_a_value_that_a_pack_refuses_is_told_in_plain_words(
    it: Product, given: dict[str, Any], message: str
) -> None:
    answer = await it.mutate(
        f'mutation ($input: JSON!) {{ runPack(pack: "test.nap", input: $input) {{ {_INVALID} }} }}', {"input": given}
    )
    assert [issue["message"] for issue in answer["issues"]] == [message]


async def test_metadata_that_is_refused_is_told_in_plain_words(it: Product) -> None:
    document = {"key": "odd", "name": "Odd", "steps": [step("a", "test.echo", text="x")], "metadata": {"accepts": 3}}
    checked = await it.query(
        "query ($of: JSON!) { checkPipeline(definition: {document: $of}) { issues { message } } }", {"of": document}
    )
    messages = [issue["message"] for issue in checked["checkPipeline"]["issues"]]
    assert "`metadata.accepts` is 3; it must be a list." in messages
