"""Lists the bearer tokens of callers; creates and revokes tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.problems import Forbidden, Invalid, NotFound
from runner.issues import Hint, Issue, argument_error, has_errors
from runner.json_values import forbidden_text
from store.access.callers import ensure_caller
from store.access.tokens import (
    NewToken,
    TokenRecord,
    count_tokens,
    create_token,
    find_tokens,
    list_tokens,
    revoke_token,
    scopes_of,
)
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from resolvers.context import Context
    from store.database.dialects import Connection
    from store.database.paging import PageWindow

#: Longest name of a token and longest subject of a caller.
NAME_CHARACTERS = 200


async def list_tokens_of(context: Context, caller_id: str, window: PageWindow) -> list[TokenRecord]:
    """List a caller's bearer tokens, newest first, ended ones too; the surface has checked the scope."""
    return await list_tokens(context.services.store, caller_id, window)


async def count_tokens_of(context: Context, caller_id: str) -> int:
    return await count_tokens(context.services.store, caller_id)


async def scopes_of_caller(context: Context, caller_id: str) -> frozenset[Scope]:
    """Return a caller's scopes: of the current caller those of the token used, of others those of all they hold."""
    if caller_id == context.caller.id:
        return frozenset(scope for scope in Scope if context.caller.may(scope))
    return await scopes_of(context.services.store, caller_id, context.services.now())


@operation("create_token", scope=Scope.MANAGE, kind="command")
async def create(
    context: Context,
    *,
    name: str,
    scopes: Sequence[Scope],
    subject: str | None = None,
    expires_at: datetime | None = None,
) -> NewToken:
    """Create a bearer token with scopes that the caller has; only this result has its text."""
    issues = [*_name_issues(name, "name")]
    if subject is not None:
        issues += _name_issues(subject, "subject")
    if not scopes:
        issues.append(argument_error("scopes", "empty", "A token needs a scope.", "Give at least one scope."))
    if expires_at is not None and expires_at <= context.services.now():
        issues.append(argument_error("expires_at", "past", "The expiry is in the past.", "Give a later time."))
    if has_errors(issues):
        raise Invalid(issues, summary="The token cannot be created")
    for scope in scopes:
        if not context.caller.may(scope):
            raise Forbidden("A new token cannot have a scope that yours lacks.", requires=scope)

    def unit(conn: Connection) -> NewToken:
        owner = None if subject is None else ensure_caller(conn, subject, subject)
        if owner is not None and owner.disabled_at is not None:
            message = f"The caller {owner.subject} is disabled, so its tokens do not work."
            raise Invalid([argument_error("subject", "disabled", message, Hint(operation="enable_caller"))])
        caller_id = context.caller.id if owner is None else owner.id
        return create_token(conn, caller_id, name=name, scopes=scopes, expires_at=expires_at, made_by=context.caller.id)

    return await context.commit(unit, lambda made: made.token.id)


@operation("revoke_token", scope=Scope.MANAGE, kind="command", idempotent=True, destructive=True, target="id")
async def revoke(context: Context, *, id: str) -> TokenRecord:
    """Revoke a bearer token at once, for open connections too; returns the revoked token."""
    if await find_token(context, id) is None:
        raise NotFound("token", id, hint=Hint(operation="callers"))
    await context.commit(lambda conn: revoke_token(conn, id))
    found = await find_token(context, id)
    assert found is not None, "tokens of people and scripts are never deleted"
    return found


async def find_token(context: Context, token_id: str) -> TokenRecord | None:
    """Find a token by id, ended ones too."""
    return (await find_tokens(context.services.store, [token_id])).get(token_id)


def _name_issues(value: str, field: str) -> list[Issue]:
    if not value.strip():
        return [argument_error(field, "empty", f"The {field} is empty.")]
    if len(value) > NAME_CHARACTERS:
        return [argument_error(field, "too_long", f"The {field} exceeds the limit of {NAME_CHARACTERS} characters.")]
    if value != value.strip() or not value.isprintable():
        # Two callers would look the same, or one line of a list like two.
        message = f"The {field} has spaces around it, or invisible characters."
        return [issue.under_argument(field) for issue in forbidden_text(value)] or [
            argument_error(field, "unreadable", message)
        ]
    return []
