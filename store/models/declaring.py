"""How tables are declared: names of constraints, columns of long texts, indexes over some rows."""

from __future__ import annotations

from sqlalchemy import Column, Index, Text, text
from sqlmodel import SQLModel

# Names every constraint the same way on both databases; without it SQLite's have no name and cannot be dropped.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
# Rows are read and written as plain tuples: pydantic need not prepare to validate them.
SQLModel.model_config["defer_build"] = True


def long_text(*, nullable: bool = False) -> Column[str]:
    """A column for texts of any length."""
    return Column(Text, nullable=nullable)


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index over some rows; PostgreSQL is told by `complete_for_postgresql`."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), info={"where": where})


def complete_for_postgresql() -> None:
    """Tells PostgreSQL, too, which rows partial indexes are over; for whoever makes or compares tables there.

    Not where they are declared: naming the dialect there would import it for SQLite, too.
    """
    for table in SQLModel.metadata.sorted_tables:
        for index in table.indexes:
            if "where" in index.info:
                index.dialect_options["postgresql"]["where"] = text(index.info["where"])
