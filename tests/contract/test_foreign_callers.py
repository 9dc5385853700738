"""Nobody sees what is another caller's, whatever way they go: the whole schema, walked.

Anna leaves marks wherever a run, a session, a file or a memory can hold a text. Ben has once re-run one of her runs,
when he could observe her; Carl never could.
"""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from graphql import get_named_type
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from packline import PackContext, PackError, pack
from tests.support.forks import async_fork
from tests.support.front_door import command, ended, ran, save, start, step
from tests.support.graphql_client import PATIENCE_SECONDS, OperationFailed
from tests.support.mcp_agent import ToolRefused, agent, content_of
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.schema_walk import TYPES, Walk, marks_in, object_types
from tests.support.vaults import opener, put
from tests.support.whole_schema import packed, parameters, root_fields

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.product import Product

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

SCOPES = ("READ", "RUN", "WRITE")


class Told(BaseModel):
    """What to tell."""

    text: str = Field(description="Any text; `wait for another` fails.")
    aside: str = Field(default="", description="What is not repeated.")


class Made(BaseModel):
    """What was told, and the file it stands in."""

    text: str = Field(description="The text.")
    artifact_id: str = Field(description="Id of the file.")


@pack("test.tell", version="1.0.0", effects="none", repeatable=True)
async def tell(ctx: PackContext, given: Told) -> Made:
    """Tells a text wherever a pack can; Anna's steps leave marks."""
    if given.text == "wait for another":
        raise PackError("invalid_input", "Another text is needed.")
    hidden = ctx.caller == "anna" and given.text != "handed on"
    if ctx.caller == "anna":
        ctx.log("hushlog")
        ctx.progress(0.5, "hushmilestone")
        ctx.warn("hushwarning")
    name, content = ("hushfile.txt", b"hushcontent") if hidden else ("handed-on.txt", b"handed on")
    saved = await ctx.save_artifact(name, content, "text/plain")
    return Made(text="hushoutput" if hidden else given.text, artifact_id=saved.artifact_id)


@pack("test.leave", version="1.0.0", effects="none", repeatable=True, preserves_session=True)
async def leave(ctx: PackContext, given: Told) -> Told:
    """Leaves a session and does not tell its id."""
    left = await ctx.start_session()
    (left.path / "note.txt").write_text(given.text)
    return given


@dataclass
class Place:
    """A product with what is Anna's, and what Ben took over of it.

    Attributes:
        anna: Her id.
        run: Of hers, which has failed; the outputs of its first three steps are handed on, not what they were given.
        again: Ben's re-run of it.
        theirs: Ids of everything that is Anna's alone.
        sessions: Ids of her sessions.
    """

    it: Product
    bench: Workbench
    token: str
    anna: str
    run: dict[str, Any]
    again: dict[str, Any]
    theirs: set[str]
    sessions: set[str]

    def anybody_but(self, walk: Walk) -> None:
        """Fails where a walk came to something of Anna's, or to a text that names it."""
        assert walk.errors == []
        assert walk.found == {}
        assert self.theirs & (walk.ids | walk.told) == set()
        assert {known: walk.said[known] for known in (self.theirs | self.sessions) & walk.said.keys()} == {}


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.sweep])],
)
async def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    bench = Workbench()
    bench.packs += [tell, leave, opener()]
    # A walk asks for many objects at once, which no caller may by default.
    more = {"request_cost": 1_000_000}
    async with product(tmp_path_factory.mktemp("place"), bench.packs, database_url=request.param, **more) as it:
        yield await furnished(it, bench)
        bench.release.set()


