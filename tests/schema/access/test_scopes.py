"""`@requires` says what a field needs, no more and no less: over GraphQL, and over MCP for what is published there."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from graphql import GraphQLObjectType, get_named_type

from schema.base.directives import Mcp, find_directive
from schema.build import build_schema
from tests.support.front_door import GAP, command, ran, save, start, step
from tests.support.graphql_client import OperationFailed
from tests.support.mcp_agent import ToolRefused, agent, content_of
from tests.support.mcp_surface import given_of, tools
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import SECRET, put
from tests.support.whole_schema import (
    CARRIED,
    composite,
    packed,
    parameters,
    root_fields,
    scope_of,
    sdl,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.support.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALL = ("READ", "OBSERVE", "RUN", "WRITE", "MANAGE")
HOOK_SECRET = "what the sender of a webhook knows"
_numbers = itertools.count(1)


@dataclass
class World:
    """A product with what its fields can be asked about; everything in it is anna's.

    Attributes:
        run: A run that has succeeded, of a pipeline that makes a file.
        failed: A run that has failed.
    """

    it: Product
    token: str
    run: dict[str, Any] = field(default_factory=dict)
    failed: dict[str, Any] = field(default_factory=dict)
    _tokens: dict[frozenset[str], str] = field(default_factory=dict)

    async def with_scopes(self, *scopes: str) -> str:
        """A token of anna's."""
        key = frozenset(scopes)
        if key not in self._tokens:
            self._tokens[key] = await self.it.token_for("anna", *scopes)
        return self._tokens[key]

    @property
    def artifact(self) -> str:
        return str(self.run["steps"][0]["artifacts"][0]["id"])

    async def pipeline(self) -> str:
        """A new pipeline."""
        key = f"pipeline-{next(_numbers)}"
        await save(self.it, key, step("a", "test.echo", text="x"), token=self.token)
        return key

    async def slow_run(self) -> str:
        """A run that is under way."""
        key = f"slow-{next(_numbers)}"
        await save(self.it, key, step("a", "test.slow"), token=self.token)
        return str((await start(self.it, key, token=self.token))["run"]["id"])

    async def quarantined(self) -> str:
        """A file that holds a secret."""
        await put(self.it, "key", "generic", {"secret": SECRET})
        given = {"name": f"{next(_numbers)}.txt", "content": SECRET}
        run = (await command(self.it, "runPack", self.token, pack="test.artifact", input=given, waitSeconds=20))["run"]
        return str(run["steps"][0]["artifacts"][0]["id"])

    async def credential(self) -> str:
        """A credential."""
        return str((await put(self.it, f"key-{next(_numbers)}", "generic", {"secret": SECRET}))["id"])

    async def gap(self) -> str:
        """A gap that was kept."""
        kept = await self.it.mutate(
            """mutation ($gap: GapWarningInput!) { saveGapProposal(userIntent: "Sing.", gap: $gap) {
                ... on GapProposalSuccess { proposal { id } } } }""",
            {"gap": GAP},
            token=self.token,
        )
        return str(kept["proposal"]["id"])

    async def trigger(self) -> str:
        """A schedule that fires once a year."""
        made = await self.it.mutate(
            """mutation { createTrigger(pipeline: "file", name: "Yearly", schedule: {cron: "0 0 1 1 *"}) {
                ... on TriggerSuccess { trigger { id } } } }""",
            token=self.token,
        )
        return str(made["trigger"]["id"])

    async def webhook(self) -> dict[str, Any]:
        """A webhook whose secret is in its header: its `id` and `url`."""
        made = await self.it.mutate(
            """mutation ($secret: String!) {
                createWebhook(pipeline: "file", name: "Calls", preset: BEARER, secret: $secret) {
                    ... on WebhookSecretSuccess { trigger { id webhook { url } } } } }""",
            {"secret": HOOK_SECRET},
            token=self.token,
        )
        return {"id": made["trigger"]["id"], **made["trigger"]["webhook"]}

    async def delivered(self) -> str:
        """The firing of a delivery."""
        hook = await self.webhook()
        headers = {"authorization": f"Bearer {HOOK_SECRET}"}
        answer = await self.it.client(None).http.post(self.it.url(urlsplit(hook["url"]).path), json={}, headers=headers)
        assert answer.status_code == 202, answer.text
        found = await self.it.query(
            "query ($id: ID!) { trigger(id: $id) { firings { nodes { id } } } }", {"id": hook["id"]}, token=self.token
        )
        return str(found["trigger"]["firings"]["nodes"][0]["id"])

    async def spare_token(self) -> str:
        """A token to end."""
        made = await self.it.mutate(
            """mutation { createToken(name: "spare", scopes: [READ]) {
                ... on CreateTokenSuccess { token { id } } } }"""
        )
        return str(made["token"]["id"])

    async def spare_caller(self) -> str:
        """The subject of a caller to disable."""
        subject = f"spare-{next(_numbers)}"
        await self.it.token_for(subject, "READ")
        return subject


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    bench = Workbench()
    async with product(tmp_path_factory.mktemp("world"), bench.packs, caller_concurrent_runs=100) as it:
        made = World(it, await it.token_for("anna", "READ", "RUN", "WRITE"))
        await save(it, "file", step("a", "test.artifact", name="tea.txt"), token=made.token)
        await save(it, "switch", step("a", "test.switch"), token=made.token)
        made.run = await ran(it, "file", token=made.token)
        made.failed = await ran(it, "switch", token=made.token)
        yield made
        bench.release.set()


