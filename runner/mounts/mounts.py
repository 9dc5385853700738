"""All mounted MCP servers: their connections, their tools as packs, and the check that tools are accepted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import structlog

from runner.failures import FailureCode, JSONValue, PackError
from runner.mounts.connection import Connection
from runner.mounts.results import output_of
from runner.mounts.tools import Tool, make_pack, pack_name, refusal_of
from runner.packs.needs import Missing
from runner.packs.registry import LoadError, PackSource
from store.access.mcp_tools import ToolRecord, list_tools, record_offer
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from runner.egress.client import Egress
    from runner.mounts.connection import State
    from runner.mounts.spec import MountSpec, SecretRef
    from runner.packs.context import PackContext
    from runner.packs.pack import Pack
    from runner.packs.registry import Registry
    from store.database.engine import Store

log = structlog.get_logger(__name__)
#: Wait before reading is retried when the database is unavailable.
_AGAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that differs from the accepted one.

    Attributes:
        detected_at: When the difference was noticed.
        digest: SHA-256 of the offered tool, to be sent back to accept it; of the accepted one when the tool is gone.
        before: The accepted tool; None for a new one.
        after: The offered tool; None when it is gone.
    """

    detected_at: datetime
    digest: str
    before: JSONValue
    after: JSONValue


@dataclass(frozen=True, slots=True)
class MountStatus:
    """The present state of a server."""

    spec: MountSpec
    state: State
    last_error: str | None
    connected_at: datetime | None


