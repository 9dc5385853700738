"""The tasks extension (SEP-2663): a long run is a task, with the run's id. Imports `mcp`.

A client that declares `io.modelcontextprotocol/tasks` in a request gets a task in answer to a start whose run has not
ended after `MOMENT_SECONDS`, and polls it with `tasks/get`. A task is derived from its run, so it survives a restart,
is visible to everybody who may see the run, and can be polled on any server that shares the database. Other clients
never see a task.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
import orjson
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY
from pydantic import Field

from app.mcp.answers import wire_answer
from app.mcp.session import DEFAULT, Unanswered
from app.mcp.tools.pack_tools import PackTool
from runner.excerpts import excerpt
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server import Server

    from app.mcp.session import Session
    from app.mcp.tools.toolbox import Toolbox
    from app.mcp.transport.parts import RequestContext, SessionOf

EXTENSION: Final = "io.modelcontextprotocol/tasks"
#: A start answers with its result if the run ends within this, in seconds; else with a task.
MOMENT_SECONDS: Final = 1
#: Interval at which clients should poll, in milliseconds.
POLL_MS: Final = 1_000
_DAY_MS: Final = 86_400_000
_RUN: Final = """query Task($id: ID!) {
    run(id: $id) { id state createdAt startedAt endedAt currentStep { key } wait { message } } }"""
#: A task's status by its run's state. A failed run is a completed task: its result says what failed and what to do.
_STATUS: Final = {"SUCCEEDED": "completed", "FAILED": "completed", "CANCELLED": "cancelled"}


class TaskParams(types.RequestParams):
    """Parameters of a request about a task."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """Answers to a task's questions; runs ask none."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


def add_to(server: Server[Any], session_of: SessionOf, toolbox: Toolbox) -> None:
    """Declare the extension, and answer the starts of clients that declare it with tasks."""
    entry = server.get_request_handler("tools/call")
    assert entry is not None, "the server has tools"
    answer = entry.handler

    async def call_tool(ctx: RequestContext, params: types.CallToolRequestParams) -> dict[str, Any]:
        result = await answer(ctx, params)
        assert isinstance(result, dict), "tools answer with results"
        return result

    async def call(ctx: RequestContext, params: types.CallToolRequestParams) -> Any:  # noqa: ANN401 - as the SDK has it
        if not _declared(ctx) or not session_of(ctx).caller.may(Scope.READ):  # polling needs the scope
            return await call_tool(ctx, params)
        if isinstance(toolbox.shown(session_of(ctx)).get(params.name), PackTool):
            given = params.arguments
            result = wire_answer(await toolbox.call(session_of(ctx), params.name, given, wait_seconds=MOMENT_SECONDS))
        elif _starts(toolbox, params.name):
            arguments = {**(params.arguments or {}), "wait_seconds": MOMENT_SECONDS}
            result = await call_tool(ctx, params.model_copy(update={"arguments": arguments}))
        else:
            return await call_tool(ctx, params)
        run = result.get("structuredContent")
        if run is None or run.get("state") in _STATUS or "run_id" not in run:
            return result
        return {"resultType": "task", **_task(await _find(session_of(ctx), run["run_id"]), session_of(ctx))}

    async def get(ctx: RequestContext, params: TaskParams) -> dict[str, Any]:
        session, run = await _session_and_run(ctx, session_of, params.task_id)
        task = _task(run, session)
        if task["status"] == "completed":
            wait = types.CallToolRequestParams(name="wait_run", arguments={"run_id": params.task_id, "wait_seconds": 0})
            result = await call_tool(ctx, wait)
            task["result"] = _without_wait(result)
        return {"resultType": "complete", **task}

    async def update(ctx: RequestContext, params: TaskUpdateParams) -> dict[str, Any]:
        await _session_and_run(ctx, session_of, params.task_id)
        return {"resultType": "complete"}

    async def cancel(ctx: RequestContext, params: TaskParams) -> dict[str, Any]:
        session, run = await _session_and_run(ctx, session_of, params.task_id)
        if session.selection.readonly:
            raise MCPError(types.INVALID_REQUEST, "This connection is read-only, so it cannot cancel the task.")
        if run["state"] not in _STATUS:
            everything = replace(session, selection=DEFAULT)
            answer = await toolbox.call(everything, "cancel_run", {"run_id": params.task_id})
            if answer.data is None and (await _find(session, params.task_id))["state"] not in _STATUS:
                raise MCPError(types.INVALID_REQUEST, "This caller may not cancel the task.")
        return {"resultType": "complete"}

    server.extensions[EXTENSION] = {}
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", TaskUpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


def _starts(toolbox: Toolbox, tool: str) -> bool:
    """Whether a tool starts or resumes a run and may wait for it."""
    schema = toolbox.input_schema(tool)
    return schema is not None and "wait_seconds" in schema["properties"] and tool != "wait_run"


def _declared(ctx: RequestContext) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and EXTENSION in (capabilities.extensions or {})


async def _session_and_run(ctx: RequestContext, session_of: SessionOf, task_id: str) -> tuple[Session, dict[str, Any]]:
    """The session of a request about a task, and the task's run.

    Raises:
        MCPError: the client did not declare the extension, its headers name another task, or the task is unknown.
    """
    if not _declared(ctx):
        required: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY, f"Declare the extension {EXTENSION} in each request.", required
        )
    if ctx.request is not None and ctx.request.headers.get("mcp-name") != task_id:
        raise MCPError(HEADER_MISMATCH, "The Mcp-Name header must be the id of the task.")
    session = session_of(ctx)
    if session.caller.tools is not None and "get_run" not in session.caller.tools:
        raise MCPError(types.INVALID_REQUEST, "`get_run` is not among the `tools` this agent step declares.")
    return session, await _find(session, task_id)


async def _find(session: Session, run_id: str) -> dict[str, Any]:
    try:
        run = (await session.execute(_RUN, {"id": run_id}))["run"]
    except Unanswered as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from error
    if run is None:
        raise MCPError(types.INVALID_PARAMS, "There is no such task, or you may not see it.")
    found: dict[str, Any] = run
    return found


def _task(run: Mapping[str, Any], session: Session) -> dict[str, Any]:
    status = _STATUS.get(run["state"], "working")
    words = [run["state"].lower()]
    if run["currentStep"] and status == "working":
        words.append(f"step {run['currentStep']['key']}")
    if run["wait"]:
        words.append(run["wait"]["message"])
    days = session.context.services.engine.resources.retention.run_days
    return {
        "taskId": run["id"],
        "status": status,
        "statusMessage": excerpt(", ".join(words), 200),
        "createdAt": run["createdAt"],
        "lastUpdatedAt": run["endedAt"] or run["startedAt"] or run["createdAt"],
        "ttlMs": int(days * _DAY_MS),
        "pollIntervalMs": POLL_MS,
    }


def _without_wait(result: dict[str, Any]) -> dict[str, Any]:
    """The answer of `wait_run` without the fields of the wait, as a start that waited would have answered."""
    content = result.get("structuredContent")
    if content is None:
        return result
    data = {key: value for key, value in content.items() if key not in ("timed_out", "cursor")}
    text = {"type": "text", "text": orjson.dumps(data).decode()}
    return {**result, "structuredContent": data, "content": [text, *result["content"][1:]]}
