"""The store's clock under a test's hand: the machine's for SQLite, the server's for PostgreSQL.

with steered_clock("postgresql") as clock:
    async with product(tmp_path, packs, database_url=clock.database_url) as it:
        clock.set(hours=-1)
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from unittest.mock import patch

import psycopg

import store.database.sqlite_connection
from tests.support.databases import ready_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import tzinfo


@dataclass
class Clock:
    """A clock that goes on from wherever it is set to.

    Attributes:
        database_url: Of the database that goes by it.
    """

    database_url: str
    _tell: Callable[[timedelta], None]
    _away: timedelta = field(default_factory=timedelta)

    def set(self, **forward: float) -> None:
        """Sets it forward, or back; arguments as `timedelta` takes them."""
        self._away += timedelta(**forward)
        self._tell(self._away)


@contextmanager
def steered_clock(database: str) -> Iterator[Clock]:
    """A clock for `sqlite`, or a fresh `postgresql` database with a clock of its own."""
    if database == "sqlite":
        with _machine() as clock:
            yield clock
        return
    with ready_database() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA steered")
        connection.execute("CREATE TABLE steered.clock AS SELECT interval '0' AS away")
        connection.execute(
            "CREATE FUNCTION steered.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
            "$$ SELECT pg_catalog.clock_timestamp() + away FROM steered.clock $$"
        )
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET search_path = public, steered, pg_catalog".encode())
        yield Clock(url, lambda away: connection.execute("UPDATE steered.clock SET away = %s", (away,)) and None)


@contextmanager
def _machine() -> Iterator[Clock]:
    away = timedelta()

    def tell(to: timedelta) -> None:
        nonlocal away
        away = to

    class Steered(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + away

    with patch.object(store.database.sqlite_connection, "datetime", Steered):
        yield Clock("sqlite", tell)
