"""Reads around the start of runs: what an idempotency key led to, and how long a queued run's wait is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from store.models.runs import JOINED_KEY, RUN, SPENT_KEY
from store.states import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.engine import Store


class EarlierStart(NamedTuple):
    """A run that was started with an idempotency key; `request_digest` tells of which request, unless it is gone."""

    run_id: str
    request_digest: str | None
    created_at: datetime
    gone: bool


class Ahead(NamedTuple):
    """How many queued runs will be taken before one: of all callers, and of its own."""

    of_all: int
    of_caller: int


async def find_earlier_start(store: Store, caller_id: str, key: str) -> EarlierStart | None:
    """What a caller's idempotency key led to, a run that is gone included; None when it was not used."""
    own = sa.select(RUN.c.id.label("run_id"), RUN.c.request_digest, RUN.c.created_at, sa.false().label("gone"))
    own = own.where(RUN.c.caller_id == caller_id, RUN.c.idempotency_key == key)
    joined = sa.select(
        JOINED_KEY.c.run_id, JOINED_KEY.c.request_digest, JOINED_KEY.c.created_at, sa.false().label("gone")
    )
    joined = joined.where(JOINED_KEY.c.caller_id == caller_id, JOINED_KEY.c.idempotency_key == key)
    spent = sa.select(SPENT_KEY.c.run_id, sa.cast(sa.null(), sa.String), SPENT_KEY.c.created_at, sa.true())
    spent = spent.where(SPENT_KEY.c.caller_id == caller_id, SPENT_KEY.c.idempotency_key == key)
    rows = (await store.read(own.union_all(joined, spent))).mappings()
    found = [EarlierStart(**row) for row in rows]
    # The newest: one of them may have outlived the day a key is kept.
    return max(found, key=lambda start: start.created_at, default=None)


async def queue_places(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, Ahead]:
    """Places of queued runs in the queue, by run id; without runs that are not queued or not `visible_to`'s.

    One statement whatever the number of runs asked for: it numbers the whole queue, which the queue limit bounds.
    """
    order = (RUN.c.priority.desc(), RUN.c.id)
    queue = (
        sa.select(
            RUN.c.id,
            RUN.c.caller_id,
            (sa.func.row_number().over(order_by=order) - 1).label("of_all"),
            (sa.func.row_number().over(partition_by=RUN.c.caller_id, order_by=order) - 1).label("of_caller"),
        )
        .where(RUN.c.state == RunState.QUEUED.value)
        .subquery()
    )
    wanted = sa.select(queue.c.id, queue.c.of_all, queue.c.of_caller).where(queue.c.id.in_(ids))
    if visible_to is not None:
        wanted = wanted.where(queue.c.caller_id == visible_to)
    return {row.id: Ahead(row.of_all, row.of_caller) for row in await store.read(wanted)}
