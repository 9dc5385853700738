"""Credentials as rows: sealed values, names, and grants.

The callers seal the values (`store.secrets.cipher`) and prove their key (`store.secrets.vault_proof`); no function of
this module knows a key. Each change wakes `vault`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from store.database.dialects import Sql, instant
from store.database.ids import new_id
from store.database.paging import capped_count, fetch_page
from store.database.wakes import Topic
from store.models.credentials import CREDENTIAL, CREDENTIAL_GRANT
from store.models.declaring import columns_of
from store.secrets.vault_proof import (
    VaultChangedError,
    drop_proof,
    find_proof,
    lock_vault,
    replace_proof,
    require_proof,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow

#: Most grants of one credential.
GRANTS_MAX = 200


class Keep(Enum):
    """Marks a field that a change leaves as it is; None would clear it."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


class TooManyGrantsError(Exception):
    """A credential would have more than `GRANTS_MAX` grants; the argument is how many."""


@dataclass(frozen=True, slots=True)
class CredentialRecord:
    """A credential without its values; `fields_set` is a JSON list of field names."""

    id: str
    key: str
    kind: str
    description: str | None
    fields_set: str
    fingerprint: str
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    tested_at: datetime | None
    test_accepted: bool | None
    test_message: str | None


@dataclass(frozen=True, slots=True)
class SealedCredential:
    """A credential with its sealed values."""

    id: str
    key: str
    kind: str
    sealed: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class VaultContent:
    """Everything in the vault, sealed.

    Attributes:
        proof: A known text sealed with the vault key; None before anything was sealed.
        grants: Pairs of a credential's id and the pack, pipeline or caller it is shared with.
    """

    proof: str | None
    credentials: tuple[SealedCredential, ...]
    grants: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SealedValues:
    """Sealed values to store.

    Attributes:
        proof: The vault's proof when they were sealed.
        before: The sealed values they replace; None for a new credential.
    """

    sealed: str
    fields_set: Sequence[str]
    fingerprint: str
    proof: str
    before: str | None


@dataclass(frozen=True, slots=True)
class GrantChange:
    """Grants to add and remove.

    Attributes:
        add: Names of packs, ids of pipelines and callers.
        remove: The same; those that have no grant are ignored.
        replaces: Whether `add` replaces all present grants.
    """

    add: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()
    replaces: bool = False

    def applied(self, before: frozenset[str]) -> frozenset[str]:
        """Return the grants after the change."""
        return (frozenset() if self.replaces else before - self.remove) | self.add


@dataclass(frozen=True, slots=True)
class CredentialChange:
    """A new credential, or a change of one; with `values` None its values stay."""

    key: str
    kind: str
    description: str | Keep | None
    expires_at: datetime | Keep | None
    values: SealedValues | None
    grants: GrantChange = GrantChange()


_BY_KEY = Sql("SELECT id, sealed, kind FROM credential WHERE key = :key FOR UPDATE")
_INSERT = Sql(
    """INSERT INTO credential (id, key, kind, description, sealed, fields_set, fingerprint, created_at, updated_at,
        expires_at)
    VALUES (:id, :key, :kind, :description, :sealed, :fields_set, :fingerprint, :now, :now, :expires_at)"""
)
_DESCRIBE = Sql("UPDATE credential SET description = :description WHERE id = :id")
_EXPIRE = Sql("UPDATE credential SET expires_at = :expires_at WHERE id = :id")
# New values were never tested.
_REPLACE = Sql(
    """UPDATE credential SET kind = :kind, sealed = :sealed, fields_set = :fields_set, fingerprint = :fingerprint,
        updated_at = :now, tested_at = NULL, test_accepted = NULL, test_message = NULL
    WHERE id = :id"""
)
_DELETE = Sql("DELETE FROM credential WHERE id = :id")
_DELETE_GRANTS = Sql("DELETE FROM credential_grant WHERE credential_id = :id")
_DELETE_GRANT = Sql("DELETE FROM credential_grant WHERE credential_id = :id AND target = :target")
_GRANTS = Sql("SELECT target FROM credential_grant WHERE credential_id = :id")
_INSERT_GRANT = Sql("INSERT INTO credential_grant (credential_id, target) VALUES (:id, :target)")
_GRANTED = Sql("SELECT 1 FROM credential_grant WHERE credential_id = :id AND target = :target")
_USED = Sql("UPDATE credential SET last_used_at = :now WHERE id = :id")
_TESTED = Sql(
    """UPDATE credential SET tested_at = :now, test_accepted = :accepted, test_message = :message
    WHERE id = :id AND sealed = :sealed"""
)
_ALL = Sql("SELECT id, key, kind, sealed FROM credential ORDER BY id FOR UPDATE")
_RESEAL = Sql("UPDATE credential SET sealed = :sealed, fingerprint = :fingerprint WHERE id = :id")
_EMPTY = Sql("DELETE FROM credential")

