"""Sends push notifications: the state of a task, to the addresses its caller gave, until they have taken it.

Everything to send is derived from the store, so a lost server loses nothing; a server that dies after the request and
before recording it repeats the request. Does not import `a2a` before there is something to send.
"""

from __future__ import annotations

import asyncio
import importlib
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog

from app.mcp.session import Session
from resolvers.context import Caller, Context
from resolvers.permissions import lost_access
from runner.egress.client import raise_for_status
from runner.failures import FailureCode, PackError
from runner.watching.bus import wait_flag
from store.access.callers import find_callers
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import EVERYTHING, Topic
from store.runs.a2a_pushes import (
    claim_push,
    drop_push,
    due_pushes,
    push_place,
    record_sent,
    record_unsent,
    tasks_with_pushes,
)
from store.runs.a2a_tasks import find_tasks
from store.secrets.cipher import UnsealError
from store.states import FINAL_RUN_STATES, RunCause, RunState, Scope

if TYPE_CHECKING:
    from resolvers.context import Services
    from schema.guard.guarded_schema import GuardedSchema
    from store.runs.a2a_pushes import DuePush
    from store.secrets.cipher import Cipher

log = structlog.get_logger(__name__)

#: Longest wait between two looks: wake-ups may be lost, addresses come in at other servers, and sending is tried again.
_POLL_SECONDS: Final = 15.0
_BUSY_POLL_SECONDS: Final = 5.0
#: Shortest wait between two looks: a busy run wakes the pusher at each of its steps.
_REST_SECONDS: Final = 0.25
#: Requests at the same time, and of those to the addresses of one caller.
_AT_ONCE: Final = 32
_OF_CALLER: Final = 4
#: Rows that one look reads.
_BATCH: Final = 200
#: How long a request may take, and the size of its answer.
_SECONDS: Final = 15.0
_ANSWER_BYTES: Final = 64 * 1024
#: Seconds until a failed request is tried again; after the last one, the address is given up.
AGAIN_SECONDS: Final = (5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
_ERROR_SECONDS: Final = 5.0


class Pusher:
    """Sends what is due; each server has one, and a claim in the store keeps two from sending the same.

    Args:
        schema: What runs are read with.
        services: What use cases work with.
    """

    def __init__(self, schema: GuardedSchema, services: Services) -> None:
        self._schema = schema
        self._services = services
        self._tasks: set[str] = set()
        self._changed = asyncio.Event()
        self._sending: dict[asyncio.Task[None], DuePush] = {}
        self._task: EssentialTask | None = None

    def start(self) -> None:
        """Start sending; a second call does nothing."""
        if self._task is None:
            self._services.store.wakes.listen(Topic.RUN, self._note, self._wants)
            self._task = EssentialTask(self._run(), "packline-a2a-pusher")

    async def stop(self) -> None:
        """Stop sending; what is under way is sent again by the next server. Safe to call twice and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            await task.stop()
        for sending in list(self._sending):
            sending.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def added(self, task_id: str) -> None:
        """Watch a task that has a new config."""
        self._tasks.add(task_id)
        self._changed.set()

    def _wants(self, run_id: str) -> bool:
        return run_id in self._tasks or run_id == EVERYTHING

    def _note(self, run_id: str) -> None:
        if self._wants(run_id):
            self._changed.set()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self._send_due()
                wait = _BUSY_POLL_SECONDS if self._tasks else _POLL_SECONDS
            except StoreClosedError:
                return
            except StoreError as error:
                log.warning("push notifications could not be read and will be retried", error=str(error))
                wait = _ERROR_SECONDS
            except Exception:  # no error may end the notifications
                log.exception("push notifications could not be sent because of a bug and will be retried")
                wait = _ERROR_SECONDS
            await asyncio.sleep(_REST_SECONDS)
            await wait_flag(self._changed, wait)

    async def _send_due(self) -> None:
        """Begin to send what is due, as far as there is room."""
        store = self._services.store
        self._tasks = await tasks_with_pushes(store)
        vault = self._services.vault_sync.opened
        if not self._tasks or vault is None:  # no address opens while the vault is locked
            return
        of_caller = Counter(push.caller_id for push in self._sending.values())
        under_way = {(push.task_id, push.config_id) for push in self._sending.values()}
        for push in await due_pushes(store, self._services.now(), limit=_BATCH, of_caller=_OF_CALLER):
            if len(self._sending) >= _AT_ONCE:
                return
            if of_caller[push.caller_id] >= _OF_CALLER or (push.task_id, push.config_id) in under_way:
                continue
            if await store.write(claim_push, push):
                of_caller[push.caller_id] += 1
                sending = asyncio.create_task(self._send(push, vault.cipher), name=f"push of {push.task_id}")
                self._sending[sending] = push
                sending.add_done_callback(self._finished)

    def _finished(self, sending: asyncio.Task[None]) -> None:
        push = self._sending.pop(sending)
        if not sending.cancelled() and (error := sending.exception()) is not None:
            # The claim ends after a minute, and it is tried again.
            log.error("a push notification could not be sent", task=push.task_id, exc_info=error)
        self._changed.set()

    async def _send(self, push: DuePush, cipher: Cipher) -> None:
        """Send the state of a task, and record what became of it."""
        store = self._services.store
        try:
            state, body = await self._notification(push)
            if body is not None:
                await self._post(push, body, cipher)
        except PackError as refused:
            # The policy refuses the address, or its server answered 410.
            detail = refused.failure.detail
            status = detail.get("status") if isinstance(detail, dict) else None
            is_final = refused.code is FailureCode.POLICY_DENIED or status == HTTPStatus.GONE
            if is_final or push.failures >= len(AGAIN_SECONDS):
                # Without the message, which may quote an answer that repeats the token.
                log.warning("an address of push notifications was given up", task=push.task_id, code=refused.code.value)
                await store.write(drop_push, push)
            else:
                await store.write(record_unsent, push, AGAIN_SECONDS[push.failures])
            return
        except (_GoneError, UnsealError):
            await store.write(drop_push, push)
            return
        # The run may have been resumed or have ended since it was found to be due.
        if state in FINAL_RUN_STATES:
            await store.write(drop_push, push)
        else:
            await store.write(record_sent, push, state)

    async def _notification(self, push: DuePush) -> tuple[RunState, bytes | None]:
        """Render the task, and return the state it shows; None if this state of it was sent already.

        Raises:
            _GoneError: there is no such run, or its caller may no longer read it.
        """
        tasks: Any = await asyncio.to_thread(importlib.import_module, "app.a2a.tasks")
        state = RunState(push.state)
        if push.sent_state is not None and tasks.is_same_state(state, RunState(push.sent_state)):
            return state, None
        services = self._services
        owner = (await find_callers(services.store, [push.caller_id])).get(push.caller_id)
        if owner is None or await lost_access(services, owner, Scope.READ) is not None:
            raise _GoneError
        caller = Caller(owner.id, owner.subject, owner.name, frozenset({Scope.READ}))
        session = Session(self._schema, Context(services, caller, cause=RunCause.A2A))
        run = (await tasks.find_runs(session, [push.task_id])).get(push.task_id)
        if run is None:
            raise _GoneError
        known = (await find_tasks(services.store, [push.task_id], push.caller_id)).get(push.task_id)
        context_id = push.task_id if known is None else known.context_id
        body: bytes = tasks.notification(run, context_id, push.protocol)
        return RunState(run["state"].lower()), body

    async def _post(self, push: DuePush, body: bytes, cipher: Cipher) -> None:
        """Send a notification.

        Raises:
            PackError: it may not be sent there, or was not taken.
            UnsealError: the address was sealed with another key.
        """
        config = orjson.loads(cipher.open(push.sealed, push_place(push.task_id, push.config_id)))
        headers = {"content-type": "application/json", "user-agent": "Packline"}
        if config["token"]:
            headers["x-a2a-notification-token"] = config["token"]
        if config["scheme"] and config["credentials"]:
            headers["authorization"] = f"{config['scheme']} {config['credentials']}"
        egress = self._services.engine.resources.egress
        async with egress.client(max_bytes=_ANSWER_BYTES, total_seconds=_SECONDS, max_redirects=0) as client:
            raise_for_status(await client.post(config["url"], content=body, headers=headers))


class _GoneError(Exception):
    """There is nothing to send any more."""