async def furnished(it: Product, bench: Workbench) -> Place:
    """Everything of Anna's that can hold a text holds a mark."""
    anna = await it.token_for("anna", *SCOPES)
    who = (await it.query("{ viewer { id } }", token=anna))["viewer"]["id"]
    note = "${{ inputs.note }}"
    declared = {"type": "object", "properties": {"text": {"type": "string"}, "note": {"type": "string"}}}
    await save(
        it,
        "hand",
        step("opened", "test.leave", text="handed on"),
        step("shared", "test.session_use", text="handed on"),
        step("a", "test.tell", text="${{ inputs.text }}"),
        step("b", "test.tell", text=note),
        step("left", "test.session", text=note),
        step("used", "test.session_use", text=note),
        {"id": "said", "agent": {"use": "mock", "prompt": f"Say {note}."}},
        step("end", "test.fail", message=note),
        inputs=declared,
        token=anna,
    )
    await save(it, "held", step("a", "test.slow", text=note), inputs=declared, token=anna)
    await save(it, "good", step("a", "test.tell", text=note), inputs=declared, token=anna)
    given = {"text": "wait for another", "note": "hushinput"}
    run = await ran(it, "hand", given, title="hushtitle", token=anna)
    stepped = {"text": "handed on", "aside": "hushgiven"}
    run = (await command(it, "resumeRun", anna, id=run["id"], stepInput=stepped, waitSeconds=20))["run"]
    assert [each["state"] for each in run["steps"]] == ["SUCCEEDED"] * 7 + ["FAILED"], run
    await command(it, "rerunRun", anna, id=run["id"], waitSeconds=20)
    held = (await start(it, "held", {"note": "hushinput"}, token=anna))["run"]
    await bench.started.wait()
    await command(it, "cancelRun", anna, id=held["id"], reason="hushreason")
    await ended(it, held["id"])
    await ran(it, "good", {"note": "hushinput"}, token=anna)
    for _ in range(2):
        styled = {"text": "hushinput", "persona": "hushpersona"}
        await command(it, "runPack", anna, pack="test.style", input=styled, force=True, waitSeconds=20)
    await it.mutate(
        'mutation { setDefault(target: "test.style", field: AUTHOR, value: "hushpinned") { __typename } }', token=anna
    )
    triggered = await it.mutate(
        """mutation { createTrigger(pipeline: "good", name: "Yearly", schedule: {cron: "@yearly"},
            inputs: {note: "hushinput"}) { __typename ... on Problem { message } } }""",
        token=anna,
    )
    assert triggered["__typename"] == "TriggerSuccess", triggered
    uploaded = await it.client(anna).http.post(
        it.url("/artifacts"),
        params={"name": "hushupload.txt"},
        content=b"hushcontent",
        headers={"authorization": f"Bearer {anna}"},
    )
    assert uploaded.status_code == 201
    await put(it, "key", "generic", {"secret": "a value nobody knows"}, description="hushcredential")
    await it.mutate('mutation { createToken(name: "hushtoken", subject: "anna", scopes: [READ]) { __typename } }')

    everything = Walk(it.admin, {"MANAGE"})
    await everything.follow(roots_of(who, run["id"], run["steps"][3]["artifacts"][0]["id"], manage=True))
    assert everything.errors == []
    assert everything.told <= everything.ids
    handed_on = run["steps"][2]["artifacts"][0]["id"]
    sessions = {known for known in everything.said if known.startswith("sess_")}
    assert run["steps"][1]["input"]["json"]["_session_id"] in sessions
    theirs = {known for known in everything.ids if known.partition("_")[0] not in ("pipe", "pver", "call", "gap")} - {
        handed_on
    }
    met = {known.partition("_")[0] for known in everything.ids}
    assert met == TYPES.keys() - {"gap"}, "the walk comes to everything there is"
    assert {mark: bool(everything.found.get(mark)) for mark in MARKS} == dict.fromkeys(MARKS, True)
    for stood in STOOD:
        assert any(where.endswith(stood) for place in everything.found.values() for where in place), stood

    observing = await it.token_for("ben", *SCOPES, "OBSERVE")
    again = (
        await command(
            it,
            "rerunRun",
            observing,
            select="steps { attempts { reuse { __typename } } }",
            id=run["id"],
            fromStep="b",
            inputs={"note": "mine"},
            waitSeconds=20,
        )
    )["run"]
    assert [each["state"] for each in again["steps"]] == ["SUCCEEDED"] * 7 + ["FAILED"], again
    assert [each["attempts"][0]["reuse"] is not None for each in again["steps"]] == [True] * 3 + [False] * 5
    return Place(it, bench, anna, who, run, again, theirs, sessions)


