"""Every command leaves one row in the audit, refused ones too."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from resolvers.context import Context
from tests.support.front_door import audit_rows, command, ended, ran, save, start, step
from tests.support.packs import Workbench
from tests.support.product import ADMIN_TOKEN, product
from tests.support.surfaces import GraphQLSurface

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, bench.packs) as running:
        yield running


async def test_each_command_leaves_one_row(it: Product, bench: Workbench) -> None:
    pipeline = await save(it, "file", step("make", "test.artifact", name="tea.txt"), step("fail", "test.switch"))
    token = await it.token_for("anna", "READ", "RUN", "WRITE")
    before = len(await audit_rows(it))
    run = await ran(it, "file", token=token)
    artifact = run["steps"][0]["artifacts"][0]["id"]
    await command(it, "acknowledgeRun", token, id=run["id"])
    await command(it, "pinArtifact", token, id=artifact)
    again = (await command(it, "rerunRun", token, id=run["id"], fromStep="fail", waitSeconds=20))["run"]
    await command(it, "resumeRun", token, id=again["id"], waitSeconds=20)
    call = (await command(it, "runPack", token, pack="test.slow", input={}))["run"]
    await bench.started.wait()
    await command(it, "cancelRun", token, id=call["id"], reason="enough")
    await command(it, "deleteRun", token, id=run["id"])

    rows = (await audit_rows(it))[: -before or None][::-1]

    assert [(row["action"], row["accepted"], row["actor"]["subject"]) for row in rows] == [
        ("run_pipeline", True, "anna"),
        ("acknowledge_run", True, "anna"),
        ("pin_artifact", True, "anna"),
        ("rerun_run", True, "anna"),
        ("resume_run", True, "anna"),
        ("run_pack", True, "anna"),
        ("cancel_run", True, "anna"),
        ("delete_run", True, "anna"),
    ]
    started = rows[0]
    assert started["target"] == {"__typename": "Pipeline", "id": pipeline}
    assert (started["detail"]["run"], started["detail"]["coalesced"]) == (run["id"], False)
    assert rows[2]["target"] == {"__typename": "Artifact", "id": artifact}
    assert (rows[3]["detail"]["run"], rows[3]["detail"]["from_step"]) == (again["id"], "fail")
    assert rows[6]["detail"]["reason"] == "enough"


async def test_refused_commands_leave_a_row_that_says_why(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    done = await ran(it, "echo", {"text": "x"})
    before = len(await audit_rows(it))
    nobody = "run_01J00000000000000000000000"
    for field, arguments, code in (
        ("runPipeline", {"pipeline": "nothing", "inputs": {}}, "NOT_FOUND"),
        ("runPipeline", {"pipeline": "echo", "inputs": {"tekst": ""}}, "INVALID"),
        ("runPipeline", {"pipeline": "echo", "inputs": []}, "INVALID"),
        ("runPack", {"pack": "test.ecko", "input": {}}, "NOT_FOUND"),
        ("resumeRun", {"id": done["id"]}, "WRONG_STATE"),
        ("rerunRun", {"id": nobody}, "NOT_FOUND"),
        ("cancelRun", {"id": done["id"]}, "WRONG_STATE"),
        ("acknowledgeRun", {"id": done["id"]}, "WRONG_STATE"),
        ("deleteRun", {"id": nobody}, "NOT_FOUND"),
        ("pinArtifact", {"id": "art_01J00000000000000000000000"}, "NOT_FOUND"),
    ):
        refused = await command(it, field, **arguments)
        assert refused["code"] == code
        newest = (await audit_rows(it))[0]
        assert (newest["accepted"], newest["detail"]["problem"]) == (False, code), field
        assert newest["detail"]["message"] == refused["message"]
    assert len(await audit_rows(it)) == before + 10


_UNREADABLE: list[tuple[str, dict[str, Any] | None]] = [
    ('mutation { clonePipeline(pipeline: "echo", key: "No Key!") { __typename } }', None),
    ('mutation ($k: Key) { clonePipeline(pipeline: "echo", key: $k) { __typename } }', {"k": "No Key!"}),
    ('mutation ($s: Key) { rerunRun(id: "x", fromStep: $s) { __typename } }', {"s": ""}),
    ('mutation { runPipeline(pipeline: "echo", waitSeconds: "soon") { __typename } }', None),
    # One unreadable part, and none of the document is a command.
    (
        'mutation ($k: Key) { runPipeline(pipeline: "echo") { __typename } '
        'clonePipeline(pipeline: "echo", key: $k) { __typename } }',
        {"k": "No Key!"},
    ),
    ("mutation { clonePipeline(", None),
]


@pytest.mark.parametrize(("document", "variables"), _UNREADABLE)
async def test_what_cannot_be_read_as_a_command_is_none(
    it: Product, document: str, variables: dict[str, Any] | None
) -> None:
    """The types refuse it before a use case is called: it is an error of the request, and no row tells of it."""
    await save(it, "echo", step("only", "test.echo", text="x"))
    before = await audit_rows(it)
    answer = await it.answer(document, variables)
    assert answer.errors
    assert await audit_rows(it) == before
    assert (await it.query("{ runs(first: 1) { nodes { id } } }"))["runs"]["nodes"] == []


async def test_the_row_of_a_start_stands_with_its_run(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    first = await start(it, "slow")
    await start(it, "slow")
    rows = await audit_rows(it, "run_pipeline")
    assert [row["detail"]["run"] for row in rows] == [first["run"]["id"]] * 2
    assert [row["detail"]["coalesced"] for row in rows] == [True, False]
    bench.release.set()


async def test_accepted_commands_that_change_nothing_leave_a_row_too(it: Product, bench: Workbench) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    slow = (await command(it, "runPack", pack="test.slow", input={}))["run"]
    await bench.started.wait()
    await command(it, "cancelRun", id=slow["id"])
    await ended(it, slow["id"])
    await command(it, "runPipeline", pipeline="echo", idempotencyKey="once", waitSeconds=20)
    yaml = "key: echo\nname: Echo\nsteps: [{id: only, pack: test.echo, input: {text: y}}]\n"
    for operation, arguments in (
        ("cancel_run", {"id": slow["id"]}),
        ("run_pipeline", {"pipeline": "echo", "idempotencyKey": "once", "waitSeconds": 20}),
        ("run_pipeline", {"pipeline": "echo", "dryRun": True}),
        ("run_pack", {"pack": "test.echo", "input": {}, "dryRun": True}),
        ("apply_pipelines", {"yaml": yaml, "dryRun": True}),
        ("forget_memory", {"scope": "all", "dryRun": True}),
    ):
        before = await audit_rows(it)
        await GraphQLSurface(it, ADMIN_TOKEN).call(operation, **arguments)
        newest, *earlier = await audit_rows(it)
        assert (newest["action"], newest["accepted"], earlier) == (operation, True, before)


async def test_reads_leave_no_row(it: Product) -> None:
    before = await audit_rows(it)
    await it.query("{ runs { nodes { id } } pipelines { nodes { id } } }")
    assert await audit_rows(it) == before


async def test_only_managers_read_the_audit(it: Product) -> None:
    token = await it.token_for("anna", "READ", "OBSERVE", "RUN", "WRITE")
    assert (await it.answer("{ audit { nodes { id } } }", token=token)).codes == ["FORBIDDEN"]


def test_a_command_is_given_all_of_its_call_and_the_trail_besides() -> None:
    call = Context(**{field.name: object() for field in fields(Context)})  # type: ignore[arg-type]
    trail = object()
    given = call.with_trail(trail)  # type: ignore[arg-type]
    for field in fields(Context):
        assert getattr(given, field.name) is (trail if field.name == "trail" else getattr(call, field.name)), field.name
