"""Pauses admission for maintenance: no new run starts, and runs in progress continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from store.runs.admission import find_pause, pause_admission, unpause_admission
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from store.runs.admission import Pause

#: Longest reason of a pause, in characters; a longer one is shortened.
REASON_CHARACTERS = 500


@operation("set_admission", scope=Scope.MANAGE, kind="command", idempotent=True)
async def set_admission(context: Context, *, paused: bool, reason: str | None = None) -> None:
    """Pause admission or end the pause, on all servers of the database; the pause outlasts restarts."""
    if paused:
        shown = context.services.redactor.excerpt(reason, REASON_CHARACTERS) if reason else None
        subject = context.caller.subject
        await context.commit(lambda conn: pause_admission(conn, subject, shown))
        return
    await context.commit(unpause_admission)
    await context.services.engine.rescue.sweep()


async def admission_pause(context: Context) -> Pause | None:
    """Return the pause of admission, if there is one."""
    return await find_pause(context.services.store)