MARKS = (
    *("hushlog", "hushmilestone", "hushwarning", "hushoutput", "hushfile", "hushcontent", "hushtitle", "hushinput"),
    *("hushgiven", "hushreason", "hushpersona", "hushpinned", "hushupload", "hushcredential", "hushtoken"),
)
#: Fields in which a mark has to stand for those who may see it, so that the walk is known to look there.
STOOD = (
    *("log.nodes.text", "transcript.nodes.text", "milestones.message", "milestone.message", "steps.warnings"),
    *("input.json.text", "output.json.text", "inputs.note", "run.title", "latestRun.title", "rerunOf.title"),
    *("failure.message", "nodes.reason", "artifacts.name", "artifact.preview", "artifactText.text"),
    *("learned.value", "values.value", "detail.name", "target.title"),
)


def roots_of(anna: str, run: str, artifact: str, *, manage: bool = False) -> dict[str, list[dict[str, Any]]]:
    """What is asked at the top: everything, and what a foreigner might ask about Anna's."""
    asked: dict[str, list[dict[str, Any]]] = {
        "viewer": [{}],
        "server": [{}],
        "runs": [
            {},
            {"filter": {"callers": [anna]}},
            {"filter": {"rerunOf": run}},
            {"filter": {"endedRun": run}},
            {"filter": {"text": "hushinput"}},
        ],
        "run": [{"id": run}],
        "waitRun": [{"id": run, "waitSeconds": 0}],
        "promoteRun": [{"id": run}],
        "artifacts": [{}, {"filter": {"text": "hushfile"}}],
        "artifactText": [{"id": artifact}],
        "node": [],
        "trigger": [],
        "triggers": [{}],
        "previewSchedule": [{"schedule": {"cron": "@daily"}}],
        "nodes": [{"ids": [run, artifact]}],
        "pipelines": [{}],
        "pipeline": [{"id": "hand"}],
        "catalog": [{"filter": {"text": "hushinput"}}],
        "routingGuide": [{}],
        "route": [{"userIntent": "Style a text for somebody"}],
        "pack": [{"id": "test.style"}],
        "memoryEntries": [{}],
        "myDefaults": [{}, {"target": "test.style"}],
        "gapProposals": [{}],
        "spending": [{}],
        "budgets": [{}],
        "checkPipeline": [{"definition": {"document": {"key": "x", "name": "x", "steps": [step("a", "test.echo")]}}}],
        "agentClients": [{"serverUrl": "http://127.0.0.1"}],
        **{name: [{}] for name in ("agentProfiles", "mcpServers", "models", "modelRoles", "credentialKinds")},
    }
    if manage:
        asked |= {"audit": [{}], "settings": [{}], "workers": [{}], "queue": [{}], "credentials": [{}], "callers": [{}]}
        asked["memoryEntries"] += [{"caller": anna}]
        asked["myDefaults"] += [{"caller": anna}]
    return asked


async def test_the_walk_knows_every_type_and_every_field_of_the_root() -> None:
    assert object_types() == {*TYPES.values(), "Pack"}
    assert roots_of("", "", "", manage=True).keys() == root_fields("Query").keys()


STRANGERS = pytest.mark.parametrize("subject", ["ben", "carl"])


