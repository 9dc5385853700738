"""Where changes of a run are sent: addresses that its caller gives, checked, stored sealed, shown without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson

from resolvers.problems import Forbidden, Invalid, Limited, Unavailable
from runner.egress.policy import origin_of
from runner.egress.web_address import read_web_address
from runner.excerpts import excerpt
from runner.failures import FailureCode, PackError
from runner.issues import argument_error
from runner.secrets.vault_sync import VaultLockedError
from store.access.audit import append_audit
from store.runs.a2a_pushes import (
    PUSHES_MAX,
    TooManyPushesError,
    delete_push,
    list_pushes,
    push_place,
    put_push,
)
from store.secrets.cipher import UnsealError
from store.secrets.vault_proof import VaultChangedError, require_proof
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from runner.secrets.vault_sync import VaultCipher
    from store.database.dialects import Connection

#: Longest id, address and secret, in characters.
_ID_MAX: Final = 200
_URL_MAX: Final = 2_000
_SECRET_MAX: Final = 4_000
#: What a header may hold (RFC 9110, 5.5), without the obsolete rest of ISO 8859-1.
_HEADER: Final = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class PushAddress:
    """Where changes are sent.

    Attributes:
        id: What its caller calls it.
        token: Sent with each request; empty for none.
        scheme: Scheme of the `authorization` header; empty for none.
        credentials: The rest of that header.
    """

    id: str
    url: str
    token: str = ""
    scheme: str = ""
    credentials: str = ""


async def check_push(context: Context, address: PushAddress) -> None:
    """Refuse an address that may not be reached.

    Raises:
        Invalid: it is malformed, or the server may not send anything there.
        Forbidden: the caller may not set one.
        Unavailable: the vault is locked.
    """
    if not context.caller.may(Scope.RUN):
        raise Forbidden("Push notifications need a token with the `run` scope.", requires=Scope.RUN)
    for name, text, most in (
        ("id", address.id, _ID_MAX),
        ("url", address.url, _URL_MAX),
        ("token", address.token, _SECRET_MAX),
        ("authentication.scheme", address.scheme, _ID_MAX),
        ("authentication.credentials", address.credentials, _SECRET_MAX),
    ):
        if len(text) > most:
            raise _wrong(name, "too_long", f"`{name}` has {len(text)} characters; the limit is {most}.")
        if not _HEADER.fullmatch(text):
            raise _wrong(name, "forbidden_text", f"`{name}` may contain only visible ASCII characters and spaces.")
    try:
        await context.services.engine.resources.egress.check(address.url)
    except PackError as refused:
        if refused.code is not FailureCode.UPSTREAM_UNAVAILABLE:  # it may be there later
            raise _wrong("url", "not_allowed", f"`url`: {refused}") from refused
    if read_web_address(address.url).account is not None:
        message = "`url` carries a user name or password, and it is shown. Give credentials in `authentication`."
        raise _wrong("url", "url_credentials", message)
    await _open_vault(context)


async def put_push_address(context: Context, run_id: str, address: PushAddress, protocol: str) -> None:
    """Store a checked address, in place of one with the same id.

    Raises:
        Limited: the run has too many.
        Unavailable: the vault is locked.
    """
    secrets = {"token": address.token, "scheme": address.scheme, "credentials": address.credentials}
    text = orjson.dumps({"url": address.url, **secrets}).decode()
    opened = await _open_vault(context)
    sealed = opened.cipher.seal(text, push_place(run_id, address.id))
    caller_id, to = context.caller.id, excerpt(_origin(address.url), 200)

    def unit(conn: Connection) -> None:
        require_proof(conn, opened.proof)
        put_push(conn, run_id=run_id, config_id=address.id, caller_id=caller_id, sealed=sealed, protocol=protocol)
        _audit(conn, context, "set_push_notification", run_id, {"id": address.id, "to": to})

    try:
        await context.services.store.write(unit)
    except VaultChangedError as changed:
        raise Unavailable("The key of the vault was changed meanwhile.", hint="Try again.") from changed
    except TooManyPushesError:
        raise Limited(f"Run {run_id} has {PUSHES_MAX} addresses, which is the limit. Delete one.") from None


async def stored_pushes(context: Context, run_id: str) -> list[PushAddress]:
    """List where changes of a run are sent, without secrets.

    Raises:
        Unavailable: the vault is locked.
    """
    rows = await list_pushes(context.services.store, run_id, context.caller.id)
    if not rows:
        return []
    vault = await _open_vault(context)
    found = []
    for push in rows:
        try:
            opened = orjson.loads(vault.cipher.open(push.sealed, push_place(run_id, push.config_id)))
        except UnsealError:
            continue
        found.append(PushAddress(push.config_id, opened["url"], scheme=opened["scheme"] or ""))
    return found


async def remove_push(context: Context, run_id: str, config_id: str) -> None:
    """Delete an address; an unknown one is no error."""

    def unit(conn: Connection) -> None:
        if delete_push(conn, run_id=run_id, config_id=config_id, caller_id=context.caller.id):
            _audit(conn, context, "delete_push_notification", run_id, {"id": config_id})

    await context.services.store.write(unit)


def _wrong(name: str, rule: str, message: str) -> Invalid:
    return Invalid([argument_error(name, rule, message)])


async def _open_vault(context: Context) -> VaultCipher:
    try:
        return await context.services.vault_sync.for_sealing()
    except VaultLockedError as locked:
        raise Unavailable(locked.missing.message, hint=locked.missing.hint) from locked


def _origin(url: str) -> str:
    scheme, host, port = origin_of(url)
    return f"{scheme}://{host}:{port}"


def _audit(conn: Connection, context: Context, action: str, run_id: str, detail: dict[str, str]) -> None:
    append_audit(
        conn,
        actor_id=context.caller.id,
        action=action,
        accepted=True,
        target_id=run_id,
        detail=orjson.dumps(detail).decode(),
    )
