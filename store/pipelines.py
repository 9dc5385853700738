"""Pipelines and their numbered versions: the units that write them.

Every save makes an immutable version, guarded by the number it was based on. Starters are the same rows with `builtin`
set, brought up to date at each start. Deleting hides: runs and versions stay. Reads are in `store.pipeline_reads`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from store.aliases import dump_aliases, load_aliases
from store.dialects import Sql
from store.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.aliases import Alias
    from store.dialects import Connection, Row

#: Woken by every change of a pipeline, beside `pipeline:<id>`.
ALL_PIPELINES = "pipelines"


class PipelineError(Exception):
    """A pipeline could not be saved as asked; nothing was written."""


class NoPipelineError(PipelineError):
    """There is no such pipeline, or it is deleted."""

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(f"There is no pipeline {pipeline_id}.")
        self.pipeline_id = pipeline_id


class ReadOnlyPipelineError(PipelineError):
    """The pipeline is a starter: it ships with the release and is cloned, not changed."""

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(f"{pipeline_id} is a starter. Clone it and change the copy.")
        self.pipeline_id = pipeline_id


class StaleVersionError(PipelineError):
    """The change was based on a version that is no longer the current one.

    Attributes:
        current: Number of the current version.
    """

    def __init__(self, pipeline_id: str, based_on: int, current: int) -> None:
        super().__init__(f"{pipeline_id} is at version {current}, the change was based on {based_on}.")
        self.pipeline_id = pipeline_id
        self.based_on = based_on
        self.current = current


class KeyTakenError(PipelineError):
    """Another pipeline has the key.

    Attributes:
        pipeline_id: The pipeline that has it.
    """

    def __init__(self, key: str, pipeline_id: str) -> None:
        super().__init__(f"The key `{key}` belongs to {pipeline_id}.")
        self.key = key
        self.pipeline_id = pipeline_id


class StarterNameError(KeyTakenError):
    """The key is a starter's, or an earlier name that leads to one; only a starter that comes later may share a key.

    Attributes:
        starter: Key of the starter.
    """

    def __init__(self, key: str, pipeline_id: str, starter: str) -> None:
        super().__init__(key, pipeline_id)
        self.starter = starter


@dataclass(frozen=True, slots=True)
class Definition:
    """What a version keeps.

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
    """What the pipeline itself shows of its current version.

    Attributes:
        metadata_json: JSON text (CONTRACT 5.1).
        search_text: Lower-case words of key, name, description and metadata.
        aliases: Earlier keys that still lead here, with what their inputs are called now.
    """

    key: str
    name: str
    description: str
    metadata_json: str
    search_text: str
    aliases: tuple[Alias, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Starter:
    """A pipeline as this release ships it; `id` is `builtin.<slug>`."""

    id: str
    heading: Heading
    definition: Definition


@dataclass(frozen=True, slots=True)
class Saved:
    """The version a save led to; `changed` is false when it was the current one already."""

    pipeline_id: str
    version_id: str
    number: int
    changed: bool = True


@dataclass(frozen=True, slots=True)
class StarterChanges:
    """Ids of the starters that a start added, updated, deleted, or hid because runs refer to them."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


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
_USER_KEY = Sql("SELECT id FROM pipeline WHERE key = :key AND deleted_at IS NULL AND NOT builtin AND id <> :id")
_STARTER_NAMES = Sql(
    """SELECT id, key, aliases FROM pipeline
    WHERE builtin AND deleted_at IS NULL AND (key = :key OR aliases <> '[]') ORDER BY id"""
)
_LOCK = Sql("SELECT current_number, builtin, deleted_at IS NOT NULL FROM pipeline WHERE id = :id FOR UPDATE")
_CURRENT = Sql(
    """SELECT version.id, version.digest, version.yaml, version.input_schema, pipeline.key, pipeline.name,
        pipeline.description, pipeline.metadata_json, pipeline.search_text, pipeline.aliases
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
_STARTERS = Sql("SELECT id, deleted_at IS NOT NULL FROM pipeline WHERE builtin ORDER BY id")
_HAS_RUNS = Sql("SELECT 1 FROM run WHERE pipeline_id = :id LIMIT 1")
_DELETE = Sql("DELETE FROM pipeline WHERE id = :id")


def create_pipeline(
    conn: Connection, heading: Heading, definition: Definition, *, owner_id: str, note: str | None = None
) -> Saved:
    """Saves a new pipeline with version 1.

    Raises:
        KeyTakenError: another pipeline, not deleted, has the key; a starter's earlier names are as good as its key.
    """
    _refuse_starter_name(conn, heading.key)
    pipeline_id = new_id("pipe")
    now = conn.now()
    if not conn.run(_INSERT, _head(pipeline_id, heading, now) | {"builtin": False, "owner_id": owner_id}):
        raise _taken(conn, heading.key, pipeline_id)
    version_id = _add_version(conn, pipeline_id, 1, definition, now, note=note, created_by=owner_id)
    _wake(conn, pipeline_id)
    return Saved(pipeline_id, version_id, 1)


def save_version(
    conn: Connection,
    pipeline_id: str,
    heading: Heading,
    definition: Definition,
    *,
    based_on: int,
    saved_by: str,
    note: str | None = None,
) -> Saved:
    """Saves a new version; the same text as the current one changes nothing.

    Args:
        conn: The unit's connection.
        pipeline_id: The pipeline.
        heading: Key, name and so on from now on.
        definition: What the version keeps.
        based_on: Number of the version the author started from.
        saved_by: Id of the caller.
        note: What the author says about the change.

    Raises:
        NoPipelineError: it does not exist or is deleted.
        ReadOnlyPipelineError: it is a starter.
        StaleVersionError: it has another current version by now.
        KeyTakenError: another pipeline has the new key, or it is a starter's earlier name.
    """
    current, builtin, deleted = conn.one(_LOCK, {"id": pipeline_id}) or (0, False, True)
    if deleted:
        raise NoPipelineError(pipeline_id)
    if builtin:
        raise ReadOnlyPipelineError(pipeline_id)
    if current != based_on:
        raise StaleVersionError(pipeline_id, based_on, current)
    now = conn.now()
    before = conn.one(_CURRENT, {"id": pipeline_id})
    assert before is not None, "a pipeline always has its current version"
    if _same(before, heading, definition):
        return Saved(pipeline_id, before[0], current, changed=False)
    if heading.key != before[4]:  # what has its key keeps it when a starter of that name comes along
        _refuse_starter_name(conn, heading.key)
    if conn.one(_USER_KEY, {"key": heading.key, "id": pipeline_id}) is not None:
        raise _taken(conn, heading.key, pipeline_id)
    number = current + 1
    conn.run(_UPDATE, _head(pipeline_id, heading, now) | {"number": number})
    version_id = _add_version(conn, pipeline_id, number, definition, now, note=note, created_by=saved_by)
    _wake(conn, pipeline_id)
    return Saved(pipeline_id, version_id, number)


def delete_pipeline(conn: Connection, pipeline_id: str) -> bool:
    """Hides a pipeline; its runs and versions stay. False when it was hidden already.

    Raises:
        NoPipelineError: it does not exist.
        ReadOnlyPipelineError: it is a starter.
    """
    row = conn.one(_LOCK, {"id": pipeline_id})
    if row is None:
        raise NoPipelineError(pipeline_id)
    if row[1]:
        raise ReadOnlyPipelineError(pipeline_id)
    hidden = conn.run(_HIDE, {"id": pipeline_id, "now": conn.now()}) > 0
    if hidden:
        _wake(conn, pipeline_id)
    return hidden


def upsert_starters(conn: Connection, starters: Sequence[Starter]) -> StarterChanges:
    """Makes the starters of the database those of this release; running it again changes nothing.

    A starter no longer shipped is deleted, or hidden when runs refer to it. Users' pipelines are never touched.
    """
    now = conn.now()
    known = {row[0]: bool(row[1]) for row in conn.all(_STARTERS)}
    added: list[str] = []
    updated: list[str] = []
    for starter in starters:
        if starter.id not in known:
            # Another server that starts right now may be first; its version then stands.
            if conn.run(_INSERT, _head(starter.id, starter.heading, now) | {"builtin": True, "owner_id": None}):
                _add_version(conn, starter.id, 1, starter.definition, now, note=None, created_by=None)
                added.append(starter.id)
        elif _update_starter(conn, starter, now):
            updated.append(starter.id)
    shipped = {starter.id for starter in starters}
    removed: list[str] = []
    hidden: list[str] = []
    for pipeline_id, deleted in known.items():
        if pipeline_id in shipped:
            continue
        if conn.one(_HAS_RUNS, {"id": pipeline_id}) is None:
            conn.run(_DELETE, {"id": pipeline_id})
            removed.append(pipeline_id)
        elif not deleted:
            conn.run(_HIDE, {"id": pipeline_id, "now": now})
            hidden.append(pipeline_id)
    changes = StarterChanges(tuple(added), tuple(updated), tuple(removed), tuple(hidden))
    for pipeline_id in (*added, *updated, *removed, *hidden):
        _wake(conn, pipeline_id)
    return changes


def _update_starter(conn: Connection, starter: Starter, now: datetime) -> bool:
    number, _, deleted = conn.one(_LOCK, {"id": starter.id}) or (0, True, True)
    before = conn.one(_CURRENT, {"id": starter.id})
    assert before is not None, "a pipeline always has its current version"
    if _same(before, starter.heading, starter.definition) and not deleted:
        return False
    new_text = _text_differs(before, starter.definition)
    conn.run(_UPDATE, _head(starter.id, starter.heading, now) | {"number": number + 1 if new_text else number})
    if new_text:
        _add_version(conn, starter.id, number + 1, starter.definition, now, note=None, created_by=None)
    return True


def _add_version(
    conn: Connection,
    pipeline_id: str,
    number: int,
    definition: Definition,
    now: datetime,
    *,
    note: str | None,
    created_by: str | None,
) -> str:
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


def _head(pipeline_id: str, heading: Heading, now: datetime) -> dict[str, object]:
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


def _text_differs(before: Row, definition: Definition) -> bool:
    return tuple(before[1:4]) != (definition.digest, definition.yaml, definition.input_schema)


def _same(before: Row, heading: Heading, definition: Definition) -> bool:
    shown = (heading.key, heading.name, heading.description, heading.metadata_json, heading.search_text)
    return not _text_differs(before, definition) and tuple(before[4:]) == (*shown, dump_aliases(heading.aliases))


def _refuse_starter_name(conn: Connection, key: str) -> None:
    for pipeline_id, starter, aliases in conn.all(_STARTER_NAMES, {"key": key}):
        if key == starter or any(alias.name == key for alias in load_aliases(aliases)):
            raise StarterNameError(key, pipeline_id, starter)


def _taken(conn: Connection, key: str, pipeline_id: str) -> PipelineError:
    row = conn.one(_USER_KEY, {"key": key, "id": pipeline_id})
    return KeyTakenError(key, row[0]) if row is not None else PipelineError(f"The key `{key}` was just taken.")


def _wake(conn: Connection, pipeline_id: str) -> None:
    conn.wake(f"pipeline:{pipeline_id}")
    conn.wake(ALL_PIPELINES)