@STRANGERS
async def test_no_field_leads_to_what_is_another_caller_s(place: Place, subject: str) -> None:
    walk = Walk(place.it.client(await place.it.token_for(subject, *SCOPES)), SCOPES)
    await walk.follow(roots_of(place.anna, place.run["id"], place.run["steps"][3]["artifacts"][0]["id"]), place.theirs)
    place.anybody_but(walk)
    assert walk.told <= walk.ids, "what a field leads to is there by its id, too"
    own = {place.again["id"], *(each["id"] for each in place.again["steps"])}
    assert (own <= walk.ids) == (subject == "ben"), "the walk comes to what is the caller's own"

    # Whoever was told an address may use it; nothing of Anna's alone has one.
    for address in walk.addresses:
        walk.look((await walk.client.http.get(place.it.url(address))).text)
    assert bool(walk.addresses) == (subject == "ben")
    place.anybody_but(walk)


ABOUT = (
    'query ($id: ID!) { pipeline(id: "hand") { owner { ...All } } node(id: $id) { ...All } viewer { ...All } } '
    "fragment All on Caller { id subject name lastSeenAt disabledAt fromProvider scopes }"
)


@STRANGERS
async def test_of_another_caller_only_who_it_is_shows(place: Place, subject: str) -> None:
    it, asked = place.it, {"id": place.anna}
    await it.mutate(f'mutation {{ disableCaller(caller: "{place.anna}") {{ __typename }} }}')
    token = await it.token_for(subject, *SCOPES)
    over_http = await it.query(ABOUT, asked, token=token)
    async with agent(it, token=token) as client:
        over_mcp = content_of(await client.call_tool("graphql_query", {"query": ABOUT, "variables": asked}))["data"]
    managed = await it.query(ABOUT, asked)
    await it.mutate(f'mutation {{ enableCaller(caller: "{place.anna}") {{ __typename }} }}')

    unknown = {"lastSeenAt": None, "disabledAt": None, "fromProvider": False, "scopes": []}
    for shown in (over_http, over_mcp):
        assert shown["node"] == shown["pipeline"]["owner"]
        assert shown["node"] == {"id": place.anna, "subject": "anna", "name": "anna", **unknown}
        assert shown["viewer"]["scopes"] == [*SCOPES]
        assert shown["viewer"]["lastSeenAt"] is not None
    assert managed["node"]["disabledAt"] is not None
    assert managed["node"]["lastSeenAt"] is not None
    assert managed["node"]["scopes"] == [*SCOPES]


@STRANGERS
async def test_nothing_is_downloaded_by_its_id(place: Place, subject: str) -> None:
    headers = {"authorization": f"Bearer {await place.it.token_for(subject, *SCOPES)}"}
    http = place.it.client(None).http
    files = [known for known in place.theirs if known.startswith("art_")]
    attempts = [known for known in place.theirs if known.startswith("att_")]
    assert files
    assert attempts
    addresses = [f"/artifacts/{known}{what}" for known in files for what in ("", "/preview", "/preview?pages")]
    addresses += [f"/attempts/{known}/transcript" for known in attempts]
    for address in addresses:
        answer = await http.get(place.it.url(address), headers=headers)
        assert (answer.status_code, [*marks_in(answer.text)]) == (404, []), address


