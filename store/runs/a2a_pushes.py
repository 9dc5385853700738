"""Push notification configs of A2A: where to send a task's state, and which state was sent last."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql
from store.models.declaring import columns_of
from store.models.runs import A2A_PUSH
from store.runs.a2a_tasks import QUESTION_HOURS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.states import RunState

#: Most addresses of one task.
PUSHES_MAX: Final = 10
#: How long a server that sends keeps others from sending the same; longer than a request may take.
_CLAIM: Final = timedelta(seconds=60)


class A2APush(NamedTuple):
    """A push notification config of a task; `store.models.runs` describes the fields."""

    task_id: str
    config_id: str
    caller_id: str
    sealed: str
    protocol: str
    created_at: datetime


class DuePush(NamedTuple):
    """A notification to send.

    Attributes:
        state: The run's current state, not sent yet.
        sent_state: The state that was sent last.
        failures: How often sending failed in a row.
    """

    task_id: str
    config_id: str
    caller_id: str
    sealed: str
    protocol: str
    state: str
    sent_state: str | None
    failures: int


class TooManyPushesError(Exception):
    """The task has `PUSHES_MAX` addresses; nothing was written."""


_COLUMNS = columns_of(A2A_PUSH, A2APush)
_PUT = Sql(
    """INSERT INTO a2a_push (task_id, config_id, caller_id, sealed, protocol, failures, created_at)
    VALUES (:task_id, :config_id, :caller_id, :sealed, :protocol, 0, :now)
    ON CONFLICT (task_id, config_id) DO UPDATE SET sealed = excluded.sealed, protocol = excluded.protocol,
        sent_state = NULL, failures = 0, not_before = NULL
    WHERE a2a_push.caller_id = excluded.caller_id"""
)
_COUNT = Sql("SELECT count(*) AS pushes FROM a2a_push WHERE task_id = :task_id")
_DELETE = Sql("DELETE FROM a2a_push WHERE task_id = :task_id AND config_id = :config_id AND caller_id = :caller_id")
# A task whose question was not answered, or whose run is deleted.
_FORGET = Sql(
    """DELETE FROM a2a_push WHERE created_at < :before
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = a2a_push.task_id)"""
)
_TASKS = Sql("SELECT DISTINCT task_id FROM a2a_push")
_DUE = Sql(
    """SELECT * FROM (
        SELECT a2a_push.task_id, config_id, a2a_push.caller_id, sealed, protocol, run.state, sent_state, failures,
            a2a_push.created_at, row_number() OVER (
                PARTITION BY a2a_push.caller_id ORDER BY a2a_push.created_at, a2a_push.task_id, config_id
            ) AS place
        FROM a2a_push JOIN run ON run.id = a2a_push.task_id
        WHERE (sent_state IS NULL OR sent_state <> run.state)
        AND (a2a_push.not_before IS NULL OR a2a_push.not_before <= :now)) AS due
    WHERE place <= :of_caller ORDER BY created_at, task_id, config_id LIMIT :limit"""
)
_CLAIM_ONE = Sql(
    """UPDATE a2a_push SET not_before = :until WHERE task_id = :task_id AND config_id = :config_id
    AND sealed = :sealed AND (not_before IS NULL OR not_before <= :now)"""
)
_SENT = Sql(
    """UPDATE a2a_push SET sent_state = :state, failures = 0, not_before = NULL
    WHERE task_id = :task_id AND config_id = :config_id AND sealed = :sealed"""
)
_AGAIN = Sql(
    """UPDATE a2a_push SET failures = failures + 1, not_before = :not_before
    WHERE task_id = :task_id AND config_id = :config_id AND sealed = :sealed"""
)
_DROP = Sql("DELETE FROM a2a_push WHERE task_id = :task_id AND config_id = :config_id AND sealed = :sealed")
_SEALED = Sql("SELECT task_id, config_id, sealed FROM a2a_push")
_RESEAL = Sql("UPDATE a2a_push SET sealed = :sealed WHERE task_id = :task_id AND config_id = :config_id")
_EMPTY = Sql("DELETE FROM a2a_push")


def push_place(run_id: str, config_id: str) -> str:
    """Return the place an address is sealed for."""
    return f"a2a_push:{run_id}:{config_id}"


# ------------------------------------------------------------------------------------------------ units


def put_push(conn: Connection, *, run_id: str, config_id: str, caller_id: str, sealed: str, protocol: str) -> None:
    """Store or replace a config; the current state is then sent to it.

    Raises:
        TooManyPushesError: the run has `PUSHES_MAX` already; the transaction must end.
    """
    now = conn.now()
    conn.run(_FORGET, {"before": now - timedelta(hours=QUESTION_HOURS)})
    row = {"task_id": run_id, "config_id": config_id, "caller_id": caller_id, "sealed": sealed, "protocol": protocol}
    conn.run(_PUT, {**row, "now": now})
    (found,) = conn.all(_COUNT, {"task_id": run_id})
    if found.pushes > PUSHES_MAX:
        raise TooManyPushesError(run_id)


def delete_push(conn: Connection, *, run_id: str, config_id: str, caller_id: str) -> bool:
    """Forget an address; return whether there was one."""
    return conn.run(_DELETE, {"task_id": run_id, "config_id": config_id, "caller_id": caller_id}) > 0


def claim_push(conn: Connection, push: DuePush) -> bool:
    """Keep other servers from sending a notification; return false if one of them does."""
    now = conn.now()
    return conn.run(_CLAIM_ONE, {**_key(push), "now": now, "until": now + _CLAIM}) > 0


def record_sent(conn: Connection, push: DuePush, state: RunState) -> None:
    """Record the state that was sent."""
    conn.run(_SENT, {**_key(push), "state": state})


def record_unsent(conn: Connection, push: DuePush, again_seconds: float) -> None:
    """Record that sending failed, and when to try again."""
    conn.run(_AGAIN, {**_key(push), "not_before": conn.now() + timedelta(seconds=again_seconds)})


def drop_push(conn: Connection, push: DuePush) -> None:
    """Delete a config whose task has ended, or that failed too often."""
    conn.run(_DROP, _key(push))


def reseal_pushes(conn: Connection, reseal: Callable[[str, str], str | None]) -> None:
    """Seal addresses with another key; forget those that do not open.

    Args:
        conn: The unit's connection.
        reseal: Takes a sealed text and its place; returns it sealed with the new key, None if it does not open.
    """
    for row in conn.all(_SEALED):
        key = {"task_id": row.task_id, "config_id": row.config_id}
        text = reseal(row.sealed, push_place(row.task_id, row.config_id))
        if text is None:
            conn.run(_DROP, {**key, "sealed": row.sealed})
        else:
            conn.run(_RESEAL, {**key, "sealed": text})


def empty_pushes(conn: Connection) -> None:
    """Forget all addresses, for a vault whose key is lost."""
    conn.run(_EMPTY)


def _key(push: DuePush) -> dict[str, str]:
    """Return what finds a row, unless it was replaced meanwhile."""
    return {"task_id": push.task_id, "config_id": push.config_id, "sealed": push.sealed}


# ------------------------------------------------------------------------------------------------ reads


async def list_pushes(store: Store, run_id: str, caller_id: str) -> list[A2APush]:
    """List the configs of a run, oldest first."""
    rows = await store.read(
        sa.select(*_COLUMNS)
        .where(A2A_PUSH.c.task_id == run_id, A2A_PUSH.c.caller_id == caller_id)
        .order_by(A2A_PUSH.c.created_at, A2A_PUSH.c.config_id)
    )
    return [A2APush(**row) for row in rows.mappings()]


async def tasks_with_pushes(store: Store) -> set[str]:
    """Find the tasks that have configs."""
    return {row.task_id for row in await store.rows(_TASKS)}


async def due_pushes(store: Store, now: datetime, *, limit: int, of_caller: int) -> list[DuePush]:
    """List notifications to send, those of the oldest configs first, at most `of_caller` of each caller."""
    rows = await store.rows(_DUE, {"now": now, "limit": limit, "of_caller": of_caller})
    return [DuePush(*(getattr(row, name) for name in DuePush._fields)) for row in rows]