async def _of(**given: Any) -> dict[str, Any]:
    """Arguments, whichever have to be made first."""
    return {name: await value if hasattr(value, "__await__") else value for name, value in given.items()}


DEFINITION = {"document": {"key": "new", "name": "New", "steps": [step("a", "test.echo", text="x")]}}
YAML = "key: new\nname: New\nsteps: [{id: a, pack: test.echo, input: {text: x}}]\n"
#: What each field of the root is asked with. What a command changes is made for each call.
ASKED: dict[str, Callable[[World], Awaitable[dict[str, Any]]]] = {
    "agentClients": lambda _: _of(serverUrl="http://127.0.0.1:8420"),
    "artifactText": lambda world: _of(id=world.artifact),
    "run": lambda world: _of(id=world.run["id"]),
    "waitRun": lambda world: _of(id=world.run["id"], waitSeconds=0),
    "pack": lambda _: _of(id="test.echo"),
    "pipeline": lambda _: _of(id="file"),
    "checkPipeline": lambda _: _of(definition=DEFINITION),
    "route": lambda _: _of(userIntent="Say that again"),
    "node": lambda world: _of(id=world.run["id"]),
    "nodes": lambda world: _of(ids=[world.run["id"], world.artifact]),
    "acceptMcpToolChange": lambda _: _of(pack="mcp.none.at_all", digest="0"),
    "setCredential": lambda _: _of(key="key", kind="generic", fields={"secret": SECRET}),
    "deleteCredential": lambda world: _of(
        id=_id(put(world.it, f"key-{next(_numbers)}", "generic", {"secret": SECRET}))
    ),
    "testCredential": lambda world: _of(id=_id(put(world.it, "key", "generic", {"secret": SECRET}))),
    "createToken": lambda _: _of(name="new", scopes=["READ"]),
    "revokeToken": lambda world: _of(id=world.spare_token()),
    "disableCaller": lambda world: _of(caller=world.spare_caller()),
    "enableCaller": lambda world: _of(caller=world.spare_caller()),
    "saveGapProposal": lambda _: _of(userIntent="Sing.", gap=GAP),
    "deleteGapProposal": lambda world: _of(id=world.gap()),
    "forgetMemory": lambda _: _of(scope="pack:test.echo"),
    "setDefault": lambda _: _of(target="test.style", field="PERSONA", rule="EXCLUDED"),
    "setLearning": lambda _: _of(paused=False),
    "setAdmission": lambda _: _of(paused=False),
    "drainWorker": lambda world: _of(name=world.it.services.engine.worker.name, draining=False),
    "promoteRun": lambda world: _of(id=world.run["id"]),
    "pinArtifact": lambda world: _of(id=world.artifact),
    "releaseArtifact": lambda world: _of(id=world.quarantined()),
    "runPipeline": lambda _: _of(pipeline="file", idempotencyKey=f"key-{next(_numbers)}", waitSeconds=10),
    "runPack": lambda _: _of(pack="test.echo", input={"text": "x"}, waitSeconds=10),
    "resumeRun": lambda world: _of(id=world.failed["id"], waitSeconds=10),
    "rerunRun": lambda world: _of(id=world.run["id"], waitSeconds=10),
    "cancelRun": lambda world: _of(id=world.slow_run()),
    "acknowledgeRun": lambda world: _of(id=world.failed["id"]),
    "deleteRun": lambda world: _of(id=_id(ran(world.it, "file", token=world.token))),
    "createPipeline": lambda _: _of(definition={"document": {**DEFINITION["document"], "key": f"p{next(_numbers)}"}}),
    "updatePipeline": lambda world: _of(
        pipeline=world.pipeline(), change={"fields": {"description": "Tea."}}, ifVersion=1
    ),
    "clonePipeline": lambda _: _of(pipeline="file", key=f"p{next(_numbers)}"),
    "deletePipeline": lambda world: _deletion(world.pipeline()),
    "applyPipelines": lambda _: _of(yaml=YAML),
    "trigger": lambda world: _of(id=world.trigger()),
    "previewSchedule": lambda _: _of(schedule={"cron": "@daily"}),
    "createTrigger": lambda _: _of(pipeline="file", name="Yearly", schedule={"cron": "0 0 1 1 *"}),
    "updateTrigger": lambda world: _of(id=world.trigger(), name="Once a year"),
    "pauseTrigger": lambda world: _of(id=world.trigger()),
    "resumeTrigger": lambda world: _of(id=world.trigger()),
    "fireTrigger": lambda world: _of(id=world.trigger()),
    "deleteTrigger": lambda world: _of(id=world.trigger()),
    "createWebhook": lambda _: _of(pipeline="file", name="Calls", preset="BEARER"),
    "updateWebhook": lambda world: _of(id=_id(world.webhook()), events=[]),
    "rotateWebhookSecret": lambda world: _of(id=_id(world.webhook())),
    "replayFiring": lambda world: _of(id=world.delivered()),
    "runEvents": lambda world: _of(id=world.run["id"]),
    "attemptOutput": lambda world: _of(id=world.run["steps"][0]["attempts"][0]["id"]),
}
#: Commands that nothing here lets succeed; they get beyond their scope all the same.
REFUSED = {
    "acceptMcpToolChange": "NotFoundProblem",
    "testCredential": "UnavailableProblem",
    # A caller who may not start runs cannot have a trigger start them.
    "createTrigger": "ForbiddenProblem",
    "createWebhook": "ForbiddenProblem",
}
FIELDS = {name: root for root in ("Query", "Mutation", "Subscription") for name in root_fields(root)}
SCOPED = sorted(name for name, root in FIELDS.items() if scope_of(root_fields(root)[name]))


