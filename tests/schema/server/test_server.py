"""The server itself, nodes, and what needs which scope."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING

from graphql import build_client_schema, get_introspection_query, is_required_argument, value_from_ast_untyped
from graphql.utilities import get_default_value_ast

from app.settings.server import Settings
from store.database.dialects import Sql
from tests.support.front_door import command, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_the_server_tells_how_it_is_and_what_it_allows(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(
        tmp_path, bench.packs, request_cost=9000, transcript_bytes=2 << 20, run_days=12, caller_concurrent_runs=1
    ) as it:
        for text in ("one", "two"):
            await it.mutate(
                'mutation ($in: JSON!) {runPack(pack: "test.slow", input: $in) {__typename}}', {"in": {"text": text}}
            )
        await bench.started.wait()
        token = await it.token_for("ada", "READ")
        told = await it.query(
            """{server {version now accepting queuedRuns runningRuns health {name ok message}
                packSources {kind packCount} requestLimits {depth fields aliases lexemes cost bodyBytes}
                runLimits {deadlineSeconds stepTimeoutSeconds waitSeconds steps concurrentRuns queuedRuns stepInputBytes
                    stepOutputBytes transcriptBytes sessionIdleSeconds runDays runCount artifactDays}}}""",
            token=token,
        )
        server = told["server"]
        assert server["accepting"]
        assert (server["queuedRuns"], server["runningRuns"]) == (0, 0), "they are another caller's"
        assert {check["name"]: check["ok"] for check in server["health"]} == {
            "store": True,
            "admission": True,
            "workers": True,
            "triggers": True,
            "disk": True,
            "artifacts": True,
            "vault key": True,
            "packs": True,
            "programs": True,
        }
        assert server["requestLimits"] == {
            "depth": 20,
            "fields": 400,
            "aliases": 40,
            "lexemes": 1500,
            "cost": 9000,
            "bodyBytes": 1048576,
        }
        assert server["runLimits"] == {
            "deadlineSeconds": 1800.0,
            "stepTimeoutSeconds": 600.0,
            "waitSeconds": 50,
            "steps": 64,
            "concurrentRuns": 1,
            "queuedRuns": 1000,
            "stepInputBytes": 1048576,
            "stepOutputBytes": 1048576,
            "transcriptBytes": 2097152,
            "sessionIdleSeconds": 900.0,
            "runDays": 12,
            "runCount": 10000,
            "artifactDays": 7,
        }
        bench.release.set()


async def test_a_broken_pack_file_is_told_and_the_rest_load(tmp_path: Path) -> None:
    broken = tmp_path / "mine" / "packs" / "area" / "verb.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("from packline import nothing_of_this_name\n")
    async with product(tmp_path, Workbench().packs, pack_path=(tmp_path / "mine",)) as it:
        told = await it.query(
            "{server {health {name ok message} packSources {location packCount loadErrors {origin message}}}}"
        )
        packs = next(check for check in told["server"]["health"] if check["name"] == "packs")
        assert not packs["ok"]
        assert "verb.py" in packs["message"]
        mine = next(source for source in told["server"]["packSources"] if source["location"].endswith("mine"))
        assert mine["location"] == str(tmp_path / "mine")
        shown = await it.query("{server {packSources {location}}}", token=await it.token_for("ada", "READ"))
        assert not [source for source in shown["server"]["packSources"] if "/" in source["location"]]
        assert mine["packCount"] == 0
        assert "nothing_of_this_name" in mine["loadErrors"][0]["message"]
        assert (await it.query("{catalog {totalCount}}"))["catalog"]["totalCount"] == 16


GOOD = '''
from pydantic import BaseModel
from packline import PackContext, pack

class Nothing(BaseModel):
    pass

@pack("area.verb", version="1.0.0", effects="none", repeatable=True)
async def verb(ctx: PackContext, input: Nothing) -> Nothing:
    """Does nothing."""
    return Nothing()

other = pack(
    "area.another", version="1.0.0", effects="none", repeatable=True
)(verb.handler)
'''


async def test_whoever_asks_for_a_pack_whose_file_is_broken_is_told_so(tmp_path: Path) -> None:
    file = tmp_path / "mine" / "packs" / "area" / "verb.py"
    file.parent.mkdir(parents=True)
    file.write_text(GOOD)
    steps = [step("a", "area.verb"), step("b", "area.another")]
    async with product(tmp_path, Workbench().packs, pack_path=(tmp_path / "mine",)) as it:
        await save(it, "mine", *steps)
    file.write_text(f"{GOOD}\nfrom packline import nothing_of_this_name\n")
    for name, module in list(sys.modules.items()):  # a process imports each file once
        if getattr(module, "__file__", None) == str(file.resolve()):
            del sys.modules[name]
    async with product(tmp_path, Workbench().packs, pack_path=(tmp_path / "mine",)) as it:
        why = {
            name: f"The pack `{name}` could not be loaded from packs/area/verb.py: ImportError: cannot import name "
            "'nothing_of_this_name' from 'packline'"
            for name in ("area.verb", "area.another")
        }

        def is_told(messages: list[str], *names: str) -> bool:
            return all(message.startswith(why[name]) for message, name in zip(messages, names, strict=True))

        found = await it.query(
            "query ($of: JSON!) {checkPipeline(definition: {document: $of}) {valid issues {path rule message hint}"
            " preflight {usable missing {kind name message hint}}}}",
            {"of": {"key": "new", "name": "New", "steps": steps, "metadata": {"supersedes": ["area.verb"]}}},
        )
        issues = found["checkPipeline"]["issues"]
        assert [issue["rule"] for issue in issues] == ["pack_not_loaded"] * 3, issues
        assert is_told([issue["message"] for issue in issues], "area.verb", "area.verb", "area.another"), issues
        assert "packline doctor" in issues[0]["hint"]
        assert (found["checkPipeline"]["valid"], found["checkPipeline"]["preflight"]["usable"]) == (False, False)
        missing = found["checkPipeline"]["preflight"]["missing"]
        assert is_told([lack["message"] for lack in missing], "area.verb", "area.another"), missing

        started = await start(it, "mine")
        assert (started["__typename"], started["code"]) == ("UnavailableProblem", "UNAVAILABLE")
        assert is_told([lack["message"] for lack in started["missing"]], "area.verb", "area.another"), started
        called = await command(it, "runPack", pack="area.verb", input={})
        assert called["__typename"] == "UnavailableProblem"
        assert is_told([lack["message"] for lack in called["missing"]], "area.verb"), called

        answer = await it.answer('{pack(id: "area.another") {id}}')
        assert answer.body["data"]["pack"] is None
        (missed,) = answer.body["extensions"]["notFound"]
        assert is_told([missed["message"]], "area.another"), missed
        assert (await command(it, "runPack", pack="area.verbs", input={}))[
            "message"
        ] == "There is no pack `area.verbs`."


async def test_packs_without_complete_metadata_are_marked(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        told = await it.query("{server {health {name ok message}}}")
    packs = next(check for check in told["server"]["health"] if check["name"] == "packs")
    assert packs["ok"]
    assert "test.echo" in packs["message"]
    assert "incomplete" in packs["message"]


async def test_settings_are_told_with_their_source_and_no_secret(tmp_path: Path) -> None:
    async with product(tmp_path, run_days=12) as it:
        answer = await it.answer("{settings {name description value defaultValue source}}")
        settings = {entry["name"]: entry for entry in answer.data["settings"]}
        assert len(settings) == len(Settings.model_fields)
        assert settings["PACKLINE_RUN_DAYS"]["value"] == 12
        assert settings["PACKLINE_RUN_DAYS"]["defaultValue"] == 90
        assert settings["PACKLINE_RUN_DAYS"]["source"] == "command line"
        assert settings["PACKLINE_RUN_COUNT"]["source"] == "default"
        assert settings["PACKLINE_BOOTSTRAP_TOKEN"]["value"] is None
        assert it.token not in str(answer.body)
        assert all(entry["description"] for entry in settings.values())


async def test_nodes_come_in_the_order_asked_and_unknown_ones_are_null(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        me = (await it.query("{viewer {id}}"))["viewer"]["id"]
        nodes = "query ($ids: [ID!]!) {nodes(ids: $ids) {__typename id}}"
        odd = [
            "run_none",
            "",
            "_",
            "x" * 5000,
            "pipe_%",
            "builtin.none",
            "no.such",
            "step_'; --",
            "💥",
            "att_",
            "tok_1",
            "aud_",
        ]
        found = (await it.query(nodes, {"ids": ["test.echo", *odd, me]}))["nodes"]
        assert found == [
            {"__typename": "Pack", "id": "test.echo"},
            *[None for _ in odd],
            {"__typename": "Caller", "id": me},
        ]
        many = await it.answer(nodes, {"ids": ["test.echo"] * 101})
        assert many.errors
        assert (await it.query('{node(id: "test.echo") {id ... on Pack {version}}}'))["node"]["version"] == "1.0.0"


async def test_nobody_reads_without_the_scope(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        token = await it.token_for("ada", "RUN")
        for query in (
            "{pipelines {totalCount}}",
            "{catalog {totalCount}}",
            '{node(id: "x") {id}}',
            '{pack(id: "a.b") {id}}',
        ):
            answer = await it.answer(query, token=token)
            assert answer.codes == ["FORBIDDEN"], query
            assert answer.errors[0]["extensions"]["scope"] == "READ"
        assert (await it.client(None).execute("{viewer {id}}")).status == 401


async def test_a_client_that_learns_the_whole_schema_may_leave_inputs_away(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        told = await it.query(get_introspection_query(input_value_deprecation=True))
        commands = build_client_schema(told).mutation_type  # type: ignore[arg-type]
        assert commands is not None
        for command, name in (("runPipeline", "inputs"), ("runPack", "input"), ("rerunRun", "inputs")):
            argument = commands.fields[command].args[name]
            default = get_default_value_ast(argument)
            assert not is_required_argument(argument)
            assert default is not None
            assert value_from_ast_untyped(default) == {}
        started = await it.mutate("""mutation {runPack(pack: "test.echo") {__typename}}""")
        assert started["__typename"] == "StartRunSuccess"


async def test_the_server_counts_the_runs_that_the_caller_may_see(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1) as it:
        bea = await it.token_for("bea", "READ", "RUN")
        for text, token in (("one", None), ("two", None), ("three", bea)):
            await command(it, "runPack", token, pack="test.slow", input={"text": text})
        ada = await it.token_for("ada", "READ")
        eve = await it.token_for("eve", "OBSERVE")
        query = "{ server { queuedRuns runningRuns } }"

        async def both_run() -> bool:
            return bool((await it.query(query))["server"]["runningRuns"] == 2)

        await eventually(both_run)
        seen = [(await it.query(query, token=token))["server"] for token in (ada, bea, eve, None)]
        assert seen == [
            {"queuedRuns": 0, "runningRuns": 0},
            {"queuedRuns": 0, "runningRuns": 1},
            {"queuedRuns": 1, "runningRuns": 2},
            {"queuedRuns": 1, "runningRuns": 2},
        ]
        bench.release.set()


async def test_a_pause_of_admission_shows_in_the_health_and_in_what_waits(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        pause = """mutation ($paused: Boolean!) { setAdmission(paused: $paused, reason: "new disk") {
            __typename ... on SetAdmissionSuccess { server { admissionPause { by reason } } } } }"""
        paused = await it.mutate(pause, {"paused": True})
        assert paused["server"]["admissionPause"] == {"by": "admin", "reason": "new disk"}
        run = await it.mutate(
            """mutation { runPack(pack: "test.echo", input: {text: "x"}) {
                ... on StartRunSuccess { run { id state wait { message } } } } }"""
        )
        assert (run["run"]["state"], run["run"]["wait"]["message"]) == ("QUEUED", "starts are paused by an operator")
        health = (await it.query("{server {health {name ok message}}}"))["server"]["health"]
        (check,) = [check for check in health if check["name"] == "admission"]
        assert not check["ok"]
        assert "Paused by admin at" in check["message"]
        assert check["message"].endswith("UTC: new disk. `packline unpause` admits runs again.")
        assert (await it.mutate(pause, {"paused": False}))["server"]["admissionPause"] is None
        ended = await it.query(
            "query ($id: ID!) { waitRun(id: $id, waitSeconds: 20) { run { state } } }", {"id": run["run"]["id"]}
        )
        assert ended["waitRun"]["run"]["state"] == "SUCCEEDED"


async def test_triggers_that_do_not_fire_show_in_the_health(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def triggers() -> tuple[bool, str]:
        health = (await it.query("{server {health {name ok message}}}"))["server"]["health"]
        (check,) = [check for check in health if check["name"] == "triggers"]
        return check["ok"], check["message"]

    async with product(tmp_path, Workbench().packs) as it:
        await save(it, "says", step("say", "test.echo"))
        await it.mutate(
            """mutation { createTrigger(pipeline: "says", name: "Hourly", schedule: {cron: "@hourly"}) {
                ... on TriggerSuccess { trigger { id } } } }"""
        )
        made = await it.mutate(
            """mutation { createWebhook(pipeline: "says", name: "Calls", preset: BEARER) {
                ... on WebhookSecretSuccess { trigger { id } } } }"""
        )
        assert await triggers() == (True, "None is overdue or paused by an error.")

        with monkeypatch.context() as patch:
            patch.setattr("resolvers.server.server.OVERDUE", timedelta(hours=-2))
            assert await triggers() == (False, "Due for minutes and not fired: 1. The server's log says why.")

        await it.services.store.write(lambda conn: conn.run(Sql("DELETE FROM trigger_secret"), {}))
        ok, message = await triggers()
        assert (ok, "Webhooks without a secret" in message, "Rotate" in message) == (False, True, True)
        assert await it.mutate(
            "mutation ($id: ID!) { rotateWebhookSecret(id: $id) { __typename } }", {"id": made["trigger"]["id"]}
        ) == {"__typename": "WebhookSecretSuccess"}
        assert (await triggers())[0]

        pause = Sql("UPDATE trigger SET enabled = false, attention = 'its pipeline is deleted'")
        await it.services.store.write(lambda conn: conn.run(pause, {}))
        ok, message = await triggers()
        assert (ok, message.startswith("Paused because they cannot start their pipeline: 2.")) == (False, True)
