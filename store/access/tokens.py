"""Secrets that authenticate callers: bearer tokens, browser logins, one-time login links.

Only the SHA-256 of a secret is stored. All secrets of one subject belong to one caller.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import sqlalchemy as sa

from store.access.callers import CallerRecord, touch_caller
from store.database.dialects import Sql, instant, some_instant
from store.database.ids import new_id
from store.database.paging import capped_count, fetch_page
from store.database.wakes import Topic
from store.models.callers import TOKEN
from store.models.declaring import columns_of
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import RowMapping

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow

#: Prefix of every plaintext, so that people and secret scanners recognize it.
PREFIX = "pkl_"
#: `last_used_at` and `last_seen_at` are written at most this often.
TOUCH_EVERY = timedelta(minutes=1)


class TokenKind(StrEnum):
    """Kinds of secret."""

    TOKEN = "token"
    BROWSER = "browser"
    LOGIN_LINK = "login_link"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A bearer token, browser login or login link, without its secret.

    Attributes:
        made_by: The caller that made it; None for one that nobody made through the API, or before this was recorded.
    """

    id: str
    caller_id: str
    kind: TokenKind
    name: str
    beginning: str
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    made_by: str | None = None


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new secret; its `plaintext` is stored nowhere."""

    token: TokenRecord
    plaintext: str


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """The caller that presents a secret, found by its hash in one query.

    Attributes:
        tools: The only tools that an agent's token allows; None for other tokens.
    """

    token_id: str
    kind: TokenKind
    scopes: frozenset[Scope]
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    caller: CallerRecord
    tools: frozenset[str] | None = None

    def valid_at(self, now: datetime) -> bool:
        """Return whether the secret is still valid."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


#: Begins an entry among the scopes of an agent's token that names a tool.
_TOOL = "tool:"

_INSERT_TOKEN = Sql(
    """INSERT INTO token (id, caller_id, kind, name, beginning, hash, scopes, created_at, expires_at, made_by)
    VALUES (:id, :caller_id, :kind, :name, :beginning, :hash, :scopes, :now, :expires_at, :made_by)"""
)
# One statement uses up the link, so that only one of two concurrent sign-ins succeeds.
_TAKE_LINK = Sql(
    """UPDATE token SET revoked_at = :now, last_used_at = :now
    WHERE hash = :hash AND kind = 'login_link' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
    AND NOT EXISTS (SELECT 1 FROM caller WHERE caller.id = token.caller_id AND caller.disabled_at IS NOT NULL)
    RETURNING caller_id, name, scopes"""
)
_REVOKE = Sql("UPDATE token SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL")
_TOUCH_TOKEN = Sql(
    "UPDATE token SET last_used_at = :now WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :before)"
)
_SWEEP = Sql(
    """DELETE FROM token WHERE kind <> 'token' AND id IN (SELECT id FROM token WHERE kind <> 'token' AND
    (expires_at < :before OR revoked_at < :before) LIMIT :limit)"""
)

_TOKEN_COLUMNS = columns_of(TOKEN, TokenRecord)
# Runs on every request, by the unique index on the hash.
_HOLDER = Sql(
    """SELECT token.id AS token_id, token.kind, token.scopes, token.expires_at, token.revoked_at, token.last_used_at,
        caller.id AS caller_id, caller.subject, caller.name AS caller_name, caller.created_at, caller.last_seen_at,
        caller.disabled_at
    FROM token JOIN caller ON caller.id = token.caller_id WHERE token.hash = :hash"""
)


def hash_secret(plaintext: str) -> str:
    """Hash a secret for storage. Secrets are random and long, so one round of SHA-256 is enough."""
    return hashlib.sha256(plaintext.encode("utf-8", "surrogatepass")).hexdigest()


# ------------------------------------------------------------------------------------------------ units


