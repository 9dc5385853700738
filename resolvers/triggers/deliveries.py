"""Accepts deliveries of webhooks: verified, stored sealed, and their runs started, in one transaction."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import orjson

from resolvers.problems import Limited, NotFound, Problem, Unavailable
from resolvers.runs.starts import queue_full
from resolvers.triggers.firing import (
    PausedError,
    audit_firing,
    count_firing,
    firing_span,
    owner_context,
    prepare_firing,
    refuse_and_pause,
)
from runner import tracing
from runner.json_values import canonical_json, digest
from runner.triggers.webhooks import Delivery, WebhookSettings, is_wanted, read_delivery, verify
from store.database.ids import new_id
from store.runs.unit_types import QueueFullError
from store.secrets.cipher import UnsealError
from store.triggers.firings import FiringOutcome, NewFiring, TriggerChangedError, record_asked, record_unfired
from store.triggers.reads import find_triggers
from store.triggers.webhooks import (
    DuplicateDeliveryError,
    NewDelivery,
    delivery_place,
    find_delivery,
    find_webhook,
    record_delivery,
    secret_place,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from resolvers.context import Context, Services
    from store.database.dialects import Connection
    from store.runs.unit_types import NewRun
    from store.triggers.reads import TriggerRecord
    from store.triggers.webhooks import DeliveryRecord, FoundWebhook

#: Longest payload shown, in characters of JSON.
SHOWN_CHARACTERS = 10_000
_ADDRESS = re.compile(r"[A-Za-z0-9_-]{32}")
_LOCKED = "The webhook cannot be verified while the server's vault is locked."


class DeliveryStatus(StrEnum):
    """What became of a delivery.

    Attributes:
        IGNORED: The trigger does not fire for its event; nothing was stored.
        FAILED: It is stored, and its run failed the checks of a start.
    """

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    IGNORED = "ignored"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a delivery; `run_id` is that of the first one for a duplicate."""

    status: DeliveryStatus
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """A delivery for people, with secrets masked.

    Attributes:
        payload: The beginning of its JSON.
        is_cut: Whether there is more.
    """

    delivery_id: str | None
    event: str | None
    payload: str
    is_cut: bool


async def find_hook(services: Services, address: str) -> FoundWebhook:
    """Find the webhook at an address.

    Raises:
        NotFound: There is none.
    """
    found = None
    if _ADDRESS.fullmatch(address):  # PostgreSQL takes no text with U+0000
        found = await find_webhook(services.store, address, services.now())
    if found is None:
        raise NotFound("webhook", "", message="There is no webhook at this address.")
    return found


async def deliver(services: Services, hook: FoundWebhook, headers: Mapping[str, str], body: bytes) -> Answer:
    """Accept a delivery.

    Args:
        services: What it works with.
        hook: The webhook at the address.
        headers: With names in lower case.
        body: As it was sent.

    Raises:
        UnverifiedError: It was not signed with a valid secret.
        UnreadableBodyError: The body cannot be read.
        NotFound: The trigger was deleted.
        Limited: The owner has too many queued runs; nothing was stored.
        Unavailable: The vault is locked, or the trigger is paused; nothing was stored.
    """
    trigger = (await find_triggers(services.store, [hook.trigger_id])).get(hook.trigger_id)
    if trigger is None:
        raise NotFound("webhook", "", message="There is no webhook at this address.")
    settings = WebhookSettings.read(orjson.loads(trigger.settings))
    now = services.now()
    delivery_id = verify(settings.preset, _opened_secrets(services, hook), headers, body, now)
    delivery = read_delivery(settings.preset, headers, body, delivery_id)
    if not is_wanted(settings, delivery.event):
        return Answer(DeliveryStatus.IGNORED)
    new = _sealed(services, trigger, delivery, len(body))
    if (earlier := await find_delivery(services.store, trigger.id, new.key, now)) is not None:
        return _repeated(earlier.run_id)
    if not trigger.enabled:
        raise Unavailable("The trigger of this webhook is paused.")
    try:
        with firing_span(trigger):
            return await _start(services, trigger, delivery, new, now)
    except DuplicateDeliveryError:
        won = await find_delivery(services.store, trigger.id, new.key, now)
        return _repeated(None if won is None else won.run_id)
    except TriggerChangedError as changed:
        raise Unavailable("The trigger of this webhook was changed meanwhile.", hint="Send it again.") from changed


def _repeated(run_id: str | None) -> Answer:
    """Answer a repeat as its first delivery: one that could start no run must not look delivered to its sender."""
    return Answer(DeliveryStatus.FAILED) if run_id is None else Answer(DeliveryStatus.DUPLICATE, run_id)


