"""Webhooks: their addresses, sealed secrets and deliveries.

The callers seal and open what is stored, each text for the place that `secret_place` or `delivery_place` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql, some_instant
from store.database.lookups import Lookup
from store.models.webhooks import TRIGGER_SECRET, WEBHOOK, WEBHOOK_DELIVERY
from store.triggers.reads import of_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store

#: How long a delivery is kept, and a repeat of it starts no run.
KEEP_DAYS = 7


class SealedSecret(NamedTuple):
    """A secret of a trigger that is valid."""

    id: str
    sealed: str


class FoundWebhook(NamedTuple):
    """The trigger at an address, and its valid secrets, the current one first."""

    trigger_id: str
    secrets: list[SealedSecret]


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to store.

    Attributes:
        id: Its id, which it is sealed for.
        key: Digest of the sender's delivery id.
        sealed: JSON of payload, event and delivery id.
        size_bytes: Of the body.
    """

    id: str
    key: str
    sealed: str
    size_bytes: int


class DeliveryRecord(NamedTuple):
    """A stored delivery; `store.models.webhooks` describes the fields."""

    id: str
    trigger_id: str
    firing_id: str
    run_id: str | None
    sealed: str | None
    size_bytes: int
    created_at: datetime


class AddressRecord(NamedTuple):
    """The address of a webhook."""

    trigger_id: str
    address: str


class OverlapRecord(NamedTuple):
    """Until when a secret that was replaced is valid."""

    trigger_id: str
    expires_at: datetime


class DuplicateDeliveryError(Exception):
    """The delivery was accepted before; nothing was written."""


_INSERT_WEBHOOK = Sql("INSERT INTO webhook (trigger_id, address) VALUES (:trigger_id, :address)")
_INSERT_SECRET = Sql(
    "INSERT INTO trigger_secret (id, trigger_id, sealed, created_at) VALUES (:id, :trigger_id, :sealed, :now)"
)
# Only the secret before stays valid: two rotations within the overlap end the oldest one.
_DROP_EXPIRING = Sql("DELETE FROM trigger_secret WHERE trigger_id = :trigger_id AND expires_at IS NOT NULL")
_EXPIRE = Sql("UPDATE trigger_secret SET expires_at = :expires_at WHERE trigger_id = :trigger_id")
_FIND = Sql(
    """SELECT webhook.trigger_id, trigger_secret.id, trigger_secret.sealed
    FROM webhook JOIN trigger_secret ON trigger_secret.trigger_id = webhook.trigger_id
    WHERE webhook.address = :address AND (trigger_secret.expires_at IS NULL OR trigger_secret.expires_at > :now)
    ORDER BY trigger_secret.id DESC"""
)
_DROP_REPEAT = Sql(
    "DELETE FROM webhook_delivery WHERE trigger_id = :trigger_id AND key = :key AND created_at <= :before"
)
_INSERT_DELIVERY = Sql(
    """INSERT INTO webhook_delivery (id, trigger_id, key, firing_id, run_id, sealed, size_bytes, created_at)
    VALUES (:id, :trigger_id, :key, :firing_id, :run_id, :sealed, :size_bytes, :now)
    ON CONFLICT DO NOTHING"""
)
_DELIVERY = "SELECT id, trigger_id, firing_id, run_id, sealed, size_bytes, created_at FROM webhook_delivery"
_BY_KEY = Sql(f"{_DELIVERY} WHERE trigger_id = :trigger_id AND key = :key AND created_at > :after")
_SWEEP = Sql(
    """DELETE FROM webhook_delivery WHERE id IN (
        SELECT id FROM webhook_delivery WHERE created_at <= :before ORDER BY created_at LIMIT :limit)"""
)
_SECRETS = Sql("SELECT id, sealed FROM trigger_secret")
_DELIVERIES = Sql("SELECT id, sealed FROM webhook_delivery WHERE sealed IS NOT NULL")
_RESEAL_SECRET = Sql("UPDATE trigger_secret SET sealed = :sealed WHERE id = :id")
_RESEAL_DELIVERY = Sql("UPDATE webhook_delivery SET sealed = :sealed WHERE id = :id")
_EMPTY_SECRETS = Sql("DELETE FROM trigger_secret")
_EMPTY_DELIVERIES = Sql("UPDATE webhook_delivery SET sealed = NULL")
_ADDRESSES = Lookup(WEBHOOK, AddressRecord, "webhook.trigger_id", visible=of_trigger("webhook.trigger_id"))
_OVERLAPS = Lookup(
    TRIGGER_SECRET,
    OverlapRecord,
    "trigger_secret.trigger_id",
    also="trigger_secret.expires_at IS NOT NULL",
    visible=of_trigger("trigger_secret.trigger_id"),
)
_BY_FIRING = Lookup(
    WEBHOOK_DELIVERY,
    DeliveryRecord,
    "webhook_delivery.firing_id",
    visible=of_trigger("webhook_delivery.trigger_id"),
)


def secret_place(secret_id: str) -> str:
    """Return the place a secret is sealed for."""
    return f"trigger_secret:{secret_id}"


