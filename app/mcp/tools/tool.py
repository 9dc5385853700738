"""The interface of all tools, and a call of one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from graphql import GraphQLError

from app.mcp.answers import field_error
from app.mcp.tools.refusals import bad_arguments
from runner.schemas.validation import compile_schema
from schema.base.scalars import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.mcp.answers import Answer
    from app.mcp.session import Session
    from app.mcp.tools.waiting import Progress
    from runner.schemas.validation import CompiledSchema
    from store.states import Scope


@dataclass(frozen=True, slots=True, eq=False)
class ToolText:
    """A tool's description for clients, in the protocol's terms.

    Attributes:
        read_only: Whether it changes nothing; `destructive` and `idempotent` then do not apply.
        nullable: Parameters for which null differs from leaving them out.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    nullable: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def _compiled(text: ToolText) -> CompiledSchema:
    """A tool's compiled input schema, cached by identity, because comparing schemas costs more."""
    return compile_schema(text.input_schema)


class Tool(Protocol):
    """A tool; `app.mcp.tools.toolbox` has checked that the caller may call it."""

    @property
    def text(self) -> ToolText: ...

    @property
    def scope(self) -> Scope | None:
        """The scope its caller needs; None if every caller may call it."""
        ...

    async def answer(self, call: Call) -> Answer:
        """Answer a call.

        Raises:
            CallError: the call is refused.
        """
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        session: The caller's session.
        arguments: The client's arguments, unchecked.
        progress: Reports progress while the call waits; None if the client did not ask for it.
        shown: The tools this caller has, by name.
        wait_seconds: How long to wait for a run, if the tool has no such argument.
    """

    session: Session
    arguments: Mapping[str, Any] | None
    progress: Progress | None
    shown: Mapping[str, Tool]
    wait_seconds: int | None = None

    def checked(self, text: ToolText) -> dict[str, Any]:
        """The arguments, checked against a tool's input schema; null means left out, except for nullable parameters.

        Raises:
            CallError: they are invalid; the error lists every fault with its correction.
        """
        given = {key: value for key, value in (self.arguments or {}).items() if value is not None}
        if issues := _compiled(text).issues(given):
            raise bad_arguments(text.name, [field_error(issue, text.input_schema) for issue in issues])
        if faults := [fault for name, value in given.items() if (fault := _text_fault(name, value)) is not None]:
            raise bad_arguments(text.name, faults)
        return given | dict.fromkeys(text.nullable & (self.arguments or {}).keys() - given.keys())


def _text_fault(name: str, value: object) -> dict[str, str] | None:
    """What is wrong with an argument that contains text the store cannot keep; None if nothing is."""
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                try:
                    check_text(text)
                except GraphQLError as error:
                    return {"path": name, "rule": "forbidden_text", "problem": f"`{name}`: {error.message}"}
            case dict() as members:
                pending.extend(members)
                pending.extend(members.values())
            case list() as items:
                pending.extend(items)
    return None