async def _id(made: Awaitable[dict[str, Any]]) -> str:
    return str((await made)["id"])


async def _deletion(made: Awaitable[str]) -> dict[str, Any]:
    key = await made
    return {"pipeline": key, "confirmKey": key}


async def asked_with(world: World, name: str) -> dict[str, Any]:
    return await ASKED[name](world) if name in ASKED else {}


def without(scope: str) -> list[str]:
    """Every scope but one, and but those that carry it."""
    return [each for each in ALL if each != scope and scope not in CARRIED.get(each, ())]


def type_of(name: str) -> str:
    """The type a field of the root leads to."""
    return get_named_type(root_fields(FIELDS[name])[name].type).name


def document(name: str, variables: dict[str, Any], selection: str) -> str:
    """Asks a field of the root."""
    root = FIELDS[name]
    declared, passed = parameters(root_fields(root)[name], variables)
    return f"{root.lower()} {declared} {{ {name}{passed} {{ {selection} }} }}"


async def answered(world: World, name: str, token: str, selection: str) -> tuple[Any, list[dict[str, Any]]]:
    """What a field answers, and its errors."""
    variables = await asked_with(world, name)
    text = document(name, variables, selection)
    if FIELDS[name] != "Subscription":
        answer = await world.it.answer(text, variables, token=token)
        return (answer.body.get("data") or {}).get(name), answer.errors
    async with world.it.socket(token) as socket:
        try:
            async for payload in socket.subscribe(text, variables):
                return (payload.get("data") or {}).get(name), payload.get("errors", [])
        except OperationFailed as failed:
            return None, failed.errors
    raise AssertionError("nothing was told")


@pytest.mark.parametrize("name", SCOPED)
async def test_a_field_needs_the_scope_it_declares_and_no_other(world: World, name: str) -> None:
    root, scope = FIELDS[name], scope_of(root_fields(FIELDS[name])[name])
    assert scope is not None
    asked = [*packed(type_of(name), 0, {scope})]

    refusal = "... on ForbiddenProblem { __typename requires }" if root == "Mutation" else asked[0]
    answer, errors = await answered(world, name, await world.with_scopes(*without(scope)), refusal)
    if root == "Mutation":
        assert (answer["__typename"], answer["requires"], errors) == ("ForbiddenProblem", scope, [])
    else:
        refusals = [(error["extensions"].get("code"), error["extensions"].get("scope")) for error in errors]
        assert (answer, refusals) == (None, [("FORBIDDEN", scope)])

    for selection in asked:
        answer, errors = await answered(world, name, await world.with_scopes(scope), selection)
        assert (errors, answer is None) == ([], False)
        if root == "Mutation":
            success = composite(f"{name[0].upper()}{name[1:]}Result").types[0].name  # type: ignore[union-attr]
            assert answer["__typename"] == REFUSED.get(name, success), answer