async def _start(
    services: Services, trigger: TriggerRecord, delivery: Delivery, new: NewDelivery, now: datetime
) -> Answer:
    """Start the run of a delivery, or store why it cannot start."""
    key, firing_id = f"delivery:{new.id}", new_id("fire")
    try:
        context = await owner_context(services, trigger)
        prepared = await prepare_firing(context, trigger, fired_at=now, delivery=delivery)

        def begin(conn: Connection, run_id: str, run: NewRun) -> NewRun:
            firing = NewFiring(key, FiringOutcome.FIRED, run_id=run_id, id=firing_id)
            record_asked(conn, trigger.id, firing, revision=trigger.revision)
            record_delivery(conn, trigger.id, new, firing_id=firing_id, run_id=run_id)
            audit_firing(conn, trigger, firing)
            return run

        submitted = await services.engine.submit(prepared.new, before=begin)
        count_firing(services, trigger, FiringOutcome.FIRED)
        return Answer(DeliveryStatus.ACCEPTED, submitted.run_id)
    except PausedError as paused:
        await services.store.write(
            refuse_and_pause, trigger, NewFiring(key, FiringOutcome.REFUSED, reason=paused.reason)
        )
        count_firing(services, trigger, FiringOutcome.REFUSED)
        raise Unavailable("The trigger of this webhook is paused.") from paused
    except QueueFullError as full:
        raise queue_full(full) from full
    except (Limited, Unavailable):
        raise
    except Problem as problem:
        tracing.current().fail(problem.code.value)
        reason = services.redactor.message(problem.message)
        await services.store.write(
            _fail, trigger, new, NewFiring(key, FiringOutcome.FAILED, reason=reason, id=firing_id)
        )
        count_firing(services, trigger, FiringOutcome.FAILED)
        return Answer(DeliveryStatus.FAILED)


def _fail(conn: Connection, trigger: TriggerRecord, new: NewDelivery, firing: NewFiring) -> None:
    record_delivery(conn, trigger.id, new, firing_id=str(firing.id), run_id=None)
    record_unfired(conn, trigger.id, firing)
    audit_firing(conn, trigger, firing)


async def read_stored(context: Context, record: DeliveryRecord) -> Delivery | None:
    """Open a stored delivery; None if the vault is locked, was reset or its key was changed meanwhile."""
    opened = context.services.vault_sync.opened
    if opened is None or record.sealed is None:
        return None
    try:
        return Delivery.read(orjson.loads(opened.cipher.open(record.sealed, delivery_place(record.id))))
    except UnsealError:
        return None


async def shown_delivery(context: Context, record: DeliveryRecord) -> ShownDelivery | None:
    """Return a delivery for people; None if it cannot be opened."""
    delivery = await read_stored(context, record)
    if delivery is None:
        return None
    redactor = context.services.redactor
    text = orjson.dumps(redactor.value(delivery.payload), option=orjson.OPT_INDENT_2).decode()
    return ShownDelivery(
        delivery_id=None if delivery.delivery_id is None else redactor.text(delivery.delivery_id),
        event=None if delivery.event is None else redactor.text(delivery.event),
        payload=redactor.excerpt(text, SHOWN_CHARACTERS),
        is_cut=len(text) > SHOWN_CHARACTERS,
    )


def _opened_secrets(services: Services, hook: FoundWebhook) -> list[str]:
    """Open the valid secrets of a webhook; the redactor learns them.

    Raises:
        Unavailable: The vault is locked.
    """
    opened = services.vault_sync.opened
    if opened is None:
        raise Unavailable(_LOCKED)
    try:
        secrets = [opened.cipher.open(secret.sealed, secret_place(secret.id)) for secret in hook.secrets]
    except UnsealError as wrong:
        raise Unavailable(_LOCKED) from wrong
    services.redactor.learn({f"webhook {hook.trigger_id}": secret for secret in secrets})
    return secrets


def _sealed(services: Services, trigger: TriggerRecord, delivery: Delivery, size_bytes: int) -> NewDelivery:
    opened = services.vault_sync.opened
    if opened is None:
        raise Unavailable(_LOCKED)
    delivery_id = new_id("dlv")
    # The proof is not required in the transaction, as it is for credentials: all deliveries would wait for one row.
    # One that is sealed during a rotation of the key can no longer be shown.
    return NewDelivery(
        id=delivery_id,
        key=digest(f"{trigger.id}\n{delivery.delivery_id or delivery_id}"),
        sealed=opened.cipher.seal(canonical_json(delivery.to_json()), delivery_place(delivery_id)),
        size_bytes=size_bytes,
    )
