"""What every tool offers, whatever it is made of, and what a call of it is given."""

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
    """What is told of a tool, in the words of the protocol.

    Attributes:
        read_only: Whether it changes nothing; then `destructive` and `idempotent` mean nothing.
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
    """A tool's input schema, ready to check arguments; by identity, since telling schemas apart costs more."""
    return compile_schema(text.input_schema)


class Tool(Protocol):
    """A tool; `app.mcp.tools.toolbox` has asked who may call it."""

    @property
    def text(self) -> ToolText:
        """What is told of it."""
        ...

    @property
    def scope(self) -> Scope | None:
        """What its caller must hold; None where anybody signed in may ask."""
        ...

    async def answer(self, call: Call) -> Answer:
        """What a call comes to.

        Raises:
            CallError: it is refused.
        """
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        session: Who calls.
        arguments: As the client gave them.
        progress: Told while the call waits; None when the client does not want to know.
        shown: The tools this caller has, by name.
        wait_seconds: How long to wait for a run, of a tool that does not take it as an argument.
    """

    session: Session
    arguments: Mapping[str, Any] | None
    progress: Progress | None
    shown: Mapping[str, Tool]
    wait_seconds: int | None = None

    def checked(self, text: ToolText) -> dict[str, Any]:
        """The arguments as they fit a tool's input schema; null means left out, but for the nullable.

        Raises:
            CallError: they do not fit; every fault is told with what would be right.
        """
        given = {key: value for key, value in (self.arguments or {}).items() if value is not None}
        if issues := _compiled(text).issues(given):
            raise bad_arguments(text.name, [field_error(issue, text.input_schema) for issue in issues])
        if unkept := [told for name, value in given.items() if (told := _unkept(name, value)) is not None]:
            raise bad_arguments(text.name, unkept)
        return given | dict.fromkeys(text.nullable & (self.arguments or {}).keys() - given.keys())


def _unkept(name: str, value: object) -> dict[str, str] | None:
    """What is wrong with an argument that holds a text no store can keep; the page's API refuses such bodies whole."""
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
