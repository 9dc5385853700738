"""The addresses of push notifications: checked, stored sealed, and shown without their secrets. Imports `a2a`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import orjson
from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types import AuthenticationInfo, TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError, InvalidRequestError

from resolvers.problems import Unavailable
from runner.egress.policy import origin_of
from runner.egress.web_address import read_web_address
from runner.excerpts import excerpt
from runner.failures import FailureCode, PackError
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
    from app.mcp.session import Session
    from runner.secrets.vault_sync import VaultCipher
    from store.database.dialects import Connection

#: Longest id, address and secret, in characters.
_ID_MAX: Final = 200
_URL_MAX: Final = 2_000
_SECRET_MAX: Final = 4_000
#: What a header may hold (RFC 9110, 5.5), without the obsolete rest of ISO 8859-1.
_HEADER: Final = re.compile(r"[\x20-\x7e]*")


async def check_push(session: Session, config: TaskPushNotificationConfig) -> None:
    """Refuse an address that may not be reached.

    Raises:
        InvalidParamsError: it is malformed, or the server may not send anything there.
        InvalidRequestError: the caller may not set one.
        Unavailable: the vault is locked.
    """
    if not session.caller.may(Scope.RUN):
        raise InvalidRequestError("Push notifications need a token with the `run` scope.", {"code": "FORBIDDEN"})
    auth = config.authentication
    for name, text, most in (
        ("id", config.id, _ID_MAX),
        ("url", config.url, _URL_MAX),
        ("token", config.token, _SECRET_MAX),
        ("authentication.scheme", auth.scheme, _ID_MAX),
        ("authentication.credentials", auth.credentials, _SECRET_MAX),
    ):
        if len(text) > most:
            raise InvalidParamsError(f"`{name}` has {len(text)} characters; the limit is {most}.")
        if not _HEADER.fullmatch(text):
            raise InvalidParamsError(f"`{name}` may contain only visible ASCII characters and spaces.")
    try:
        await session.context.services.engine.resources.egress.check(config.url)
    except PackError as refused:
        if refused.code is not FailureCode.UPSTREAM_UNAVAILABLE:  # it may be there later
            raise InvalidParamsError(f"`url`: {refused}") from refused
    if read_web_address(config.url).account is not None:
        raise InvalidParamsError(
            "`url` carries a user name or password, and it is shown. Give credentials in `authentication`."
        )
    await _open_vault(session)


async def put_push_config(
    session: Session, task_id: str, given: TaskPushNotificationConfig, protocol: str
) -> TaskPushNotificationConfig:
    """Store a checked address; return it without its secrets.

    Raises:
        InvalidParamsError: the task has too many.
        Unavailable: the vault is locked.
    """
    config = normalize_push_notification_config(task_id, given)
    auth = config.authentication
    secrets = {"token": config.token, "scheme": auth.scheme, "credentials": auth.credentials}
    text = orjson.dumps({"url": config.url, **secrets}).decode()
    opened = await _open_vault(session)
    sealed = opened.cipher.seal(text, push_place(task_id, config.id))
    caller_id, to = session.caller.id, excerpt(_origin(config.url), 200)

    def unit(conn: Connection) -> None:
        require_proof(conn, opened.proof)
        put_push(conn, task_id=task_id, config_id=config.id, caller_id=caller_id, sealed=sealed, protocol=protocol)
        _audit(conn, session, "set_push_notification", task_id, {"id": config.id, "to": to})

    try:
        await session.context.services.store.write(unit)
    except VaultChangedError as changed:
        raise Unavailable("The key of the vault was changed meanwhile.", hint="Try again.") from changed
    except TooManyPushesError:
        message = f"Task {task_id} has {PUSHES_MAX} addresses, which is the limit. Delete one."
        raise InvalidParamsError(message) from None
    return _shown(config)


async def stored_pushes(session: Session, task_id: str) -> list[TaskPushNotificationConfig]:
    """Where changes of a task are sent, without secrets.

    Raises:
        Unavailable: the vault is locked.
    """
    rows = await list_pushes(session.context.services.store, task_id, session.caller.id)
    if not rows:
        return []
    vault = await _open_vault(session)
    found = []
    for push in rows:
        try:
            opened = orjson.loads(vault.cipher.open(push.sealed, push_place(task_id, push.config_id)))
        except UnsealError:
            continue
        config = TaskPushNotificationConfig(id=push.config_id, task_id=task_id, url=opened["url"])
        if opened["scheme"]:
            config.authentication.CopyFrom(AuthenticationInfo(scheme=opened["scheme"]))
        found.append(config)
    return found


async def remove_push(session: Session, task_id: str, config_id: str) -> None:
    """Forget an address."""

    def unit(conn: Connection) -> None:
        if delete_push(conn, task_id=task_id, config_id=config_id, caller_id=session.caller.id):
            _audit(conn, session, "delete_push_notification", task_id, {"id": config_id})

    await session.context.services.store.write(unit)


def _shown(config: TaskPushNotificationConfig) -> TaskPushNotificationConfig:
    """An address without its secrets."""
    shown = TaskPushNotificationConfig()
    shown.CopyFrom(config)
    shown.token = ""
    if shown.HasField("authentication"):
        shown.authentication.credentials = ""
    return shown


async def _open_vault(session: Session) -> VaultCipher:
    try:
        return await session.context.services.vault_sync.for_sealing()
    except VaultLockedError as locked:
        raise Unavailable(locked.missing.message, hint=locked.missing.hint) from locked


def _origin(url: str) -> str:
    scheme, host, port = origin_of(url)
    return f"{scheme}://{host}:{port}"


def _audit(conn: Connection, session: Session, action: str, task_id: str, detail: dict[str, str]) -> None:
    append_audit(
        conn,
        actor_id=session.caller.id,
        action=action,
        accepted=True,
        target_id=task_id,
        detail=orjson.dumps(detail).decode(),
    )