@pytest.mark.parametrize(
    ("name", "scope", "depth"),
    [
        ("acknowledgeRun", "RUN", 2),
        ("pinArtifact", "RUN", 2),
        ("setLearning", "RUN", 2),
        ("runPack", "RUN", 1),
        ("updatePipeline", "WRITE", 1),
        ("saveGapProposal", "WRITE", 2),
        ("run", "READ", 1),
        ("viewer", "WRITE", 1),
        ("server", "WRITE", 1),
    ],
)
async def test_what_an_answer_leads_to_declares_what_it_needs(world: World, name: str, scope: str, depth: int) -> None:
    """Fields of fields that need another scope say so, and nothing else is kept back."""
    token = await world.with_scopes(scope)
    refused: list[Any] = []
    for selection in packed(type_of(name), depth, {scope}):
        refused += (await answered(world, name, token, selection))[1]
    assert refused == []


#: Fields below the root that need a scope, by a command that leads there without it.
BELOW = {
    "Caller.tokens": ("acknowledgeRun", "RUN", "... on RunSuccess { run { caller { tokens { nodes { id } } } } }"),
    "Pack.usedBy": (
        "acknowledgeRun",
        "RUN",
        "... on RunSuccess { run { steps { step { ... on PackStep { pack { usedBy { totalCount } } } } } } }",
    ),
    "Pipeline.latestRun": ("updatePipeline", "WRITE", "... on PipelineSuccess { pipeline { latestRun { id } } }"),
    "Pipeline.runs": ("updatePipeline", "WRITE", "... on PipelineSuccess { pipeline { runs { totalCount } } }"),
    "Pipeline.triggers": ("updatePipeline", "WRITE", "... on PipelineSuccess { pipeline { triggers { totalCount } } }"),
    "Pipeline.exportYaml": ("updatePipeline", "WRITE", "... on PipelineSuccess { pipeline { exportYaml } }"),
    "Run.resumePreview": ("acknowledgeRun", "RUN", "... on RunSuccess { run { resumePreview { allowed } } }"),
    "Run.rerunPreview": ("acknowledgeRun", "RUN", "... on RunSuccess { run { rerunPreview { allowed } } }"),
}


async def test_fields_below_need_the_scope_they_declare(world: World) -> None:
    scoped = {
        f"{kind.name}.{name}": scope
        for kind in sdl().type_map.values()
        if isinstance(kind, GraphQLObjectType) and kind.name not in ("Query", "Mutation", "Subscription")
        for name, declared in kind.fields.items()
        if (scope := scope_of(declared)) is not None
    }
    assert scoped.keys() == BELOW.keys()
    for name, needed in scoped.items():
        through, other, selection = BELOW[name]
        _, errors = await answered(world, through, await world.with_scopes(other), selection)
        told_codes = {(error["extensions"]["code"], error["extensions"]["scope"]) for error in errors}
        assert told_codes == {("FORBIDDEN", needed)}, name
        _, errors = await answered(world, through, await world.with_scopes(other, needed), selection)
        assert errors == [], name


_BUILT = build_schema()._schema.type_map
#: Fields of the root that are tools of agents, with the names of the tools.
PUBLISHED = {
    name: mark.tool
    for root in ("Query", "Mutation")
    for name, declared in _BUILT[root].fields.items()  # type: ignore[union-attr]
    if (mark := find_directive(declared, Mcp)) is not None
}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
async def test_a_tool_needs_the_scope_of_its_field_and_no_other(world: World, name: str) -> None:
    scope = scope_of(root_fields(FIELDS[name])[name])
    assert scope is not None
    (tool,) = [each for each in tools().values() if each.text.name == PUBLISHED[name]]

    for scopes in (without(scope), [scope]):
        given = given_of(tool, await asked_with(world, name))
        assert given is not None
        async with agent(world.it, token=await world.with_scopes(*scopes), query="?toolsets=author") as client:
            shown = {listed.name for listed in (await client.list_tools()).tools}
            refused: dict[str, Any] = {}
            try:
                content_of(await client.call_tool(tool.text.name, given))
            except ToolRefused as error:
                refused = error.error
        assert (tool.text.name in shown) == (scopes == [scope])
        if scopes == [scope]:
            assert refused.get("code") == ("FORBIDDEN" if REFUSED.get(name) == "ForbiddenProblem" else None)
        else:
            assert (refused["code"], refused["requires"]) == ("FORBIDDEN", scope)


async def test_a_pack_as_a_tool_needs_to_run_alone(world: World) -> None:
    for scopes in (without("RUN"), ["RUN"]):
        async with agent(world.it, token=await world.with_scopes(*scopes), query="?packs=test.echo") as client:
            shown = {listed.name for listed in (await client.list_tools()).tools}
            assert ("test_echo" in shown) == (scopes == ["RUN"])
            if "test_echo" in shown:
                assert content_of(await client.call_tool("test_echo", {"text": "x"}))["output"]["text"] == "x"