def create_token(
    conn: Connection,
    caller_id: str,
    *,
    name: str,
    scopes: Iterable[Scope],
    expires_at: datetime | None,
    kind: TokenKind = TokenKind.TOKEN,
    tools: Iterable[str] = (),
    made_by: str | None = None,
) -> NewToken:
    """Create a secret for a caller.

    Args:
        conn: The unit's connection.
        caller_id: The caller it authenticates.
        name: Label for people.
        scopes: The scopes it grants.
        expires_at: When it stops working; None for never.
        kind: What it is for.
        tools: The only tools it allows, for an agent's token.
        made_by: The caller that makes it.
    """
    secret = PREFIX + secrets.token_urlsafe(32)
    now = conn.now()
    allowed = frozenset(scopes)
    token = TokenRecord(
        id=new_id("tok"),
        caller_id=caller_id,
        kind=kind,
        name=name,
        beginning=secret[:8],
        scopes=allowed,
        created_at=now,
        expires_at=expires_at,
        last_used_at=None,
        revoked_at=None,
        made_by=made_by,
    )
    conn.run(
        _INSERT_TOKEN,
        {
            "id": token.id,
            "caller_id": caller_id,
            "kind": kind.value,
            "name": name,
            "beginning": token.beginning,
            "hash": hash_secret(secret),
            "scopes": json.dumps(
                [*sorted(scope.value for scope in allowed), *(f"{_TOOL}{tool}" for tool in sorted(tools))]
            ),
            "now": now,
            "expires_at": expires_at,
            "made_by": made_by,
        },
    )
    return NewToken(token, secret)


def use_login_link(conn: Connection, secret_hash: str, *, browser_days: float) -> NewToken | None:
    """Exchange a one-time login link for a browser login of the same caller and scopes; None if it is invalid.

    The statement that reads the link also uses it up, so it works once.
    """
    now = conn.now()
    row = conn.one(_TAKE_LINK, {"hash": secret_hash, "now": now})
    if row is None:
        return None
    return create_token(
        conn,
        row.caller_id,
        name=row.name,
        scopes=_scopes(row.scopes),
        expires_at=now + timedelta(days=browser_days),
        kind=TokenKind.BROWSER,
    )


def revoke_token(conn: Connection, token_id: str) -> bool:
    """Revoke a secret and wake its users; return false if it has ended or does not exist."""
    revoked = conn.run(_REVOKE, {"id": token_id, "now": conn.now()}) > 0
    if revoked:
        conn.wake(Topic.TOKEN_REVOKED, token_id)
    return revoked


def touch_token(conn: Connection, token_id: str | None, caller_id: str) -> None:
    """Record that a caller was seen now, by its token if it has one, unless that was recorded within `TOUCH_EVERY`."""
    now = conn.now()
    before = now - TOUCH_EVERY
    if token_id is not None:
        conn.run(_TOUCH_TOKEN, {"id": token_id, "now": now, "before": before})
    touch_caller(conn, caller_id, now, before)


def sweep_tokens(conn: Connection, *, keep_days: float, limit: int = 1000) -> int:
    """Delete browser logins and login links that ended `keep_days` ago; bearer tokens stay for the record."""
    return conn.run(_SWEEP, {"before": conn.now() - timedelta(days=keep_days), "limit": limit})


# ------------------------------------------------------------------------------------------------ reads


async def find_holder(store: Store, secret_hash: str) -> TokenHolder | None:
    """Find the holder of the secret with this hash, valid or not; see `TokenHolder.valid_at`."""
    rows = await store.rows(_HOLDER, {"hash": secret_hash}, few=True)
    if not rows:
        return None
    (row,) = rows
    return TokenHolder(
        token_id=row.token_id,
        kind=TokenKind(row.kind),
        scopes=_scopes(row.scopes),
        expires_at=instant(row.expires_at),
        revoked_at=instant(row.revoked_at),
        last_used_at=instant(row.last_used_at),
        caller=CallerRecord(
            row.caller_id,
            row.subject,
            row.caller_name,
            some_instant(row.created_at),
            instant(row.last_seen_at),
            instant(row.disabled_at),
        ),
        tools=_tools(row.scopes) if row.kind == TokenKind.AGENT else None,
    )


async def find_tokens(store: Store, ids: Sequence[str]) -> dict[str, TokenRecord]:
    """Find secrets by id, of any kind, including ended ones."""
    rows = await store.read(sa.select(*_TOKEN_COLUMNS).where(TOKEN.c.id.in_(ids)))
    return {row["id"]: _token(row) for row in rows.mappings()}


