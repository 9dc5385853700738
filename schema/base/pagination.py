"""Keyset pagination: pages in the store's order, and the connection types that show them.

    async def runs(self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None)

    arguments = PageArguments.parse(RUNS, first=first, after=after, last=last, before=before)
    rows = await list_runs(connection, …, arguments.window)
    page = page_of(rows, arguments, lambda row: RUNS.encode((row.created_us, row.id)))
    return Connection[Run].of(page, Run.from_row, lambda: count_runs(connection, …))

A cursor is a position in the order of the list, not an offset, so inserted and deleted rows do not shift a page.
"""

# mypy: disallow-untyped-decorators=False
# `strawberry.field` with a description is an untyped decorator to mypy.
import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeAlias, TypeVar, cast

import orjson
import strawberry
from graphql import GraphQLError
from strawberry.types.unset import UnsetType

from resolvers.records import PageWindow
from schema.base.masking import PublicError
from schema.base.scalars import Cursor, check_text

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 100
#: Of lists that are read like a log: events, log lines and transcripts.
DEFAULT_LOG_PAGE_SIZE = 100
MAX_LOG_PAGE_SIZE = 500
#: The maximum of `totalCount`, which bounds the cost of counting.
MAX_TOTAL_COUNT = 10_000

CursorValue: TypeAlias = "str | int | float | None"
RowT = TypeVar("RowT")
NodeT = TypeVar("NodeT")
ValueT = TypeVar("ValueT", int, str)

#: The pagination arguments of every list; each defaults to None.
First = Annotated[
    int | None,
    strawberry.argument(
        description=f"Returns the first n items, at most {MAX_PAGE_SIZE}. "
        f"Without `first` and `last`, the first {DEFAULT_PAGE_SIZE}."
    ),
]
FirstOfLog = Annotated[
    int | None,
    strawberry.argument(
        description=f"Returns the first n items, at most {MAX_LOG_PAGE_SIZE}. "
        f"Without `first` and `last`, the first {DEFAULT_LOG_PAGE_SIZE}."
    ),
]
After = Annotated[Cursor | None, strawberry.argument(description="Returns items after this cursor.")]
Last = Annotated[
    int | None, strawberry.argument(description="Returns the last n items, with the same limit as `first`.")
]
Before = Annotated[Cursor | None, strawberry.argument(description="Returns items before this cursor.")]

_CURSOR_VERSION = 1
#: Range of integers in the databases.
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_MAX_CURSOR_CHARACTERS = 1_024


@dataclass(frozen=True, slots=True)
class CursorKind:
    """The cursors of one list, which contain its order keys.

    Cursors are not signed: their values are checked here and bound as parameters by the store, so a forged cursor only
    points to another position in a list that the caller may read anyway.
    """

    #: Part of every cursor, so that it is not accepted by another list.
    name: str
    #: Type of each order key, most significant first; the last is unique.
    types: tuple[type[str] | type[int] | type[float], ...]
    #: Indexes of order keys that may be null.
    nullable: frozenset[int] = frozenset()
    #: Items of a page without `first` and `last`, and the most that either may ask for.
    page_size: int = DEFAULT_PAGE_SIZE
    max_page_size: int = MAX_PAGE_SIZE

    def encode(self, values: Sequence[CursorValue]) -> Cursor:
        """Return the cursor of a row from its order keys."""
        return encode_cursor(self.name, values)

    def decode(self, cursor: str) -> tuple[CursorValue, ...]:
        """Return the order keys of a cursor.

        Raises:
            PublicError: INVALID; it is not a cursor of this list.
        """
        values = decode_cursor(self.name, cursor)
        if len(values) != len(self.types):
            raise _bad_cursor(self.name)
        for index, (value, kind) in enumerate(zip(values, self.types, strict=True)):
            fits = index in self.nullable if value is None else _fits(value, kind)
            if not fits:
                raise _bad_cursor(self.name)
        return values


def _fits(value: CursorValue, kind: type) -> bool:
    if isinstance(value, bool):
        return False
    if kind is int:
        # A database would raise its own error for a larger number.
        return isinstance(value, int) and _SMALLEST <= value <= _LARGEST
    if kind is float:
        return isinstance(value, int | float)
    return isinstance(value, kind)


def _bad_cursor(kind: str) -> PublicError:
    return PublicError(
        f"This is not a cursor of the list of {kind}. Pass `startCursor`, `endCursor` or an edge's `cursor` "
        "from the same list, or omit the cursor.",
        "INVALID",
        reason="BAD_CURSOR",
    )


def encode_cursor(kind: str, values: Sequence[CursorValue]) -> Cursor:
    """Encode version, kind and values as base64url; equal values give equal cursors."""
    packed = orjson.dumps([_CURSOR_VERSION, kind, *values])
    return Cursor(base64.urlsafe_b64encode(packed).rstrip(b"=").decode())


def decode_cursor(kind: str, cursor: str) -> tuple[CursorValue, ...]:
    """Return the values passed to `encode_cursor`, without checking their types; prefer `CursorKind.decode`.

    Raises:
        PublicError: INVALID; it is not a cursor of this kind.
    """
    if len(cursor) > _MAX_CURSOR_CHARACTERS or "=" in cursor:
        raise _bad_cursor(kind)
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        packed: object = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if not isinstance(packed, list) or packed[:2] != [_CURSOR_VERSION, kind]:
            raise _bad_cursor(kind)
        values = packed[2:]
        for value in values:
            if isinstance(value, str):
                check_text(value)
            elif isinstance(value, list | dict):
                raise _bad_cursor(kind)
    except (UnicodeEncodeError, binascii.Error, orjson.JSONDecodeError, GraphQLError):
        raise _bad_cursor(kind) from None
    return tuple(values)