_COLUMNS = columns_of(CREDENTIAL, CredentialRecord)
_SEALED = Sql("SELECT id, key, kind, sealed, expires_at FROM credential ORDER BY id")
_EVERY_GRANT = Sql("SELECT credential_id, target FROM credential_grant")


def place_of(key: str, kind: str) -> str:
    """Return the place a credential's values are sealed for: its key and kind, so that they open in no other row."""
    return f"credential:{kind}:{key}"


# ------------------------------------------------------------------------------------------------ units


def put_credential(conn: Connection, change: CredentialChange) -> str:
    """Add or change a credential; return its id.

    Raises:
        VaultChangedError: the vault key was rotated, or the credential changed, since the values were sealed; or the
            credential was deleted or has another kind.
        TooManyGrantsError: it would have more than `GRANTS_MAX` grants.
    """
    values = change.values
    if values is not None:
        require_proof(conn, values.proof, change.key)
    row = conn.one(_BY_KEY, {"key": change.key})
    if row is None:
        credential_id = _insert(conn, change)
    else:
        credential_id = row.id
        if values is not None:
            if row.sealed != values.before:
                raise VaultChangedError(change.key)
            conn.run(_REPLACE, {"id": credential_id, **_columns_of(change, values), "now": conn.now()})
        elif row.kind != change.kind:
            raise VaultChangedError(change.key)
        if not isinstance(change.description, Keep):
            conn.run(_DESCRIBE, {"id": credential_id, "description": change.description})
        if not isinstance(change.expires_at, Keep):
            conn.run(_EXPIRE, {"id": credential_id, "expires_at": change.expires_at})
    _share(conn, credential_id, change.grants)
    conn.wake(Topic.VAULT)
    return str(credential_id)


def _insert(conn: Connection, change: CredentialChange) -> str:
    values = change.values
    if values is None or values.before is not None:
        raise VaultChangedError(change.key)
    credential_id = new_id("cred")
    described = None if isinstance(change.description, Keep) else change.description
    expires = None if isinstance(change.expires_at, Keep) else change.expires_at
    conn.run(
        _INSERT,
        {
            "id": credential_id,
            "key": change.key,
            **_columns_of(change, values),
            "description": described,
            "expires_at": expires,
            "now": conn.now(),
        },
    )
    return credential_id


def _columns_of(change: CredentialChange, values: SealedValues) -> dict[str, str]:
    return {
        "kind": change.kind,
        "sealed": values.sealed,
        "fields_set": json.dumps(list(values.fields_set)),
        "fingerprint": values.fingerprint,
    }


def _share(conn: Connection, credential_id: str, change: GrantChange) -> None:
    before = frozenset(row.target for row in conn.all(_GRANTS, {"id": credential_id}))
    after = change.applied(before)
    if len(after) > max(GRANTS_MAX, len(before)):
        raise TooManyGrantsError(len(after))
    for target in sorted(before - after):
        conn.run(_DELETE_GRANT, {"id": credential_id, "target": target})
    for target in sorted(after - before):
        conn.run(_INSERT_GRANT, {"id": credential_id, "target": target})


