"""Who is calling, by a bearer token, browser login, bootstrap token or provider's token; one identity for all surfaces.

Every request looks its secret up by SHA-256, together with its caller, so a revoked token and those of a disabled
caller stop working at once, whichever process did it. `Authenticator.admit` is where every proof of identity ends. Open
streams are checked every `WATCH_SECONDS`, and when a token is revoked or a caller disabled.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from app.auth.refusals import SignInError, TokenRefusedError, note_refused_token
from app.auth.throttle import Throttle
from resolvers.context import Caller
from store.access.audit import append_audit
from store.access.callers import (
    ADMIN_SUBJECT,
    ensure_caller,
    find_caller_of,
    find_callers,
    find_without_login,
    name_caller,
    vouch_for,
)
from store.access.tokens import (
    TOUCH_EVERY,
    TokenKind,
    create_token,
    find_holder,
    find_tokens,
    has_access,
    hash_secret,
    revoke_token,
    touch_token,
    use_login_link,
)
from store.database.errors import StoreError
from store.database.wakes import Topic
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from starlette.requests import HTTPConnection

    from app.auth.single_sign_on import Person, SingleSignOn
    from app.settings.server import Settings
    from store.access.callers import CallerRecord
    from store.access.tokens import NewToken
    from store.database.dialects import Connection
    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: Where an OpenID provider sends browsers back to.
CALLBACK_PATH = "/login/callback"
#: How often open streams are checked; below 5 (guarantee V4).
WATCH_SECONDS = 2.0
_BEARER = "bearer "
#: Name of the token of this machine's command line.
CLI_TOKEN_NAME = "Command line on this machine"


@dataclass(eq=False, slots=True)
class _Watcher:
    caller: Caller
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Authenticator:
    """Find the `Caller` of a request by its token or cookie.

    Args:
        store: The tokens.
        settings: The bootstrap token, the lifetime of logins and the limit of failures per minute.
        single_sign_on: Who the users of an OpenID provider are; None without a provider.
        clock: The time, aware UTC.
        ticks: A monotonic clock in seconds, for failures counted per minute.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        single_sign_on: SingleSignOn | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.single_sign_on = single_sign_on
        #: Separate from logins: an agent with an old token must not keep its user from signing in.
        self.throttle = Throttle(settings.login_attempts_per_minute, ticks)
        self.login_throttle = Throttle(settings.login_attempts_per_minute, ticks)
        #: Named after the port, because browsers share cookies between the ports of one host.
        self.cookie_name = f"packline_{settings.port}"
        self._store = store
        self._clock = clock
        self._touching: set[str] = set()
        self._bootstrap: Caller | None = None
        self._bootstrap_seen_at: datetime | None = None
        self._bootstrap_hash = (
            hash_secret(settings.bootstrap_token.get_secret_value()) if settings.bootstrap_token else None
        )
        self._watchers: set[_Watcher] = set()
        self._watching: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()
        store.wakes.listen(Topic.TOKEN_REVOKED, self._revoked)
        store.wakes.listen(Topic.CALLER_DISABLED, self._disabled)

    async def start(self) -> None:
        """Create the administrator; call before requests are served."""
        admin = await self.administrator()
        if self._bootstrap_hash is not None:
            self._bootstrap = admin

    async def administrator(self) -> Caller:
        """The administrator, created if missing; for a process that serves only the user who started it."""
        admin = await self._store.write(ensure_caller, ADMIN_SUBJECT, "Administrator")
        return Caller(admin.id, admin.subject, admin.name, frozenset(Scope), None, None)

    async def stop(self) -> None:
        """Cancel the background tasks; a second call does nothing."""
        tasks = [*self._background, *([self._watching] if self._watching else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ------------------------------------------------------------------------------------------ requests

    async def authenticate(
        self, connection: HTTPConnection, token: str | None, *, agents: bool = False
    ) -> Caller | None:
        """Find the caller who sent a request or opened a socket.

        Args:
            connection: The request or socket. Without a bearer token its cookie counts, and then a request that can
                change something, or a socket, has to come from a page of this server.
            token: The bearer token, if one was sent.
            agents: Whether to accept the token of an agent step; only Packline's own tools do.

        Returns:
            None without valid credentials; a wrong token is counted against its address.
        """
        if token is None:
            cookie = connection.cookies.get(self.cookie_name)
            if cookie is None or not _from_our_page(connection):
                return None
            # Not counted as a failure: a page left open after its login ended keeps asking.
            caller = await self._find(cookie, TokenKind.BROWSER)
            if caller is None:
                return None
        else:
            caller = await self._find(token, TokenKind.TOKEN, *((TokenKind.AGENT,) if agents else ()))
            if caller is None and _is_jwt(token) and self.single_sign_on is not None:
                try:
                    caller = await self._vouched(await self.single_sign_on.person_of(token))
                except TokenRefusedError as refused:
                    note_refused_token(connection, refused)
            if caller is None:
                await self._failed(address_of(connection))
                return None
        return caller

    async def _failed(self, address: str) -> None:
        # One row per burst, so that a flood of failures does not fill the audit.
        if self.throttle.failed(address):
            await self.note_refusal("authenticate", None, {"address": address})

    async def knows(self, token: str) -> bool:
        """Whether a bearer token is valid; counts no failure."""
        if await self._find(token, TokenKind.TOKEN) is not None:
            return True
        if self.single_sign_on is None or not _is_jwt(token):
            return False
        try:
            return await self._vouched(await self.single_sign_on.person_of(token)) is not None
        except TokenRefusedError:
            return False

    async def knows_login(self, cookie: str) -> bool:
        """Whether a browser's cookie is valid; counts no failure."""
        return await self._find(cookie, TokenKind.BROWSER) is not None

    async def note_refusal(self, action: str, actor_id: str | None, detail: Mapping[str, str] | None = None) -> None:
        """Write the audit row of a refusal; if the store fails, log it: the refusal holds."""
        try:
            await self._store.write(_append, action, actor_id, detail, accepted=False)
        except StoreError:
            log.exception("could not write an audit row", action=action, actor=actor_id)

    async def _find(self, secret: str, *kinds: TokenKind) -> Caller | None:
        if len(secret) > 512:
            return None
        secret_hash = hash_secret(secret)
        if (
            self._bootstrap_hash is not None
            and TokenKind.TOKEN in kinds
            and hmac.compare_digest(secret_hash, self._bootstrap_hash)
        ):
            if self._bootstrap is not None and self._is_old(self._bootstrap_seen_at):
                self._bootstrap_seen_at = self._clock()
                self._touch_soon(None, self._bootstrap.id)
            return self._bootstrap
        holder = await find_holder(self._store, secret_hash)
        if holder is None or holder.kind not in kinds or not holder.valid_at(self._clock()):
            return None
        return self.admit(
            holder.caller,
            scopes=holder.scopes,
            token_id=holder.token_id,
            expires_at=holder.expires_at,
            tools=holder.tools,
            used_at=holder.last_used_at,
        )

    async def _vouched(self, person: Person) -> Caller | None:
        """Return the caller for whom the provider vouches, created if new; None if it is disabled."""
        record = await find_caller_of(self._store, person.subject)
        if record is None or record.vouched_at is None:
            record = await self._store.write(vouch_for, person.subject, person.name)
        return self.admit(record, scopes=person.scopes, expires_at=person.expires_at)

    def admit(
        self,
        record: CallerRecord,
        *,
        scopes: frozenset[Scope],
        token_id: str | None = None,
        expires_at: datetime | None = None,
        tools: frozenset[str] | None = None,
        used_at: datetime | None = None,
    ) -> Caller | None:
        """Return the caller that a valid proof names, and record its use; None if the caller is disabled.

        Args:
            record: The caller, as the store has it now.
            scopes: What the proof allows.
            token_id: The token or login; None if the proof is not kept here.
            expires_at: When the proof ends.
            tools: The only tools it allows; None for all.
            used_at: When the use of the token was last recorded.
        """
        if record.disabled_at is not None:
            return None
        if self._is_old(record.last_seen_at if token_id is None else used_at):
            self._touch_soon(token_id, record.id)
        return Caller(record.id, record.subject, record.name, scopes, token_id, expires_at, tools)

    def _is_old(self, seen_at: datetime | None) -> bool:
        return seen_at is None or self._clock() - seen_at > TOUCH_EVERY

    def _touch_soon(self, token_id: str | None, caller_id: str) -> None:
        key = token_id or caller_id
        if key not in self._touching:
            self._touching.add(key)
            self._spawn(self._touch(token_id, caller_id))

    async def _touch(self, token_id: str | None, caller_id: str) -> None:
        try:
            await self._store.write(touch_token, token_id, caller_id)
        except StoreError as error:
            log.warning("could not record that a caller was seen", caller=caller_id, error=str(error))
        finally:
            self._touching.discard(token_id or caller_id)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # ------------------------------------------------------------------------------------------ watching

    async def watch(self, caller: Caller) -> None:
        """Return once the caller is disabled, or its token ends or loses a scope; within 5 seconds of it."""
        if caller.token_id is None and caller.subject == ADMIN_SUBJECT:
            await asyncio.Event().wait()  # the bootstrap token does not end, and nobody disables the administrator
        watcher = _Watcher(caller)
        self._watchers.add(watcher)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch_all(), name="caller watch")
        left = None if caller.expires_at is None else (caller.expires_at - self._clock()).total_seconds()
        try:
            await asyncio.wait_for(watcher.ended.wait(), left)
        except TimeoutError:
            return
        finally:
            self._watchers.discard(watcher)

    async def _watch_all(self) -> None:
        while self._watchers:
            try:
                await self._check_watched()
            except StoreError as error:
                log.warning("could not check the callers of open streams", error=str(error))
            await asyncio.sleep(WATCH_SECONDS)

    async def _check_watched(self) -> None:
        watchers, now = list(self._watchers), self._clock()
        ids = sorted({watcher.caller.token_id for watcher in watchers if watcher.caller.token_id})
        tokens = await find_tokens(self._store, ids)
        callers = await find_callers(self._store, sorted({watcher.caller.id for watcher in watchers}))
        for watcher in watchers:
            caller = watcher.caller
            record, token = callers.get(caller.id), tokens.get(caller.token_id or "")
            if (
                record is None
                or record.disabled_at is not None
                or (
                    caller.token_id is not None
                    and (token is None or token.revoked_at is not None or not caller.scopes <= token.scopes)
                )
                # The timer in `watch` pauses while the machine sleeps.
                or (caller.expires_at is not None and caller.expires_at <= now)
            ):
                watcher.ended.set()

    def _revoked(self, token_id: str) -> None:
        for watcher in self._watchers:
            if watcher.caller.token_id == token_id:
                watcher.ended.set()

    def _disabled(self, caller_id: str) -> None:
        for watcher in self._watchers:
            if watcher.caller.id == caller_id:
                watcher.ended.set()

    # ------------------------------------------------------------------------------------------ sign-in

    async def first_link(self) -> NewToken | None:
        """A login link for the administrator; None once anybody has signed in with a browser."""
        admin_id = await find_without_login(self._store, ADMIN_SUBJECT)
        return None if admin_id is None else await self.make_link(admin_id, frozenset(Scope))

    async def make_link(self, caller_id: str, scopes: frozenset[Scope], *, is_audited: bool = False) -> NewToken:
        """A link that signs one browser in, once, as a caller with these scopes."""
        expires_at = self._clock() + timedelta(minutes=self.settings.login_link_minutes)

        def unit(conn: Connection) -> NewToken:
            if is_audited:
                _append(conn, "make_login_link", caller_id)
            return create_token(
                conn, caller_id, name="Browser", scopes=scopes, expires_at=expires_at, kind=TokenKind.LOGIN_LINK
            )

        return await self._store.write(unit)

    async def sign_in(self, link_secret: str, address: str) -> NewToken | None:
        """Exchange the secret of a login link for a browser login; None if it is unknown, used or expired.

        Args:
            link_secret: The secret.
            address: The browser's address, for the audit.
        """
        if len(link_secret) > 512:
            return None

        def unit(conn: Connection) -> NewToken | None:
            login = use_login_link(conn, hash_secret(link_secret), browser_days=self.settings.login_days)
            if login is not None:
                _append(conn, "sign_in", login.token.caller_id, {"address": address})
            return login

        return await self._store.write(unit)

    async def sign_in_as(self, person: Person, address: str) -> NewToken:
        """A browser login of somebody whom the provider vouches for.

        Args:
            person: Who it is.
            address: The browser's address, for the audit.

        Raises:
            SignInError: the caller is disabled.
        """
        expires_at = self._clock() + timedelta(hours=self.settings.oidc_login_hours)

        def unit(conn: Connection) -> NewToken:
            caller = vouch_for(conn, person.subject, person.name)
            if caller.disabled_at is not None:
                raise SignInError("Your account is disabled here. Ask the administrator.")
            if caller.name == caller.subject:  # made by a token, which rarely says a name
                name_caller(conn, caller.id, person.name)
            _append(conn, "sign_in", caller.id, {"address": address, "issuer": self.settings.oidc_issuer or ""})
            return create_token(
                conn, caller.id, name="Browser", scopes=person.scopes, expires_at=expires_at, kind=TokenKind.BROWSER
            )

        return await self._store.write(unit)

    async def sign_out(self, caller: Caller) -> None:
        """Revoke the login the caller's request used."""

        def unit(conn: Connection) -> None:
            if caller.token_id is not None:
                revoke_token(conn, caller.token_id)
            _append(conn, "sign_out", caller.id)

        await self._store.write(unit)

    async def is_set_up(self) -> bool:
        """Whether anybody can prove who they are: by the bootstrap token, a login, a token made by hand, a provider."""
        if self._bootstrap_hash is not None or self.single_sign_on is not None:
            return True
        return await has_access(self._store, except_name=CLI_TOKEN_NAME)

    async def make_cli_token(self) -> NewToken:
        """A token for the commands of the user the server runs as."""
        admin = await self._store.write(ensure_caller, ADMIN_SUBJECT, "Administrator")
        return await self._store.write(
            create_token, admin.id, name=CLI_TOKEN_NAME, scopes=frozenset(Scope), expires_at=None
        )


def _append(
    conn: Connection,
    action: str,
    actor_id: str | None,
    detail: Mapping[str, str] | None = None,
    *,
    accepted: bool = True,
) -> None:
    text = None if detail is None else json.dumps(dict(detail))
    append_audit(conn, actor_id=actor_id, action=action, accepted=accepted, detail=text)


def bearer_token(authorization: str | None) -> str | None:
    """The token of an `Authorization: Bearer …` header; the scheme's case does not matter (RFC 9110)."""
    if authorization is None or authorization[: len(_BEARER)].lower() != _BEARER:
        return None
    return authorization[len(_BEARER) :].strip() or None


def _is_jwt(token: str) -> bool:
    """Whether a token has the form of a signed JWT (RFC 7515 section 3.1); Packline's own contain no dot."""
    return token.count(".") == 2


def address_of(connection: HTTPConnection) -> str:
    """The address a request came from; behind a trusted proxy, the one the proxy names."""
    return connection.client.host if connection.client else "unknown"


def _from_our_page(connection: HTTPConnection) -> bool:
    """Whether a browser's request may use its cookie: reads always, changes and sockets only from our own pages.

    `app.auth.hosts` has already refused foreign Origins. A browser omits Origin only for plain reads; for those,
    `Sec-Fetch-Site` decides.
    """
    if connection.scope["type"] != "websocket" and connection.scope["method"] in ("GET", "HEAD"):
        return connection.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    return "origin" in connection.headers or connection.headers.get("sec-fetch-site") == "same-origin"
