"""Writes the rows of pipelines and of their numbered versions, for users' saves and for starters.

A version is immutable; the pipeline's row repeats key, name and description of the current one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql
from store.database.ids import new_id
from store.pipelines.aliases import dump_aliases

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection, Row
    from store.pipelines.aliases import Alias


@dataclass(frozen=True, slots=True)
class Definition:
    """The texts of a version.

    Attributes:
        digest: SHA-256 of the canonical form of `document`.
        document: JSON text, keys in their author's order.
        yaml: The text people edit, comments kept.
        input_schema: JSON Schema text of the run inputs, declared or derived.
    """

    digest: str
    document: str
    yaml: str
    input_schema: str


@dataclass(frozen=True, slots=True)
class Heading:
    """The columns of a pipeline's row that follow its current version.

    Attributes:
        metadata_json: JSON text.
        search_text: Lower-case words of key, name, description and metadata.
        aliases: Earlier keys that still find the pipeline, with the present names of their inputs.
    """

    key: str
    name: str
    description: str
    metadata_json: str
    search_text: str
    aliases: tuple[Alias, ...] = field(default=())


_INSERT = Sql(
    """INSERT INTO pipeline (id, key, name, description, builtin, aliases, owner_id, current_number, metadata_json,
        search_text, created_at, updated_at)
    VALUES (:id, :key, :name, :description, :builtin, :aliases, :owner_id, 1, :metadata_json, :search_text, :now, :now)
    ON CONFLICT DO NOTHING"""
)
_INSERT_VERSION = Sql(
    """INSERT INTO pipeline_version (id, pipeline_id, number, digest, document, yaml, input_schema, note, created_by,
        created_at)
    VALUES (:id, :pipeline_id, :number, :digest, :document, :yaml, :input_schema, :note, :created_by, :now)"""
)
_LOCK = Sql("SELECT current_number, builtin, deleted_at IS NOT NULL AS hidden FROM pipeline WHERE id = :id FOR UPDATE")
#: Two definitions are the same when these are: `document` is made from `yaml`.
_TEXTS = ("digest", "yaml", "input_schema")
#: Fields of `Heading` that are stored unchanged.
_HEADING_FIELDS = ("key", "name", "description", "metadata_json", "search_text")
_CURRENT = Sql(
    f"""SELECT version.id, {", ".join(f"version.{name}" for name in _TEXTS)},
        {", ".join(f"pipeline.{name}" for name in _HEADING_FIELDS)}, pipeline.aliases
    FROM pipeline JOIN pipeline_version version
        ON version.pipeline_id = pipeline.id AND version.number = pipeline.current_number
    WHERE pipeline.id = :id"""
)
_UPDATE = Sql(
    """UPDATE pipeline SET key = :key, name = :name, description = :description, aliases = :aliases,
        metadata_json = :metadata_json, search_text = :search_text, current_number = :number, updated_at = :now,
        deleted_at = NULL
    WHERE id = :id"""
)
_HIDE = Sql("UPDATE pipeline SET deleted_at = :now, updated_at = :now WHERE id = :id AND deleted_at IS NULL")


def add_pipeline(conn: Connection, pipeline_id: str, heading: Heading, now: datetime, *, owner_id: str | None) -> bool:
    """Add a pipeline's row; return false when its id or key is taken. `add_version` adds its first version.

    A starter has no owner.
    """
    values = _heading_columns(pipeline_id, heading, now) | {"builtin": owner_id is None, "owner_id": owner_id}
    return conn.run(_INSERT, values) > 0


def update_pipeline(conn: Connection, pipeline_id: str, heading: Heading, now: datetime, *, number: int) -> None:
    """Make version `number` the current one and write its heading; a hidden pipeline becomes visible."""
    conn.run(_UPDATE, _heading_columns(pipeline_id, heading, now) | {"number": number})


def hide_pipeline(conn: Connection, pipeline_id: str, now: datetime) -> bool:
    """Hide a pipeline; return false when it was hidden already."""
    return conn.run(_HIDE, {"id": pipeline_id, "now": now}) > 0


class LockedPipeline(NamedTuple):
    """A pipeline whose row this transaction has locked."""

    current_number: int
    builtin: bool
    hidden: bool


def lock_pipeline(conn: Connection, pipeline_id: str) -> LockedPipeline | None:
    """Lock a pipeline's row until the transaction ends; None when there is no such pipeline."""
    row = conn.one(_LOCK, {"id": pipeline_id})
    return None if row is None else LockedPipeline(row.current_number, bool(row.builtin), bool(row.hidden))


def add_version(
    conn: Connection,
    pipeline_id: str,
    number: int,
    definition: Definition,
    now: datetime,
    *,
    note: str | None,
    created_by: str | None,
) -> str:
    """Add a version and return its id."""
    version_id = new_id("pver")
    conn.run(
        _INSERT_VERSION,
        {
            "id": version_id,
            "pipeline_id": pipeline_id,
            "number": number,
            "digest": definition.digest,
            "document": definition.document,
            "yaml": definition.yaml,
            "input_schema": definition.input_schema,
            "note": note,
            "created_by": created_by,
            "now": now,
        },
    )
    return version_id


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """A pipeline's heading and current version, to find out whether a save changes anything."""

    id: str
    key: str
    _row: Row

    @classmethod
    def of(cls, conn: Connection, pipeline_id: str) -> CurrentVersion:
        """Read the current version of a pipeline that exists."""
        row = conn.one(_CURRENT, {"id": pipeline_id})
        assert row is not None, "a pipeline always has its current version"
        return cls(row.id, row.key, row)

    def has_text_of(self, definition: Definition) -> bool:
        """Return whether the definition is the same, comments included."""
        return all(getattr(self._row, name) == getattr(definition, name) for name in _TEXTS)

    def is_same(self, heading: Heading, definition: Definition) -> bool:
        """Return whether heading and definition are the same."""
        return (
            self.has_text_of(definition)
            and all(getattr(self._row, name) == getattr(heading, name) for name in _HEADING_FIELDS)
            and self._row.aliases == dump_aliases(heading.aliases)
        )


def _heading_columns(pipeline_id: str, heading: Heading, now: datetime) -> dict[str, object]:
    return {
        "id": pipeline_id,
        "key": heading.key,
        "name": heading.name,
        "description": heading.description,
        "aliases": dump_aliases(heading.aliases),
        "metadata_json": heading.metadata_json,
        "search_text": heading.search_text,
        "now": now,
    }
