"""Credentials as rows, over both databases: what stands or falls together, and what a rotation does."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from packline import CredentialNeed
from runner.secrets import vault_sync as vault_keeper
from runner.secrets.credential_kinds import KINDS
from runner.secrets.redaction import Redactor
from runner.secrets.vault import CredentialRequester, OpenCredential, Vault
from runner.secrets.vault_offline import read_credentials, reset_vault, rotate_key
from runner.secrets.vault_sync import VaultLockedError, VaultSync
from store.access.audit import AuditFilter, list_audit
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.secrets.cipher import UnsealError, VaultKeyError, key_text
from store.secrets.credentials import (
    GRANTS_MAX,
    KEEP,
    CredentialChange,
    GrantChange,
    TooManyGrantsError,
    delete_credential,
    find_credential,
    grants_of,
    list_credentials,
    put_credential,
    read_vault,
    record_test,
    record_use,
)
from store.secrets.vault_key import EnvironmentKey, KeyFile
from store.secrets.vault_proof import VaultChangedError
from tests.support.vaults import reader

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store

VALUE = "a value of some length"


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path)


async def opened(store: Store, keys: KeyFile | EnvironmentKey) -> VaultSync:
    keeper = VaultSync(store, keys, Redactor())
    await keeper.refresh()
    return keeper


async def put(store: Store, keeper: VaultSync, key: str, value: str = VALUE, *grants: str) -> str:
    change = CredentialChange(key, "generic", None, None, None, GrantChange(frozenset(grants), replaces=True))
    ready = await keeper.seal(change, {"secret": value}, before=keeper.sealed(key))
    credential_id = await store.write(put_credential, ready)
    await keeper.refresh()
    return credential_id


async def test_a_credential_is_kept_sealed_with_its_grants(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    assert keeper.vault.locked is None
    assert not keys.path.exists(), "made at the first need"
    credential_id = await put(store, keeper, "one", VALUE, "area.verb", "call_1")
    content = await read_vault(store)
    record = await find_credential(store, "one")
    assert await grants_of(store, credential_id) == ["area.verb", "call_1"]
    assert [row.key for row in await list_credentials(store, PageWindow())] == ["one"]
    assert VALUE not in str(content)
    assert record is not None
    assert (record.fields_set, record.last_used_at) == ('["secret"]', None)
    assert keeper.vault.find("one") == {"secret": VALUE}
    assert await store.write(record_use, credential_id, ["other.pack", "call_1"])
    assert not await store.write(record_use, credential_id, ["other.pack"])
    assert await store.write(delete_credential, credential_id)
    await keeper.refresh()
    assert keeper.vault.find("one") is None


async def test_two_who_change_one_credential_do_not_lose_either(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    await put(store, keeper, "one")
    change = CredentialChange("one", "generic", KEEP, KEEP, None)
    mine = await keeper.seal(change, {"secret": "mine, sealed first"}, before=keeper.sealed("one"))
    await put(store, keeper, "one", "theirs, stored first")
    with pytest.raises(VaultChangedError):
        await store.write(put_credential, mine)
    assert keeper.vault.find("one") == {"secret": "theirs, stored first"}


async def test_changes_of_other_things_leave_each_other_alone(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    credential_id = await put(store, keeper, "one", VALUE, "area.verb")
    described = CredentialChange("one", "generic", "For tests", KEEP, None)
    shared = CredentialChange("one", "generic", KEEP, KEEP, None, GrantChange(frozenset({"call_1", "call_2"})))
    taken = CredentialChange("one", "generic", KEEP, KEEP, None, GrantChange(remove=frozenset({"call_1", "no.such"})))
    for change in (described, shared, taken):
        await store.write(put_credential, change)
    record = await find_credential(store, "one")
    assert await grants_of(store, credential_id) == ["area.verb", "call_2"]
    assert record is not None
    assert record.description == "For tests"
    with pytest.raises(VaultChangedError):
        await store.write(put_credential, CredentialChange("one", "github", KEEP, KEEP, None))


async def test_grants_are_counted_together(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    credential_id = await put(store, keeper, "one", VALUE, *(f"call_{number}" for number in range(GRANTS_MAX)))
    with pytest.raises(TooManyGrantsError):
        await store.write(
            put_credential, CredentialChange("one", "generic", KEEP, KEEP, None, GrantChange(frozenset({"one.more"})))
        )
    assert len(await grants_of(store, credential_id)) == GRANTS_MAX


async def test_a_verdict_about_replaced_values_is_dropped(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    credential_id = await put(store, keeper, "one")
    sealed = keeper.sealed("one")
    assert sealed is not None
    assert await store.write(record_test, credential_id, sealed=sealed, accepted=True, message="Fine.")
    await put(store, keeper, "one", "quite another value")
    assert not await store.write(record_test, credential_id, sealed=sealed, accepted=True, message="Fine.")
    record = await find_credential(store, "one")
    assert record is not None
    assert record.test_accepted is None, "new values were never tested"


async def test_values_moved_to_another_row_do_not_open(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    await put(store, keeper, "one", "the value of one", "area.verb")
    await put(store, keeper, "two", "the value of two", "area.verb")

    def swap(conn: Connection) -> None:
        rows: dict[str, str] = dict(conn.all(Sql("SELECT key, sealed FROM credential")))
        for key, other in (("one", "two"), ("two", "one")):
            conn.run(
                Sql("UPDATE credential SET sealed = :sealed WHERE key = :key"), {"sealed": rows[other], "key": key}
            )

    await store.write(swap)
    await keeper.refresh()
    for key in ("one", "two"):
        found = keeper.vault.get(key)
        assert found is not None
        assert found.fields is None
        assert keeper.vault.find(key) is None
    with pytest.raises(UnsealError):
        await rotate_key(store, keys)
    assert (await opened(store, keys)).vault.locked is None, "a rotation that failed changed nothing"


async def test_a_wrong_key_locks_the_vault_and_a_right_one_opens_it(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    await put(store, keeper, "one")
    right = keys.candidates()[0].key
    wrong = await opened(store, EnvironmentKey(key_text(os.urandom(32))))
    assert wrong.vault.locked is not None
    assert "PACKLINE_VAULT_KEY is not the one" in wrong.vault.locked.message
    assert wrong.vault.find("one") is None
    keys.path.unlink()
    absent = await opened(store, keys)
    assert absent.vault.locked is not None
    assert f"there is no {keys.path}" in absent.vault.locked.message
    assert (await opened(store, EnvironmentKey(key_text(right)))).vault.find("one") == {"secret": VALUE}


class Died(Exception):
    """The process is gone at this point."""


@pytest.mark.parametrize("died_at", ["prepared", "committed", "placed", None])
async def test_a_rotation_is_whole_or_not_at_all_wherever_it_dies(
    store: Store, keys: KeyFile, died_at: str | None
) -> None:
    keeper = await opened(store, keys)
    for number in range(5):
        await put(store, keeper, f"key{number}", f"the value number {number}")
    before = keys.candidates()[0].key
    proof = keeper._opened

    def reached(stage: str) -> None:
        if stage == died_at:
            raise Died

    if died_at is None:
        assert (await rotate_key(store, keys)).credentials == 5
    else:
        with pytest.raises(Died):
            await rotate_key(store, keys, reached=reached)

    again = await opened(store, KeyFile(keys.path.parent))
    assert again.vault.locked is None
    assert [again.vault.find(f"key{number}") for number in range(5)] == [
        {"secret": f"the value number {number}"} for number in range(5)
    ]
    (key,) = (found.key for found in keys.candidates())
    assert (key == before) is (died_at == "prepared")
    # What a server has opened goes on too, or notices.
    await keeper.refresh()
    assert keeper.vault.find("key0") is not None
    assert (keeper._opened is proof) is (died_at == "prepared")


async def test_nothing_is_sealed_with_a_key_that_was_just_replaced(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    await put(store, keeper, "one")
    change = CredentialChange("one", "generic", KEEP, KEEP, None)
    ready = await keeper.seal(change, {"secret": "sealed with the old key"}, before=keeper.sealed("one"))
    await rotate_key(store, keys)
    with pytest.raises(VaultChangedError):
        await store.write(put_credential, ready)


async def test_a_key_of_the_environment_is_rotated_to_a_given_one(store: Store) -> None:
    old, new = EnvironmentKey(key_text(os.urandom(32))), os.urandom(32)
    await put(store, await opened(store, old), "one")
    with pytest.raises(VaultKeyError, match="give the new key"):
        await rotate_key(store, old)
    await rotate_key(store, old, new)
    assert (await opened(store, EnvironmentKey(key_text(new)))).vault.find("one") == {"secret": VALUE}
    assert (await opened(store, old)).vault.locked is not None


async def test_taking_all_out_and_giving_up_are_audited(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    await put(store, keeper, "one", VALUE, "area.verb")
    (taken,) = await read_credentials(store, keys)
    assert (taken["fields"], taken["grants"]) == ({"secret": VALUE}, ["area.verb"])
    keys.path.unlink()
    assert await reset_vault(store) == 1
    fresh = await opened(store, keys)
    assert fresh.vault.locked is None
    await put(store, fresh, "one", "another value to keep")
    rows = await list_audit(store, AuditFilter(), PageWindow())
    assert (await store.read(text("SELECT count(*) FROM credential_grant"))).all() == [(0,)]
    assert [row.action for row in rows] == ["reset_vault", "export_credentials"]
    assert VALUE not in str(rows)


async def test_of_two_servers_that_begin_a_vault_at_once_one_does(store: Store, tmp_path: Path) -> None:
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
    keepers = [await opened(store, KeyFile(place)) for place in places]
    done = await asyncio.gather(
        *(put(store, keeper, f"key{number}") for number, keeper in enumerate(keepers)), return_exceptions=True
    )
    lost = [number for number, result in enumerate(done) if isinstance(result, VaultLockedError)]
    assert len(lost) == 1, done
    for number, keeper in enumerate(keepers):
        await keeper.refresh()
        assert (keeper.vault.locked is not None) is (number in lost)
        assert (places[number] / "vault.key").exists() is (number not in lost), "its key was of no use"


def test_what_is_granted_is_decided_without_the_database() -> None:
    assert CredentialRequester("call_1").targets("area.verb") == ("area.verb", "call_1")
    assert CredentialRequester("call_1", "pipe_1").targets("area.verb") == ("area.verb", "call_1", "pipe_1")
    assert KINDS["ghost"].secrets("ghost", {"url": "https://blog.example", "admin_api_key": "1234:abcdefgh"}) == {
        "ghost.admin_api_key": "1234:abcdefgh",
        "ghost.part1": "abcdefgh",
    }


def test_a_pack_lacks_nothing_while_it_can_use_an_alternative() -> None:
    needs = (CredentialNeed("github", "github", alternatives=("git",)), CredentialNeed("git", "git", required=False))
    one = replace(reader(), credentials=needs)
    vault, requester = Vault(), CredentialRequester("call_1")

    def lacking(*keys: str) -> list[str]:
        vault.fill(OpenCredential(key, key, key, {}, None, frozenset(["call_1"])) for key in keys)
        return [requirement.name for requirement in vault.lacks(one, requester)]

    assert (lacking(), lacking("github"), lacking("git"), lacking("other")) == (["github"], [], [], ["github"])

    (none,) = vault.lacks(one, requester)
    assert none.message == "The vault holds no credential `github`. One of the credentials `github` or `git` is enough."
    vault.fill([OpenCredential("git", "git", "git", {}, None, frozenset())])
    (ungranted,) = vault.lacks(one, requester)
    assert ungranted.name == "git"
    assert ungranted.message == (
        "The credential `git` is not granted to the pack test.reader or the caller call_1. "
        "One of the credentials `github` or `git` is enough."
    )
    assert "`packline credential grant git test.reader`" in str(ungranted.hint)


async def test_what_another_server_stores_is_heard_of(
    store: Store, keys: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = await opened(store, keys), await opened(store, keys)
    filled = asyncio.Event()
    fill = mine.vault.fill

    def noted(*given: Any) -> None:
        fill(*given)
        filled.set()

    monkeypatch.setattr(mine.vault, "fill", noted)
    monkeypatch.setattr(vault_keeper, "POLL_SECONDS", 600.0)
    await mine.start()
    try:
        await put(store, theirs, "one")
        async with asyncio.timeout(60):  # far below the poll, so it was a wake-up
            while (found := mine.vault.get("one")) is None or found.fields is None:
                filled.clear()
                await filled.wait()
            await store.write(delete_credential, found.id)
            while mine.vault.get("one") is not None:
                filled.clear()
                await filled.wait()
    finally:
        await mine.stop()
        await mine.stop()


async def test_what_the_server_itself_uses_is_noted_and_audited(store: Store, keys: KeyFile) -> None:
    keeper = await opened(store, keys)
    await keeper.start()
    credential_id = await put(store, keeper, "one")
    assert keeper.vault.has("one")
    for _ in range(3):
        keeper.vault.find("one")
    await keeper.stop()
    record = await find_credential(store, "one")
    (row,) = await list_audit(store, AuditFilter(), PageWindow())
    assert record is not None
    assert record.last_used_at is not None
    assert (row.action, row.actor_id, row.target_id) == ("use_credential", None, credential_id)
