"""Use cases as tools.

A tool is a published field of the schema: the operation declares it, its parameters are the field's arguments, and its
answer is what `documents/<tool>.graphql` selects. It runs as that document on the same schema, parsed once, with the
scopes, limits and refusals of every other document.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from app.mcp.answers import Answer, answer_of
from app.mcp.session import Session, Unanswered
from app.mcp.tools.documents import document_of
from app.mcp.tools.inputs import Inputs, inputs_of
from app.mcp.tools.outputs import Outputs, outputs_of
from app.mcp.tools.refusals import failed, missing, refused
from app.mcp.tools.tool import Call, ToolText
from app.mcp.tools.waiting import FIRST_SECONDS, next_of, next_of_route, possible, wait_for_run, wait_or_end
from resolvers.artifacts.artifacts import small_picture
from resolvers.operations import OPERATIONS
from schema.base.directives import Mcp, find_directive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLField, GraphQLSchema

    from app.mcp.tools.waiting import Progress
    from resolvers.operations import Operation
    from store.states import Scope

#: Members of a start's answer besides the run.
_OF_START: Final = ("coalesced", "replayed", "warnings")
_REST_OF_PAGE: Final = "Request fewer entries with `limit`, and continue with `next_cursor` of that answer."
_REST_OF_TEXT: Final = "Request less text with `limit_bytes`, and continue with `next_offset` of that answer."
#: The tool whose answers include the picture itself.
_SHOWS_PICTURES: Final = "get_artifact"
_REST: Final = (
    "graphql_query reads any part separately, a long `output` with `offset`; get_artifact reads artifacts in parts."
)


@dataclass(frozen=True, slots=True)
class OperationTool:
    """A use case as a tool.

    Attributes:
        text: Its description for clients.
        scope: The scope its caller needs; None if every caller may call it.
        toolset: The tool set it belongs to.
        document: The document it runs, with the answer under `answer`.
        rest: How to get the rest of an answer that was cut.
    """

    text: ToolText
    scope: Scope | None
    toolset: str
    document: str
    inputs: Inputs
    outputs: Outputs
    rest: str

    async def answer(self, call: Call) -> Answer:
        """Run the use case, and wait for its run if asked to."""
        given = call.checked(self.text)
        found: list[dict[str, Any]] = []
        if not self.outputs.is_run:
            data = await self.run(call.session, given, found)
            if self.outputs.is_route and (following := next_of_route(data)) and following["tool"] in call.shown:
                data["next"] = following
            if not found or self.text.name != _SHOWS_PICTURES:
                return answer_of(data, found, self.rest)
            return replace(answer_of(data, found, self.rest), pictures=await _pictures(call.session, data, given))
        seconds = given.get("wait_seconds", self.inputs.wait_seconds)
        ending, waiter = call.session.ending, call.shown.get("wait_run")
        if given.get("until_change"):

            async def once(slice_seconds: int) -> dict[str, Any]:
                found.clear()
                return await self.run(call.session, {**given, "wait_seconds": slice_seconds}, found)

            run = await wait_or_end(once, seconds, ending)
        elif (
            seconds <= FIRST_SECONDS
            or (call.progress is None and ending is None)
            or not isinstance(waiter, OperationTool)
        ):
            run = await self.run(call.session, given, found)
        else:
            run = await self.run(call.session, {**given, "wait_seconds": FIRST_SECONDS}, found)
            if "run_id" in run:
                started = {name: run[name] for name in _OF_START if name in run}
                run = started | await waiter.wait_on(call.session, run, seconds - FIRST_SECONDS, call.progress, found)
        return answer_of(with_next(run, call.shown), found, self.rest)

    async def run(self, session: Session, given: Mapping[str, Any], found: list[dict[str, Any]]) -> dict[str, Any]:
        """The answer to valid arguments; its artifacts are collected in `found`.

        Raises:
            CallError: the call is refused.
        """
        try:
            data = await session.execute(self.document, self.inputs.variables(given))
        except Unanswered as error:
            raise failed(error, given) from error
        answer = data["answer"]
        if answer is None:
            raise missing(given)
        if isinstance(answer, dict) and str(answer.get("__typename", "")).endswith("Problem"):
            raise refused(answer, given, self.inputs.renamed())
        shaped: dict[str, Any] = self.outputs.shape(answer, found)
        return shaped

    async def wait_on(
        self,
        session: Session,
        run: dict[str, Any],
        seconds: float,
        progress: Progress | None,
        found: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """Wait with this tool, `wait_run`, until a run has ended or time is up.

        Raises:
            CallError: the run was deleted, or the caller may no longer see it.
        """

        async def once(slice_seconds: int) -> dict[str, Any]:
            found.clear()
            return await self.run(session, {"run_id": run["run_id"], "wait_seconds": slice_seconds}, found)

        ended = await wait_for_run(run, seconds, once, progress, session.ending)
        if "timed_out" in run:
            return ended
        # The answer of another tool has no members about the wait.
        return {name: value for name, value in ended.items() if name not in ("timed_out", "cursor")}


def with_next(run: dict[str, Any], shown: Mapping[str, object]) -> dict[str, Any]:
    """A run with the next call, and with the actions for which the caller has tools."""
    if "actions" in run:
        run["actions"] = possible(run["actions"], shown)
    following = next_of(run)
    if following is not None and following["tool"] in shown:
        run["next"] = following
    return run


async def _pictures(session: Session, artifact: Mapping[str, Any], given: Mapping[str, Any]) -> list[dict[str, str]]:
    """An artifact's picture, for models that see, with its first part; nothing if it is not a picture or is large."""
    if given.get("offset"):
        return []
    content = await small_picture(session.context, id=artifact["id"])
    if content is None:
        return []
    return [{"type": "image", "data": b64encode(content).decode(), "mimeType": artifact["media_type"]}]


