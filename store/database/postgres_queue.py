"""The queue of runs on PostgreSQL: procrastinate delivers their ids to the workers (docs/adr/0011).

A row of the queue is a hint, like a wake-up: it may be lost or repeated, and the claim decides. So no connection of the
queue waits for the disk. Of procrastinate only priorities, queues and start times are used: no locks, no retries, no
periodic tasks, no results.
"""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING

import psycopg
import structlog
from procrastinate import App, PsycopgConnector, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException

from store.database.essential_tasks import EssentialTask
from store.database.postgres_writer import connect_options
from store.database.queue_schema import HORIZON_SECONDS, QUEUED_NEEDS, QUEUED_PRIORITY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

log = structlog.get_logger(__name__)
# It logs each delivery, and each loss of a connection with a traceback; here one line is logged for a loss.
logging.getLogger("procrastinate").setLevel(logging.CRITICAL)

_TASK = "packline.advance"
#: The channel that announces a queue has its name in it, and PostgreSQL's names end at 63 bytes.
_QUEUE = "packline"
#: How often an idle worker looks without being notified, and how late a wait that ends may be noticed.
POLL_SECONDS = 1.0
#: Pause before a loop that failed is started again.
RESTART_SECONDS = 0.5
#: How long a connection may take; then a new loop begins, since the pool waits twice as long after each try.
CONNECT_SECONDS = 3.0
#: How long a loop may take to end; one whose connection is half open would take longer.
END_SECONDS = 2.0
# Only what a worker may claim, now or later: meanwhile a run may have begun with its submission, or ended.
_OFFERED = f"""
    SELECT id, {QUEUED_NEEDS} AS needs, {QUEUED_PRIORITY} AS priority,
        CASE WHEN not_before > clock_timestamp() THEN not_before END AS not_before
    FROM run
    WHERE id = ANY(%(ids)s) AND ended_at IS NULL AND (
        (admitted AND (state = 'queued' OR lease_until IS NULL OR lease_until < clock_timestamp()))
        OR not_before < clock_timestamp() + make_interval(secs => %(horizon)s))
    ORDER BY needs, 3 DESC, not_before NULLS FIRST, id
"""


def queue_name(needs: str) -> str:
    """Return the queue of the runs whose next step has these needs, as `run.needs` has them."""
    return f"{_QUEUE}-{sha256(needs.encode()).hexdigest()[:16]}" if needs else _QUEUE


class RunQueue:
    """Puts runs into the queue, and delivers those that come out of it for this process.

    Args:
        url: `postgresql://…`.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._puts = App(connector=SyncPsycopgConnector())  # never opened: the sender of wake-ups has the connection
        self._serving: EssentialTask | None = None
        self._again = asyncio.Event()

    def put(self, connection: psycopg.Connection, run_ids: Iterable[str]) -> set[str]:
        """Put runs into their queues, for now or for the end of their waits; skip those that no worker may claim.

        Returns:
            What they need.

        Raises:
            psycopg.Error: the connection was lost; some may have been put in.
        """
        rows = connection.execute(_OFFERED.encode(), {"ids": [*run_ids], "horizon": HORIZON_SECONDS}).fetchall()
        for (needs, priority, not_before), runs in groupby(rows, key=lambda row: row[1:]):
            options = self._puts.configure_task(
                _TASK, queue=queue_name(needs), priority=priority, schedule_at=not_before, connection=connection
            )
            try:
                options.batch_defer(*({"run_id": row[0], "needs": needs} for row in runs))
            except ConnectorException as error:
                raise psycopg.OperationalError(_reason(error)) from error
        return {row[1] for row in rows}

    async def start(
        self,
        deliver: Callable[[str], Awaitable[None]],
        ready: Callable[[], Awaitable[object]],
        needs: Callable[[], Iterable[str]],
        lease_seconds: float,
    ) -> None:
        """Start to deliver.

        Args:
            deliver: Takes the id of a run; the next one is fetched when it returns.
            ready: Returns when a run may be fetched; awaited before each (re)start of the loop, which fetches at once.
            needs: Which needs this process serves, as `run.needs` has them; read at each (re)start of the loop.
            lease_seconds: A loop without a sign of life for so long is lost.
        """

        async def serve() -> None:
            while True:
                await ready()
                self._again.clear()
                loop = asyncio.create_task(self._deliver(deliver, needs(), lease_seconds), name="packline-queue-loop")
                again = asyncio.create_task(self._again.wait())
                try:
                    await asyncio.wait((loop, again), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    again.cancel()
                    is_over = loop.done()
                    await _end(loop)
                if is_over:
                    # So it is when its row was removed while this process was frozen, or when a connection is lost.
                    error = None if loop.cancelled() else loop.exception()
                    log.warning("the queue's loop ended and is started again", error=_reason(error))
                    await asyncio.sleep(RESTART_SECONDS)

        self._serving = EssentialTask(serve(), "packline-queue")

    def restart(self) -> None:
        """Have a new loop, since connections were lost or other needs are served; safe to call at any time."""
        self._again.set()

    async def stop(self) -> None:
        """Stop delivering; safe to call twice and before `start`."""
        serving, self._serving = self._serving, None
        if serving is not None:
            await serving.stop()

    async def _deliver(
        self, deliver: Callable[[str], Awaitable[None]], needs: Iterable[str], lease_seconds: float
    ) -> None:
        connector = PsycopgConnector(
            conninfo=self._url,
            min_size=1,
            timeout=CONNECT_SECONDS,
            max_size=1,  # one run after another; another connection listens
            kwargs=connect_options("packline-queue", synchronous_commit="off"),
            configure=_autocommit,
        )
        app = App(connector=connector)

        @app.task(name=_TASK)
        async def advance(run_id: str, needs: str) -> None:
            await deliver(run_id)

        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await app.open_async()
            await app.run_worker_async(
                queues=[queue_name(each) for each in needs],
                concurrency=1,
                install_signal_handlers=False,
                delete_jobs="always",
                fetch_job_polling_interval=POLL_SECONDS,
                abort_job_polling_interval=lease_seconds,
                shutdown_graceful_timeout=0,
                update_heartbeat_interval=lease_seconds / 3,
                stalled_worker_timeout=lease_seconds,
            )
        finally:
            await app.close_async()


def _reason(error: BaseException | None) -> str:
    """Return what psycopg said, which procrastinate wraps; its loop also ends without an error after it logged one."""
    if error is None:
        return "a connection was lost"
    if isinstance(error, TimeoutError):
        return f"no connection within {CONNECT_SECONDS:g} s"
    cause = error.__cause__ or error
    said = cause.diag.message_primary if isinstance(cause, psycopg.Error) else None
    return said or next(iter(str(cause).strip().splitlines()), type(cause).__name__)  # without the statement


async def _autocommit(connection: psycopg.AsyncConnection) -> None:
    await connection.set_autocommit(True)


async def _end(loop: asyncio.Task[None]) -> None:
    """Cancel a loop; the second time without waiting for its last statements."""
    for _ in range(2):
        if loop.done():
            return
        loop.cancel()
        await asyncio.wait((loop,), timeout=END_SECONDS)
