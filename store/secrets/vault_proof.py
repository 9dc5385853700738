"""The proof, the one row of `vault`: a known text, sealed with the same key as everything else.

A unit that stores sealed values locks it first and compares, so that none is sealed with a key that a rotation has just
replaced.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.database.wakes import Topic

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store

#: The id of the row.
VAULT_ID = "vault"


class VaultChangedError(Exception):
    """The vault key or the credential was changed meanwhile; read it again, then retry."""


_ADD = Sql("INSERT INTO vault (id, sealed, created_at) VALUES (:id, :proof, :now) ON CONFLICT (id) DO NOTHING")
# Locked, so that storing sealed values and rotating the key happen one after the other.
_LOCK = Sql("SELECT sealed FROM vault WHERE id = :id FOR UPDATE")
_REPLACE = Sql("UPDATE vault SET sealed = :proof WHERE id = :id")
_DROP = Sql("DELETE FROM vault WHERE id = :id")
_READ = Sql("SELECT sealed FROM vault WHERE id = :id")


def create_vault(conn: Connection, proof: str) -> str:
    """Store the proof of a new vault and return the stored one, which is another's if another process was first."""
    conn.run(_ADD, {"id": VAULT_ID, "proof": proof, "now": conn.now()})
    row = conn.one(_LOCK, {"id": VAULT_ID})
    assert row is not None, "inserted above"
    conn.wake(Topic.VAULT)
    return str(row.sealed)


def require_proof(conn: Connection, proof: str, about: str = VAULT_ID) -> None:
    """Lock the vault against a change of its key.

    Args:
        conn: The unit's connection.
        proof: The vault's proof when the values were sealed.
        about: What was sealed, for the error.

    Raises:
        VaultChangedError: the key has changed since then.
    """
    row = conn.one(_LOCK, {"id": VAULT_ID})
    if row is None or row.sealed != proof:
        raise VaultChangedError(about)


def lock_vault(conn: Connection) -> None:
    """Lock the vault, to change its key.

    Raises:
        VaultChangedError: there is no vault.
    """
    if conn.one(_LOCK, {"id": VAULT_ID}) is None:
        raise VaultChangedError(VAULT_ID)


def replace_proof(conn: Connection, proof: str) -> None:
    """Replace the proof, when everything has been sealed with another key."""
    conn.run(_REPLACE, {"id": VAULT_ID, "proof": proof})
    conn.wake(Topic.VAULT)


def drop_proof(conn: Connection) -> None:
    """Delete the proof; the next key makes a new vault."""
    conn.run(_DROP, {"id": VAULT_ID})
    conn.wake(Topic.VAULT)


async def find_proof(store: Store) -> str | None:
    """Read the proof; None before anything was sealed."""
    rows = await store.rows(_READ, {"id": VAULT_ID})
    return rows[0].sealed if rows else None


def sqlite_proof(path: Path) -> str | None:
    """Read the proof in an embedded database, which a server may be using; None when there is no vault."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as raw:
            row = raw.execute("SELECT sealed FROM vault WHERE id = ?", (VAULT_ID,)).fetchone()
    except sqlite3.Error:  # no file yet, or the schema of an older release
        return None
    return None if row is None else str(row[0])
