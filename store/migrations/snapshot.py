"""Writes down what the models come to, for a start, which has no time to import SQLModel and declare 28 classes.

    python -m store.migrations.snapshot

Writes `store/columns.py`, which reads name columns by, and `store/schema.sqlite.sql`, which makes a new database. Run
it after every change to `store.models`; a test fails until the files agree.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.dialects import sqlite
from sqlmodel import SQLModel

import store.models
from store.schema import SQLITE_SCHEMA, schema_statements

COLUMNS = Path(store.models.__file__).parents[1] / "columns.py"

_HEAD = '''"""Tables, their columns and types, as `store.models` declares them.

Written by `python -m store.migrations.snapshot`; do not edit.
"""

from __future__ import annotations

COLUMNS: dict[str, dict[str, str]] = {
'''


def columns_text() -> str:
    """What `store/columns.py` is to hold: per table the columns in their order, each with SQLAlchemy's type."""
    lines = [_HEAD]
    for name, table in sorted(SQLModel.metadata.tables.items()):
        lines.append(f'    "{name}": {{\n')
        lines += [f'        "{column.name}": "{type(column.type).__name__}",\n' for column in table.columns]
        lines.append("    },\n")
    return "".join([*lines, "}\n"])


def schema_text() -> str:
    """What `store/schema.sqlite.sql` is to hold: a statement a line, the stamp included."""
    tables = [" ".join(statement.split()) for statement in schema_statements(sqlite.dialect())]
    return ";\n".join(tables) + ";\n"


if __name__ == "__main__":
    COLUMNS.write_text(columns_text(), "utf-8")
    SQLITE_SCHEMA.write_text(schema_text(), "utf-8")
