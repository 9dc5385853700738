"""Keyset pagination: a page starts after a row's sort key, so its cost does not depend on how many rows precede it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
import sqlalchemy as sa
from ulid import ULID

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Row, RowMapping, Select

    from store.database.engine import Store
    from store.database.ids import Prefix

T = TypeVar("T")

_JSON_MARKS = frozenset("{}[]:,")
#: Counts stop here: nobody needs larger ones exactly, and they would cost more than the page.
COUNT_CAP = 10_000


@dataclass(frozen=True, slots=True)
class PageWindow:
    """The part of a list to read.

    Attributes:
        after: Sort key of the row before the page, as the list function documents it; None for the list's beginning.
        before: Sort key of the row after the page; None for the list's end.
        limit: Rows wanted. One more is read if it exists, so that the caller sees whether there are further pages.
        reverse: Take the last rows between `after` and `before` instead of the first.

    Rows always come in the order of the list: the extra row is the last one, or with `reverse` the first.
    """

    after: tuple[Any, ...] | None = None
    before: tuple[Any, ...] | None = None
    limit: int = 50
    reverse: bool = False


#: A sort column and whether larger values come first.
SortKey = tuple["ColumnElement[Any]", bool]


def windowed(statement: Select[Any], keys: Sequence[SortKey], window: PageWindow) -> Select[Any]:
    """Add order, bounds and limit; with `reverse` the rows come in reverse order (see `fetch_page`).

    The keys together must be unique and never NULL. If all have one direction, the bound is one row-value comparison,
    which both databases answer from an index.
    """
    if window.after is not None:
        statement = statement.where(_beyond(keys, window.after, further=True))
    if window.before is not None:
        statement = statement.where(_beyond(keys, window.before, further=False))
    order = [column.desc() if descending is not window.reverse else column.asc() for column, descending in keys]
    return statement.order_by(*order).limit(window.limit + 1)


async def fetch_page(
    store: Store, statement: Select[Any], keys: Sequence[SortKey], window: PageWindow
) -> list[RowMapping]:
    """Read a page and one more row, in the order of the list."""
    found = (await store.read(windowed(statement, keys, window))).mappings().all()
    return _in_order(found, window)


async def fetch_rows(
    store: Store, statement: Select[Any], keys: Sequence[SortKey], window: PageWindow
) -> list[Row[*tuple[Any, ...]]]:
    """Read as `fetch_page` does, but return plain rows; for `store.database.lookups.Lookup.select`."""
    return _in_order((await store.read(windowed(statement, keys, window))).all(), window)


def _in_order(rows: Sequence[T], window: PageWindow) -> list[T]:
    return [*reversed(rows)] if window.reverse else [*rows]


async def capped_count(store: Store, statement: Select[Any]) -> int:
    """Count the rows of a statement, up to `COUNT_CAP`."""
    inner = (
        statement.with_only_columns(sa.literal(1).label("one"), maintain_column_froms=True)
        .order_by(None)
        .limit(COUNT_CAP)
        .subquery()
    )
    ((count,),) = await store.read(sa.select(sa.func.count()).select_from(inner))
    return int(count)


#: An id's time is its maker's clock, `created_at` the database's: they may differ by less than this.
_CLOCKS_APART = timedelta(hours=1)


def created_within(
    table: sa.Table, prefix: Prefix, at_or_after: datetime | None, before: datetime | None
) -> Iterable[ColumnElement[bool]]:
    """Return conditions on `created_at`, narrowed by the index on ids."""
    if at_or_after is not None:
        yield table.c.id >= oldest_id(prefix, at_or_after - _CLOCKS_APART)
        yield table.c.created_at >= at_or_after
    if before is not None:
        yield table.c.id < oldest_id(prefix, before + _CLOCKS_APART)
        yield table.c.created_at < before


def words_in(column: ColumnElement[Any], text: str) -> Iterable[ColumnElement[bool]]:
    """Return conditions that all words of `text` occur in a column of lower-case text."""
    return [column.contains(word, autoescape=True) for word in text.lower().split()]


def words_in_json(column: ColumnElement[Any], text: str) -> Iterable[ColumnElement[bool]]:
    """Return conditions that all words of `text` occur in a column of lower-case JSON, outside its punctuation.

    A word of brackets, colons and commas alone matches nothing: it cannot be distinguished from the punctuation.
    """
    return [
        sa.false()
        if _JSON_MARKS.issuperset(word)
        else column.contains(orjson.dumps(word).decode()[1:-1], autoescape=True)
        for word in text.lower().split()
    ]


def oldest_id(prefix: Prefix, at: datetime) -> str:
    """Return the smallest id that can be made at or after an instant, to bound time by the index on ids.

    Ids carry the milliseconds of the machine that made them.
    """
    milliseconds = max(0, int(at.timestamp() * 1000))
    return f"{prefix}_{ULID(milliseconds.to_bytes(6, 'big') + bytes(10))}"


def _beyond(keys: Sequence[SortKey], values: tuple[Any, ...], *, further: bool) -> ColumnElement[bool]:
    if len(keys) != len(values):
        raise ValueError(f"The position {values!r} does not fit this order, which has {len(keys)} keys.")
    bound = [sa.literal(value, column.type) for (column, _), value in zip(keys, values, strict=True)]
    downwards = {descending for _, descending in keys}
    if len(downwards) == 1:
        row, limit = sa.tuple_(*(column for column, _ in keys)), sa.tuple_(*bound)
        return row < limit if downwards.pop() is further else row > limit
    steps: list[ColumnElement[bool]] = []
    for depth, (column, descending) in enumerate(keys):
        same = [keys[earlier][0] == bound[earlier] for earlier in range(depth)]
        past = column < bound[depth] if descending is further else column > bound[depth]
        steps.append(sa.and_(*same, past))
    return sa.or_(*steps)