class Mounts:
    """The MCP servers that this process has mounted.

    Args:
        specs: Their configurations, with checked commands.
        store: Keeps the accepted tools.
        registry: Gets their packs.
        egress: Makes the clients for HTTP servers.
        folder: Each server has a separate folder in it.
        find_secret: Returns the fields of a credential of the vault; None when it is not available.
    """

    def __init__(
        self,
        specs: Sequence[MountSpec],
        store: Store,
        registry: Registry,
        egress: Egress,
        folder: Path,
        find_secret: Callable[[str], Mapping[str, str] | None],
    ) -> None:
        self._store = store
        self._registry = registry
        self._find_secret = find_secret
        self._specs = {spec.key: spec for spec in specs}
        self._tools: dict[str, dict[str, ToolRecord]] = {}
        self._reading = asyncio.Lock()
        self._changed = asyncio.Event()
        self._following: EssentialTask | None = None
        self._connections = {
            spec.key: Connection(spec, folder / spec.key, egress, self._secrets, self._offers_to(spec))
            for spec in specs
        }

    async def start(self) -> None:
        """Register the packs of accepted tools and start to connect, without waiting for the servers."""
        if not self._connections:
            return
        self._store.wakes.listen(Topic.MCP_TOOLS, lambda _: self._changed.set())
        for key, connection in self._connections.items():
            await self._read(key)
            connection.start()
        self._following = EssentialTask(self._follow(), "packline-mounts")

    async def stop(self) -> None:
        """End all connections; does nothing before `start` or when called again."""
        await asyncio.gather(*(connection.stop() for connection in self._connections.values()))
        task, self._following = self._following, None
        if task is not None:
            await task.stop()

    def servers(self) -> list[MountStatus]:
        """Return the present state of every server, in the order of the settings."""
        return [
            MountStatus(each.spec, each.state, each.last_error, each.connected_at)
            for each in self._connections.values()
        ]

    def change_of(self, pack: str) -> ToolChange | None:
        """Return how a pack's tool differs from the accepted one; None when it does not."""
        found = self.tool_of(pack)
        if found is None or found.changed_at is None:
            return None
        return ToolChange(
            found.changed_at,
            found.offered_digest or found.accepted_digest or "",
            orjson.loads(found.accepted) if found.accepted else None,
            orjson.loads(found.offered) if found.offered else None,
        )

    async def refresh(self, server: str) -> None:
        """Update the packs of a server from its stored tools, such as after one was accepted."""
        await self._read(server)

    def tool_of(self, pack: str) -> ToolRecord | None:
        """Return the tool a pack was made of; None when the pack is not an MCP tool."""
        for tools in self._tools.values():
            for record in tools.values():
                if pack_name(record.server, record.tool) == pack:
                    return record
        return None

    # ---------------------------------------------------------------------------------------------- parts

    def _offers_to(self, spec: MountSpec) -> Any:  # noqa: ANN401 - a coroutine function
        async def take(tools: list[Tool]) -> None:
            offered = {tool.name: (tool.digest, orjson.dumps(tool.document).decode()) for tool in tools}
            await self._store.write(record_offer, spec.key, offered)
            await self._read(spec.key)

        return take

    async def _follow(self) -> None:
        """Follow changes of accepted tools, of this or another process on the same database, until stopped."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                for key in self._connections:
                    await self._read(key)
            except StoreClosedError:
                return
            except StoreError as error:
                log.warning("the accepted tools could not be read, retrying", error=str(error))
                self._changed.set()
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _read(self, key: str) -> None:
        """Make packs of a server's stored tools."""
        async with self._reading:
            records = await list_tools(self._store, key)
            if {record.tool: record for record in records} == self._tools.get(key):
                return
            self._tools[key] = {record.tool: record for record in records}
            packs: list[tuple[str, Pack]] = []
            errors: list[LoadError] = []
            names: dict[str, str] = {}
            for record in records:
                tool = Tool.of(orjson.loads(record.accepted or record.offered or "null"))
                origin = f"MCP server {key}"
                name = pack_name(key, tool.name)
                problem = refusal_of(tool)
                if problem is None and name in names:
                    problem = f"Tool {tool.name}: `{names[name]}` already has the pack name {name}."
                if problem is not None:
                    errors.append(LoadError(origin, problem, (name,)))
                    continue
                names[name] = tool.name
                packs.append((origin, self._pack(record, tool)))
            self._registry.put(PackSource("mcp_server", key, tuple(errors)), packs)

    def _pack(self, record: ToolRecord, tool: Tool) -> Pack:
        spec, connection = self._specs[record.server], self._connections[record.server]

        async def call(ctx: PackContext, arguments: dict[str, JSONValue]) -> dict[str, JSONValue]:
            await self._refuse_changed(record.server, tool)
            result = await connection.call(tool.name, arguments, ctx.progress)
            return await output_of(ctx, record.server, tool.name, result, typed=tool.output_schema is not None)

        return make_pack(
            record.server,
            tool,
            revision=record.revision,
            effects=spec.effects.get(tool.name, "external"),
            timeout_seconds=spec.call_seconds + spec.start_seconds,
            missing=lambda: self._missing(record.server, tool.name),
            call=call,
        )

    def _missing(self, server: str, tool: str) -> Missing | None:
        record = self._tools.get(server, {}).get(tool)
        if record is None or record.offered is None:
            return Missing(f"MCP server {server} no longer has the tool {tool}.", "Look for another pack.")
        name = pack_name(server, tool)
        if record.accepted is None:
            return Missing(f"The tool {tool} of MCP server {server} is new.", f"Review and accept it: {name}.")
        if record.changed_at is not None:
            return Missing(
                f"The tool {tool} of MCP server {server} has changed since it was accepted.",
                f"Review and accept it: {name}.",
            )
        connection = self._connections[server]
        if connection.state != "connected" and connection.last_error is not None:
            return Missing(f"MCP server {server} cannot be reached: {connection.last_error}", "Check the server.")
        return None

    async def _refuse_changed(self, server: str, tool: Tool) -> None:
        """Refuse a call if the pack's tool is not the one that is accepted now."""
        record = self._tools.get(server, {}).get(tool.name)
        if record is not None and record.changed_at is not None:
            await self._read(server)  # it may have been accepted through another server on the same database
            record = self._tools.get(server, {}).get(tool.name)
        if record is None or record.changed_at is not None or record.accepted_digest != tool.digest:
            raise PackError(
                FailureCode.SCHEMA_MISMATCH,
                f"The tool {tool.name} of MCP server {server} has changed since it was accepted.",
                hint="A caller with the `manage` scope has to review and accept it.",
            )

    def _secrets(self, spec: MountSpec) -> tuple[Mapping[str, str], str | None]:
        env = {name: self._secret(spec, ref) for name, ref in spec.secret_env.items()}
        return env, self._secret(spec, spec.bearer) if spec.bearer is not None else None

    def _secret(self, spec: MountSpec, ref: SecretRef) -> str:
        fields = self._find_secret(ref.credential)
        if fields is None or ref.field not in fields:
            raise PackError(
                FailureCode.CREDENTIAL_INVALID,
                f"MCP server {spec.key} needs the field `{ref.field}` of credential `{ref.credential}`, "
                "which the vault does not have.",
                hint=f"Store it: packline credential set {ref.credential}.",
                detail={"credential": ref.credential},
            )
        return fields[ref.field]
