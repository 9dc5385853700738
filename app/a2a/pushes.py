"""Push notification configs as the protocol has them. `resolvers.runs.pushes` has the rules. Imports `a2a`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types import AuthenticationInfo, TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError, InvalidRequestError

from resolvers.problems import Forbidden, Invalid, Limited
from resolvers.runs import pushes
from resolvers.runs.pushes import PushAddress

if TYPE_CHECKING:
    from app.mcp.session import Session


async def check_push(session: Session, config: TaskPushNotificationConfig) -> None:
    """Refuse an address that may not be reached.

    Raises:
        InvalidParamsError: it is malformed, or the server may not send anything there.
        InvalidRequestError: the caller may not set one.
        Unavailable: the vault is locked.
    """
    try:
        await pushes.check_push(session.context, _address(config))
    except Forbidden as forbidden:
        raise InvalidRequestError(forbidden.message, {"code": "FORBIDDEN"}) from forbidden
    except Invalid as invalid:
        raise InvalidParamsError(invalid.message) from invalid


async def put_push_config(
    session: Session, task_id: str, given: TaskPushNotificationConfig, protocol: str
) -> TaskPushNotificationConfig:
    """Store a checked address; return it without its secrets.

    Raises:
        InvalidParamsError: the task has too many.
        Unavailable: the vault is locked.
    """
    config = normalize_push_notification_config(task_id, given)
    try:
        await pushes.put_push_address(session.context, task_id, _address(config), protocol)
    except Limited as full:
        raise InvalidParamsError(full.message) from None
    shown = TaskPushNotificationConfig()
    shown.CopyFrom(config)
    shown.token = ""
    if shown.HasField("authentication"):
        shown.authentication.credentials = ""
    return shown


async def stored_pushes(session: Session, task_id: str) -> list[TaskPushNotificationConfig]:
    """Where changes of a task are sent, without secrets.

    Raises:
        Unavailable: the vault is locked.
    """
    found = []
    for address in await pushes.stored_pushes(session.context, task_id):
        config = TaskPushNotificationConfig(id=address.id, task_id=task_id, url=address.url)
        if address.scheme:
            config.authentication.CopyFrom(AuthenticationInfo(scheme=address.scheme))
        found.append(config)
    return found


async def remove_push(session: Session, task_id: str, config_id: str) -> None:
    """Delete an address; an unknown one is no error."""
    await pushes.remove_push(session.context, task_id, config_id)


def _address(config: TaskPushNotificationConfig) -> PushAddress:
    auth = config.authentication
    return PushAddress(config.id, config.url, config.token, auth.scheme, auth.credentials)
