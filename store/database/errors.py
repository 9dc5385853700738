"""Errors of every database."""

from __future__ import annotations

#: Message when psycopg or procrastinate cannot be imported.
NEEDS_POSTGRES_EXTRA = (
    "PACKLINE_DATABASE_URL names a PostgreSQL database, which needs psycopg and procrastinate: "
    "`pip install 'packline[postgres]'`."
)


class StoreError(Exception):
    """The database failed; the unit is rolled back."""


class StoreClosedError(StoreError):
    """The store is closed or closing."""


class StoreFullError(StoreError):
    """The disk is full; the unit is rolled back."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached for now; the unit is rolled back."""


class StoreUncertainError(StoreError):
    """The connection was lost during COMMIT: whether the unit was recorded is not known."""


class StoreBusyError(StoreError):
    """Another process owns the database file."""


class DataFolderInUseError(StoreBusyError):
    """A server uses the data folder; the caller knows what to advise."""


class StorageNotSharedError(StoreError):
    """The processes of the database keep contents in different places; the message says what to do."""


class StoreSchemaError(StoreError):
    """The database was written by another release; the message says what to run."""