#: What a stranger sends to be done to something of Anna's: the id is put in for None.
COMMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "acknowledgeRun": ("run", {"id": None}),
    "cancelRun": ("run", {"id": None}),
    "deleteRun": ("run", {"id": None}),
    "rerunRun": ("run", {"id": None}),
    "resumeRun": ("run", {"id": None}),
    "pinArtifact": ("art", {"id": None}),
    "releaseArtifact": ("art", {"id": None}),
    "runPack": ("art", {"pack": "test.opener", "input": {"artifact_id": None}, "waitSeconds": 20}),
    "runPipeline": ("run", {"pipeline": None}),
    "forgetMemory": ("mem", {"scope": "entry:{}"}),
    "setDefault": ("call", {"target": "test.style", "field": "PERSONA", "caller": None}),
    "setLearning": ("call", {"paused": True, "caller": None}),
    "revokeToken": ("tok", {"id": None}),
    "disableCaller": ("call", {"caller": None}),
    "enableCaller": ("call", {"caller": None}),
    "deleteCredential": ("cred", {"id": None}),
    "testCredential": ("cred", {"id": None}),
    "updateWebhook": ("trig", {"id": None, "events": []}),
    "rotateWebhookSecret": ("trig", {"id": None}),
    "replayFiring": ("fire", {"id": None}),
    **{f"{verb}Trigger": ("trig", {"id": None}) for verb in ("update", "pause", "resume", "fire", "delete")},
}
#: Commands that name nothing of a caller's: pipelines and gaps are everybody's to see, the rest is the server's.
NAMELESS = {
    *(
        "acceptMcpToolChange",
        "setAdmission",
        "drainWorker",
        "setCredential",
        "createToken",
        "saveGapProposal",
        "deleteGapProposal",
    ),
    *("createPipeline", "updatePipeline", "clonePipeline", "deletePipeline", "applyPipelines"),
    "createTrigger",
    "createWebhook",
}


def filled(given: Any, known: str) -> Any:
    if isinstance(given, dict):
        return {name: filled(value, known) for name, value in given.items()}
    if given is None:
        return known
    return given.format(known) if isinstance(given, str) else given


@STRANGERS
async def test_no_command_tells_of_what_is_another_caller_s(place: Place, subject: str) -> None:
    assert COMMANDS.keys() | NAMELESS == root_fields("Mutation").keys()
    walk = Walk(place.it.client(await place.it.token_for(subject, *SCOPES)), SCOPES)
    succeeded = []
    for name, (sort, given) in COMMANDS.items():
        asked = root_fields("Mutation")[name]
        kind = get_named_type(asked.type).name
        for known in sorted([*place.theirs, place.anna]):
            if not known.startswith(sort):
                continue
            variables = filled(given, known)
            declared, passed = parameters(asked, variables)
            for selection in packed(kind, 0, SCOPES):
                document = f"mutation {declared} {{ {name}{passed} {{ __typename {selection} }} }}"
                data = await walk.ask(document, variables)
                assert data is not None
                if not data[name]["__typename"].endswith("Problem"):
                    succeeded.append((name, data[name]))
    assert succeeded == []
    place.anybody_but(walk)


@STRANGERS
async def test_nothing_of_another_caller_s_is_watched(place: Place, subject: str) -> None:
    token = await place.it.token_for(subject, *SCOPES)
    walk = Walk(place.it.client(token), SCOPES)
    async with place.it.socket(token) as socket:
        for name, sort in (("runEvents", "run"), ("attemptOutput", "att")):
            asked = root_fields("Subscription")[name]
            for known in place.theirs:
                if known.startswith(sort):
                    document = f"subscription ($id: ID!) {{ {name}(id: $id) {{ __typename }} }}"
                    with pytest.raises(OperationFailed, match="NOT_FOUND"):
                        await anext(socket.subscribe(document, {"id": known}))
            if subject == "ben":
                own = place.again["id"] if sort == "run" else place.again["steps"][0]["attempts"][0]["id"]
                for selection in packed(get_named_type(asked.type).name, 1, SCOPES):
                    document = f"subscription ($id: ID!) {{ {name}(id: $id) {{ {selection} }} }}"
                    async for payload in socket.subscribe(document, {"id": own}):
                        walk.errors += payload.get("errors", [])
                        walk.look(payload["data"])
        (selection, *_) = packed("RunChanges", 1, SCOPES)
        changes = socket.subscribe(f"subscription {{ runChanges {{ {selection} }} }}")
        async with asyncio.timeout(PATIENCE_SECONDS):
            walk.look((await anext(changes))["data"])
            await command(place.it, "acknowledgeRun", place.token, id=place.run["id"])
            await ran(place.it, "good", {"note": "hushinput"}, token=place.token)
            own = (await ran(place.it, "good", {"note": "mine"}, token=token))["id"]
            told_of: set[str] = set()
            while own not in told_of:
                payload = await anext(changes)
                told_of |= {run["id"] for run in payload["data"]["runChanges"]["runs"]}
                walk.look(payload["data"])
    assert told_of == {own}
    place.anybody_but(walk)


