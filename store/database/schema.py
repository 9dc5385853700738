"""Brings a database to the schema of this release before anything else opens it.

The revision is read with plain SQL. A new database is made from the models; by Alembic it would take 0.3 s more,
so that is imported only to upgrade one that exists (`store.database.upgrade`). A test compares what the two make.
"""

from __future__ import annotations

import fcntl
import sqlite3
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import SQLModel

import store.models  # noqa: F401 - fills SQLModel.metadata
from store.database.dialects import libpq_url
from store.database.errors import NEEDS_POSTGRES_EXTRA, StoreBusyError, StoreError, StoreSchemaError
from store.database.queue_schema import queue_statements, require_queue
from store.database.revisions import ADVISORY_LOCK, REVISIONS, head_revision

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import psycopg
    from sqlalchemy.engine import Dialect

#: How long a second process waits for the one that migrates.
LOCK_WAIT_SECONDS = 120.0

_STAMP_TABLE = (
    "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def refuse_newer(revision: str | None, name: str) -> None:
    """Refuse a database that a newer release wrote.

    Args:
        revision: The database's revision; None, an empty database, passes.
        name: What the message calls the database.

    Raises:
        StoreSchemaError: this release does not know the revision.
    """
    if revision is not None and revision not in REVISIONS:
        raise StoreSchemaError(
            f"The database {name} has schema {revision}, this release knows up to {head_revision()}: a newer release "
            "wrote it. Install that release again, or restore the backup made before its upgrade."
        )


def current_sqlite_revision(path: Path) -> str | None:
    """Read the revision of a SQLite file; None when the file is absent or empty.

    Raises:
        StoreSchemaError: the file is not a Packline database.
    """
    if not path.exists() or path.stat().st_size == 0:
        return None
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA busy_timeout=5000")
        try:
            tables = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            stamped = "alembic_version" in tables
            revisions = raw.execute("SELECT version_num FROM alembic_version").fetchall() if stamped else []
        except sqlite3.DatabaseError as error:
            raise StoreSchemaError(f"{path} cannot be read as a SQLite database: {error}.") from error
    return _revision(revisions, tables - {"alembic_version"}, str(path))


def current_postgres_revision(connection: psycopg.Connection) -> str | None:
    """Read the revision of a connection's PostgreSQL database; None when the database is empty.

    Raises:
        StoreSchemaError: the database has tables of these names that are not Packline's.
    """
    # Other tables may be in the database; only those of the same name are a conflict.
    names = [*SQLModel.metadata.tables, "procrastinate_jobs", "alembic_version"]
    rows = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = ANY(%s)", (names,)
    ).fetchall()
    tables = {row[0] for row in rows}
    stamped = "alembic_version" in tables
    revisions = connection.execute("SELECT version_num FROM alembic_version").fetchall() if stamped else []
    return _revision(revisions, tables - {"alembic_version"}, connection.info.dbname)


def ensure_sqlite_schema(path: Path, *, migrate: bool) -> None:
    """Make, upgrade or accept the database file; blocks for as long as that takes.

    An upgrade first copies the file to `<name>.<old revision>.<time>.backup` next to it and runs in one transaction.

    Args:
        path: The database file; its folder exists.
        migrate: Whether to make or upgrade the schema; otherwise anything but the current one is refused.

    Raises:
        StoreSchemaError: the schema is newer, foreign, or older and `migrate` is false.
        StoreBusyError: another process has been migrating for `LOCK_WAIT_SECONDS`.
    """
    if _fits(current_sqlite_revision(path), str(path), migrate=migrate):
        return
    with _migration_lock(path):
        current = current_sqlite_revision(path)
        if _fits(current, str(path), migrate=migrate):
            return
        if current is None:
            _create_sqlite(path)
            return
        from store.database.upgrade import upgrade_sqlite

        _back_up(path, current)
        upgrade_sqlite(path)


