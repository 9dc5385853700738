"""Declares every use case once: its name, scope, kind and MCP tool.

GraphQL fields call operations. An MCP tool is built from a field and its operation (`resolvers.tools`) and runs as a
document on the schema, so people, scripts and agents pass the same checks. Calling an `Operation` checks the scope,
runs the use case, masks secrets in a refusal and audits it. `Context.commit` audits an accepted command in the
transaction of its change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Concatenate, Generic, Literal, ParamSpec, TypeVar

import orjson

from resolvers.problems import Conflict, Forbidden, Invalid, NotFound, Problem
from runner import tracing
from runner.issues import lacking_scope
from store.access.audit import append_audit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from resolvers.context import Context
    from resolvers.tools import Tool
    from runner.failures import JSONValue
    from runner.issues import Hint
    from runner.secrets.redaction import Redactor
    from store.database.dialects import Connection
    from store.states import Scope

P = ParamSpec("P")
T = TypeVar("T")
Kind = Literal["query", "command"]

#: The audit records arguments of these types and leaves out others.
_AUDITED_TYPES = (str, int, float, bool)
#: Longest detail of one audit row, in characters of JSON; a longer one is left out, since half of it is not JSON.
DETAIL_CHARACTERS = 8_000


class Trail:
    """The audit row of a command; `Context.commit` writes it with the command's change.

    Attributes:
        target_id: The command's target: as the caller named it, until the use case has looked it up.
        on_behalf_of: The caller whose data the command changes, if it is another one.
    """

    __slots__ = ("_action", "_actor_id", "_detail", "_redactor", "on_behalf_of", "target_id")

    def __init__(self, context: Context, action: str, target_id: str | None, detail: Mapping[str, JSONValue]) -> None:
        self._redactor = context.services.redactor
        self._actor_id = context.caller.id
        self._action = action
        self.target_id = target_id
        self.on_behalf_of: str | None = None
        self._detail = detail

    def write(self, conn: Connection, /, **found: JSONValue) -> None:
        """Write the row with the command's arguments and `found`, such as the id of the started run."""
        self._append(conn, {**self._detail, **found}, accepted=True)

    def refuse(self, conn: Connection, problem: Problem, /) -> None:
        """Write the row of a refused command."""
        detail = {**self._detail, "problem": problem.code.value, "message": problem.message}
        if isinstance(problem, Conflict) and problem.current_id is not None:
            # For example, the run that has the idempotency key.
            detail["current"] = problem.current_id
        self._append(conn, detail, accepted=False)

    def _append(self, conn: Connection, detail: dict[str, JSONValue], *, accepted: bool) -> None:
        text = orjson.dumps(self._redactor.quoted(detail)).decode()
        append_audit(
            conn,
            actor_id=self._actor_id,
            action=self._action,
            accepted=accepted,
            target_id=None if self.target_id is None else self._redactor.excerpt(self.target_id, 200),
            detail=text if len(text) <= DETAIL_CHARACTERS else "{}",
            on_behalf_of=self.on_behalf_of,
        )