@STRANGERS
async def test_no_tool_and_no_resource_tells_of_what_is_another_caller_s(place: Place, subject: str) -> None:
    run = place.run["id"]
    artifact = place.run["steps"][3]["artifacts"][0]["id"]
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        *((name, {"run_id": run}) for name in ("get_run", "wait_run", "cancel_run", "resume_run", "rerun_run")),
        ("get_run", {"run_id": run, "detail": "full"}),
        ("promote_run", {"run_id": run}),
        ("get_artifact", {"artifact_id": artifact}),
        ("run_pack", {"pack": "test.opener", "input": {"artifact_id": artifact}}),
        ("forget_memory", {"scope": next(f"entry:{known}" for known in place.theirs if known.startswith("mem"))}),
    )
    lists: tuple[tuple[str, dict[str, Any]], ...] = (
        ("list_runs", {"text": "hushinput"}),
        ("list_runs", {}),
        ("get_defaults", {}),
        ("get_routing_guide", {}),
        ("search_catalog", {"text": "tell"}),
        *(
            (tool, {"run_id": place.again["id"], **more})
            for tool, more in (("get_run", {"detail": "full"}), ("wait_run", {}))
            if subject == "ben"
        ),
        *(
            ("graphql_query", {"query": "query ($id: ID!) { node(id: $id) { id } }", "variables": {"id": known}})
            for known in place.theirs
        ),
    )
    walk = Walk(place.it.client(None), SCOPES)
    async with agent(place.it, token=await place.it.token_for(subject, *SCOPES), query="?toolsets=author") as client:
        for tool, given in calls:
            with pytest.raises(ToolRefused) as refused:
                content_of(await client.call_tool(tool, given))
            assert refused.value.error["code"] in ("NOT_FOUND", "INVALID"), (tool, refused.value.error)
            walk.look(refused.value.error, given)
        for tool, given in lists:
            answer = content_of(await client.call_tool(tool, given))
            walk.look(answer, given)
            assert tool != "graphql_query" or answer == {"data": {"node": None}}
        for address in (f"run/{run}", f"artifact/{artifact}"):
            with pytest.raises(MCPError, match="not found"):
                await client.read_resource(f"packline://{address}")
        for address in ("my-defaults", "routing-guide"):
            walk.look(json.loads((await client.read_resource(f"packline://{address}")).contents[0].text))
    place.anybody_but(walk)


@STRANGERS
async def test_no_command_prints_what_is_another_caller_s(place: Place, subject: str) -> None:
    token = await place.it.token_for(subject, *SCOPES)
    mine = place.again if subject == "ben" else await ran(place.it, "good", {"note": "mine"}, token=token)
    own, reused = mine["id"], [part["key"] for part in mine["steps"][:3]]
    walk = Walk(place.it.client(None), SCOPES)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PACKLINE_")}
    environment = {**clean, "PACKLINE_SERVER": place.it.url(), "PACKLINE_TOKEN": token}
    for words in (
        ["show", own],
        *(["show", own, "--step", key] for key in reused),
        ["watch", own],
        ["runs"],
        ["export", "good"],
    ):
        program = await async_fork(words, environment, stderr=PIPE)
        printed = [part.decode() for part in await program.communicate()]
        assert program.returncode in ((0, 1) if words[0] == "watch" else (0,)), printed
        assert any(printed), words
        walk.look(printed, own)
    place.anybody_but(walk)
