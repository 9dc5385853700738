"""Which tools a caller is shown, and who answers a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.mcp.answers import CallError
from app.mcp.calls import call_operation
from app.mcp.tools import build_tools
from runner.issues import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.mcp.answers import Answer
    from app.mcp.session import Selection, Session
    from app.mcp.tools import OperationTool, ToolText
    from app.mcp.waiting import Progress
    from schema.guarded import GuardedSchema
    from store.states import Scope

#: What a selection and a set of scopes show is remembered, so many of them.
_REMEMBERED = 256


class UnknownToolError(Exception):
    """There is no tool of that name for anybody; the message names the nearest."""


class Toolbox:
    """Every tool of a server.

    Args:
        schema: What the tools are made of.
    """

    def __init__(self, schema: GuardedSchema) -> None:
        self._tools = build_tools(schema._schema)
        self._shown: dict[tuple[Selection, frozenset[Scope]], dict[str, OperationTool]] = {}

    def shown(self, session: Session) -> dict[str, OperationTool]:
        """The tools a session is shown, by name, in the order of their names."""
        key = (session.selection, session.caller.scopes)
        found = self._shown.get(key)
        if found is None:
            found = {
                name: tool
                for name, tool in self._tools.items()
                if tool.toolset in session.selection.toolsets
                and (tool.scope is None or session.caller.may(tool.scope))
                and not (session.selection.readonly and not tool.text.read_only)
            }
            if len(self._shown) >= _REMEMBERED:
                self._shown.clear()
            self._shown[key] = found
        return found

    def texts(self, session: Session) -> list[ToolText]:
        """What a session is told of its tools, in the order of their names."""
        return [tool.text for tool in self.shown(session).values()]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """A tool's input schema, whoever asks; None when there is no such tool."""
        tool = self._tools.get(name)
        return None if tool is None else tool.inputs.schema

    async def call(
        self, session: Session, name: str, arguments: Mapping[str, Any] | None, progress: Progress | None = None
    ) -> Answer:
        """What a call comes to; refusals are answers, too.

        Raises:
            UnknownToolError: nobody has a tool of that name.
        """
        shown = self.shown(session)
        tool = shown.get(name)
        try:
            if tool is None:
                raise self._hidden(session, name, shown)
            return await call_operation(session, tool, arguments, progress, shown.get)
        except CallError as error:
            return error.answer()

    def _hidden(self, session: Session, name: str, shown: Mapping[str, OperationTool]) -> CallError:
        """Why a session has no tool of a name that there is."""
        tool = self._tools.get(name)
        if tool is None:
            near = did_you_mean(name, shown) if nearest(name, shown) else "tools/list tells the tools there are."
            raise UnknownToolError(f"There is no tool `{name[:100]}`. {near}")
        if tool.scope is not None and not session.caller.may(tool.scope):
            return CallError(
                "FORBIDDEN",
                f"`{name}` needs the scope {tool.scope.name}, which this token does not carry.",
                hint="Ask whoever manages this server for a token with that scope.",
                requires=tool.scope.name,
            )
        if session.selection.readonly and not tool.text.read_only:
            return CallError(
                "FORBIDDEN",
                f"`{name}` changes something, and this connection only reads.",
                hint="Whoever set this connection up can take `readonly` off its address.",
            )
        return CallError(
            "FORBIDDEN",
            f"`{name}` belongs to the tool set `{tool.toolset}`, which this connection does not show.",
            hint=f"Whoever set this connection up can add `?toolsets={tool.toolset}` to its address.",
        )
