"""Addresses of push notifications: who sends, when an address is forgotten, and what a change of the vault key does."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from runner.secrets.vault_offline import reset_vault, rotate_key
from store.database.dialects import Sql
from store.runs.a2a_pushes import (
    PUSHES_MAX,
    TooManyPushesError,
    claim_push,
    delete_push,
    drop_push,
    due_pushes,
    list_pushes,
    push_place,
    put_push,
    record_sent,
    record_unsent,
    tasks_with_pushes,
)
from store.secrets.cipher import Cipher, key_text
from store.secrets.vault_key import KeyFile
from store.secrets.vault_proof import create_vault
from store.states import RunState
from tests.support.rows import caller
from tests.support.runs import submitted

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.engine import Store
    from store.runs.a2a_pushes import DuePush

_AGE = Sql("UPDATE a2a_push SET created_at = :at")


async def put(store: Store, caller_id: str, run_id: str, config_id: str = "c", sealed: str = "sealed") -> None:
    given = {"run_id": run_id, "config_id": config_id, "caller_id": caller_id, "sealed": sealed, "protocol": "1.0"}
    await store.write(lambda conn: put_push(conn, **given))


async def due(store: Store, **ahead: float) -> list[DuePush]:
    return await due_pushes(store, datetime.now(UTC) + timedelta(**ahead), limit=10, of_caller=10)


async def test_a_notification_is_sent_by_one_server_and_again_after_a_failure(store: Store) -> None:
    ada = await caller(store)
    run = (await submitted(store, ada.id)).run_id
    await put(store, ada.id, run)
    (push,) = await due(store)
    assert (push.state, push.sent_state, push.failures) == ("queued", None, 0)
    assert await store.write(claim_push, push)
    assert not await store.write(claim_push, push), "another server sends it"
    assert await due(store) == []
    assert len(await due(store, seconds=61)) == 1, "the server that claimed it may have died"
    await store.write(record_unsent, push, 30.0)
    assert (await due(store), [each.failures for each in await due(store, seconds=31)]) == ([], [1])
    await store.write(record_sent, push, RunState.QUEUED)
    assert await due(store, days=1) == [], "the address has heard of this state"
    await put(store, ada.id, run, sealed="another")
    (replaced,) = await due(store)
    await store.write(drop_push, push)
    assert await due(store) == [replaced], "what was replaced meanwhile stays"
    await store.write(drop_push, replaced)
    assert await tasks_with_pushes(store) == set()


async def test_addresses_belong_to_their_caller_and_are_bounded(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    for number in range(PUSHES_MAX):
        await put(store, ada.id, "run_1", f"c{number}")
    with pytest.raises(TooManyPushesError):
        await put(store, ada.id, "run_1", "more")
    await put(store, bob.id, "run_1", "c0", "theirs")
    assert [push.sealed for push in await list_pushes(store, "run_1", ada.id)] == ["sealed"] * PUSHES_MAX
    assert await list_pushes(store, "run_1", bob.id) == []
    key = {"run_id": "run_1", "config_id": "c0"}
    assert not await store.write(lambda conn: delete_push(conn, **key, caller_id=bob.id))
    assert await store.write(lambda conn: delete_push(conn, **key, caller_id=ada.id))


async def test_many_addresses_of_one_caller_do_not_keep_others_waiting(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    busy, other = (await submitted(store, ada.id)).run_id, (await submitted(store, bob.id)).run_id
    for number in range(6):
        await put(store, ada.id, busy, f"c{number}")
    await put(store, bob.id, other, "last")
    found = await due_pushes(store, datetime.now(UTC), limit=4, of_caller=2)
    assert [push.config_id for push in found] == ["c0", "c1", "last"]


async def test_addresses_of_tasks_that_never_began_are_forgotten(store: Store) -> None:
    ada = await caller(store)
    run = (await submitted(store, ada.id)).run_id
    await put(store, ada.id, run)
    await put(store, ada.id, "run_none")
    day_ago = datetime.now(UTC) - timedelta(hours=25)
    await store.write(lambda conn: conn.run(_AGE, {"at": day_ago}))
    await put(store, ada.id, "run_new")
    assert await tasks_with_pushes(store) == {run, "run_new"}


async def test_addresses_survive_a_rotation_of_the_vault_key(store: Store, tmp_path: Path) -> None:
    key = os.urandom(32)
    cipher, keys = Cipher(key), KeyFile(tmp_path)
    keys.path.write_text(key_text(key))
    await store.write(create_vault, cipher.proof())
    ada = await caller(store)
    await put(store, ada.id, "run_1", "c", cipher.seal("{}", push_place("run_1", "c")))
    await put(store, ada.id, "run_1", "unreadable")
    fresh = os.urandom(32)
    await rotate_key(store, keys, fresh)
    (kept,) = await list_pushes(store, "run_1", ada.id)
    assert Cipher(fresh).open(kept.sealed, push_place("run_1", "c")) == "{}"
    await reset_vault(store)
    assert await list_pushes(store, "run_1", ada.id) == []
