"""Units that save and delete users' pipelines.

Every save makes an immutable version, if the version it was based on is still the current one. Deleting only hides a
pipeline: its runs and versions stay.
Starters are written by `store.pipelines.starters`; reads are in `store.pipelines.reads`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.database.ids import new_id
from store.pipelines.aliases import load_aliases
from store.pipelines.rows import (
    CurrentVersion,
    add_pipeline,
    add_version,
    hide_pipeline,
    lock_pipeline,
    update_pipeline,
)

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.pipelines.rows import Definition, Heading


class PipelineError(Exception):
    """A pipeline could not be saved; nothing was written."""


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
        pipeline_id: That pipeline.
    """

    def __init__(self, key: str, pipeline_id: str) -> None:
        super().__init__(f"The key `{key}` belongs to {pipeline_id}.")
        self.key = key
        self.pipeline_id = pipeline_id


class StarterNameError(KeyTakenError):
    """The key is a starter's, or an earlier name of one. A starter added later may still take a key that is in use.

    Attributes:
        starter: Key of the starter.
    """

    def __init__(self, key: str, pipeline_id: str, starter: str) -> None:
        super().__init__(key, pipeline_id)
        self.starter = starter


@dataclass(frozen=True, slots=True)
class Saved:
    """The version after a save; `changed` is false when the save made no new one."""

    pipeline_id: str
    version_id: str
    number: int
    changed: bool = True


_USER_KEY = Sql("SELECT id FROM pipeline WHERE key = :key AND deleted_at IS NULL AND NOT builtin AND id <> :id")
_STARTER_NAMES = Sql(
    """SELECT id, key, aliases FROM pipeline
    WHERE builtin AND deleted_at IS NULL AND (key = :key OR aliases <> '[]') ORDER BY id"""
)


def create_pipeline(
    conn: Connection, heading: Heading, definition: Definition, *, owner_id: str, note: str | None = None
) -> Saved:
    """Save a new pipeline with version 1.

    Raises:
        KeyTakenError: another pipeline that is not deleted has the key, or it is an earlier name of a starter.
    """
    _refuse_starter_name(conn, heading.key)
    pipeline_id = new_id("pipe")
    now = conn.now()
    if not add_pipeline(conn, pipeline_id, heading, now, owner_id=owner_id):
        raise _key_taken(conn, heading.key, pipeline_id)
    version_id = add_version(conn, pipeline_id, 1, definition, now, note=note, created_by=owner_id)
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
    """Save a new version, unless heading and definition equal the current one's.

    Args:
        conn: The unit's connection.
        pipeline_id: The pipeline.
        heading: Key, name and the rest of the pipeline's row.
        definition: The texts of the version.
        based_on: Number of the version the author started from.
        saved_by: Id of the caller.
        note: What the author says about the change.

    Raises:
        NoPipelineError: it does not exist or is deleted.
        ReadOnlyPipelineError: it is a starter.
        StaleVersionError: somebody else has saved a version meanwhile.
        KeyTakenError: another pipeline has the new key, or it is a starter's earlier name.
    """
    locked = lock_pipeline(conn, pipeline_id)
    if locked is None or locked.hidden:
        raise NoPipelineError(pipeline_id)
    if locked.builtin:
        raise ReadOnlyPipelineError(pipeline_id)
    current = locked.current_number
    if current != based_on:
        raise StaleVersionError(pipeline_id, based_on, current)
    now = conn.now()
    before = CurrentVersion.of(conn, pipeline_id)
    if before.is_same(heading, definition):
        return Saved(pipeline_id, before.id, current, changed=False)
    if heading.key != before.key:  # a pipeline keeps its key when a starter takes it, too
        _refuse_starter_name(conn, heading.key)
    if conn.one(_USER_KEY, {"key": heading.key, "id": pipeline_id}) is not None:
        raise _key_taken(conn, heading.key, pipeline_id)
    number = current + 1
    update_pipeline(conn, pipeline_id, heading, now, number=number)
    version_id = add_version(conn, pipeline_id, number, definition, now, note=note, created_by=saved_by)
    return Saved(pipeline_id, version_id, number)


def delete_pipeline(conn: Connection, pipeline_id: str) -> bool:
    """Hide a pipeline; its runs and versions stay. Return false when it was hidden already.

    Raises:
        NoPipelineError: it does not exist.
        ReadOnlyPipelineError: it is a starter.
    """
    locked = lock_pipeline(conn, pipeline_id)
    if locked is None:
        raise NoPipelineError(pipeline_id)
    if locked.builtin:
        raise ReadOnlyPipelineError(pipeline_id)
    return hide_pipeline(conn, pipeline_id, conn.now())


def _refuse_starter_name(conn: Connection, key: str) -> None:
    for starter in conn.all(_STARTER_NAMES, {"key": key}):
        if key == starter.key or any(alias.name == key for alias in load_aliases(starter.aliases)):
            raise StarterNameError(key, starter.id, starter.key)


def _key_taken(conn: Connection, key: str, pipeline_id: str) -> PipelineError:
    row = conn.one(_USER_KEY, {"key": key, "id": pipeline_id})
    return KeyTakenError(key, row.id) if row is not None else PipelineError(f"The key `{key}` was just taken.")
