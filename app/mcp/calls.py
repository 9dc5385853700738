"""One call of a tool: its arguments are checked, its document is run, its answer is shaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.mcp.answers import Answer, answer_of, field_error
from app.mcp.refusals import bad_arguments, failed, missing, refused
from app.mcp.session import Unanswered
from app.mcp.waiting import FIRST_SECONDS, Progress, next_of, waited
from runner.schemas import compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.mcp.session import Session
    from app.mcp.tools import OperationTool

_REST_OF_PAGE = "Ask for fewer with `limit`, and go on with `next_cursor` of that answer."
_REST_OF_TEXT = "Ask for a shorter stretch with `limit_bytes`, and go on with `next_offset` of that answer."
#: What a start tells besides the run.
_OF_START = ("coalesced", "replayed", "warnings")
_REST = "graphql_query reads any part by itself; get_artifact reads artifacts in stretches."


def checked(name: str, schema: dict[str, Any], arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """A call's arguments as they fit a schema; null means left out.

    Raises:
        CallError: they do not fit; every fault is told with what would be right.
    """
    given = {key: value for key, value in (arguments or {}).items() if value is not None}
    if issues := compile_schema(schema).issues(given):
        raise bad_arguments(name, [field_error(issue, schema) for issue in issues])
    return given


async def call_operation(
    session: Session,
    tool: OperationTool,
    arguments: Mapping[str, Any] | None,
    progress: Progress | None,
    find_tool: Callable[[str], OperationTool | None],
) -> Answer:
    """Calls a use case.

    Args:
        session: Who calls.
        tool: The use case.
        arguments: As the client gave them.
        progress: Told while the call waits for a run.
        find_tool: Another tool the caller may use, by name.

    Raises:
        CallError: it is refused.
    """
    given = checked(tool.name, tool.inputs.schema, arguments)
    found: list[dict[str, Any]] = []
    seconds = given.get("wait_seconds", tool.inputs.schema["properties"].get("wait_seconds", {}).get("default", 0))
    waiter = find_tool("wait_run") if tool.outputs.tells_run and progress is not None else None
    if waiter is None or progress is None or seconds <= FIRST_SECONDS or given.get("until_change"):
        data = await _answered(session, tool, given, found)
    else:
        data = await _answered(session, tool, {**given, "wait_seconds": FIRST_SECONDS}, found)
        if "run_id" in data:
            ended = await _wait_on(session, waiter, data, seconds - FIRST_SECONDS, progress, found)
            data = {name: data[name] for name in _OF_START if name in data} | ended
    if tool.outputs.tells_run and (following := next_of(data)) and find_tool(following["tool"]):
        data["next"] = following
    rest = _REST_OF_PAGE if tool.outputs.is_page else _REST_OF_TEXT if "next_offset" in data else _REST
    return answer_of(data, found, rest)


async def _wait_on(
    session: Session,
    waiter: OperationTool,
    run: dict[str, Any],
    seconds: float,
    progress: Progress,
    found: list[dict[str, Any]],
) -> dict[str, Any]:
    async def once(slice_seconds: int) -> dict[str, Any] | None:
        gathered: list[dict[str, Any]] = []
        given = {"run_id": run["run_id"], "wait_seconds": slice_seconds}
        answer = (await session.execute(waiter.document, waiter.inputs.variables(given)))["answer"]
        if answer is None:
            return None
        shaped: dict[str, Any] = waiter.outputs.shape(answer, gathered)
        found[:] = gathered
        return shaped

    try:
        ended = await waited(run, seconds, once, progress)
    except Unanswered as error:
        raise failed(error, {"run_id": run["run_id"]}) from error
    if "timed_out" not in run:
        # What a start tells of itself stays; that of the wait is no part of its answer.
        ended = {name: value for name, value in ended.items() if name not in ("timed_out", "cursor")}
    return ended


async def _answered(
    session: Session, tool: OperationTool, given: Mapping[str, Any], found: list[dict[str, Any]]
) -> dict[str, Any]:
    try:
        data = await session.execute(tool.document, tool.inputs.variables(given))
    except Unanswered as error:
        raise failed(error, given) from error
    answer = data["answer"]
    if answer is None:
        raise missing(given)
    if isinstance(answer, dict) and str(answer.get("__typename", "")).endswith("Problem"):
        raise refused(answer, given)
    shaped: dict[str, Any] = tool.outputs.shape(answer, found)
    return shaped
