"""Who sees and changes whose runs: to anyone else they do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from packline import PackContext, pack
from tests.support.front_door import RUN, audit_rows, command, look, ran, save, start, step
from tests.support.graphql_client import OperationFailed
from tests.support.packs import Echoed, Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


class FileGiven(BaseModel):
    """Which file to read."""

    artifact_id: str = Field(description="Id of the artifact.")


@pack("test.read", version="1.0.0", effects="none", repeatable=True)
async def read_file(ctx: PackContext, given: FileGiven) -> Echoed:
    """Gives what is in a file."""
    return Echoed(text=(await ctx.open_artifact(given.artifact_id)).path.read_text())


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, [*bench.packs, read_file]) as running:
        await save(running, "file", step("make", "test.artifact", name="tea.txt"), step("fail", "test.switch"))
        yield running


async def nodes(it: Product, ids: list[str], token: str) -> list[Any]:
    data = await it.query("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ids}, token=token)
    found: list[Any] = data["nodes"]
    return found


def ids_of(run: dict[str, Any]) -> list[str]:
    """Ids of a run and of everything below it."""
    made, failed = run["steps"]
    return [
        run["id"],
        made["id"],
        failed["id"],
        made["attempts"][0]["id"],
        failed["attempts"][0]["id"],
        made["artifacts"][0]["id"],
    ]


async def test_to_others_a_run_does_not_exist(it: Product) -> None:
    anna, ben = await it.token_for("anna", "READ", "RUN", "WRITE"), await it.token_for("ben", "READ", "RUN", "WRITE")
    run = await ran(it, "file", token=anna)
    artifact = run["steps"][0]["artifacts"][0]["id"]

    assert await nodes(it, ids_of(run), anna) == [{"id": each} for each in ids_of(run)]
    assert await nodes(it, ids_of(run), ben) == [None] * len(ids_of(run))
    assert await look(it, run["id"], token=ben) is None
    data = await it.query(
        f"""query ($id: ID!, $artifact: ID!) {{
            runs {{ totalCount nodes {{ id }} }}
            ofAnna: runs(filter: {{callers: ["{run["caller"]["id"]}"]}}) {{ nodes {{ id }} }}
            waitRun(id: $id, waitSeconds: 0) {{ timedOut }}
            artifacts {{ totalCount nodes {{ id }} }}
            artifactText(id: $artifact) {{ text }}
            pipeline(id: "file") {{ latestRun {{ id }} }} }}""",
        {"id": run["id"], "artifact": artifact},
        token=ben,
    )
    assert data == {
        "runs": {"totalCount": 0, "nodes": []},
        "ofAnna": {"nodes": []},
        "waitRun": None,
        "artifacts": {"totalCount": 0, "nodes": []},
        "artifactText": None,
        "pipeline": {"latestRun": None},
    }
    for field, arguments in (
        ("cancelRun", {"id": run["id"]}),
        ("resumeRun", {"id": run["id"]}),
        ("rerunRun", {"id": run["id"]}),
        ("acknowledgeRun", {"id": run["id"]}),
        ("deleteRun", {"id": run["id"]}),
        ("pinArtifact", {"id": artifact}),
    ):
        refused = await command(it, field, ben, **arguments)
        assert refused["__typename"] == "NotFoundProblem", field
        unknown = await command(it, field, ben, id=f"{arguments['id'][:4]}01J00000000000000000000000")
        assert {**refused, "ref": "", "message": ""} == {**unknown, "ref": "", "message": ""}, field
    for subscription in (
        'runEvents(id: "{run}") {{ __typename }}',
        'attemptOutput(id: "{attempt}") {{ __typename }}',
    ):
        document = (
            "subscription { " + subscription.format(run=run["id"], attempt=run["steps"][0]["attempts"][0]["id"]) + " }"
        )
        with pytest.raises((OperationFailed, AssertionError), match="NOT_FOUND"):
            async for _ in it.subscribe(document.replace("{{", "{").replace("}}", "}"), token=ben):
                pass
    assert (await look(it, run["id"], token=anna)) == run


async def test_the_hint_for_an_unknown_run_is_true_for_who_asks(it: Product) -> None:
    unknown = "run_01J00000000000000000000000"
    document = "mutation ($id: ID!) { cancelRun(id: $id) { ... on NotFoundProblem { message hint } } }"
    for scopes, hint in (
        (("READ", "RUN"), "You see only your own runs. With the `observe` scope, you see the runs of all callers."),
        (("READ", "RUN", "OBSERVE"), None),
    ):
        refused = await it.query(document, {"id": unknown}, token=await it.token_for("-".join(scopes).lower(), *scopes))
        assert refused["cancelRun"] == {"message": f"There is no run `{unknown}`.", "hint": hint}


async def test_who_observes_sees_and_changes_nothing(it: Product) -> None:
    anna = await it.token_for("anna", "READ", "RUN")
    observer = await it.token_for("eve", "READ", "OBSERVE", "RUN", "WRITE")
    run = await ran(it, "file", token=anna)

    assert await nodes(it, ids_of(run), observer) == [{"id": each} for each in ids_of(run)]
    seen = await look(it, run["id"], token=observer)
    assert (seen["caller"]["subject"], seen["actions"]) == ("anna", ["RERUN"])
    for field, target in (
        ("cancelRun", run["id"]),
        ("resumeRun", run["id"]),
        ("acknowledgeRun", run["id"]),
        ("deleteRun", run["id"]),
        ("pinArtifact", run["steps"][0]["artifacts"][0]["id"]),
    ):
        refused = await command(it, field, observer, id=target)
        assert (refused["__typename"], refused["requires"]) == ("ForbiddenProblem", None), field
    again = (await command(it, "rerunRun", observer, id=run["id"], waitSeconds=20))["run"]
    assert again["caller"]["subject"] == "eve"
    events = [
        message
        async for message in it.subscribe(
            "subscription ($id: ID!) { runEvents(id: $id) { __typename } }", {"id": run["id"]}, token=observer
        )
    ]
    assert events[-1] == {"__typename": "RunEventsEnd"}


async def test_who_manages_changes_everything(it: Product, bench: Workbench) -> None:
    anna = await it.token_for("anna", "READ", "RUN")
    run = await ran(it, "file", token=anna)
    bench.failing = False
    resumed = (await command(it, "resumeRun", id=run["id"], waitSeconds=20))["run"]
    assert (resumed["state"], resumed["caller"]["subject"]) == ("SUCCEEDED", "anna")
    assert (await command(it, "deleteRun", id=run["id"]))["__typename"] == "DeleteSuccess"


async def test_commands_need_their_scopes_and_refusals_are_audited(it: Product) -> None:
    reader = await it.token_for("reader", "READ")
    run = await ran(it, "file")
    for field, scope, arguments in (
        ("runPipeline", "RUN", {"pipeline": "file", "inputs": {}}),
        ("runPack", "RUN", {"pack": "test.echo", "input": {}}),
        ("resumeRun", "RUN", {"id": run["id"]}),
        ("rerunRun", "RUN", {"id": run["id"]}),
        ("cancelRun", "RUN", {"id": run["id"]}),
        ("acknowledgeRun", "RUN", {"id": run["id"]}),
        ("deleteRun", "WRITE", {"id": run["id"]}),
        ("pinArtifact", "RUN", {"id": run["steps"][0]["artifacts"][0]["id"]}),
    ):
        refused = await command(it, field, reader, **arguments)
        assert (refused["__typename"], refused["requires"]) == ("ForbiddenProblem", scope), field
        newest = (await audit_rows(it))[0]
        action = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in field)
        assert (newest["action"], newest["accepted"], newest["actor"]["subject"]) == (action, False, "reader")
        assert newest["detail"]["problem"] == "FORBIDDEN"
    assert await look(it, run["id"]) == run


async def test_reads_need_the_scope_to_read(it: Product) -> None:
    starter = await it.token_for("starter", "RUN")
    for document in ("{ runs { nodes { id } } }", '{ run(id: "x") { id } }', "{ artifacts { nodes { id } } }"):
        answer = await it.answer(document, token=starter)
        assert answer.codes == ["FORBIDDEN"]
        assert "READ" in answer.errors[0]["message"]
    for document in ("runChanges { more }", 'runEvents(id: "x") { __typename }'):
        with pytest.raises((OperationFailed, AssertionError), match="FORBIDDEN"):
            async for _ in it.subscribe(f"subscription {{ {document} }}", token=starter):
                pass
    answer = await start(it, "file", token=starter)
    assert answer["__typename"] == "StartRunSuccess"
    assert (await it.answer("{ runs { nodes { id } } }", token="pkl_not_a_token")).status == 401


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_usage_counts_the_runs_that_the_caller_may_see(tmp_path: Path, bench: Workbench, database: str) -> None:
    usage = "usage { runs failed lastRunAt }"
    asked = f'{{ pipeline(id: "say") {{ {usage} latestRun {{ id }} }} pack(id: "test.echo") {{ {usage} }} }}'
    async with product(tmp_path / "own", bench.packs, database_url=database) as it:
        await save(it, "say", step("only", "test.echo"))
        mine = await it.token_for("ada", "READ", "RUN")
        theirs = await it.token_for("ben", "READ", "RUN")
        observer = await it.token_for("olga", "OBSERVE")
        run = await ran(it, "say", token=mine)

        for token, runs, last in ((mine, 1, True), (theirs, 0, False), (observer, 1, True), (mine, 1, True)):
            found = await it.query(asked, token=token)
            for counted in (found["pipeline"]["usage"], found["pack"]["usage"]):
                assert (counted["runs"], counted["lastRunAt"] is not None) == (runs, last)
            assert found["pipeline"]["latestRun"] == ({"id": run["id"]} if last else None)


async def test_the_answer_of_a_start_leads_to_no_other_run_without_the_scope_to_read(it: Product) -> None:
    await save(it, "say", step("only", "test.echo"))
    await ran(it, "say", token=await it.token_for("ada", "READ", "RUN"), title="an earlier one")
    answer = await it.answer(
        'mutation { runPipeline(pipeline: "say", waitSeconds: 20) { ... on StartRunSuccess'
        " { run { state pipeline { latestRun { title } } } } } }",
        token=await it.token_for("ada", "RUN"),
    )
    started = answer.body["data"]["runPipeline"]["run"]
    assert started == {"state": "SUCCEEDED", "pipeline": {"latestRun": None}}
    assert [error["extensions"]["code"] for error in answer.errors] == ["FORBIDDEN"]


async def test_a_hidden_run_is_not_named_as_the_one_repeated(it: Product) -> None:
    anna, ben = await it.token_for("anna", "READ", "RUN"), await it.token_for("ben", "READ", "RUN")
    observing = await it.token_for("ben", "READ", "RUN", "OBSERVE")
    run = await ran(it, "file", token=anna)
    again = (await command(it, "rerunRun", observing, id=run["id"], waitSeconds=20))["run"]
    assert again["rerunOf"] == {"id": run["id"]}
    assert (await look(it, again["id"], token=ben))["rerunOf"] is None


ATTEMPT = """id input { json } output { json } log { nodes { text } } transcript { nodes { text } } transcriptUrl
    artifacts { id } runStep { id key milestones { message } run { id title inputs } }"""
REUSED = f"""query ($id: ID!) {{ run(id: $id) {{
    rerunOf {{ id title }}
    artifacts {{ totalCount
        nodes {{ id name downloadUrl run {{ id }} verifiedBy {{ id }} producedBy {{ {ATTEMPT} }} }} }}
    steps {{
        key output {{ json }}
        session {{ id alive producedBy {{ id key run {{ id }} attempts {{ {ATTEMPT} }} }} }}
        artifacts {{ id run {{ id }} producedBy {{ {ATTEMPT} }} }}
        attempts {{
            number output {{ json }} reuse {{ madeBy {{ {ATTEMPT} }} }} cacheReceipt {{ madeBy {{ {ATTEMPT} }} }}
            artifacts {{ id producedBy {{ {ATTEMPT} }} }} }} }} }} }}"""


async def test_what_a_re_run_took_over_leads_to_nothing_else(it: Product) -> None:
    """Whoever re-ran another's run keeps the output and the files, not the attempt that made them."""
    anna = await it.token_for("anna", "READ", "RUN")
    ben, observing = await it.token_for("ben", "READ", "RUN"), await it.token_for("ben", "READ", "RUN", "OBSERVE")
    reads = step("read", "test.read", artifact_id="${{ steps.make.output.artifact_id }}")
    await save(it, "handed", step("make", "test.artifact", name="tea.txt", content="Leaves."), reads)
    run = await ran(it, "handed", token=anna)
    made = run["steps"][0]["artifacts"][0]

    again = (await command(it, "rerunRun", observing, id=run["id"], fromStep="read", waitSeconds=20))["run"]

    assert (again["state"], again["steps"][1]["output"]["json"]) == ("SUCCEEDED", {"text": "Leaves.", "call": 1})
    seen = (await it.query(REUSED, {"id": again["id"]}, token=observing))["run"]
    assert seen["artifacts"]["nodes"][0]["producedBy"]["runStep"]["run"]["id"] == run["id"]
    found = (await it.query(REUSED, {"id": again["id"]}, token=ben))["run"]
    assert found["rerunOf"] is None
    kept = {"id": made["id"], "run": None, "producedBy": None}
    (listed,) = found["artifacts"]["nodes"]
    assert {**listed, "name": made["name"]} == {**listed, **kept, "name": "tea.txt", "verifiedBy": None}
    assert found["artifacts"]["totalCount"] == 1
    (step_of_it, _), (attempt,) = found["steps"], found["steps"][0]["attempts"]
    assert step_of_it["artifacts"] == [kept]
    assert attempt == {
        "number": 1,
        "output": {"json": run["steps"][0]["output"]["json"]},
        "reuse": {"madeBy": None},
        "cacheReceipt": None,
        "artifacts": [{"id": made["id"], "producedBy": None}],
    }

    # The file is theirs to read wherever files are read, and not theirs to change.
    (node,) = await nodes(it, [made["id"]], ben)
    assert node == {"id": made["id"]}
    text = "query ($id: ID!) { artifactText(id: $id) { text artifact { run { id } producedBy { id } } } }"
    answer = (await it.query(text, {"id": made["id"]}, token=ben))["artifactText"]
    assert answer == {"text": "Leaves.", "artifact": {"run": None, "producedBy": None}}
    signed = it.client(None)
    assert (await signed.http.get(it.url(listed["downloadUrl"]))).text == "Leaves."
    headers = {"authorization": f"Bearer {ben}"}
    assert (await signed.http.get(it.url(f"/artifacts/{made['id']}"), headers=headers)).text == "Leaves."
    assert (await command(it, "pinArtifact", ben, id=made["id"]))["__typename"] == "ForbiddenProblem"
    opened = await command(it, "runPack", ben, pack="test.read", input={"artifact_id": made["id"]}, waitSeconds=20)
    assert opened["run"]["steps"][0]["output"]["json"]["text"] == "Leaves."

    # What belongs to the attempt is nobody else's.
    theirs = [run["id"], *(part for each in run["steps"] for part in (each["id"], each["attempts"][0]["id"]))]
    assert await nodes(it, theirs, ben) == [None] * len(theirs)
    carl = await it.token_for("carl", "READ", "RUN")
    assert await nodes(it, [made["id"], *theirs], carl) == [None] * (1 + len(theirs))
    headers = {"authorization": f"Bearer {carl}"}
    assert (await signed.http.get(it.url(f"/artifacts/{made['id']}"), headers=headers)).status_code == 404


async def test_a_run_read_by_its_node_is_the_same(it: Product) -> None:
    run = await ran(it, "file")
    data = await it.query(f"query ($id: ID!) {{ node(id: $id) {{ ... on Run {{ {RUN} }} }} }}", {"id": run["id"]})
    assert data["node"] == run
