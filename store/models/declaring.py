"""Helpers to declare tables: names of constraints, partial indexes, tables and columns of models."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from sqlalchemy import Column, Index, Table, text
from sqlmodel import SQLModel

# Names every constraint the same way on both databases; without it SQLite's have no name and cannot be dropped.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


def table_of(model: type[SQLModel]) -> Table:
    """Return the table of a model. Statements are built with it, and their rows become records, not models."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


def columns_of(table: Table, record: type) -> list[Column[Any]]:
    """Return the columns of a table that are named after the fields of a record."""
    if dataclasses.is_dataclass(record):
        return [table.c[field.name] for field in dataclasses.fields(record)]
    return [table.c[name] for name in inspect.get_annotations(record)]