async def list_tokens(
    store: Store, caller_id: str, window: PageWindow, *, kind: TokenKind = TokenKind.TOKEN
) -> list[TokenRecord]:
    """List a caller's secrets of one kind, newest first, including ended ones; the sort key is `(id,)`."""
    wanted = sa.select(*_TOKEN_COLUMNS).where(TOKEN.c.caller_id == caller_id, TOKEN.c.kind == kind.value)
    return [_token(row) for row in await fetch_page(store, wanted, [(TOKEN.c.id, True)], window)]


async def count_tokens(store: Store, caller_id: str) -> int:
    """Count the bearer tokens that `list_tokens` lists."""
    wanted = sa.select(TOKEN.c.id).where(TOKEN.c.caller_id == caller_id, TOKEN.c.kind == TokenKind.TOKEN.value)
    return await capped_count(store, wanted)


async def tokens_for_others(store: Store, maker_id: str, now: datetime, *, limit: int) -> list[TokenRecord]:
    """List the valid bearer tokens that a caller made for other callers, newest first."""
    wanted = (
        sa.select(*_TOKEN_COLUMNS)
        .where(
            TOKEN.c.kind == TokenKind.TOKEN.value,
            TOKEN.c.made_by == maker_id,
            TOKEN.c.caller_id != maker_id,
            TOKEN.c.revoked_at.is_(None),
            TOKEN.c.expires_at.is_(None) | (TOKEN.c.expires_at > now),
        )
        .order_by(TOKEN.c.id.desc())
        .limit(limit)
    )
    return [_token(row) for row in (await store.read(wanted)).mappings()]


async def has_access(store: Store, *, except_name: str) -> bool:
    """Return whether anybody has a bearer token of another name that is not revoked, or has signed in."""
    token = (TOKEN.c.kind == TokenKind.TOKEN.value) & TOKEN.c.revoked_at.is_(None) & (TOKEN.c.name != except_name)
    wanted = sa.select(TOKEN.c.id).where(token | (TOKEN.c.kind == TokenKind.BROWSER.value)).limit(1)
    return (await store.read(wanted)).first() is not None


async def scopes_of(store: Store, caller_id: str, now: datetime) -> frozenset[Scope]:
    """Return the union of the scopes of a caller's valid bearer tokens and browser logins."""
    found = await store.read(
        sa.select(TOKEN.c.scopes).where(
            TOKEN.c.caller_id == caller_id,
            TOKEN.c.kind.in_((TokenKind.TOKEN.value, TokenKind.BROWSER.value)),
            TOKEN.c.revoked_at.is_(None),
            TOKEN.c.expires_at.is_(None) | (TOKEN.c.expires_at > now),
        )
    )
    return frozenset().union(*(_scopes(text) for text in found.scalars()))


async def lost_scope(store: Store, caller_id: str, scope: Scope, now: datetime) -> bool:
    """Return whether a caller that has tokens has none that carries a scope any more, nor a browser login that does.

    A caller without tokens, who only signs in, has lost nothing.
    """
    found = await store.read(
        sa.select(TOKEN.c.kind, TOKEN.c.scopes, TOKEN.c.revoked_at, TOKEN.c.expires_at).where(
            TOKEN.c.caller_id == caller_id, TOKEN.c.kind.in_((TokenKind.TOKEN.value, TokenKind.BROWSER.value))
        )
    )
    rows = found.all()
    carrying = {scope, Scope.MANAGE}
    for row in rows:
        valid = row.revoked_at is None and (row.expires_at is None or row.expires_at > now)
        if valid and carrying & _scopes(row.scopes):
            return False
    return any(row.kind == TokenKind.TOKEN.value for row in rows)


def _token(row: RowMapping) -> TokenRecord:
    return TokenRecord(**{**row, "kind": TokenKind(row["kind"]), "scopes": _scopes(row["scopes"])})


def _scopes(text: str) -> frozenset[Scope]:
    return frozenset(Scope(value) for value in json.loads(text) if not value.startswith(_TOOL))


def _tools(text: str) -> frozenset[str]:
    return frozenset(value.removeprefix(_TOOL) for value in json.loads(text) if value.startswith(_TOOL))
