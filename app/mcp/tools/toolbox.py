"""The tools each session has, and the dispatch of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from strawberry.utils.str_converters import to_snake_case

from app.mcp.answers import Advice, CallError
from app.mcp.tools.operation_tools import OperationTool, build_tools
from app.mcp.tools.pack_tools import NAME_CHARACTERS, pack_tool
from app.mcp.tools.query_tool import QueryTool
from app.mcp.tools.tool import Call, Tool, ToolText
from app.mcp.tools.waiting import possible
from runner.excerpts import excerpt
from runner.issues import lacking_scope, nearest
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.mcp.answers import Answer
    from app.mcp.session import Selection, Session
    from app.mcp.tools.pack_tools import PackTool
    from app.mcp.tools.waiting import Progress
    from runner.packs.pack import Pack
    from schema.guard.guarded_schema import GuardedSchema

#: Limit of the caches of tools by selection and scopes, and of packs' tools.
_CACHED_MAX: Final = 256
#: Tools for a pack's run, which sessions with packs get even without a tool set.
_WITH_PACKS: Final = frozenset({"wait_run", "get_run", "get_artifact", "cancel_run"})


class UnknownToolError(Exception):
    """No caller has a tool of that name; the message names the nearest."""


class Toolbox:
    """Every tool of a server.

    Args:
        schema: The schema behind the tools.
    """

    def __init__(self, schema: GuardedSchema) -> None:
        self._operations = build_tools(schema._schema)
        query = QueryTool()
        tools: dict[str, OperationTool | QueryTool] = {**self._operations, query.text.name: query}
        self._tools = dict(sorted(tools.items()))
        #: A caller's query may also wait.
        self._waiting = {query.text.name} | {
            name for name, tool in tools.items() if "wait_seconds" in tool.text.input_schema["properties"]
        }
        self._shown: dict[tuple[Selection, frozenset[Scope], frozenset[str] | None], dict[str, Tool]] = {}
        self._packs: dict[Pack, PackTool] = {}

    def may_wait(self, name: str) -> bool:
        """Whether a call of a tool may wait for a run; a pack's tool always may."""
        return name in self._waiting or name not in self._tools

    def shown(self, session: Session) -> dict[str, Tool]:
        """A session's tools by name, sorted."""
        selection = session.selection
        key = (selection, session.caller.scopes, session.caller.tools)
        found = self._shown.get(key)
        if found is None:
            found = {name: tool for name, tool in self._tools.items() if self._hides(session, tool) is None}
            if len(self._shown) >= _CACHED_MAX:
                self._shown.clear()
            self._shown[key] = found
        if (
            selection.packs
            and session.caller.tools is None
            and not selection.readonly
            and session.caller.may(Scope.RUN)
        ):
            packs = {tool.text.name: tool for tool in self._pack_tools(session)}
            found = dict(sorted({**packs, **found}.items()))
        return found

    def texts(self, session: Session) -> list[ToolText]:
        """The descriptions of a session's tools, sorted by name."""
        return [tool.text for tool in self.shown(session).values()]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool, hidden ones included; None for packs' tools and unknown names."""
        tool = self._tools.get(name)
        return None if tool is None else tool.text.input_schema

    async def call(
        self,
        session: Session,
        name: str,
        arguments: Mapping[str, Any] | None,
        progress: Progress | None = None,
        wait_seconds: int | None = None,
    ) -> Answer:
        """Answer a call; a refusal is also an answer.

        Raises:
            UnknownToolError: no caller has a tool of that name.
        """
        shown = self.shown(session)
        tool = shown.get(name)
        try:
            if tool is None:
                raise self._refusal(session, name, shown)
            answering = tool.answer(Call(session, arguments, progress, shown, wait_seconds))
            return await (session.while_allowed(answering) if self.may_wait(name) else answering)
        except CallError as error:
            if tool is None and session.caller.tools is not None:
                session.context.services.engine.resources.agents.note_refusal(session.caller.token_id, name)
            if "actions" in error.body:
                error.body["actions"] = possible(error.body["actions"], shown)
            return error.answer(shown.keys())

    def _pack_tools(self, session: Session) -> list[PackTool]:
        """The tools of the session's packs that are installed now."""
        found = []
        for name in session.selection.packs:
            pack = session.context.services.registry.find(name)
            if pack is None:
                continue
            tool = self._packs.get(pack)
            if tool is None:
                if len(self._packs) >= _CACHED_MAX:
                    self._packs.clear()
                tool = self._packs[pack] = pack_tool(pack, self._operations)
            found.append(tool)
        return found

    def _refusal(self, session: Session, name: str, shown: Mapping[str, Tool]) -> CallError:
        """Why a session does not have a tool that exists."""
        tool = self._tools.get(name)
        hidden = None if tool is None else self._hides(session, tool)
        if hidden is None:
            raise UnknownToolError(f"There is no tool `{excerpt(name, 100)}`. {self._suggest(session, name, shown)}")
        return hidden

    def _suggest(self, session: Session, name: str, shown: Mapping[str, Tool]) -> str:
        """What to do about an unknown tool name: the nearest of all tools, and how to get it if it is hidden."""
        near = nearest(to_snake_case(excerpt(name, NAME_CHARACTERS)), {**self._tools, **shown})
        if near is None:
            return "Call tools/list to see the tools."
        suggestion = f"Did you mean `{near}`?"
        hidden = None if near in shown else self._hides(session, self._tools[near])
        if hidden is None:
            return suggestion
        return " ".join([suggestion, hidden.body["message"], *(advice.text for advice in hidden.advice)])

    @staticmethod
    def _hides(session: Session, tool: OperationTool | QueryTool) -> CallError | None:
        """Why a session does not have a tool; None if it has it."""
        name, selection = tool.text.name, session.selection
        if session.caller.tools is not None and name not in session.caller.tools:
            return CallError(
                "FORBIDDEN",
                f"`{name}` is not among the `tools` this agent step declares.",
                advice=[Advice("Continue without it; the pipeline's author decides which tools a step may call.")],
            )
        if tool.scope is not None and not session.caller.may(tool.scope):
            return CallError(
                "FORBIDDEN",
                lacking_scope(f"`{name}`", f"`{tool.scope}`"),
                advice=[Advice("Ask an administrator of this server for a token with that scope.")],
                requires=tool.scope.name,
            )
        if selection.readonly and not tool.text.read_only:
            return CallError(
                "FORBIDDEN",
                f"`{name}` changes something, and this connection is read-only.",
                advice=[Advice("To change something, connect without `readonly` in the address.")],
            )
        is_shown = tool.toolset in selection.toolsets or session.caller.tools is not None
        if not is_shown and not (selection.packs and name in _WITH_PACKS):
            return CallError(
                "FORBIDDEN",
                f"`{name}` belongs to the tool set `{tool.toolset}`, which this connection does not include.",
                advice=[Advice(f"To use it, connect with `?toolsets={tool.toolset}` in the address.")],
            )
        return None
