"""Every use case, declared once: GraphQL fields and MCP tools are both made from these declarations.

`perform` is the one way in: it checks the scope, runs the use case, and leaves an audit row for every command, refused
ones too (CONTRACT 7.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Concatenate, Generic, Literal, ParamSpec, TypeVar

import orjson
import structlog

from resolvers.problems import Forbidden, Problem
from store.audit import append_audit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from resolvers.context import Context
    from store.states import Scope

P = ParamSpec("P")
T = TypeVar("T")
Kind = Literal["query", "command"]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Operation(Generic[P, T]):
    """A use case.

    Attributes:
        name: Name in snake_case; the GraphQL field is the same in camelCase, the audit action too.
        scope: What the caller must hold; None where anybody signed in may ask.
        kind: Whether it only reads.
        idempotent: Whether doing it twice does no more than doing it once.
        destructive: Whether it may destroy something that cannot be got back.
        target: Parameter that names the object it is done to, for the audit.
    """

    name: str
    scope: Scope | None
    kind: Kind
    idempotent: bool
    destructive: bool
    target: str | None
    function: Callable[Concatenate[Context, P], Awaitable[T]]

    async def __call__(self, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs the use case for a caller.

        Raises:
            Problem: it is refused; nothing was changed.
        """
        if self.kind == "query":
            self._require_scope(context)
            return await self.function(context, *args, **kwargs)
        try:
            self._require_scope(context)
            result = await self.function(context, *args, **kwargs)
        except Problem as problem:
            await self._audit(context, kwargs, problem)
            raise
        await self._audit(context, kwargs, None)
        return result

    def _require_scope(self, context: Context) -> None:
        if self.scope is not None and not context.caller.may(self.scope):
            raise Forbidden(
                f"`{self.name}` needs the scope `{self.scope}`, which this token does not carry.",
                requires=self.scope,
                hint="Ask whoever manages this server for a token with that scope.",
            )

    async def _audit(self, context: Context, arguments: dict[str, object], problem: Problem | None) -> None:
        target = arguments.get(self.target) if self.target else None
        detail = {name: value for name, value in arguments.items() if isinstance(value, str | int | float | bool)}
        if problem is not None:
            detail |= {"problem": problem.code, "message": problem.message}
        redacted = context.services.redactor.value(orjson.loads(orjson.dumps(detail)))
        await context.services.store.write(
            append_audit,
            actor_id=context.caller.id,
            action=self.name,
            accepted=problem is None,
            target_id=target if isinstance(target, str) else None,
            detail=orjson.dumps(redacted).decode()[:8000],
        )


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
) -> Callable[[Callable[Concatenate[Context, P], Awaitable[T]]], Operation[P, T]]:
    """Declares a use case; see `Operation` for the parameters. Commands take their arguments by keyword."""

    def declare(function: Callable[Concatenate[Context, P], Awaitable[T]]) -> Operation[P, T]:
        declared = Operation(name, scope, kind, idempotent or kind == "query", destructive, target, function)
        if name in OPERATIONS:
            raise ValueError(f"The operation {name} is declared twice.")
        OPERATIONS[name] = declared  # type: ignore[assignment] # parameters differ, and callers look up by name
        return declared

    return declare