def ensure_postgres_schema(url: str, *, migrate: bool) -> str | None:
    """Make, upgrade or accept the schema of a PostgreSQL database; blocks for as long as that takes.

    Everything runs in one transaction under an advisory lock, so a second process waits and then finds it done.

    Args:
        url: `postgresql://…`, also in SQLAlchemy's `postgresql+psycopg://` spelling.
        migrate: Whether to make or upgrade the schema; otherwise anything but the current one is refused.

    Returns:
        The revision it had before; None when it was empty.

    Raises:
        StoreSchemaError: the schema is newer, foreign, or older and `migrate` is false.
        StoreError: the database cannot be reached, or the extra `postgres` is not installed.
    """
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(NEEDS_POSTGRES_EXTRA) from error

    try:
        with psycopg.connect(libpq_url(url), connect_timeout=10) as connection:
            name = connection.info.dbname
            current = current_postgres_revision(connection)
            if _fits(current, name, migrate=migrate):
                require_queue(connection)
                return current
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (ADVISORY_LOCK,))
            current = current_postgres_revision(connection)
            if _fits(current, name, migrate=migrate):
                return current
            if current is None:
                for statement in schema_statements(postgresql.dialect()):  # type: ignore[no-untyped-call]
                    connection.execute(statement.encode())
                return None
        from store.database.upgrade import upgrade_postgres

        upgrade_postgres(url)
    except psycopg.OperationalError as error:
        raise StoreError(
            f"PostgreSQL cannot be reached: {_first_line(error)} Check PACKLINE_DATABASE_URL and that the server runs."
        ) from error
    except psycopg.Error as error:
        raise StoreSchemaError(f"The schema could not be made or upgraded: {_first_line(error)}") from error
    return current


def schema_statements(dialect: Dialect) -> Iterator[str]:
    """Yield the statements that make the schema of this release in an empty database, including the revision."""
    for table in SQLModel.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
    if dialect.name == "postgresql":
        yield queue_statements()
    yield _STAMP_TABLE
    yield f"INSERT INTO alembic_version (version_num) VALUES ('{head_revision()}')"


def _fits(current: str | None, name: str, *, migrate: bool) -> bool:
    if current == head_revision():
        return True
    if current is None:
        if migrate:
            return False
        raise StoreSchemaError(f"The database {name} is empty. Run `packline migrate` to make its tables.")
    refuse_newer(current, name)
    if not migrate:
        raise StoreSchemaError(
            f"The database {name} has schema {current}, this release needs {head_revision()}. "
            "Make a backup, then run `packline migrate`."
        )
    return False


def _create_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("BEGIN IMMEDIATE")
        try:
            for statement in schema_statements(sqlite.dialect()):
                raw.execute(statement)
            raw.execute("COMMIT")
        except BaseException:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            raise


def _back_up(path: Path, revision: str) -> None:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    target = path.with_name(f"{path.name}.{revision}.{stamp}.backup")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)


@contextmanager
def _migration_lock(path: Path) -> Iterator[None]:
    """Hold a lock file next to the database: of two processes one migrates, and the other then finds it done."""
    with path.with_name(f"{path.name}.migrating").open("a+") as lock:
        until = time.monotonic() + LOCK_WAIT_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > until:
                    raise StoreBusyError(
                        f"Another process has been migrating {path} for {LOCK_WAIT_SECONDS:g} s. "
                        "Wait for it to end, then start again."
                    ) from error
                time.sleep(0.02)
        yield


def _revision(revisions: list[tuple[str]], tables: set[str], name: str) -> str | None:
    if len(revisions) > 1:
        raise StoreSchemaError(f"The database {name} names {len(revisions)} schema revisions. Restore a backup.")
    if revisions:
        return revisions[0][0]
    if tables:
        some = ", ".join(sorted(tables)[:3])
        raise StoreSchemaError(
            f"The database {name} has tables ({some}) but no Packline schema. Name an empty database or data folder."
        )
    return None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") + "." if lines else f"{type(error).__name__}."
