"""One MCP request: who sent it, what they chose to be shown, and how their documents are run.

Every handler of the server starts with `session_of(request_context)`, whatever the transport: over HTTP the mount has
signed the caller in, over stdio there is one caller for the whole process. The caller of a session is the only identity
there is, for tools, resources and tasks alike.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from graphql import GraphQLError, GraphQLSyntaxError, VariableDefinitionNode
from strawberry.schema.exceptions import InvalidOperationTypeError
from strawberry.types.graphql import OperationType

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

#: Tool sets there are, besides packs by name.
TOOLSETS: Final = ("default", "author")
#: What an address may say.
_WORDS: Final = frozenset({"toolsets", "packs", "readonly"})
#: What the headers that say the same begin with.
_HEADER: Final = "x-mcp-"
#: Packs one address may ask for as tools of their own.
PACKS_MAX: Final = 40


class SelectionError(Exception):
    """An address or header asks for tools there cannot be; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a client chose to be shown, by `/mcp?toolsets=author&packs=doc.parse&readonly=1` or by headers.

    Attributes:
        toolsets: Sets of tools; the default set is among them, except where packs alone are asked for.
        packs: Packs that are tools of their own, by name.
        readonly: Only tools that change nothing.
    """

    toolsets: frozenset[str] = frozenset({"default"})
    packs: tuple[str, ...] = ()
    readonly: bool = False

    @classmethod
    def parse(cls, query: str, headers: Mapping[str, str]) -> Selection:
        """Reads an address's query and the headers `X-MCP-Toolsets`, `X-MCP-Packs`, `X-MCP-Readonly`.

        The address wins where both say something. Said several times, tools and packs add up, and one `readonly` that
        is on keeps all tools out that change something.

        Raises:
            SelectionError: a tool set is unknown, a word is not taken, or there are too many packs.
        """
        for name in headers:
            # Programs and proxies have headers of their own; one that is nearly ours is a mistake.
            if name.startswith(_HEADER) and (near := _meant(name.removeprefix(_HEADER))):
                raise SelectionError(f"There is no header `{excerpt(name, 60)}`. Did you mean `{_HEADER}{near}`?")
        if not query and "x-mcp-toolsets" not in headers and "x-mcp-packs" not in headers:
            return _READONLY if _is_on(headers.get("x-mcp-readonly", "0")) else DEFAULT
        given = parse_qs(query, keep_blank_values=True)
        for name in given.keys() - _WORDS:
            # Passed over, a misspelt `readonly` would show more tools than were asked for.
            told = f"Did you mean `{near}`?" if (near := _meant(name)) else f"There are: {', '.join(sorted(_WORDS))}."
            raise SelectionError(f"There is no `{excerpt(name, 60)}` in the address of /mcp. {told}")

        def words(name: str) -> list[str]:
            text = ",".join(given[name]) if name in given else headers.get(f"x-mcp-{name}", "")
            return [word.strip() for word in text.split(",") if word.strip()]

        toolsets, packs = words("toolsets"), words("packs")
        for name in toolsets:
            if name not in TOOLSETS:
                raise SelectionError(f"There is no tool set `{excerpt(name, 60)}`. There are: {', '.join(TOOLSETS)}.")
        if len(packs) > PACKS_MAX:
            raise SelectionError(f"{len(packs)} packs are asked for as tools; at most {PACKS_MAX} are shown.")
        readonly = [_is_on(text) for text in given.get("readonly") or (headers.get("x-mcp-readonly", "0"),)]
        chosen = frozenset({*toolsets, "default"}) if toolsets or not packs else frozenset[str]()
        return cls(chosen, tuple(dict.fromkeys(packs)), any(readonly))


def _meant(name: str) -> str | None:
    """The word that a name nearly is; None where it is one, or like none."""
    return None if name in _WORDS else nearest(name, _WORDS)


def _is_on(text: str) -> bool:
    word = text.strip().lower()
    if word in ("", "1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    # Read as "off", it would let an agent change things that its owner meant to keep from it.
    raise SelectionError(f"`readonly` is 1 or 0, not `{excerpt(text, 60)}`.")


DEFAULT: Final = Selection()
_READONLY: Final = Selection(readonly=True)


class Unanswered(Exception):
    """A document was answered with errors.

    Attributes:
        errors: As GraphQL tells them: `message` and `extensions`.
    """

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(errors[0]["message"])
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Session:
    """One request of one caller.

    Attributes:
        schema: What documents are run on; its limits, scopes and masking hold for agents, too.
        context: The caller, and what use cases work with; its cause is `agent`.
        selection: What the client chose to be shown.
        watch: Returns once a caller's token has expired, been revoked or lost a scope; None where that cannot happen.
        ending: Set once the program that asks has ended its input: waits end early then. None where that is not told.
    """

    schema: GuardedSchema
    context: Context
    selection: Selection = field(default=DEFAULT)
    watch: Callable[[Caller], Awaitable[None]] | None = None
    ending: asyncio.Event | None = None

    @property
    def caller(self) -> Caller:
        """Who calls."""
        return self.context.caller

    def refuse_unknown_packs(self) -> None:
        """Looks at the packs that are asked for as tools.

        The tools of a mounted MCP server may come later, when it is reached.

        Raises:
            SelectionError: there is no such pack; the nearest is told.
        """
        if not self.selection.packs:
            return
        services = self.context.services
        mounted = tuple(f"{MOUNT_AREA}{server.spec.key}." for server in services.mounts.servers())
        for name in self.selection.packs:
            if services.registry.find(name) is None and not name.startswith(mounted):
                if (broken := services.registry.unloaded(name)) is not None:
                    raise SelectionError(broken.message_for(name))
                near = did_you_mean(name, services.registry.names()) or "`packline packs` lists those there are."
                raise SelectionError(f"There is no pack `{excerpt(name, 100)}`. {near}")

    async def ended(self) -> None:
        """Returns once the caller may no longer be answered, within 5 seconds of it; for streams that stay open."""
        if self.watch is None:
            await asyncio.Event().wait()
        else:
            await self.watch(self.caller)

    async def while_allowed(self, answering: Coroutine[Any, Any, Answer]) -> Answer:
        """What a call comes to, unless the caller loses the right to it while it waits.

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
                "The token of this call expired, was revoked or lost a scope while the call waited. What it started "
                "goes on.",
                advice=[Advice("Ask an administrator of this server for another token.")],
            ) from None

    async def execute(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a document of ours.

        Args:
            document: Parsed and checked once; say the same text again rather than another for each call.
            variables: Its variables.

        Raises:
            Unanswered: there are errors, or it names something there is not; what was not made for callers is masked.
        """
        data, errors, misses = await self._run(document, variables, None)
        if errors := errors or misses:
            raise Unanswered(errors)
        return data or {}

    async def read(
        self, document: str, variables: Mapping[str, Any]
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        """Data and errors of a document of the caller's, which may only read.

        Raises:
            Unanswered: it is no query, or there is no data at all.
        """
        try:
            data, errors, misses = await self._run(document, variables, _QUERY)
        except InvalidOperationTypeError:
            told = "Only queries are taken here, no mutations or subscriptions."
            raise Unanswered([_refusal(told, "INVALID", "NO_QUERY")]) from None
        if data is None:
            raise Unanswered(errors)
        return data, errors + misses

    async def _run(
        self, document: str, variables: Mapping[str, Any], kinds: Iterable[OperationType] | None
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]], list[dict[str, Any]]]:
        """Data, errors, and what was looked for in vain."""
        result = await self.schema.execute(
            document,
            variable_values=dict(variables),
            context_value=RequestContext(self.context),
            allowed_operation_types=kinds,
        )
        misses = (result.extensions or {}).get("notFound", ())
        return result.data, [_told(error) for error in result.errors or ()], [_missed(miss) for miss in misses]


_QUERY: Final = frozenset({OperationType.QUERY})


def _refusal(message: str, code: str, about: str) -> dict[str, Any]:
    """A document that is refused whole; `about` says what is wrong with it, for the choice of what helps."""
    return {"message": message, "extensions": {"code": code}, "path": None, "variable": None, "document": about}


def _missed(miss: Mapping[str, Any]) -> dict[str, Any]:
    return {"message": miss["message"], "extensions": miss, "path": None, "variable": None}


def _told(error: GraphQLError) -> dict[str, Any]:
    """An error as a mapping; where a variable's value does not fit, also which, and why without naming it."""
    if isinstance(error, NoOperationError):
        return _refusal(error.message, "BAD_REQUEST", "EMPTY")
    if isinstance(error, SeveralOperationsError):
        return _refusal("The document holds several operations; `query` takes one.", "INVALID", "SEVERAL_OPERATIONS")
    about, cause = error.nodes[0] if error.nodes else None, error.original_error
    return {
        "message": error.message,
        "extensions": dict(error.extensions or {}),
        "path": error.path,
        "variable": about.variable.name.value if isinstance(about, VariableDefinitionNode) else None,
        "reason": cause.message if isinstance(cause, GraphQLError) else error.message,
        "document": "SYNTAX" if isinstance(error, GraphQLSyntaxError) else None,
    }