@cache
def build_tools(schema: GraphQLSchema) -> Mapping[str, OperationTool]:
    """The tools of all published fields, by name; built once for a schema, which takes 40 ms.

    Raises:
        ValueError: no operation declares a published field, or a declaration does not fit its field.
    """
    declared = {operation.tool_name: operation for operation in OPERATIONS.values()}
    found: dict[str, OperationTool] = {}
    for root in (schema.query_type, schema.mutation_type):
        for name, field in (root.fields if root else {}).items():
            mark = find_directive(field, Mcp)
            if mark is None:
                continue
            operation = declared.get(mark.tool)
            if operation is None or operation.tool is None:
                raise ValueError(f"The field {name} is published as {mark.tool}, which no operation declares.")
            tool = _build(schema, name, field, operation)
            found[tool.text.name] = tool
    return found


def _build(schema: GraphQLSchema, name: str, field: GraphQLField, operation: Operation[..., Any]) -> OperationTool:
    tool, called = operation.tool, operation.tool_name
    assert tool is not None, "only operations with a tool are built"
    assert called is not None, "an operation with a tool has its name"
    document = document_of(called)
    if document.field != name:
        raise ValueError(f"The document of {called} selects {document.field}, but the tool belongs to {name}.")
    inputs = inputs_of(field, tool, has_detail="full" in document.variables)
    outputs = outputs_of(schema, field, document.selection, tool)
    text = ToolText(
        name=called,
        title=tool.title,
        description=tool.description,
        input_schema=inputs.schema,
        output_schema=outputs.schema,
        read_only=operation.kind == "query",
        destructive=operation.destructive,
        idempotent=operation.idempotent,
        open_world=tool.open_world,
        nullable=frozenset(name for name, parameter in tool.parameters.items() if parameter.nullable),
    )
    rest = _REST_OF_PAGE if "limit" in inputs.bindings else _REST_OF_TEXT if "limit_bytes" in inputs.bindings else _REST
    return OperationTool(text, operation.scope, tool.toolset, document.text, inputs, outputs, rest)