@dataclass(frozen=True, slots=True)
class Operation(Generic[P, T]):
    """A use case.

    Attributes:
        name: Name in snake_case; a command's GraphQL field is the same in camelCase, the audit action as it is here.
        scope: The scope the caller needs; None for every signed-in caller.
        kind: `query` if it only reads.
        idempotent: Whether repeating it has no further effect.
        destructive: Whether it may destroy something that cannot be restored.
        target: Parameter that names its object, for the audit.
        tool: Its MCP tool; None if it has none.
        private: Arguments whose values the audit leaves out, because they are stored encrypted.
    """

    name: str
    scope: Scope | None
    kind: Kind
    idempotent: bool
    destructive: bool
    target: str | None
    function: Callable[Concatenate[Context, P], Awaitable[T]]
    tool: Tool | None = None
    private: frozenset[str] = frozenset()

    @property
    def tool_name(self) -> str | None:
        """The name of its MCP tool; None if it has none."""
        return None if self.tool is None else self.tool.name or self.name

    async def __call__(self, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the use case for a caller.

        Raises:
            Problem: It is refused; nothing was changed. Secrets in the problem are masked.
        """
        if self.kind == "query":
            try:
                self._require_scope(context)
                return await self.function(context, *args, **kwargs)
            except Problem as problem:
                mask_problem(problem, context.services.redactor)
                raise
        trail = self._trail(context, kwargs)
        with tracing.span(self.name):
            try:
                self._require_scope(context)
                return await self.function(context.with_trail(trail), *args, **kwargs)
            except Problem as problem:
                mask_problem(problem, context.services.redactor)
                await context.services.store.write(trail.refuse, problem)
                raise

    async def refuse_scope(self, context: Context, arguments: Mapping[str, object]) -> Forbidden:
        """Audit and return the refusal of a caller without the scope, for surfaces that check scopes themselves."""
        problem = self._forbidden()
        await context.services.store.write(self._trail(context, arguments).refuse, problem)
        return problem

    def _require_scope(self, context: Context) -> None:
        if self.scope is not None and not context.caller.may(self.scope):
            raise self._forbidden()

    def _forbidden(self) -> Forbidden:
        return Forbidden(
            lacking_scope(f"`{self.name}`", f"`{self.scope}`"),
            requires=self.scope,
            operation=self.name,
            hint="Ask an administrator of this server for a token with that scope.",
        )

    def _trail(self, context: Context, arguments: Mapping[str, object]) -> Trail:
        target = arguments.get(self.target) if self.target else None
        detail: dict[str, JSONValue] = {
            name: value
            for name, value in arguments.items()
            if isinstance(value, _AUDITED_TYPES) and name not in self.private
        }
        return Trail(context, self.name, target if isinstance(target, str) else None, detail)


def mask_problem(problem: Problem, redactor: Redactor) -> None:
    """Mask secrets in a problem, in place: messages repeat the caller's values."""
    problem.message = redactor.message(problem.message)
    problem.args = (problem.message,)
    problem.hint = _masked(problem.hint, redactor)
    if isinstance(problem, NotFound):
        problem.ref = redactor.message(problem.ref)
    if isinstance(problem, Invalid):
        problem.summary = None if problem.summary is None else redactor.message(problem.summary)
        problem.issues = tuple(
            replace(
                issue,
                path=tuple(redactor.message(part) for part in issue.path),
                message=redactor.message(issue.message),
                hint=_masked(issue.hint, redactor),
            )
            for issue in problem.issues
        )


def _masked(hint: Hint | None, redactor: Redactor) -> Hint | None:
    if hint is None:
        return None
    closest = None if hint.closest is None else redactor.message(hint.closest)
    return replace(hint, text=redactor.message(hint.text), closest=closest)


#: Every operation by name.
OPERATIONS: dict[str, Operation[..., object]] = {}


def operation(
    name: str,
    *,
    scope: Scope | None,
    kind: Kind,
    idempotent: bool = False,
    destructive: bool = False,
    target: str | None = None,
    tool: Tool | None = None,
    private: Collection[str] = (),
) -> Callable[[Callable[Concatenate[Context, P], Awaitable[T]]], Operation[P, T]]:
    """Declare a use case; see `Operation` for the parameters. Commands take their arguments by keyword."""

    def declare(function: Callable[Concatenate[Context, P], Awaitable[T]]) -> Operation[P, T]:
        declared = Operation(
            name, scope, kind, idempotent or kind == "query", destructive, target, function, tool, frozenset(private)
        )
        if name in OPERATIONS:
            raise ValueError(f"The operation {name} is declared twice.")
        OPERATIONS[name] = declared  # type: ignore[assignment] # parameters differ, and callers look up by name
        return declared

    return declare
