"""Changes the vault without a server: rotates its key, exports its credentials, resets it.

Each function opens the database itself, so an embedded one must not be in use. Each writes an audit row without an
actor: only the operator can read the key and the database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from store.access.audit import append_audit
from store.memory.entries import empty_sealed, reseal_memory, sealed_memory
from store.memory.overrides import drop_pinned, reseal_override, sealed_overrides
from store.runs.a2a_pushes import empty_pushes, reseal_pushes
from store.secrets.cipher import KEY_BYTES, Cipher, UnsealError, VaultKeyError
from store.secrets.credentials import empty_vault, place_of, read_vault, reseal_all
from store.secrets.vault_key import FoundKey, KeyFile
from store.triggers.webhooks import empty_webhooks, reseal_webhooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.secrets.vault_key import KeySource


@dataclass(frozen=True, slots=True)
class RotationResult:
    """The result of a rotation: how many credentials were re-sealed."""

    credentials: int


def _no_pause(_: str) -> None:
    """Do nothing between the stages of a rotation."""


async def rotate_key(
    store: Store, keys: KeySource, new_key: bytes | None = None, *, reached: Callable[[str], None] = _no_pause
) -> RotationResult:
    """Seal everything with a new key, in one transaction; after a crash at any point the vault still opens.

    With a key file, the new key is written next to the old one before the transaction and replaces it afterwards; see
    `store.secrets.vault_key`. With a key in the environment, the operator has the new one.

    Args:
        store: The database.
        keys: The source of the present key.
        new_key: The new key; generated when None, which needs a key file.
        reached: Called at each stage, for tests of crashes.

    Raises:
        VaultKeyError: no key opens the vault, there is no vault, or the new key cannot be written.
        UnsealError: a credential does not open; nothing was changed.
    """
    if not isinstance(keys, KeyFile):
        if new_key is None:
            raise VaultKeyError("The key comes from the environment: give the new key.")
        return await _reseal(store, await opened_key(store, keys), new_key)
    with keys.rotating():
        old = await opened_key(store, keys)
        # First finish an interrupted rotation.
        keys.put_in_place(old)
        key = new_key or os.urandom(KEY_BYTES)
        try:
            keys.prepare(key)
        except OSError as error:
            raise VaultKeyError(f"The new key cannot be written to {keys.new}: {error}.") from error
        reached("prepared")
        done = await _reseal(store, old, key)
        reached("committed")
        keys.put_in_place(FoundKey(key, str(keys.new)))
        reached("placed")
    return done


async def opened_key(store: Store, keys: KeySource) -> FoundKey:
    """Return the key that opens the vault.

    Raises:
        VaultKeyError: there is no vault, or no key opens it.
    """
    content = await read_vault(store)
    if content.proof is None:
        raise VaultKeyError("There is no vault yet: nothing has been stored.")
    for candidate in keys.candidates():
        if candidate.cipher.fits(content.proof):
            return candidate
    raise VaultKeyError(f"No key here opens the vault. {keys.remedy}")


async def read_credentials(store: Store, keys: KeySource) -> list[dict[str, Any]]:
    """Return every credential with its values, for an export; audited.

    Raises:
        VaultKeyError: no key opens the vault.
        UnsealError: a credential does not open.
    """
    found = await opened_key(store, keys)
    content, cipher = await read_vault(store), found.cipher
    credentials = [
        {
            "key": row.key,
            "kind": row.kind,
            "fields": orjson.loads(cipher.open(row.sealed, place_of(row.key, row.kind))),
            "expires_at": row.expires_at.isoformat() if row.expires_at else None,
            "grants": sorted(target for credential_id, target in content.grants if credential_id == row.id),
        }
        for row in content.credentials
    ]
    await store.write(_audit, "export_credentials", {"credentials": [row["key"] for row in credentials]})
    return credentials


async def reset_vault(store: Store) -> int:
    """Delete every credential and the vault itself, when its key is lost; return how many credentials."""

    def unit(conn: Connection) -> int:
        count = empty_vault(conn)
        empty_sealed(conn)
        drop_pinned(conn)
        empty_webhooks(conn)
        empty_pushes(conn)
        _audit(conn, "reset_vault", {"credentials": count})
        return count

    return await store.write(unit)


async def _reseal(store: Store, old: FoundKey, new_key: bytes) -> RotationResult:
    before, after = old.cipher, Cipher(new_key)

    def resealed(sealed: str, place: str) -> tuple[str, str]:
        text = before.open(sealed, place)
        return after.seal(text, place), after.fingerprint(text)

    def unit(conn: Connection) -> int:
        count = reseal_all(conn, after.proof(), resealed)
        _reseal_others(conn, resealed)
        _audit(conn, "rotate_vault_key", {"credentials": count})
        return count

    return RotationResult(await store.write(unit))


def _reseal_others(conn: Connection, resealed: Callable[[str, str], tuple[str, str]]) -> None:
    """Seal learned values, webhooks and addresses of A2A with the new key; drop what does not open."""

    def reseal(sealed: str, place: str) -> str | None:
        try:
            return resealed(sealed, place)[0]
        except UnsealError:
            return None

    reseal_memory(conn, {entry_id: reseal(sealed, place) for entry_id, place, sealed in sealed_memory(conn)})
    for key, place, sealed in sealed_overrides(conn):
        if (text := reseal(sealed, place)) is not None:
            reseal_override(conn, key, text)
    reseal_webhooks(conn, reseal)
    reseal_pushes(conn, reseal)


def _audit(conn: Connection, action: str, detail: dict[str, Any]) -> None:
    append_audit(conn, actor_id=None, action=action, accepted=True, detail=orjson.dumps(detail).decode())


__all__ = ["RotationResult", "UnsealError", "opened_key", "read_credentials", "reset_vault", "rotate_key"]
