"""How long deliveries are kept, and what a change of the vault key does to them."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from runner.secrets.vault_offline import reset_vault, rotate_key
from store.database.dialects import Sql
from store.files.blobs import BlobStore
from store.maintenance.retention import RetentionPolicy, sweep
from store.models.webhooks import WEBHOOK_DELIVERY
from store.secrets.cipher import Cipher, key_text
from store.secrets.vault_key import KeyFile
from store.secrets.vault_proof import create_vault
from store.triggers.commands import TriggerText, create_trigger
from store.triggers.webhooks import (
    DuplicateDeliveryError,
    NewDelivery,
    SealedSecret,
    add_webhook,
    delivery_place,
    find_deliveries,
    find_delivery,
    find_webhook,
    record_delivery,
    secret_place,
)
from tests.support.rows import caller, pipeline

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store

NOW = datetime.now(UTC)
_AGE = Sql("UPDATE webhook_delivery SET created_at = :at")
_TEXT = TriggerText("Pushes", None, "[]", "{}", "{}", enabled=True, next_at=None)


async def webhook(store: Store, sealed: str = "sealed") -> str:
    """Id of a trigger with an address and a secret."""
    ada = await caller(store)
    saved = await pipeline(store, ada.id)

    def unit(conn: Connection) -> str:
        made = create_trigger(conn, _TEXT, kind="webhook", pipeline_id=saved.pipeline_id, owner_id=ada.id, limit=2)
        add_webhook(conn, made, "address", SealedSecret("sec_1", sealed))
        return made

    return await store.write(unit)


async def deliver(store: Store, trigger_id: str, number: str, sealed: str = "sealed") -> None:
    new = NewDelivery(f"dlv_{number}", "key", sealed, 2)
    await store.write(record_delivery, trigger_id, new, firing_id=f"fire_{number}", run_id=None)


async def age(store: Store, **by: float) -> None:
    """Make all deliveries older."""
    at = WEBHOOK_DELIVERY.c.created_at
    first = (await store.read(select(at))).scalars().one() - timedelta(**by)
    await store.write(lambda conn: conn.run(_AGE, {"at": first}))


async def test_a_delivery_is_recognized_and_kept_for_seven_days(store: Store, tmp_path: Path) -> None:
    trigger_id = await webhook(store)
    await deliver(store, trigger_id, "1")
    await age(store, days=6.9)
    with pytest.raises(DuplicateDeliveryError):
        await deliver(store, trigger_id, "2")
    await sweep(store, BlobStore(tmp_path / "files"), RetentionPolicy())
    assert await find_delivery(store, trigger_id, "key", NOW) is not None
    await age(store, days=0.2)
    assert await find_delivery(store, trigger_id, "key", datetime.now(UTC)) is None
    await deliver(store, trigger_id, "2")
    assert (await find_deliveries(store, ["fire_1", "fire_2"])).keys() == {"fire_2"}
    await age(store, days=7.1)
    await sweep(store, BlobStore(tmp_path / "files"), RetentionPolicy())
    assert await find_deliveries(store, ["fire_2"]) == {}


async def test_secrets_and_deliveries_survive_a_rotation_of_the_vault_key(store: Store, tmp_path: Path) -> None:
    key = os.urandom(32)
    cipher, keys = Cipher(key), KeyFile(tmp_path)
    keys.path.write_text(key_text(key))
    await store.write(create_vault, cipher.proof())
    trigger_id = await webhook(store, cipher.seal("secret", secret_place("sec_1")))
    await deliver(store, trigger_id, "1", cipher.seal("{}", delivery_place("dlv_1")))

    fresh = os.urandom(32)
    await rotate_key(store, keys, fresh)
    after = Cipher(fresh)
    found, delivery = await find_webhook(store, "address", NOW), (await find_deliveries(store, ["fire_1"]))["fire_1"]
    assert found is not None
    assert after.open(found.secrets[0].sealed, secret_place("sec_1")) == "secret"
    assert after.open(str(delivery.sealed), delivery_place("dlv_1")) == "{}"

    await reset_vault(store)
    assert await find_webhook(store, "address", NOW) is None
    assert (await find_deliveries(store, ["fire_1"]))["fire_1"].sealed is None
