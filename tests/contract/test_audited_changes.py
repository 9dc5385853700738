"""A command's change and its audit row are one transaction: without the row there is no change, for every command.

Previews change nothing, and dry runs leave their audit row alone.
"""

from __future__ import annotations

import itertools
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import SQLModel

import schema.build  # noqa: F401 - declares every operation
from resolvers.operations import OPERATIONS
from store.database.dialects import Sql
from tests.support.front_door import GAP, audit_rows, ended, save, step
from tests.support.loopback_http import Reply, loopback_http
from tests.support.packs import Workbench
from tests.support.product import ADMIN_TOKEN, product
from tests.support.surfaces import GraphQLSurface, Refused
from tests.support.vaults import SECRET, put
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from store.database.engine import Store
    from tests.support.product import Product

pytestmark = pytest.mark.slow

TOOLS = Path(__file__).parents[1] / "support" / "mcp_tool_server.py"
#: What a server notes by itself at any time: when a token, caller or credential was last used, that it still works, and
#: what the programs it found by now let it offer.
_NOTED = {"last_used_at", "last_seen_at", "lease_until", "seen_at", "offers"}
_TAKE_AUDIT_AWAY = Sql("ALTER TABLE audit RENAME TO audit_taken_away")
_BRING_AUDIT_BACK = Sql("ALTER TABLE audit_taken_away RENAME TO audit")


@dataclass
class Place:
    """A product, its administrator, and the folder that its MCP server's tools follow."""

    it: Product
    bench: Workbench
    tools: Path
    numbers: itertools.count[int]

    @property
    def store(self) -> Store:
        return self.it.services.store

    def name(self) -> str:
        """A name that nothing has."""
        return f"name-{next(self.numbers)}"

    async def call(self, operation: str, **arguments: Any) -> Any:
        """What an operation answers the administrator; `upload_artifact` is a request of its own."""
        if operation != "upload_artifact":
            return await GraphQLSurface(self.it, ADMIN_TOKEN).call(operation, **arguments)
        answer = await self.it.admin.http.post(
            self.it.url("/artifacts"), headers={"authorization": f"Bearer {ADMIN_TOKEN}"}, **arguments
        )
        if answer.status_code >= 300:
            raise Refused(str(answer.status_code), answer.text, {})
        return answer.json()

    async def dump(self) -> dict[str, list[str]]:
        """Every row of every table."""
        await self.it.services.memory.catch_up()
        return {
            table.name: sorted(
                repr(tuple(row))
                for row in await self.store.read(
                    sa.select(*(column for column in table.columns if column.name not in _NOTED))
                )
            )
            for table in SQLModel.metadata.sorted_tables
        }

    @asynccontextmanager
    async def without_audit(self) -> AsyncIterator[None]:
        """Takes the audit table away, so that no row of it can be written."""
        await self.store.write(lambda conn: conn.run(_TAKE_AUDIT_AWAY))
        try:
            yield
        finally:
            await self.store.write(lambda conn: conn.run(_BRING_AUDIT_BACK))

    # ------------------------------------------------------------------------------------ what commands are done to

    async def pipeline(self) -> str:
        """Key of a new pipeline."""
        key = self.name()
        await save(self.it, key, step("a", "test.echo", text="x"))
        return key

    async def run(self, pack: str = "test.echo", **input: Any) -> dict[str, Any]:
        """A run that has ended."""
        return dict((await self.call("run_pack", pack=pack, input=input, waitSeconds=20))["run"])

    async def artifact(self, content: str = "Hello.") -> str:
        """Id of a file; one that holds a known secret is in quarantine."""
        made = await self.run("test.artifact", name=f"{self.name()}.txt", content=content)
        return str(made["steps"][0]["artifacts"][0]["id"])

    async def credential(self, kind: str = "generic", field: str = "secret") -> str:
        """Id of a credential; there is one of the kind of a model provider."""
        return str((await put(self.it, "openai" if kind == "openai" else self.name(), kind, {field: SECRET}))["id"])

    async def is_connected(self) -> bool:
        return any(server["packs"] for server in await self.call("mcp_servers"))

    async def changed_tool(self) -> str:
        """Digest of a tool that waits to be accepted."""
        said = f"Says it for {self.name()}."

        async def digest() -> str | None:
            packs = {pack["id"]: pack for server in await self.call("mcp_servers") for pack in server["packs"]}
            change = packs.get("mcp.tools.echo", {}).get("toolChange")
            return change["digest"] if change and change["after"]["description"] == said else None

        (self.tools / "description").write_text(said)
        await self.run("mcp.tools.grow")
        return str(await eventually(digest))


