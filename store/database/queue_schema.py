"""The tables and functions of procrastinate, which delivers runs on PostgreSQL (docs/adr/0011).

Our revisions make and change them, as copies of the statements of one release of procrastinate each. A test fails when
the locked release has other statements: then a new revision is due, with procrastinate's migrations.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from store.database.errors import NEEDS_POSTGRES_EXTRA, StoreError, StoreSchemaError

if TYPE_CHECKING:
    import psycopg

#: Statements of procrastinate's releases: `<release>.sql` makes everything.
FOLDER = Path(__file__).parent.parent / "migrations" / "procrastinate"
#: The release whose schema the newest revision has.
RELEASE = "3.10"
#: Runs that wait longer are put in when their time is near: rows that wait are read over at each fetch.
HORIZON_SECONDS = 60.0
#: Which queue a run is in, in SQL over `run`. Any worker may end a run that is cancelled, whatever its step needs.
QUEUED_NEEDS = "CASE WHEN run.state = 'cancelling' THEN '' ELSE run.needs END"
#: How urgent a run is there, in SQL over `run`; the most urgent has the highest number. No worker is left to set the
#: priority of the runs of a lost one.
QUEUED_PRIORITY = "CASE WHEN run.state IN ('running', 'cancelling') THEN 10 ELSE -run.priority END"
_MADE = re.compile(r"^CREATE (?:TABLE|FUNCTION) (procrastinate_\w+)", re.MULTILINE)
_PRESENT = b"""
    SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY(%(names)s)
    UNION SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = ANY(%(names)s)
"""


def queue_statements() -> str:
    """Return the statements that make the queue in a new database."""
    return (FOLDER / f"{RELEASE}.sql").read_text()


def require_queue(connection: psycopg.Connection) -> None:
    """Check that the database has every table and function of the queue that the installed procrastinate uses.

    Raises:
        StoreSchemaError: one is missing.
        StoreError: procrastinate is not installed.
    """
    try:
        from procrastinate import __version__
        from procrastinate.schema import SchemaManager
    except ImportError as error:
        raise StoreError(NEEDS_POSTGRES_EXTRA) from error

    needed = set(_MADE.findall(SchemaManager.get_schema()))
    present = {name for (name,) in connection.execute(_PRESENT, {"names": [*needed]})}
    if missing := sorted(needed - present):
        some = ", ".join(missing[:3])
        raise StoreSchemaError(
            f"The database {connection.info.dbname} lacks {some} of its queue, which procrastinate {__version__} uses. "
            f"Install procrastinate {RELEASE}, or restore a backup if the queue's tables were dropped."
        )
