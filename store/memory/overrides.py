"""Defaults that callers pinned or excluded. Values arrive and leave sealed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from store.database.dialects import Sql, by_name
from store.memory.state import note_change
from store.secrets.vault_proof import require_proof

if TYPE_CHECKING:
    from collections.abc import Mapping

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.memory.entries import TargetKind

OverrideRule = Literal["pinned", "excluded"]


@dataclass(frozen=True, slots=True)
class OverrideRecord:
    """A default that a caller pinned or excluded; `sealed` is the value, None when it is excluded."""

    kind: TargetKind
    target: str
    field: str
    rule: OverrideRule
    sealed: str | None


_PUT = Sql(
    """INSERT INTO default_override (caller_id, kind, target, field, rule, sealed, updated_at)
    VALUES (:caller_id, :kind, :target, :field, :rule, :sealed, :now)
    ON CONFLICT (caller_id, kind, target, field) DO UPDATE
    SET rule = excluded.rule, sealed = excluded.sealed, updated_at = excluded.updated_at"""
)
_DROP = Sql(
    """DELETE FROM default_override
    WHERE caller_id = :caller_id AND kind = :kind AND target = :target AND field = :field"""
)
_LIST = Sql(
    """SELECT kind, target, field, rule, sealed FROM default_override WHERE caller_id = :caller_id
    ORDER BY kind, target, field"""
)
_SEALED = Sql(
    """SELECT caller_id, kind, target, field, sealed FROM default_override WHERE sealed IS NOT NULL
    ORDER BY caller_id, kind, target, field"""
)
_RESEAL = Sql(
    """UPDATE default_override SET sealed = :sealed
    WHERE caller_id = :caller_id AND kind = :kind AND target = :target AND field = :field"""
)
_DROP_PINNED = Sql("DELETE FROM default_override WHERE rule = 'pinned'")


def override_place(caller_id: str, kind: str, target: str, field: str) -> str:
    """Return the context that seals a pinned value, so that it opens in no other row or for another caller."""
    return f"default:{caller_id}:{kind}:{target}:{field}"


def put_override(conn: Connection, caller_id: str, override: OverrideRecord, *, proof: str | None) -> None:
    """Store an override, replacing the earlier one.

    Raises:
        VaultChangedError: the vault key was changed since the value was sealed, when `proof` was read.
    """
    if proof is not None:
        require_proof(conn, proof)
    note_change(conn, caller_id)
    conn.run(
        _PUT,
        {
            "caller_id": caller_id,
            "kind": override.kind,
            "target": override.target,
            "field": override.field,
            "rule": override.rule,
            "sealed": override.sealed,
            "now": conn.now(),
        },
    )


def drop_override(conn: Connection, caller_id: str, kind: TargetKind, target: str, field: str) -> None:
    """Delete an override: the default is learned again."""
    note_change(conn, caller_id)
    conn.run(_DROP, {"caller_id": caller_id, "kind": kind, "target": target, "field": field})


async def overrides_of(store: Store, caller_id: str) -> list[OverrideRecord]:
    """List a caller's overrides."""
    return [OverrideRecord(**by_name(row)) for row in await store.rows(_LIST, {"caller_id": caller_id})]


def sealed_overrides(conn: Connection) -> list[tuple[Mapping[str, str], str, str]]:
    """List key, place and sealed value of all pinned defaults, for a rotation of the vault key."""
    return [
        (
            {"caller_id": row.caller_id, "kind": row.kind, "target": row.target, "field": row.field},
            override_place(row.caller_id, row.kind, row.target, row.field),
            row.sealed,
        )
        for row in conn.all(_SEALED)
    ]


def reseal_override(conn: Connection, key: Mapping[str, str], sealed: str) -> None:
    """Replace the sealed value under a key from `sealed_overrides`."""
    conn.run(_RESEAL, {**key, "sealed": sealed})


def drop_pinned(conn: Connection) -> None:
    """Delete all pinned defaults, for a vault whose key is lost; exclusions stay."""
    conn.run(_DROP_PINNED)