async def _of(**arguments: Any) -> dict[str, Any]:
    return {name: await value if hasattr(value, "__await__") else value for name, value in arguments.items()}


async def _run_id(place: Place, *pack: str) -> str:
    return str((await place.run(*pack))["id"])


async def _deletion(place: Place) -> dict[str, Any]:
    key = await place.pipeline()
    return {"pipeline": key, "confirmKey": key}


async def _trigger(place: Place, **given: Any) -> str:
    schedule = {"cron": "@yearly"}
    made = await place.call("create_trigger", pipeline=await place.pipeline(), name="x", schedule=schedule, **given)
    return str(made["trigger"]["id"])


async def _webhook(place: Place) -> dict[str, Any]:
    inputs = {"text": "${{ trigger.payload.text }}"}
    key = place.name()
    await save(place.it, key, step("a", "test.echo", text="${{ inputs.text }}"))
    made = await place.call("create_webhook", pipeline=key, name="x", preset="BEARER", inputs=inputs)
    return dict(made, id=made["trigger"]["id"])


async def _firing(place: Place) -> str:
    """Id of a firing with a delivery."""
    made = await _webhook(place)
    answer = await place.it.admin.http.post(
        place.it.url(urlsplit(made["trigger"]["webhook"]["url"]).path),
        json={"text": "x"},
        headers={"authorization": f"Bearer {made['secret']}"},
    )
    assert answer.status_code == 202, answer.text
    await ended(place.it, answer.json()["run"])  # or its end would change rows later
    return str((await place.call("trigger", id=made["id"]))["firings"]["nodes"][0]["id"])


async def _webhook_id(place: Place) -> str:
    return str((await _webhook(place))["id"])


async def _gap(place: Place) -> str:
    return str((await place.call("save_gap_proposal", userIntent="Sing.", gap=GAP))["proposal"]["id"])


async def _token(place: Place) -> str:
    return str((await place.call("create_token", name="spare", scopes=["READ"]))["token"]["id"])


async def _caller(place: Place) -> str:
    made = await place.call("create_token", name="spare", subject=place.name(), scopes=["READ"])
    return str(made["token"]["caller"]["subject"])


async def _under_way(place: Place) -> str:
    place.bench.started.clear()
    run = (await place.call("run_pack", pack="test.slow", input={"text": place.name()}))["run"]
    await place.bench.started.wait()
    return str(run["id"])


def _definition(place: Place) -> dict[str, Any]:
    return {"document": {"key": place.name(), "name": "New", "steps": [step("a", "test.echo", text="x")]}}


def _yaml(place: Place) -> str:
    return "\n---\n".join(
        f"key: {place.name()}\nname: New\nsteps: [{{id: a, pack: test.echo, input: {{text: x}}}}]" for _ in range(2)
    )


