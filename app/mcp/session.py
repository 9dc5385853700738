"""One MCP request: its caller, its selection of tools, and how it runs documents.

Every handler of the server starts with `session_of(request_context)`, on every transport: over HTTP the mount has
authenticated the caller, over stdio the process has one caller. Tools, resources and tasks all act as the session's
caller.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from graphql import GraphQLError, GraphQLSyntaxError, VariableDefinitionNode
from strawberry.schema.exceptions import InvalidOperationTypeError
from strawberry.types.graphql import OperationType

from app.auth.refusals import ACCESS_ENDED, RUN_CONTINUES
from app.http.while_allowed import NoLongerAllowedError, while_allowed
from app.mcp.answers import Advice, CallError
from runner.excerpts import excerpt
from runner.issues import did_you_mean, nearest
from runner.packs.registry import MOUNT_AREA
from schema.base.context import RequestContext
from schema.guard.documents import NoOperationError, SeveralOperationsError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping

    from app.mcp.answers import Answer
    from resolvers.context import Caller, Context
    from schema.guard.guarded_schema import GuardedSchema

#: All tool sets.
TOOLSETS: Final = ("default", "author")
#: Parameters of an address.
_WORDS: Final = frozenset({"toolsets", "packs", "readonly"})
#: Prefix of the headers with the same meaning.
_HEADER: Final = "x-mcp-"
#: Most packs an address may name.
PACKS_MAX: Final = 40


class SelectionError(Exception):
    """An address or header selects tools that do not exist; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tools a client selects, by `/mcp?toolsets=author&packs=doc.parse&readonly=1` or by headers.

    Attributes:
        toolsets: Tool sets; the default set is always among them, unless the client selects only packs.
        packs: Names of packs to offer as separate tools.
        readonly: Whether to offer only tools that change nothing.
    """

    toolsets: frozenset[str] = frozenset({"default"})
    packs: tuple[str, ...] = ()
    readonly: bool = False

    @classmethod
    def parse(cls, query: str, headers: Mapping[str, str]) -> Selection:
        """Parse an address's query and the headers `X-MCP-Toolsets`, `X-MCP-Packs`, `X-MCP-Readonly`.

        The address overrides the headers. Repeated tool sets and packs add up; one `readonly` that is on suffices.

        Raises:
            SelectionError: a tool set or parameter is unknown, or there are too many packs.
        """
        for name in headers:
            # Programs and proxies send other headers; one that is nearly ours is a mistake.
            if name.startswith(_HEADER) and (near := _nearest(name.removeprefix(_HEADER))):
                raise SelectionError(f"There is no header `{excerpt(name, 60)}`. Did you mean `{_HEADER}{near}`?")
        if not query and "x-mcp-toolsets" not in headers and "x-mcp-packs" not in headers:
            return _READONLY if _is_on(headers.get("x-mcp-readonly", "0")) else DEFAULT
        given = parse_qs(query, keep_blank_values=True)
        for name in given.keys() - _WORDS:
            # Ignoring a misspelt `readonly` would offer tools that change something.
            hint = f"Did you mean `{near}`?" if (near := _nearest(name)) else f"There are: {', '.join(sorted(_WORDS))}."
            raise SelectionError(f"The address of /mcp has no parameter `{excerpt(name, 60)}`. {hint}")

        def words(name: str) -> list[str]:
            text = ",".join(given[name]) if name in given else headers.get(f"x-mcp-{name}", "")
            return [word.strip() for word in text.split(",") if word.strip()]

        toolsets, packs = words("toolsets"), words("packs")
        for name in toolsets:
            if name not in TOOLSETS:
                near = nearest(name, TOOLSETS)
                hint = f"Did you mean `{near}`?" if near else f"There are: {', '.join(TOOLSETS)}."
                raise SelectionError(f"There is no tool set `{excerpt(name, 60)}`. {hint}")
        if len(packs) > PACKS_MAX:
            raise SelectionError(f"The address names {len(packs)} packs; the limit is {PACKS_MAX}.")
        readonly = [_is_on(text) for text in given.get("readonly") or (headers.get("x-mcp-readonly", "0"),)]
        chosen = frozenset({*toolsets, "default"}) if toolsets or not packs else frozenset[str]()
        return cls(chosen, tuple(dict.fromkeys(packs)), any(readonly))


def _nearest(name: str) -> str | None:
    """The parameter a misspelt name resembles; None for a parameter, or for a name that resembles none."""
    return None if name in _WORDS else nearest(name, _WORDS)


def _is_on(text: str) -> bool:
    word = text.strip().lower()
    if word in ("", "1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    # Reading it as "off" could let an agent change what its owner wanted to protect.
    raise SelectionError(f"`readonly` must be 1 or 0, not `{excerpt(text, 60)}`.")


DEFAULT: Final = Selection()
_READONLY: Final = Selection(readonly=True)


class Unanswered(Exception):
    """The answer to a document has errors.

    Attributes:
        errors: The errors as mappings, with `message` and `extensions`.
    """

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(errors[0]["message"])
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Session:
    """One request of one caller.

    Attributes:
        schema: The schema; its limits, scopes and masking also apply to agents.
        context: The context of use cases, with the caller; its cause is `agent`.
        selection: The selected tools.
        watch: Returns once a caller's token has expired, been revoked or lost a scope; None if that cannot happen.
        ending: Set once the program has ended its input, which ends waits early; None if that is not known.
    """

    schema: GuardedSchema
    context: Context
    selection: Selection = field(default=DEFAULT)
    watch: Callable[[Caller], Awaitable[None]] | None = None
    ending: asyncio.Event | None = None

    @property
    def caller(self) -> Caller:
        return self.context.caller

    def refuse_unknown_packs(self) -> None:
        """Check the names of the selected packs, except those of mounted MCP servers, which may connect later.

        Raises:
            SelectionError: there is no such pack; the message names the nearest.
        """
        if not self.selection.packs:
            return
        services = self.context.services
        mounted = tuple(f"{MOUNT_AREA}{server.spec.key}." for server in services.mounts.servers())
        for name in self.selection.packs:
            if services.registry.find(name) is None and not name.startswith(mounted):
                if (broken := services.registry.unloaded(name)) is not None:
                    raise SelectionError(broken.message_for(name))
                near = did_you_mean(name, services.registry.names()) or "`packline packs` lists all packs."
                raise SelectionError(f"There is no pack `{excerpt(name, 100)}`. {near}")

    async def ended(self) -> None:
        """Return within 5 seconds of the end of the caller's token; for open streams."""
        if self.watch is None:
            await asyncio.Event().wait()
        else:
            await self.watch(self.caller)

    async def while_allowed(self, answering: Coroutine[Any, Any, Answer]) -> Answer:
        """Await the answer to a call, unless the caller's token ends first.

        Raises:
            CallError: the token has expired, been revoked or lost a scope.
        """
        if self.watch is None:
            return await answering
        try:
            return await while_allowed(answering, self.ended)
        except NoLongerAllowedError:
            raise CallError(
                "FORBIDDEN",
                f"{ACCESS_ENDED} {RUN_CONTINUES}",
                advice=[Advice("Ask an administrator of this server for another token.")],
            ) from None

    async def execute(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of one of our documents.

        Args:
            document: The text; it is parsed and validated once, so use the same text for each call.
            variables: Its variables.

        Raises:
            Unanswered: there are errors, or it names something that does not exist; unexpected errors are masked.
        """
        data, errors, misses = await self._run(document, variables, None)
        if errors := errors or misses:
            raise Unanswered(errors)
        return data or {}

    async def read(
        self, document: str, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        """The data and errors of a caller's document, which may only read.

        Raises:
            Unanswered: it is not a query, or there is no data.
        """
        try:
            data, errors, misses = await self._run(document, variables, _QUERY)
        except InvalidOperationTypeError:
            message = "`query` must be a query, not a mutation or subscription."
            raise Unanswered([_refusal(message, "INVALID", "NO_QUERY")]) from None
        if data is None:
            raise Unanswered(errors)
        return data, errors + misses

    async def _run(
        self, document: str, variables: Mapping[str, Any], kinds: Iterable[OperationType] | None
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]], list[dict[str, Any]]]:
        """The data, the errors, and the names that were not found."""
        result = await self.schema.execute(
            document,
            variable_values=dict(variables),
            context_value=RequestContext(self.context),
            allowed_operation_types=kinds,
        )
        misses = (result.extensions or {}).get("notFound", ())
        return result.data, [_error(error) for error in result.errors or ()], [_missed(miss) for miss in misses]


_QUERY: Final = frozenset({OperationType.QUERY})


def _refusal(message: str, code: str, reason: str) -> dict[str, Any]:
    """The refusal of a whole document; `refusals` chooses its advice by the reason."""
    return {"message": message, "extensions": {"code": code}, "path": None, "variable": None, "document": reason}


def _missed(miss: Mapping[str, Any]) -> dict[str, Any]:
    return {"message": miss["message"], "extensions": miss, "path": None, "variable": None}


def _error(error: GraphQLError) -> dict[str, Any]:
    """An error as a mapping; for a wrong variable also its name, and the reason without it."""
    if isinstance(error, NoOperationError):
        return _refusal(error.message, "BAD_REQUEST", "EMPTY")
    if isinstance(error, SeveralOperationsError):
        return _refusal("The document has several operations; `query` takes one.", "INVALID", "SEVERAL_OPERATIONS")
    about, cause = error.nodes[0] if error.nodes else None, error.original_error
    return {
        "message": error.message,
        "extensions": dict(error.extensions or {}),
        "path": error.path,
        "variable": about.variable.name.value if isinstance(about, VariableDefinitionNode) else None,
        "reason": cause.message if isinstance(cause, GraphQLError) else error.message,
        "document": "SYNTAX" if isinstance(error, GraphQLSyntaxError) else None,
    }
