"""Tasks of A2A: the conversation a run belongs to, and what its caller is asked before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from store.database.dialects import Sql
from store.models.declaring import columns_of
from store.models.runs import A2A_TASK, RUN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.states import RunState

#: How long a caller may take to answer.
QUESTION_HOURS: Final = 24
#: Most open questions of one caller; the oldest give way.
QUESTIONS_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class A2ATask:
    """A task.

    Attributes:
        id: The id of its run, reserved while there is none.
        context_id: The conversation, as its client named it.
        question: JSON text of what its caller was asked; None once the run has started.
    """

    id: str
    caller_id: str
    context_id: str
    question: str | None
    created_at: datetime


_COLUMNS = columns_of(A2A_TASK, A2ATask)
_PUT = Sql(
    """INSERT INTO a2a_task (id, caller_id, context_id, question, created_at)
    VALUES (:id, :caller_id, :context_id, :question, :now)
    ON CONFLICT (id) DO UPDATE SET question = excluded.question WHERE a2a_task.caller_id = excluded.caller_id"""
)
_DELETE = Sql("DELETE FROM a2a_task WHERE id = :id AND caller_id = :caller_id AND question IS NOT NULL")
_EXPIRE = Sql("DELETE FROM a2a_task WHERE created_at < :before AND question IS NOT NULL")
#: A conversation is of no use without its run.
_FORGET = Sql(
    """DELETE FROM a2a_task WHERE created_at < :before AND question IS NULL
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = a2a_task.id)"""
)
_LIMIT = Sql(
    """DELETE FROM a2a_task WHERE id IN (
        SELECT id FROM a2a_task WHERE caller_id = :caller_id AND question IS NOT NULL
        ORDER BY id DESC LIMIT 1000 OFFSET :most)"""
)


def put_task(conn: Connection, *, id: str, caller_id: str, context_id: str, question: str | None) -> None:
    """Store a task or replace its question, and delete questions that were not answered in time."""
    now = conn.now()
    before = now - timedelta(hours=QUESTION_HOURS)
    conn.run(_EXPIRE, {"before": before})
    conn.run(_FORGET, {"before": before})
    conn.run(_PUT, {"id": id, "caller_id": caller_id, "context_id": context_id, "question": question, "now": now})
    conn.run(_LIMIT, {"caller_id": caller_id, "most": QUESTIONS_MAX})


def delete_question(conn: Connection, id: str, caller_id: str) -> bool:
    """Delete a task whose run has not started; return whether there was one."""
    return conn.run(_DELETE, {"id": id, "caller_id": caller_id}) > 0


async def find_tasks(store: Store, ids: Sequence[str], caller_id: str) -> dict[str, A2ATask]:
    """Find tasks of a caller by id; those that do not exist are left out."""
    rows = await store.read(sa.select(*_COLUMNS).where(A2A_TASK.c.id.in_(ids), A2A_TASK.c.caller_id == caller_id))
    return {row["id"]: A2ATask(**row) for row in rows.mappings()}


async def list_tasks(
    store: Store,
    caller_id: str,
    context_id: str,
    *,
    states: Sequence[RunState],
    asking: bool,
    limit: int,
    before: str | None = None,
) -> tuple[list[A2ATask], int]:
    """List tasks of a conversation, newest first, from the one before an id on; and count all of them.

    Args:
        store: The database.
        caller_id: Whose tasks.
        context_id: The conversation.
        states: Of the runs that are wanted.
        asking: Whether tasks with an open question are wanted.
        limit: Most tasks to list.
        before: Id of the last task of the page before.
    """
    is_asking = A2A_TASK.c.question.is_not(None)
    kinds = [sa.and_(~is_asking, RUN.c.state.in_(states)), *([is_asking] if asking else ())]
    wanted = (
        sa.select(*_COLUMNS)
        .select_from(A2A_TASK.outerjoin(RUN, RUN.c.id == A2A_TASK.c.id))
        .where(A2A_TASK.c.caller_id == caller_id, A2A_TASK.c.context_id == context_id, sa.or_(*kinds))
    )
    total = await store.read(sa.select(sa.func.count()).select_from(wanted.subquery()))
    if before is not None:
        wanted = wanted.where(A2A_TASK.c.id < before)
    rows = await store.read(wanted.order_by(A2A_TASK.c.id.desc()).limit(limit))
    return [A2ATask(**row) for row in rows.mappings()], total.scalar_one()