def delete_credential(conn: Connection, credential_id: str) -> bool:
    """Delete a credential with its grants; return false when there is none."""
    conn.run(_DELETE_GRANTS, {"id": credential_id})
    conn.wake(Topic.VAULT)
    return conn.run(_DELETE, {"id": credential_id}) > 0


def record_use(conn: Connection, credential_id: str, targets: Iterable[str]) -> bool:
    """Record that a credential is about to be used; return false when none of the targets has a grant for it."""
    for target in targets:
        if conn.one(_GRANTED, {"id": credential_id, "target": target}) is not None:
            return conn.run(_USED, {"id": credential_id, "now": conn.now()}) > 0
    return False


def record_uses(conn: Connection, credential_ids: Iterable[str]) -> None:
    """Record that the server itself has just used these credentials."""
    for credential_id in credential_ids:
        conn.run(_USED, {"id": credential_id, "now": conn.now()})


def record_test(conn: Connection, credential_id: str, *, sealed: str, accepted: bool, message: str) -> bool:
    """Record the result of a test; return false when the tested values were replaced meanwhile."""
    found = {"id": credential_id, "sealed": sealed, "accepted": accepted, "message": message, "now": conn.now()}
    return conn.run(_TESTED, found) > 0


def reseal_all(conn: Connection, proof: str, reseal: Callable[[str, str], tuple[str, str]]) -> int:
    """Re-seal every credential, for a rotation of the vault key; return how many.

    Args:
        conn: The unit's connection.
        proof: The new key's proof.
        reseal: Takes a sealed text and its place; returns it sealed with the new key, and its new fingerprint.

    Raises:
        VaultChangedError: there is no vault.
    """
    lock_vault(conn)
    rows = conn.all(_ALL)
    for row in rows:
        sealed, fingerprint = reseal(row.sealed, place_of(row.key, row.kind))
        conn.run(_RESEAL, {"id": row.id, "sealed": sealed, "fingerprint": fingerprint})
    replace_proof(conn, proof)
    return len(rows)


def empty_vault(conn: Connection) -> int:
    """Delete every credential and the vault's proof, for a vault whose key is lost; return how many credentials."""
    rows = conn.all(_ALL)
    for row in rows:
        conn.run(_DELETE_GRANTS, {"id": row.id})
    conn.run(_EMPTY)
    drop_proof(conn)
    return len(rows)


# ------------------------------------------------------------------------------------------------ reads


async def read_vault(store: Store) -> VaultContent:
    """Read everything in the vault, sealed."""
    proof = await find_proof(store)
    sealed = await store.rows(_SEALED)
    grants = await store.rows(_EVERY_GRANT)
    return VaultContent(
        proof,
        tuple(SealedCredential(row.id, row.key, row.kind, row.sealed, instant(row.expires_at)) for row in sealed),
        frozenset((row.credential_id, row.target) for row in grants),
    )


async def list_credentials(store: Store, window: PageWindow) -> list[CredentialRecord]:
    """List credentials, newest first; the sort key is `(id,)`."""
    rows = await fetch_page(store, sa.select(*_COLUMNS), [(CREDENTIAL.c.id, True)], window)
    return [CredentialRecord(**row) for row in rows]


async def count_credentials(store: Store) -> int:
    return await capped_count(store, sa.select(CREDENTIAL.c.id))


async def find_credentials(store: Store, ids: Sequence[str]) -> dict[str, CredentialRecord]:
    rows = await store.read(sa.select(*_COLUMNS).where(CREDENTIAL.c.id.in_(ids)))
    return {row["id"]: CredentialRecord(**row) for row in rows.mappings()}


async def find_credential(store: Store, key: str) -> CredentialRecord | None:
    row = (await store.read(sa.select(*_COLUMNS).where(CREDENTIAL.c.key == key))).mappings().first()
    return None if row is None else CredentialRecord(**row)


async def grants_of(store: Store, credential_id: str) -> list[str]:
    """List the packs, pipelines and callers that have a grant for a credential, in alphabetical order."""
    wanted = sa.select(CREDENTIAL_GRANT.c.target).where(CREDENTIAL_GRANT.c.credential_id == credential_id)
    return sorted((await store.read(wanted)).scalars())
