"""Operations by name over MCP: the published ones as tools, other reads by `graphql_query`.

What a tool answers is terse, so the surface looks up the rest of what `ANSWERS` lists, over MCP too; what the tool told
itself counts where both tell it. Every answer has to fit its tool's output schema. Commands that are no tools, and
subscriptions, go over GraphQL.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from app.mcp.tools.operation_tools import build_tools
from resolvers.operations import OPERATIONS
from runner.yaml_documents import load_document
from schema.build import build_schema
from tests.support.mcp_agent import ToolRefused, agent, content_of, fits
from tests.support.surfaces import PIPELINE_FIELDS, RUN_FIELDS, GraphQLSurface, Refused, document_of, refuses_by_members

if TYPE_CHECKING:
    from mcp import Client

    from app.mcp.tools.operation_tools import OperationTool

_PIPELINE_DOCUMENT = f"query ($id: ID!) {{ pipeline(id: $id) {{ {PIPELINE_FIELDS} }} }}"
_RUN_DOCUMENT = f"query ($id: ID!) {{ run(id: $id) {{ {RUN_FIELDS} }} }}"


@dataclass
class McpSurface(GraphQLSurface):
    """The SDK's client on the newest wire, connected from the first call until `close`."""

    _client: asyncio.Future[Client] | None = None
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _holding: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self._holding is not None:
            self._closing.set()
            await self._holding

    async def _connected(self) -> Client:
        if self._client is None:
            self._client = asyncio.get_running_loop().create_future()
            self._holding = asyncio.create_task(self._hold(self._client))
        return await self._client

    async def _hold(self, connected: asyncio.Future[Client]) -> None:
        """Enter and leave the client in one task, as its task group demands; calls come from any."""
        try:
            async with agent(self.product, token=self.token, query="?toolsets=author") as client:
                connected.set_result(client)
                await self._closing.wait()
        except Exception as error:
            if connected.done():
                raise
            connected.set_exception(error)

    async def call(self, operation: str, /, **arguments: Any) -> Any:
        declared = OPERATIONS.get(operation)
        tool = tools().get(operation)
        given = None if tool is None else given_of(tool, arguments)
        if given is None and declared is not None and declared.kind == "command":
            return await super().call(operation, **arguments)
        authenticator = self.product.application.authenticator
        assert authenticator is not None
        if not await authenticator.knows(self.token):  # the SDK wraps a 401 beyond recognition
            raise Refused("UNAUTHENTICATED", "no session can be opened with this token", {})
        client = await self._connected()
        if tool is None or given is None:
            return await self._read(client, operation, arguments)
        try:
            answer = await self._ask(client, tool, given)
            return await self._shaped(client, operation, answer, arguments)
        except Refused as refused:
            if refused.code == "NOT_FOUND" and not refuses_by_members(operation):
                return None  # as the field answers
            raise

    async def _ask(self, client: Client, tool: OperationTool, given: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = content_of(await client.call_tool(tool.text.name, given))
        except ToolRefused as refused:
            raise refusal_of(refused.error) from refused
        fits(tool.outputs.whole, {name: value for name, value in answer.items() if name != "next"})
        return answer

    async def _read(self, client: Client, operation: str, arguments: dict[str, Any]) -> Any:
        document, variables = document_of(operation, dict(arguments))
        value = await self._query(client, document, variables)
        if operation in ("preview_resume", "preview_rerun"):
            value = value and next(iter(value.values()))
        return value

    async def _query(self, client: Client, document: str, variables: dict[str, Any]) -> Any:
        try:
            answer = content_of(await client.call_tool("graphql_query", {"query": document, "variables": variables}))
        except ToolRefused as refused:
            raise refusal_of(refused.error) from refused
        assert "truncated" not in answer, answer
        return next(iter(answer["data"].values()))

    async def _shaped(
        self, client: Client, operation: str, answer: dict[str, Any], arguments: dict[str, Any]
    ) -> dict[str, Any]:
        match operation:
            case "run_pipeline" | "run_pack" | "rerun_run":
                return {
                    "coalesced": answer["coalesced"],
                    "replayed": answer["replayed"],
                    "warnings": [{"message": message} for message in answer["warnings"]],
                    "run": await self._run(client, answer),
                }
            case "resume_run" | "cancel_run":
                return {"run": await self._run(client, answer)}
            case "wait_run":
                run = await self._run(client, answer)
                return {"timedOut": answer["timed_out"], "cursor": answer["cursor"], "run": run}
            case "create_pipeline" | "update_pipeline" | "clone_pipeline":
                pipeline = await self._query(client, _PIPELINE_DOCUMENT, {"id": answer["id"]})
                assert (pipeline["key"], pipeline["currentVersion"]["number"]) == (answer["key"], answer["version"])
                return {"newVersion": answer["new_version"], "warnings": answer["warnings"], "pipeline": pipeline}
            case "create_webhook":
                trigger = await self._read(client, "trigger", {"id": answer["trigger"]["trigger_id"]})
                return {"trigger": trigger, "secret": answer["secret"]}
            case "create_trigger" | "pause_trigger" | "resume_trigger":
                return {"trigger": await self._read(client, "trigger", {"id": answer["trigger_id"]})}
            case "fire_trigger":
                return {"run": await self._run(client, answer)}
            case "delete_pipeline" | "delete_trigger":
                return {"deletedId": answer["deleted_id"]}
            case "apply_pipelines":
                for change in answer["changes"]:
                    change["pipeline"] = await self._query(client, _PIPELINE_DOCUMENT, {"id": change["key"]})
                return answer
            case "promote_run":
                made_from = [{"id": run["id"]} for run in answer["made_from"]]
                return {**answer, "madeFrom": made_from, "document": load_document(answer["yaml"])}
            case "forget_memory":
                return {**answer, "defaults": await self._read(client, "my_defaults", {})}
            case "my_defaults":
                return _defaults(await self._read(client, operation, arguments), answer)
            case _:
                return await self._read(client, operation, arguments)

    async def _run(self, client: Client, answer: dict[str, Any]) -> dict[str, Any] | None:
        if "run_id" not in answer:
            return None
        run = await self._query(client, _RUN_DOCUMENT, {"id": answer["run_id"]})
        assert run["title"] == answer["title"]
        return {**run, "state": answer["state"]}


def _defaults(read: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Defaults as the tool told them, with what it leaves out."""
    for kind in ("packs", "pipelines"):
        assert [entry["target"] for entry in read[kind]] == [entry["target"] for entry in answer[kind]]
        for entry, told_entry in zip(read[kind], answer[kind], strict=True):
            entry["uses"] = told_entry["uses"]
            # A null is left out of what a tool answers, as the value of a field that is excluded.
            entry["values"] = [{"value": None, **value} for value in told_entry["values"]]
    return {**read, "learningPaused": answer["learning_paused"]}


def refusal_of(error: dict[str, Any]) -> Refused:
    """An error as the contract knows refusals."""
    details = {name: value for name, value in error.items() if name not in ("code", "message", "field_errors")}
    details["issues"] = [
        {"path": each["path"].split("."), "rule": each.get("rule", ""), "message": each["problem"]}
        for each in error.get("field_errors", ())
    ]
    details["current"] = {"id": error.get("current_id")}
    return Refused(error["code"], error["message"], details)


def given_of(tool: OperationTool, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """A field's arguments as the tool takes them; None when it does not take one of them."""
    found: dict[str, Any] = {}
    left = {name: dict(value) if isinstance(value, dict) else value for name, value in arguments.items()}
    for name, binding in tool.inputs.bindings.items():
        head = binding.path[0]
        if head not in arguments:
            continue
        if binding.by_type is not None:
            given = next((part for part in binding.by_type.values() if part in arguments[head]), None)
            if given is not None:
                found[name] = left[head].pop(given)
        elif len(binding.path) == 1:
            found[name] = left.pop(head)
        elif binding.path[1] in arguments[head]:
            found[name] = left[head].pop(binding.path[1])
    if "wait_seconds" in tool.inputs.bindings and tool.text.name != "wait_run":
        found.setdefault("wait_seconds", 0)  # as in the API; agents wait unless they say otherwise
    taken = {binding.path[0] for binding in tool.inputs.bindings.values() if len(binding.path) == 2 or binding.by_type}
    return found if all(name in taken and not value for name, value in left.items()) else None


@cache
def tools() -> dict[str, OperationTool]:
    """The published operations by name."""
    by_tool = build_tools(build_schema()._schema)
    named = {
        operation.tool.name or operation.name: operation.name for operation in OPERATIONS.values() if operation.tool
    }
    return {named[name]: tool for name, tool in by_tool.items()}
