"""Callers and their bearer tokens."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.access.callers import count_known_callers, disable, enable, get_viewer, list_known_callers
from resolvers.access.tokens import (
    count_tokens_of,
    create,
    find_token,
    list_tokens_of,
    revoke,
    scopes_of_caller,
)
from resolvers.records import CallerFilter as WantedCallers
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.problems import ForbiddenProblem, InvalidProblem, NotFoundProblem, refusable
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.records import CallerRecord, TokenRecord

_CALLERS = CursorKind("callers", (str,))
_TOKENS = CursorKind("tokens", (str,))


def _in_order(scopes: frozenset[Scope]) -> list[Scope]:
    return [scope for scope in Scope if scope in scopes]


@strawberry.type(description="A person, agent or script that uses the server, with the same identity on every surface.")
class Caller(Node):
    subject: str = strawberry.field(description="External identity, such as the subject of the bearer token.")
    name: str = strawberry.field(description="Display name.")
    record: strawberry.Private["CallerRecord"]

    @classmethod
    def of(cls, record: "CallerRecord") -> "Caller":
        return cls(id=strawberry.ID(record.id), subject=record.subject, name=record.name, record=record)

    @strawberry.field(
        description="When the caller last made a request, to the minute. Null if never, and for other callers without "
        "the scope MANAGE."
    )
    def last_seen_at(self, info: Info) -> datetime | None:
        return self.record.last_seen_at if self._is_open(info) else None

    @strawberry.field(
        description="When the caller was disabled. Null if it is not disabled, and for other callers without the scope "
        "MANAGE."
    )
    def disabled_at(self, info: Info) -> datetime | None:
        return self.record.disabled_at if self._is_open(info) else None

    @strawberry.field(
        description="Whether the OpenID provider vouches for the caller, and so decides what else it may do. False for "
        "other callers without the scope MANAGE."
    )
    def from_provider(self, info: Info) -> bool:
        return self.record.vouched_at is not None and self._is_open(info)

    @strawberry.field(
        description="Scopes granted to the caller by its valid tokens and logins. For the viewer, the scopes of the "
        "bearer token or login in use. Tokens of the OpenID provider are not counted: the server does not keep them. "
        "Empty for other callers without the scope MANAGE."
    )
    async def scopes(self, info: Info) -> list[Scope]:
        return _in_order(await scopes_of_caller(info.context.context, self.id)) if self._is_open(info) else []

    def _is_open(self, info: Info) -> bool:
        """Whether the viewer may see more than who the caller is."""
        viewer = info.context.context.caller
        return viewer.id == self.id or viewer.may(Scope.MANAGE)

    @strawberry.field(
        description="The caller's bearer tokens, newest first.", directives=[Requires(scope=Scope.MANAGE)]
    )
    async def tokens(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> "ApiTokenConnection":
        arguments = PageArguments.parse(_TOKENS, first=first, after=after, last=last, before=before)
        context = info.context.context
        rows = await list_tokens_of(context, self.id, arguments.window)
        page = page_of(rows, arguments, lambda row: _TOKENS.encode((row.id,)))
        return ApiTokenConnection.of(page, ApiToken.of, lambda: count_tokens_of(context, self.id))


@strawberry.type(description="A bearer token. Packline stores only its hash.")
class ApiToken(Node):
    name: str = strawberry.field(description="Display name.")
    beginning: str = strawberry.field(description="The first characters of the token, to recognize it.")
    scopes: list[Scope] = strawberry.field(description="Scopes the token grants.")
    created_at: datetime = strawberry.field(description="When the token was created.")
    expires_at: datetime | None = strawberry.field(description="When the token expires. Null if it does not expire.")
    last_used_at: datetime | None = strawberry.field(description="When the token was last used. Null if never.")
    revoked_at: datetime | None = strawberry.field(description="When the token was revoked. Null if it is not revoked.")
    caller_id: strawberry.Private[str]
    maker_id: strawberry.Private[str | None]

    @classmethod
    def of(cls, record: "TokenRecord") -> "ApiToken":
        return cls(
            id=strawberry.ID(record.id),
            name=record.name,
            beginning=record.beginning,
            scopes=_in_order(record.scopes),
            created_at=record.created_at,
            expires_at=record.expires_at,
            last_used_at=record.last_used_at,
            revoked_at=record.revoked_at,
            caller_id=record.caller_id,
            maker_id=record.made_by,
        )

    @strawberry.field(description="The caller the token authenticates.")
    async def caller(self, info: Info) -> Caller:
        found = await load_caller(info, self.caller_id)
        if found is None:
            raise LookupError(f"token {self.id} belongs to a caller that does not exist")
        return found

    @strawberry.field(
        description="The caller that made the token. Null if that is not known, as for tokens made by the server's "
        "machine or before Packline recorded it."
    )
    async def made_by(self, info: Info) -> Caller | None:
        return None if self.maker_id is None else await load_caller(info, self.maker_id)


@strawberry.input(description="Filters for callers.")
class CallerFilter:
    text: str | None = strawberry.field(default=None, description="Words to search for in names and subjects.")
    disabled: bool | None = strawberry.field(default=None, description="Whether the callers are disabled.")


CallerConnection = Connection[Caller]
ApiTokenConnection = Connection[ApiToken]


@strawberry.type(description="A bearer token was created.")
class CreateTokenSuccess:
    token: ApiToken = strawberry.field(description="The created token.")
    plaintext: str = strawberry.field(
        description="The token's secret text. It is returned only once and cannot be retrieved later."
    )


@strawberry.type(description="A bearer token was revoked.")
class RevokeTokenSuccess:
    token: ApiToken = strawberry.field(description="The revoked token.")


@strawberry.type(description="A caller is disabled.")
class DisableCallerSuccess:
    caller: Caller = strawberry.field(description="The caller.")
    paused_triggers: int = strawberry.field(description="How many of its triggers were paused.")
    cancelled_runs: int = strawberry.field(description="How many of its runs had begun and were cancelled.")
    tokens_for_others: list[ApiToken] = strawberry.field(
        description="Tokens that it made for other callers, newest first, at most 100. They keep working until they "
        "expire or you revoke them."
    )


@strawberry.type(description="A caller is enabled.")
class EnableCallerSuccess:
    caller: Caller = strawberry.field(description="The caller.")
    resumed_triggers: int = strawberry.field(description="How many of its triggers were resumed.")


CreateTokenResult = Annotated[
    CreateTokenSuccess | InvalidProblem | ForbiddenProblem,
    strawberry.union("CreateTokenResult", description="The result of createToken."),
]
RevokeTokenResult = Annotated[
    RevokeTokenSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("RevokeTokenResult", description="The result of revokeToken."),
]


DisableCallerResult = Annotated[
    DisableCallerSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("DisableCallerResult", description="The result of disableCaller."),
]
EnableCallerResult = Annotated[
    EnableCallerSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("EnableCallerResult", description="The result of enableCaller."),
]
CallerRef = Annotated[str, strawberry.argument(description="The caller's id or subject.")]


async def load_caller(info: Info, caller_id: str) -> Caller | None:
    found = await info.context.loaders.caller.load(caller_id)
    return None if found is None else Caller.of(found)


async def load_token(info: Info, token_id: str) -> ApiToken | None:
    context = info.context.context
    if not context.caller.may(Scope.MANAGE):
        return None
    found = await find_token(context, token_id)
    return None if found is None else ApiToken.of(found)


@strawberry.type
class CallerQueries:
    @strawberry.field(description="The current caller and its scopes.")
    async def viewer(self, info: Info) -> Caller:
        return Caller.of(await get_viewer(info.context.context))

    @strawberry.field(
        description="People, agents and scripts that have used the server, newest first.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    async def callers(
        self,
        info: Info,
        filter: Annotated[
            CallerFilter | None, strawberry.argument(description="Only callers that match the filter.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> CallerConnection:
        arguments = PageArguments.parse(_CALLERS, first=first, after=after, last=last, before=before)
        context = info.context.context
        wanted = WantedCallers() if filter is None else WantedCallers(filter.text, filter.disabled)
        rows = await list_known_callers(context, wanted=wanted, window=arguments.window)
        page = page_of(rows, arguments, lambda row: _CALLERS.encode((row.id,)))
        return CallerConnection.of(page, Caller.of, lambda: count_known_callers(context, wanted))


@strawberry.type
class CallerMutations:
    @strawberry.mutation(
        description="Creates a bearer token. Its secret text is returned only in this response.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def create_token(
        self,
        info: Info,
        name: Annotated[str, strawberry.argument(description="Display name.")],
        scopes: Annotated[list[Scope], strawberry.argument(description="Scopes to grant.")],
        subject: Annotated[
            str | None,
            strawberry.argument(
                description="Subject of the caller that the token authenticates, created if it does not exist. "
                "Defaults to the current caller."
            ),
        ] = None,
        expires_at: Annotated[
            datetime | None,
            strawberry.argument(description="When the token expires. By default it does not expire."),
        ] = None,
    ) -> CreateTokenResult | None:
        made = await create(
            info.context.context,
            name=name,
            scopes=tuple(scopes),
            subject=subject,
            expires_at=expires_at,
        )
        return CreateTokenSuccess(token=ApiToken.of(made.token), plaintext=made.plaintext)

    @strawberry.mutation(
        description="Revokes a bearer token immediately and closes connections that use it.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def revoke_token(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The token's id.")],
    ) -> RevokeTokenResult | None:
        record = await revoke(info.context.context, id=id)
        return RevokeTokenSuccess(token=ApiToken.of(record))

    @strawberry.mutation(
        description="Disables a caller at once, on all servers: its tokens and logins are refused, its connections are "
        "closed, its triggers are paused, its runs that have begun are cancelled, and others wait until it is enabled.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def disable_caller(self, info: Info, caller: CallerRef) -> DisableCallerResult | None:
        change = await disable(info.context.context, caller=caller)
        return DisableCallerSuccess(
            caller=Caller.of(change.caller),
            paused_triggers=change.triggers,
            cancelled_runs=change.cancelled_runs,
            tokens_for_others=[ApiToken.of(token) for token in change.tokens_for_others],
        )

    @strawberry.mutation(
        description="Enables a disabled caller: its tokens and logins work again, its triggers are resumed, and its "
        "queued runs start. Cancelled runs stay cancelled and can be resumed.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def enable_caller(self, info: Info, caller: CallerRef) -> EnableCallerResult | None:
        change = await enable(info.context.context, caller=caller)
        return EnableCallerSuccess(caller=Caller.of(change.caller), resumed_triggers=change.triggers)