def _given(value: ValueT | UnsetType | None) -> ValueT | None:
    return None if isinstance(value, UnsetType) else value


@dataclass(frozen=True, slots=True)
class PageArguments:
    """The validated pagination arguments of a list."""

    #: Items on the page. Fetch one more to learn whether others follow.
    limit: int
    #: Order keys after which the page begins (exclusive), in the list's order.
    after: tuple[CursorValue, ...] | None = None
    #: Order keys before which it ends (exclusive).
    before: tuple[CursorValue, ...] | None = None
    #: Take the page from the end of the list.
    reverse: bool = False

    @property
    def window(self) -> PageWindow:
        return PageWindow(self.after, self.before, self.limit, self.reverse)

    @classmethod
    def parse(
        cls,
        kind: CursorKind,
        *,
        first: int | UnsetType | None = None,
        after: str | UnsetType | None = None,
        last: int | UnsetType | None = None,
        before: str | UnsetType | None = None,
    ) -> "PageArguments":
        """Validate the pagination arguments; without `first` and `last`, the page is the first `kind.page_size` items.

        An absent argument may be None or Strawberry's `UNSET`.

        Raises:
            PublicError: INVALID; both `first` and `last`, a size out of range, or another list's cursor.
        """
        first, last = _given(first), _given(last)
        after, before = _given(after), _given(before)
        if first is not None and last is not None:
            raise PublicError("Pass `first` or `last`, not both.", "INVALID")
        for name, size in (("first", first), ("last", last)):
            if size is not None and not 0 <= size <= kind.max_page_size:
                raise PublicError(
                    f"`{name}` is {size}; use 0 to {kind.max_page_size}, and fetch further pages with a cursor.",
                    "INVALID",
                )
        size = first if first is not None else last
        return cls(
            limit=kind.page_size if size is None else size,
            after=None if after is None else kind.decode(after),
            before=None if before is None else kind.decode(before),
            reverse=last is not None,
        )


@dataclass(frozen=True, slots=True)
class Page(Generic[RowT]):
    """A page of rows in the list's order, regardless of the direction in which it was read."""

    rows: tuple[RowT, ...]
    has_next_page: bool
    has_previous_page: bool
    #: Returns the cursor of a row; called only for rows whose cursor is selected.
    cursor_of: Callable[[RowT], Cursor]


def page_of(rows: Sequence[RowT], arguments: PageArguments, cursor_of: Callable[[RowT], Cursor]) -> Page[RowT]:
    """Turn up to `limit + 1` fetched rows into a page.

    Args:
        rows: In the list's order, see `PageWindow`. The extra row is the last one, or the first if the list is read
            from its end.
        arguments: The validated arguments.
        cursor_of: Returns the cursor of a row.

    The page on the other side exists exactly if a cursor was passed, since that cursor's row is on it.
    """
    more = len(rows) > arguments.limit
    if arguments.reverse:
        kept = rows[1:] if more else rows
        return Page(tuple(kept), arguments.before is not None, more, cursor_of)
    return Page(tuple(rows[: arguments.limit]), more, arguments.after is not None, cursor_of)


@strawberry.type(description="Information about a page of a list.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether there are more items after this page.")
    has_previous_page: bool = strawberry.field(description="Whether there are more items before this page.")
    start_cursor: Cursor | None = strawberry.field(
        description="Cursor of the first item on the page. Null if the page is empty."
    )
    end_cursor: Cursor | None = strawberry.field(
        description="Cursor of the last item on the page. Null if the page is empty."
    )


@strawberry.type(description="An item on a page, with its cursor.")
class Edge(Generic[NodeT]):
    """An item with its cursor; prints as `<Node>Edge`."""

    node: NodeT = strawberry.field(description="The item.")
    cursor: Cursor = strawberry.field(description="The cursor of the item.")


@strawberry.type(description="A page of a list.")
class Connection(Generic[NodeT]):
    """One page of a list; prints as `<Node>Connection`."""

    page: strawberry.Private[Page[object]]
    to_node: strawberry.Private[Callable[[object], object]]
    count: strawberry.Private[Callable[[], Awaitable[int]]]

    @classmethod
    def of(
        cls, page: Page[RowT], to_node: Callable[[RowT], object], count: Callable[[], Awaitable[int]]
    ) -> "Connection[NodeT]":
        """Show a page; rows become nodes only if they are selected.

        Args:
            page: From `page_of`.
            to_node: Creates the schema's type from a row; cheap, without I/O.
            count: Returns the length of the list, up to `MAX_TOTAL_COUNT`; called only if it is selected.
        """
        return cls(page=cast("Page[object]", page), to_node=cast("Callable[[object], object]", to_node), count=count)

    @strawberry.field(description="The items with their cursors.")
    def edges(self) -> list[Edge[NodeT]]:
        return [Edge(node=cast("NodeT", self.to_node(row)), cursor=self.page.cursor_of(row)) for row in self.page.rows]

    @strawberry.field(description="The items.")
    def nodes(self) -> list[NodeT]:
        return [cast("NodeT", self.to_node(row)) for row in self.page.rows]

    @strawberry.field(description="Information for fetching the next or previous page.")
    def page_info(self) -> PageInfo:
        rows = self.page.rows
        return PageInfo(
            has_next_page=self.page.has_next_page,
            has_previous_page=self.page.has_previous_page,
            start_cursor=self.page.cursor_of(rows[0]) if rows else None,
            end_cursor=self.page.cursor_of(rows[-1]) if rows else None,
        )

    @strawberry.field(description=f"Total number of items, counted up to {MAX_TOTAL_COUNT}. Counted only if selected.")
    async def total_count(self) -> int:
        return await self.count()
