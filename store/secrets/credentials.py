"""Credentials as rows: sealed values, what they are called, and whom they are shared with.

What is kept here is sealed by whoever calls (`store.secrets.cipher`), under `store.secrets.vault_proof`; nothing in
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
from store.database.paging import fetch_page
from store.database.wakes import Topic
from store.models.credentials import CREDENTIAL, CREDENTIAL_GRANT
from store.models.declaring import columns_of
from store.secrets.vault_proof import VaultChangedError, demand_proof, drop_proof, find_proof, lock_vault, replace_proof

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow

#: Most grants of one credential.
GRANTS_MAX = 200


class Keep(Enum):
    """Stands for what a change leaves as it is; None would take it away."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


class TooManyGrantsError(Exception):
    """A credential would be shared with more than `GRANTS_MAX`; how many is the argument."""


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
    """What the vault needs of a credential."""

    id: str
    key: str
    kind: str
    sealed: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class VaultContent:
    """Everything the vault holds, as it is stored.

    Attributes:
        proof: A known text sealed with the vault key; None before anything was sealed.
        grants: Pairs of a credential's id and whom it is shared with.
    """

    proof: str | None
    credentials: tuple[SealedCredential, ...]
    grants: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SealedValues:
    """Values to store, sealed for their place.

    Attributes:
        proof: The vault's proof when they were sealed.
        before: What the row held when they were made; None for a credential that is new.
    """

    sealed: str
    fields_set: Sequence[str]
    fingerprint: str
    proof: str
    before: str | None


@dataclass(frozen=True, slots=True)
class GrantChange:
    """Whom to share a credential with besides those it is shared with, or instead of them.

    Attributes:
        add: Names of packs, ids of pipelines and callers.
        remove: The same; what is not granted anyway does not matter.
        replaces: Whether `add` is all there is to be.
    """

    add: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()
    replaces: bool = False

    def applied(self, before: frozenset[str]) -> frozenset[str]:
        """The grants after it."""
        return (frozenset() if self.replaces else before - self.remove) | self.add


@dataclass(frozen=True, slots=True)
class CredentialChange:
    """What to store of a credential; `values` None leaves the values as they are."""

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
# Values that are new were never tested nor used.
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
    """Where a credential's values are sealed for: its key and kind, so that they open in no other row."""
    return f"credential:{kind}:{key}"


# ------------------------------------------------------------------------------------------------ units


def put_credential(conn: Connection, change: CredentialChange) -> str:
    """Stores a credential, or changes what is given of it; its id.

    Raises:
        VaultChangedError: the vault key was rotated, or the credential changed, since the values were sealed; or there
            is no such credential of this kind any more.
        TooManyGrantsError: it would be shared with too many.
    """
    values = change.values
    if values is not None:
        demand_proof(conn, values.proof, change.key)
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
    """Deletes a credential with its grants; false when there is none."""
    conn.run(_DELETE_GRANTS, {"id": credential_id})
    conn.wake(Topic.VAULT)
    return conn.run(_DELETE, {"id": credential_id}) > 0


def note_use(conn: Connection, credential_id: str, targets: Iterable[str]) -> bool:
    """Notes that a credential is about to be used; false when none of these has a grant for it any more."""
    for target in targets:
        if conn.one(_GRANTED, {"id": credential_id, "target": target}) is not None:
            return conn.run(_USED, {"id": credential_id, "now": conn.now()}) > 0
    return False


def note_uses(conn: Connection, credential_ids: Iterable[str]) -> None:
    """Notes that the server itself used these credentials just now."""
    for credential_id in credential_ids:
        conn.run(_USED, {"id": credential_id, "now": conn.now()})


def note_test(conn: Connection, credential_id: str, *, sealed: str, accepted: bool, message: str) -> bool:
    """Notes what a test came to; false when the values that were tested are not the present ones any more."""
    found = {"id": credential_id, "sealed": sealed, "accepted": accepted, "message": message, "now": conn.now()}
    return conn.run(_TESTED, found) > 0


def reseal_all(conn: Connection, proof: str, reseal: Callable[[str, str], tuple[str, str]]) -> int:
    """Seals every credential anew, for a rotation of the vault key; how many.

    Args:
        conn: The unit's connection.
        proof: The new key's.
        reseal: Given what is sealed and for which place, the same sealed anew and its new fingerprint.

    Raises:
        VaultChangedError: there is no vault.
    """
    lock_vault(conn)
    rows = conn.all(_ALL)
    for row in rows:
        again, fingerprint = reseal(row.sealed, place_of(row.key, row.kind))
        conn.run(_RESEAL, {"id": row.id, "sealed": again, "fingerprint": fingerprint})
    replace_proof(conn, proof)
    return len(rows)


def empty_vault(conn: Connection) -> int:
    """Deletes every credential and the vault's proof, for a vault whose key is lost; how many credentials."""
    rows = conn.all(_ALL)
    for row in rows:
        conn.run(_DELETE_GRANTS, {"id": row.id})
    conn.run(_EMPTY)
    drop_proof(conn)
    return len(rows)


# ------------------------------------------------------------------------------------------------ reads


async def read_vault(store: Store) -> VaultContent:
    """Everything the vault holds, sealed."""
    proof = await find_proof(store)
    sealed = await store.rows(_SEALED)
    grants = await store.rows(_EVERY_GRANT)
    return VaultContent(
        proof,
        tuple(SealedCredential(row.id, row.key, row.kind, row.sealed, instant(row.expires_at)) for row in sealed),
        frozenset((row.credential_id, row.target) for row in grants),
    )


async def list_credentials(store: Store, window: PageWindow) -> list[CredentialRecord]:
    """Credentials, newest first; the sort key is `(id,)`."""
    rows = await fetch_page(store, sa.select(*_COLUMNS), [(CREDENTIAL.c.id, True)], window)
    return [CredentialRecord(**row) for row in rows]


async def find_credentials(store: Store, ids: Sequence[str]) -> dict[str, CredentialRecord]:
    """Credentials by id."""
    rows = await store.read(sa.select(*_COLUMNS).where(CREDENTIAL.c.id.in_(ids)))
    return {row["id"]: CredentialRecord(**row) for row in rows.mappings()}


async def find_credential(store: Store, key: str) -> CredentialRecord | None:
    """A credential by key."""
    row = (await store.read(sa.select(*_COLUMNS).where(CREDENTIAL.c.key == key))).mappings().first()
    return None if row is None else CredentialRecord(**row)


async def grants_of(store: Store, credential_id: str) -> list[str]:
    """Whom a credential is shared with, in alphabetical order."""
    wanted = sa.select(CREDENTIAL_GRANT.c.target).where(CREDENTIAL_GRANT.c.credential_id == credential_id)
    return sorted((await store.read(wanted)).scalars())
