"""The tables, declared once.

Each module ends with the `Table` objects that statements are built with, such as `RUN`.

Instants are aware UTC (`UTCDateTime` through SQLModel's plain `datetime`); enums are strings checked by
`store.states`; definitions and payloads are JSON as TEXT, because JSONB refuses some strings and reorders keys. Ids
are a type prefix and a ULID, so ordering by id is ordering by creation; a step's first attempt shares its ULID.
"""

from store.models import (
    artifacts,
    attempt_records,
    callers,
    credentials,
    memory,
    pipelines,
    runs,
    triggers,
    webhooks,
    workers,
)

__all__ = [
    "artifacts",
    "attempt_records",
    "callers",
    "credentials",
    "memory",
    "pipelines",
    "runs",
    "triggers",
    "webhooks",
    "workers",
]
