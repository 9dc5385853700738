"""The one row of `vault`: a known text, sealed with the key that everything else is sealed with.

Whoever seals locks it first and compares, so that no value is sealed with a key that a rotation has just replaced.
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
    """Somebody else changed the vault key or this credential meanwhile; look again, then repeat."""


_ADD = Sql("INSERT INTO vault (id, sealed, created_at) VALUES (:id, :proof, :now) ON CONFLICT (id) DO NOTHING")
# Locked: whoever seals and whoever rotates the key go one after the other.
_LOCK = Sql("SELECT sealed FROM vault WHERE id = :id FOR UPDATE")
_REPLACE = Sql("UPDATE vault SET sealed = :proof WHERE id = :id")
_DROP = Sql("DELETE FROM vault WHERE id = :id")
_READ = Sql("SELECT sealed FROM vault WHERE id = :id")


def found_vault(conn: Connection, proof: str) -> str:
    """Keeps the proof of a new vault; the one that counts, which is another's if somebody was first."""
    conn.run(_ADD, {"id": VAULT_ID, "proof": proof, "now": conn.now()})
    row = conn.one(_LOCK, {"id": VAULT_ID})
    assert row is not None, "inserted above"
    conn.wake(Topic.VAULT)
    return str(row.sealed)


def demand_proof(conn: Connection, proof: str, about: str = VAULT_ID) -> None:
    """Locks the vault against a change of its key.

    Args:
        conn: The unit's connection.
        proof: The vault's when values were sealed.
        about: What was sealed, for the error.

    Raises:
        VaultChangedError: the key is another by now.
    """
    row = conn.one(_LOCK, {"id": VAULT_ID})
    if row is None or row.sealed != proof:
        raise VaultChangedError(about)


def lock_vault(conn: Connection) -> None:
    """Locks the vault, to change its key.

    Raises:
        VaultChangedError: there is no vault.
    """
    if conn.one(_LOCK, {"id": VAULT_ID}) is None:
        raise VaultChangedError(VAULT_ID)


def replace_proof(conn: Connection, proof: str) -> None:
    """Says that everything is sealed with another key from now on."""
    conn.run(_REPLACE, {"id": VAULT_ID, "proof": proof})
    conn.wake(Topic.VAULT)


def drop_proof(conn: Connection) -> None:
    """Leaves no vault; the next key founds another."""
    conn.run(_DROP, {"id": VAULT_ID})
    conn.wake(Topic.VAULT)


async def find_proof(store: Store) -> str | None:
    """The proof; None before anything was sealed."""
    rows = await store.rows(_READ, {"id": VAULT_ID})
    return rows[0].sealed if rows else None


def sqlite_proof(path: Path) -> str | None:
    """The proof in an embedded database, read beside the server that may be using it; None when there is no vault."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as raw:
            row = raw.execute("SELECT sealed FROM vault WHERE id = ?", (VAULT_ID,)).fetchone()
    except sqlite3.Error:  # no file yet, or the schema of an older release
        return None
    return None if row is None else str(row[0])
