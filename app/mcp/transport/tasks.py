"""The tasks extension (SEP-2663): a run that takes long is a task, with the run's own id. Imports `mcp`.

A client that declares `io.modelcontextprotocol/tasks` in a request gets a task in answer to a start whose run has not
ended within a moment, and asks for it with `tasks/get`. Nothing is kept here: a task is read off the run, so it
survives a restart, is visible to whoever sees the run, and can be asked for on any server that shares the database.
Other clients never meet a task.
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
#: A start answers with its result when the run has ended by then, in seconds; else with a task.
MOMENT_SECONDS: Final = 1
#: How often a client is asked to look again, in milliseconds.
POLL_MS: Final = 1_000
_DAY_MS: Final = 86_400_000
_RUN: Final = """query Task($id: ID!) {
    run(id: $id) { id state createdAt startedAt endedAt currentStep { key } wait { message } } }"""
#: What a run's state is as a task's. A failed run is a completed task: its result says what failed and how to go on.
_STATUS: Final = {"SUCCEEDED": "completed", "FAILED": "completed", "CANCELLED": "cancelled"}


class TaskParams(types.RequestParams):
    """Which task."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """Answers to questions of a task; runs ask none."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


def add_to(server: Server[Any], session_of: SessionOf, toolbox: Toolbox) -> None:
    """Announces the extension, and answers starts of those who declare it with tasks."""
    entry = server.get_request_handler("tools/call")
    assert entry is not None, "tools are served"
    answer = entry.handler

    async def call_tool(ctx: RequestContext, params: types.CallToolRequestParams) -> dict[str, Any]:
        result = await answer(ctx, params)
        assert isinstance(result, dict), "tools answer with results"
        return result

    async def call(ctx: RequestContext, params: types.CallToolRequestParams) -> Any:  # noqa: ANN401 - as the SDK has it
        if not _declared(ctx) or not session_of(ctx).caller.may(Scope.READ):  # who may not read could not ask for it
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
        return {"resultType": "task", **_told(await _find(session_of(ctx), run["run_id"]), session_of(ctx))}

    async def get(ctx: RequestContext, params: TaskParams) -> dict[str, Any]:
        session, run = await _asked(ctx, session_of, params.task_id)
        told = _told(run, session)
        if told["status"] == "completed":
            wait = types.CallToolRequestParams(name="wait_run", arguments={"run_id": params.task_id, "wait_seconds": 0})
            result = await call_tool(ctx, wait)
            told["result"] = _ended(result)
        return {"resultType": "complete", **told}

    async def update(ctx: RequestContext, params: TaskUpdateParams) -> dict[str, Any]:
        await _asked(ctx, session_of, params.task_id)
        return {"resultType": "complete"}

    async def cancel(ctx: RequestContext, params: TaskParams) -> dict[str, Any]:
        session, run = await _asked(ctx, session_of, params.task_id)
        if session.selection.readonly:
            raise MCPError(types.INVALID_REQUEST, "This connection only reads; the task goes on.")
        if run["state"] not in _STATUS:
            answer = await toolbox.call(_whole(session), "cancel_run", {"run_id": params.task_id})
            if answer.data is None and (await _find(session, params.task_id))["state"] not in _STATUS:
                raise MCPError(types.INVALID_REQUEST, "The task cannot be cancelled by this caller.")
        return {"resultType": "complete"}

    server.extensions[EXTENSION] = {}
    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", TaskUpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


def _starts(toolbox: Toolbox, tool: str) -> bool:
    """Whether a tool starts a run, or has one go on, and may wait for it."""
    schema = toolbox.input_schema(tool)
    return schema is not None and "wait_seconds" in schema["properties"] and tool != "wait_run"


def _declared(ctx: RequestContext) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and EXTENSION in (capabilities.extensions or {})


async def _asked(ctx: RequestContext, session_of: SessionOf, task_id: str) -> tuple[Session, dict[str, Any]]:
    """Who asks for a task, and the run it is.

    Raises:
        MCPError: the client did not declare the extension, its headers name another task, or there is none such.
    """
    if not _declared(ctx):
        required: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY, f"Declare the extension {EXTENSION} with each request.", required
        )
    if ctx.request is not None and ctx.request.headers.get("mcp-name") != task_id:
        raise MCPError(HEADER_MISMATCH, "The header Mcp-Name does not name the task that the request is about.")
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
        raise MCPError(types.INVALID_PARAMS, "There is no such task that you may see.")
    found: dict[str, Any] = run
    return found


def _told(run: Mapping[str, Any], session: Session) -> dict[str, Any]:
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


def _ended(result: dict[str, Any]) -> dict[str, Any]:
    """What the start would have answered, had it waited: the answer of `wait_run` without what is about the wait."""
    told = result.get("structuredContent")
    if told is None:
        return result
    data = {key: value for key, value in told.items() if key not in ("timed_out", "cursor")}
    text = {"type": "text", "text": orjson.dumps(data).decode()}
    return {**result, "structuredContent": data, "content": [text, *result["content"][1:]]}


def _whole(session: Session) -> Session:
    """The session without what it chose to be shown."""
    return replace(session, selection=DEFAULT)
