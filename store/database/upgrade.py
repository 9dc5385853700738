"""Upgrades and downgrades a database with Alembic, in one transaction.

Traps on SQLite, each reproduced: with `foreign_keys=ON` a batch alter of a parent table deletes all its children, and
the pragma is ignored inside a transaction, so it is turned off before BEGIN and `foreign_key_check` runs before COMMIT;
the driver's own transactions leave half a migration behind, so BEGIN IMMEDIATE is executed explicitly.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from store.database.dialects import libpq_url
from store.database.errors import StoreSchemaError
from store.database.revisions import ADVISORY_LOCK, head_revision

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from sqlalchemy import Connection

FOLDER = Path(__file__).parent.parent / "migrations"


def upgrade_sqlite(path: Path, revision: str | None = None) -> None:
    """Upgrade a SQLite file; it stays unchanged if a migration fails or leaves a dangling foreign key.

    The caller holds the migration lock and has made a backup.

    Raises:
        StoreSchemaError: a migration failed or left a dangling foreign key; the file is unchanged.
    """
    _migrate_sqlite(path, revision or head_revision(), up=True)


def downgrade_sqlite(path: Path, revision: str) -> None:
    """Downgrade a SQLite file to an older revision (`base` for none), with the guarantees of `upgrade_sqlite`."""
    _migrate_sqlite(path, revision, up=False)


def upgrade_postgres(url: str, revision: str | None = None) -> None:
    """Upgrade a PostgreSQL database in one transaction, under the lock that makes other processes wait."""
    _migrate_postgres(url, revision or head_revision(), up=True)


def downgrade_postgres(url: str, revision: str) -> None:
    """Downgrade a PostgreSQL database to an older revision (`base` for none)."""
    _migrate_postgres(url, revision, up=False)


def configuration(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration, without a file: revisions are next to this module."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _migrate(connection: Connection, revision: str, *, up: bool) -> None:
    config = configuration(connection)
    if up:
        command.upgrade(config, revision)
    else:
        command.downgrade(config, revision)


def _migrate_sqlite(path: Path, revision: str, *, up: bool) -> None:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def configure(raw: sqlite3.Connection, _record: object) -> None:
        raw.isolation_level = None
        raw.execute("PRAGMA foreign_keys=OFF")
        raw.execute("PRAGMA busy_timeout=5000")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with engine.begin() as connection:
            _migrate(connection, revision, up=up)
            _require_whole(connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall(), path)
    except DBAPIError as error:
        raise _failed(f"database {path}", error) from error
    finally:
        engine.dispose()


def _require_whole(dangling: Iterable[object], path: Path) -> None:
    found = list(dangling)
    if found:
        raise StoreSchemaError(
            f"After the migration {len(found)} rows of {path} would point to missing rows ({found[0]}); nothing was "
            "changed. Restore a backup, or report this with the message."
        )


def _failed(name: str, error: DBAPIError) -> StoreSchemaError:
    return StoreSchemaError(f"The migration of the {name} failed and changed nothing: {error.orig}")


def _migrate_postgres(url: str, revision: str, *, up: bool) -> None:
    engine = create_engine(libpq_url(url).replace("postgresql:", "postgresql+psycopg:", 1), poolclass=NullPool)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%(key)s)", {"key": ADVISORY_LOCK})
            _migrate(connection, revision, up=up)
    except DBAPIError as error:
        raise _failed("PostgreSQL database", error) from error
    finally:
        engine.dispose()
