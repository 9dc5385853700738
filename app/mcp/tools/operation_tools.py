"""Use cases as tools.

A tool is a published field of the schema: its declaration is the operation's, its parameters are the field's arguments,
its answer is what `documents/<tool>.graphql` selects. It runs as that document on the same schema, parsed once, with
the same scopes, limits and refusals as anybody else's.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from app.mcp.answers import Answer, answer_of
from app.mcp.session import Session, Unanswered
from app.mcp.tools.documents import document_of
from app.mcp.tools.inputs import Inputs, inputs_of
from app.mcp.tools.outputs import Outputs, outputs_of
from app.mcp.tools.refusals import failed, missing, refused
from app.mcp.tools.tool import Call, ToolText
from app.mcp.tools.waiting import FIRST_SECONDS, hurried, next_of, next_of_route, possible, waited
from resolvers.artifacts.artifacts import small_picture
from resolvers.operations import OPERATIONS
from schema.base.directives import Mcp, find_directive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLField, GraphQLSchema

    from app.mcp.tools.waiting import Progress
    from resolvers.operations import Operation
    from store.states import Scope

#: What a start tells besides the run.
_OF_START: Final = ("coalesced", "replayed", "warnings")
_REST_OF_PAGE: Final = "Ask for fewer with `limit`, and go on with `next_cursor` of that answer."
_REST_OF_TEXT: Final = "Ask for a shorter stretch with `limit_bytes`, and go on with `next_offset` of that answer."
#: The tool that shows a picture beside what it tells of it.
_SHOWS_PICTURES: Final = "get_artifact"
_REST: Final = (
    "graphql_query reads any part by itself, a long `output` by its `stretch`; "
    "get_artifact reads artifacts in stretches."
)


@dataclass(frozen=True, slots=True)
class OperationTool:
    """A use case as a tool.

    Attributes:
        text: What is told of it.
        scope: What its caller must hold; None where anybody signed in may ask.
        toolset: The set it is shown in.
        document: What is run, its answer under `answer`.
        rest: How to get what is left out of an answer that is too long.
    """

    text: ToolText
    scope: Scope | None
    toolset: str
    document: str
    inputs: Inputs
    outputs: Outputs
    rest: str

    async def answer(self, call: Call) -> Answer:
        """Runs the use case, and waits for the run it leads to if asked to; see `app.mcp.tools.tool.Tool`."""
        given = call.checked(self.text)
        found: list[dict[str, Any]] = []
        if not self.outputs.tells_run:
            told = await self.run(call.session, given, found)
            if self.outputs.tells_route and (following := next_of_route(told)) and following["tool"] in call.shown:
                told["next"] = following
            if not found or self.text.name != _SHOWS_PICTURES:
                return answer_of(told, found, self.rest)
            return replace(answer_of(told, found, self.rest), pictures=await _pictures(call.session, told, given))
        seconds = given.get("wait_seconds", self.inputs.wait_seconds)
        ending, waiter = call.session.ending, call.shown.get("wait_run")
        if given.get("until_change"):

            async def once(slice_seconds: int) -> dict[str, Any]:
                found.clear()
                return await self.run(call.session, {**given, "wait_seconds": slice_seconds}, found)

            run = await hurried(once, seconds, ending)
        elif (
            seconds <= FIRST_SECONDS
            or (call.progress is None and ending is None)
            or not isinstance(waiter, OperationTool)
        ):
            run = await self.run(call.session, given, found)
        else:
            run = await self.run(call.session, {**given, "wait_seconds": FIRST_SECONDS}, found)
            if "run_id" in run:
                told = {name: run[name] for name in _OF_START if name in run}
                run = told | await waiter.wait_on(call.session, run, seconds - FIRST_SECONDS, call.progress, found)
        return answer_of(with_next(run, call.shown), found, self.rest)

    async def run(self, session: Session, given: Mapping[str, Any], found: list[dict[str, Any]]) -> dict[str, Any]:
        """The answer to arguments that fit; artifacts in it are gathered in `found`.

        Raises:
            CallError: it is refused.
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
        """Waits with this tool, `wait_run`, for a run: as it is once it has ended or time is up.

        Raises:
            CallError: it is gone, or may not be seen any more.
        """

        async def once(slice_seconds: int) -> dict[str, Any]:
            found.clear()
            return await self.run(session, {"run_id": run["run_id"], "wait_seconds": slice_seconds}, found)

        ended = await waited(run, seconds, once, progress, session.ending)
        if "timed_out" in run:
            return ended
        # Another tool's answer: what the wait tells of itself is no part of it.
        return {name: value for name, value in ended.items() if name not in ("timed_out", "cursor")}


def with_next(run: dict[str, Any], shown: Mapping[str, object]) -> dict[str, Any]:
    """A run with the call that goes on with it, and what else can be done with it, as far as there are tools shown."""
    if "actions" in run:
        run["actions"] = possible(run["actions"], shown)
    following = next_of(run)
    if following is not None and following["tool"] in shown:
        run["next"] = following
    return run


async def _pictures(session: Session, artifact: Mapping[str, Any], given: Mapping[str, Any]) -> list[dict[str, str]]:
    """The picture an artifact is, for models that see, with its first stretch; nothing where it is none or large."""
    if given.get("offset"):
        return []
    content = await small_picture(session.context, id=artifact["id"])
    if content is None:
        return []
    return [{"type": "image", "data": b64encode(content).decode(), "mimeType": artifact["media_type"]}]


def build_tools(schema: GraphQLSchema) -> dict[str, OperationTool]:
    """The tools of all published fields, by name.

    Raises:
        ValueError: a field is published that no operation declares, or a declaration does not fit its field.
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
    assert called is not None, "it has a tool"
    document = document_of(called)
    if document.field != name:
        raise ValueError(f"The document of {called} asks for {document.field}; the tool is made of {name}.")
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
