"""A secret that somebody hands in is shown nowhere: no answer, event, log, audit, or search."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from packline import Pack, PackContext, PackError, pack
from tests.support.front_door import RUN, audit_rows, command, look, ran, save, start, step
from tests.support.packs import Echoed, Text, Workbench
from tests.support.product import product
from tests.support.vaults import SECRET, put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

TOKEN = "ghp_" + "a1B2" * 9
#: Any eight characters of it would do to find it in part.
TELLTALE = TOKEN[4:12]
#: So long that messages cut it, and that the first part alone is not recognised any more.
LONG_TOKEN = "github_pat_" + TELLTALE * 10


def telling() -> Pack:
    @pack("test.telling", version="1.0.0", effects="none", repeatable=True)
    async def tell(ctx: PackContext, given: Text) -> Echoed:
        """Says what it was given wherever it can, and fails with it."""
        ctx.log(f"given {given.text}")
        ctx.progress(0.5, f"working on {given.text}")
        ctx.warn(f"not sure about {given.text}")
        await ctx.save_artifact(f"{given.text}.txt", given.text.encode(), "text/plain")
        raise PackError("invalid_input", f"Cannot take {given.text}.", hint=f"Do not use {given.text}.")

    return tell


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Product]:
    async with product(tmp_path, [*Workbench().packs, telling()]) as running:
        yield running


def clean(answer: object) -> None:
    text = json.dumps(answer)
    assert TELLTALE not in text, text
    assert TELLTALE.lower() not in text.lower()


async def test_a_token_in_an_input_is_shown_nowhere(it: Product) -> None:
    await save(
        it,
        "tell",
        step("echo", "test.echo", text="Use ${{ inputs.text }}"),
        step("tell", "test.telling", text="${{ steps.echo.output.text }}"),
    )
    started = await start(it, "tell", {"text": TOKEN}, wait=20, idempotencyKey=f"key {TOKEN}", title=f"With {TOKEN}")
    run_id = started["run"]["id"]
    clean(started)
    run = await look(it, run_id)
    assert run["title"] == "With [redacted:github_token]"
    assert run["inputs"] == {"text": "[redacted:github_token]"}
    assert run["steps"][0]["output"]["json"]["text"] == "Use [redacted:github_token]"
    assert run["failure"]["message"] == "Cannot take Use [redacted:github_token]."

    data = await it.query(
        f"""query ($id: ID!) {{
            run(id: $id) {{ {RUN} resumePreview {{ issues {{ message }} steps {{ reason }} }}
                events(first: 500) {{ nodes {{ __typename
                    ... on RunStateChanged {{ reason }} ... on StepStateChanged {{ reason }}
                    ... on StepProgressed {{ milestone {{ message }} }}
                    ... on ArtifactChanged {{ artifact {{ name }} }} }} }}
                steps {{ attempts {{ log {{ nodes {{ text }} }} }} }}
                artifacts {{ nodes {{ name downloadUrl }} }} }}
            runs {{ nodes {{ {RUN} }} }} }}""",
        {"id": run_id},
    )
    clean(data)
    assert "[redacted:github_token]" in json.dumps(data["run"]["events"])
    assert "[redacted:github_token]" in json.dumps(data["run"]["steps"][1]["attempts"])
    clean([message async for message in _events(it, run_id)])
    clean(await command(it, "resumeRun", id=run_id, waitSeconds=20))
    clean(await command(it, "rerunRun", id=run_id, inputs={"text": f"again {TOKEN}"}, waitSeconds=20))
    clean(await audit_rows(it))
    for words in (TOKEN, TELLTALE, TOKEN[:10]):
        found = await it.query("query ($f: RunFilter) { runs(filter: $f) { totalCount } }", {"f": {"text": words}})
        assert found["runs"]["totalCount"] == 0


async def _events(it: Product, run_id: str) -> AsyncIterator[Any]:
    async for message in it.subscribe(
        """subscription ($id: ID!) { runEvents(id: $id) { ... on RunEventBatch { events { __typename
            ... on RunStateChanged { reason } ... on StepStateChanged { reason }
            ... on StepProgressed { milestone { message } } } } } }""",
        {"id": run_id},
    ):
        yield message


async def test_refusals_do_not_repeat_it(it: Product) -> None:
    await save(
        it,
        "strict",
        step("only", "test.echo", text="${{ inputs.text }}"),
        inputs={
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string", "maxLength": 10, "enum": ["tea"]}, "n": {"type": "integer"}},
        },
    )
    long = TOKEN + "x" * 80
    run = await ran(it, "strict", {"text": "tea"})
    failed = (await command(it, "runPack", pack="test.fail", input={}, waitSeconds=20))["run"]
    for answer in (
        await start(it, "strict", {"text": TOKEN, "n": long}),
        await start(it, "strict", {"text": "tea", TOKEN: 1}),
        await start(it, "strict", {"text": "tea", "n": LONG_TOKEN}),
        await start(it, "strict", {"text": "tea", LONG_TOKEN: 1}),
        await start(it, TOKEN),
        await start(it, long),
        await command(it, "runPack", pack="test.flaky", input={"times": TOKEN, TOKEN: 1}),
        await command(it, "runPack", pack="test.fail", input={"code": long}, waitSeconds=20),
        await command(it, "rerunRun", id=run["id"], inputs={"text": long}),
        await command(it, "rerunRun", id=run["id"], inputs={"text": LONG_TOKEN}),
        await command(it, "resumeRun", id=failed["id"], inputs={"text": LONG_TOKEN}),
        await command(it, "resumeRun", id=failed["id"], stepInput={"times": LONG_TOKEN}),
        await command(it, "resumeRun", id=TOKEN),
        await command(it, "cancelRun", id=run["id"], reason=long),
    ):
        clean(answer)
    clean(await audit_rows(it))


async def test_half_of_it_is_not_kept_in_titles_and_search(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    for before in (60, 85, 100, 110, 3920, 3950, 3980):
        run = await ran(it, "echo", {"text": "x" * (before - 1) + " " + LONG_TOKEN})
        clean(run["title"])
    found = await it.query("query ($f: RunFilter) { runs(filter: $f) { totalCount } }", {"f": {"text": TELLTALE}})
    assert found["runs"]["totalCount"] == 0
    found = await it.query("query ($f: RunFilter) { runs(filter: $f) { totalCount } }", {"f": {"text": "xxx"}})
    assert found["runs"]["totalCount"] == 7


async def test_a_secret_in_a_definition_is_told_where_it_stands(it: Product) -> None:
    await put(it, "service", "generic", {"value": SECRET})
    document = {
        "key": "loose",
        "name": "Loose",
        "description": f"Signs in with {SECRET}.",
        "steps": [step("echo", "test.echo", text=f"Bearer {TOKEN}")],
    }
    checked = (
        await it.query(
            """query ($d: JSON!) { checkPipeline(definition: {document: $d}) {
                valid issues { path rule severity message } } }""",
            {"d": document},
        )
    )["checkPipeline"]
    assert checked["valid"]
    told = {tuple(issue["path"]): (issue["rule"], issue["severity"], issue["message"]) for issue in checked["issues"]}
    assert told[("description",)][:2] == ("secret", "WARNING")
    assert "`service.value`" in told[("description",)][2]
    assert told[("steps", "0", "input", "text")][:2] == ("secret", "WARNING")
    clean(checked)
    assert SECRET not in json.dumps(checked)

    commented = f"# {SECRET}\nkey: told\nname: Told\nsteps: [{{id: echo, pack: test.echo, input: {{text: hello}}}}]\n"
    saved = await it.mutate(
        """mutation ($yaml: String!) { createPipeline(definition: {yaml: $yaml}) {
            ... on PipelineSuccess { warnings { rule } } } }""",
        {"yaml": commented},
    )
    assert [issue["rule"] for issue in saved["warnings"]] == ["secret"]


async def test_an_address_with_a_password_is_refused_wherever_an_input_would_keep_it(it: Product) -> None:
    address = "https://me:pa55-of-mine@git.example/team/project.git"
    await save(it, "fetch", step("first", "test.echo", text="${{ inputs.text }}"), step("second", "test.switch"))
    failed = await ran(it, "fetch", {"text": "https://git.example/team/project.git, not https://me:mine@git.example"})
    assert failed["state"] == "FAILED"
    run = failed["id"]
    refusals = [
        await start(it, "fetch", {"text": address}),
        await command(
            it, "runPack", pack="test.echo", input={"text": "<https://pa55-is-a-token@git.example/team.git>"}
        ),
        await start(it, "fetch", {"text": "x", address: "y"}),
        await command(it, "runPack", pack="test.echo", input={"text": [{address: {"a": address}}]}),
        await command(it, "resumeRun", id=run, stepInput={"text": address}),
        await command(it, "rerunRun", id=run, inputs={"text": address}),
        await it.mutate(
            """mutation ($inputs: JSON) { createTrigger(pipeline: "fetch", name: "Daily", inputs: $inputs,
                schedule: {cron: "@daily"}) { __typename ... on InvalidProblem { issues { rule message } } } }""",
            {"inputs": {"text": address}},
        ),
        await it.mutate(
            """mutation ($inputs: JSON) { createWebhook(pipeline: "fetch", name: "Calls", inputs: $inputs,
                preset: BEARER) { __typename ... on InvalidProblem { issues { rule message } } } }""",
            {"inputs": {"text": [address, "${{ trigger.payload.a }}"]}},
        ),
        await it.mutate(
            """mutation ($inputs: JSON) { createWebhook(pipeline: "fetch", name: "Calls", inputs: $inputs,
                preset: BEARER) { __typename ... on InvalidProblem { issues { rule message } } } }""",
            {"inputs": {"text": "https://${{ trigger.payload.name }}:pa55@${{ trigger.payload.host }}/a"}},
        ),
    ]
    for refused in refusals:
        assert "url_credentials" in [issue["rule"] for issue in refused["issues"]], refused
        assert "pa55" not in json.dumps(refused)
    stored = b"".join(file.read_bytes() for file in it.folder.rglob("packline.db*"))
    assert b"pa55" not in stored
    assert b"team/project.git" in stored