def delivery_place(delivery_id: str) -> str:
    """Return the place a delivery is sealed for."""
    return f"webhook_delivery:{delivery_id}"


# ------------------------------------------------------------------------------------------------ units


def add_webhook(conn: Connection, trigger_id: str, address: str, secret: SealedSecret) -> None:
    """Give a new trigger its address and secret."""
    conn.run(_INSERT_WEBHOOK, {"trigger_id": trigger_id, "address": address})
    _add_secret(conn, trigger_id, secret)


def replace_secret(conn: Connection, trigger_id: str, secret: SealedSecret, *, overlap_seconds: int) -> None:
    """Make a secret the current one; the one before stays valid for the overlap, and earlier ones end."""
    conn.run(_DROP_EXPIRING, {"trigger_id": trigger_id})
    expires_at = conn.now() + timedelta(seconds=overlap_seconds)
    conn.run(_EXPIRE, {"trigger_id": trigger_id, "expires_at": expires_at})
    _add_secret(conn, trigger_id, secret)


def _add_secret(conn: Connection, trigger_id: str, secret: SealedSecret) -> None:
    given = {"id": secret.id, "trigger_id": trigger_id, "sealed": secret.sealed, "now": conn.now()}
    conn.run(_INSERT_SECRET, given)


def record_delivery(
    conn: Connection, trigger_id: str, delivery: NewDelivery, *, firing_id: str, run_id: str | None
) -> None:
    """Store a delivery with its firing.

    Raises:
        DuplicateDeliveryError: it was accepted within `KEEP_DAYS`; the transaction must end.
    """
    now = conn.now()
    known = {"trigger_id": trigger_id, "key": delivery.key}
    conn.run(_DROP_REPEAT, {**known, "before": now - timedelta(days=KEEP_DAYS)})
    row = {
        **known,
        "id": delivery.id,
        "firing_id": firing_id,
        "run_id": run_id,
        "sealed": delivery.sealed,
        "size_bytes": delivery.size_bytes,
        "now": now,
    }
    if conn.run(_INSERT_DELIVERY, row) == 0:
        raise DuplicateDeliveryError(delivery.key)


def sweep_deliveries(conn: Connection, *, limit: int) -> int:
    """Delete the oldest deliveries past `KEEP_DAYS`; return how many."""
    return conn.run(_SWEEP, {"before": conn.now() - timedelta(days=KEEP_DAYS), "limit": limit})


def reseal_webhooks(conn: Connection, reseal: Callable[[str, str], str | None]) -> None:
    """Seal secrets and deliveries with another key.

    Args:
        conn: The unit's connection.
        reseal: Takes a sealed text and its place; returns it sealed with the new key, None if it does not open.
    """
    for row in conn.all(_SECRETS):
        if (text := reseal(row.sealed, secret_place(row.id))) is not None:
            conn.run(_RESEAL_SECRET, {"id": row.id, "sealed": text})
    for row in conn.all(_DELIVERIES):
        conn.run(_RESEAL_DELIVERY, {"id": row.id, "sealed": reseal(row.sealed, delivery_place(row.id))})


def empty_webhooks(conn: Connection) -> None:
    """Remove secrets and payloads, for a vault whose key is lost; a rotation gives a webhook a secret again."""
    conn.run(_EMPTY_SECRETS)
    conn.run(_EMPTY_DELIVERIES)


# ------------------------------------------------------------------------------------------------ reads


async def find_webhook(store: Store, address: str, now: datetime) -> FoundWebhook | None:
    """Find the trigger at an address; None also if it has no valid secret."""
    rows = await store.rows(_FIND, {"address": address, "now": now})
    return FoundWebhook(rows[0].trigger_id, [SealedSecret(row.id, row.sealed) for row in rows]) if rows else None


async def find_addresses(store: Store, trigger_ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, str]:
    """Find the addresses of webhooks, by trigger id."""
    return {row.trigger_id: row.address for row in await _ADDRESSES.read(store, trigger_ids, visible_to=visible_to)}


async def find_overlap_ends(
    store: Store, trigger_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, datetime]:
    """Find until when the secret before the last rotation is valid, or was, by trigger id."""
    return {row.trigger_id: row.expires_at for row in await _OVERLAPS.read(store, trigger_ids, visible_to=visible_to)}


async def find_delivery(store: Store, trigger_id: str, key: str, now: datetime) -> DeliveryRecord | None:
    """Find a delivery that was accepted within `KEEP_DAYS`."""
    after = now - timedelta(days=KEEP_DAYS)
    return _first(await store.rows(_BY_KEY, {"trigger_id": trigger_id, "key": key, "after": after}))


async def find_deliveries(
    store: Store, firing_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, DeliveryRecord]:
    """Find the deliveries that are kept, by firing id."""
    return {found.firing_id: found for found in await _BY_FIRING.read(store, firing_ids, visible_to=visible_to)}


def _first(rows: Sequence[object]) -> DeliveryRecord | None:
    if not rows:
        return None
    row = rows[0]
    values = {name: getattr(row, name) for name in DeliveryRecord._fields}
    return DeliveryRecord(**{**values, "created_at": some_instant(values["created_at"])})