#: What each command is given; what it changes is made for the call.
COMMANDS: dict[str, Callable[[Place], Awaitable[dict[str, Any]]]] = {
    "run_pipeline": lambda place: _of(pipeline=place.pipeline(), idempotencyKey=place.name(), waitSeconds=20),
    "run_pack": lambda place: _of(pack="test.echo", input={"text": place.name()}, waitSeconds=20),
    "rerun_run": lambda place: _of(id=_run_id(place), waitSeconds=20),
    "resume_run": lambda place: _of(id=_run_id(place, "test.switch"), waitSeconds=20),
    "cancel_run": lambda place: _of(id=_under_way(place), reason="enough"),
    "acknowledge_run": lambda place: _of(id=_run_id(place, "test.switch")),
    "delete_run": lambda place: _of(id=_run_id(place)),
    "create_pipeline": lambda place: _of(definition=_definition(place)),
    "update_pipeline": lambda place: _of(
        pipeline=place.pipeline(), change={"fields": {"description": "Tea."}}, ifVersion=1
    ),
    "clone_pipeline": lambda place: _of(pipeline=place.pipeline()),
    "delete_pipeline": _deletion,
    "apply_pipelines": lambda place: _of(yaml=_yaml(place)),
    "pin_artifact": lambda place: _of(id=place.artifact()),
    "release_artifact": lambda place: _of(id=place.artifact(SECRET)),
    "upload_artifact": lambda place: _of(params={"name": "notes.md"}, content=place.name().encode()),
    "set_credential": lambda place: _of(
        key=place.name(), kind="generic", fields={"secret": SECRET}, grants=["test.echo"]
    ),
    "delete_credential": lambda place: _of(id=place.credential()),
    "test_credential": lambda place: _of(id=place.credential("openai", "api_key")),
    "forget_memory": lambda _: _of(scope="all"),
    "set_default": lambda place: _of(target="test.style", field="PERSONA", value=place.name()),
    "set_learning": lambda _: _of(paused=True),
    "set_admission": lambda _: _of(paused=False),
    "drain_worker": lambda place: _of(name=place.it.services.engine.worker.name, draining=False),
    "save_gap_proposal": lambda _: _of(userIntent="Sing.", gap=GAP),
    "delete_gap_proposal": lambda place: _of(id=_gap(place)),
    "create_trigger": lambda place: _of(pipeline=place.pipeline(), name="x", schedule={"cron": "@yearly"}),
    "update_trigger": lambda place: _of(id=_trigger(place), name="y"),
    "pause_trigger": lambda place: _of(id=_trigger(place)),
    "resume_trigger": lambda place: _of(id=_trigger(place, enabled=False)),
    "fire_trigger": lambda place: _of(id=_trigger(place)),
    "delete_trigger": lambda place: _of(id=_trigger(place)),
    "create_webhook": lambda place: _of(pipeline=place.pipeline(), name="x", preset="BEARER"),
    "update_webhook": lambda place: _of(id=_webhook_id(place), events=["x"]),
    "rotate_webhook_secret": lambda place: _of(id=_webhook_id(place)),
    "replay_firing": lambda place: _of(id=_firing(place)),
    "create_token": lambda place: _of(name="new", subject=place.name(), scopes=["READ"]),
    "revoke_token": lambda place: _of(id=_token(place)),
    "disable_caller": lambda place: _of(caller=_caller(place)),
    "enable_caller": lambda place: _of(caller=_caller(place)),
    "accept_mcp_tool_change": lambda place: _of(pack="mcp.tools.echo", digest=place.changed_tool()),
}
#: Questions about what a command would do.
PREVIEWS: dict[str, Callable[[Place], Awaitable[dict[str, Any]]]] = {
    "preview_resume": lambda place: _of(id=_run_id(place, "test.switch")),
    "preview_rerun": lambda place: _of(id=_run_id(place), inputs={"text": "y"}),
    "promote_run": lambda place: _of(id=_run_id(place)),
    "check_pipeline": lambda place: _of(definition=_definition(place)),
}
DRY_RUNS = ("run_pipeline", "run_pack", "apply_pipelines", "forget_memory")


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    bench = Workbench()
    folder = tmp_path_factory.mktemp("place")
    (folder / "tools").mkdir()
    async with loopback_http({"/v1/models": Reply(b'{"data": []}')}) as provider:
        settings: dict[str, Any] = {
            "model_providers": {"openai": {"base_url": provider.url("/v1")}},
            "mcp_commands": (sys.executable,),
            "mcp_servers": {"tools": {"command": [sys.executable, str(TOOLS), "stdio", str(folder / "tools")]}},
        }
        async with product(folder, bench.packs, database_url=request.param, **settings) as it:
            made = Place(it, bench, folder / "tools", itertools.count(1))
            await made.credential()  # the vault is made once, for whatever needs it first
            await eventually(made.is_connected)  # which stores the tools
            yield made
            bench.release.set()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("command", sorted(COMMANDS))
async def test_a_command_whose_audit_row_cannot_be_written_changes_nothing(place: Place, command: str) -> None:
    arguments = await COMMANDS[command](place)
    rows = len(await audit_rows(place.it, command))
    before = await place.dump()

    async with place.without_audit():
        with pytest.raises(Refused):
            await place.call(command, **arguments)

    assert changed(before, await place.dump()) == set()

    await place.call(command, **arguments)
    assert await place.dump() != before
    written = await audit_rows(place.it, command)
    assert (len(written), written[0]["accepted"]) == (rows + 1, True)


def changed(before: dict[str, list[str]], after: dict[str, list[str]]) -> set[str]:
    """The tables that differ."""
    return {table for table in before if after[table] != before[table]}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("preview", PREVIEWS)
async def test_a_preview_changes_nothing(place: Place, preview: str) -> None:
    arguments = await PREVIEWS[preview](place)
    before = await place.dump()
    await place.call(preview, **arguments)
    assert changed(before, await place.dump()) == set()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("command", DRY_RUNS)
async def test_a_dry_run_leaves_its_audit_row_alone(place: Place, command: str) -> None:
    arguments = await COMMANDS[command](place)
    arguments.pop("idempotencyKey", None)
    before = await place.dump()
    await place.call(command, **arguments, dryRun=True)
    assert changed(before, await place.dump()) == {"audit"}


def test_no_command_is_left_out() -> None:
    commands = {name for name, operation in OPERATIONS.items() if operation.kind == "command"}
    assert commands | {"upload_artifact"} == COMMANDS.keys()
