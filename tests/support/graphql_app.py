"""A small schema and application over the real transport layer, for tests of that layer alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.types import Info

from app.graphql.endpoint import GraphQLApp, TransportLimits
from schema.base.context import OperationContext
from schema.base.directives import Cost, Mcp, Requires, Scope
from schema.base.masking import PublicError
from schema.base.pagination import Connection, CursorKind, PageArguments, page_of
from schema.base.scalars import JSON, Cursor, JSONSchema, Key, Long
from schema.guard.guarded_schema import GuardedSchema

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from schema.guard.limits import RequestLimits

ITEMS = CursorKind("items", (int,))


@dataclass
class Visitor:
    """Who a token stands for."""

    name: str
    scopes: frozenset[Scope] = frozenset(Scope)
    expired: asyncio.Event = field(default_factory=asyncio.Event)

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes


@dataclass
class World:
    """What the test schema reads and writes."""

    items: list[int] = field(default_factory=lambda: list(range(200)))
    counted: int = 0
    made_contexts: int = 0
    #: Keys of every batch the loaders fetched.
    batches: list[list[int]] = field(default_factory=list)
    owner: str = "Ada"
    #: Set to let `pending` and the `ticks` subscription go on.
    go: asyncio.Event = field(default_factory=asyncio.Event)
    open_streams: int = 0
    closed_stream: asyncio.Event = field(default_factory=asyncio.Event)
    changes: int = 0
    #: Results the flood has made.
    flooded: int = 0
    visitors: dict[str, Visitor] = field(
        default_factory=lambda: {
            "all": Visitor("all"),
            "reader": Visitor("reader", frozenset({Scope.READ})),
        }
    )


@dataclass
class Context(OperationContext):
    """One operation's."""

    world: World
    caller: Visitor
    loader: DataLoader[int, str] = field(init=False)

    def __post_init__(self) -> None:
        self.world.made_contexts += 1
        self.loader = DataLoader(self._owners)

    async def _owners(self, keys: list[int]) -> list[str]:
        self.world.batches.append(keys)
        return [f"{self.world.owner} {key}" for key in keys]

    def next_event(self) -> None:
        self.loader = DataLoader(self._owners)


def world_of(info: Info[Any, Any]) -> World:
    return info.context.world


@strawberry.type(description="An item.")
class Item:
    id: strawberry.ID
    number: int
    size_bytes: Long
    created_at: datetime
    label: str

    @strawberry.field(description="Whose it is.")
    async def owner(self, info: Info[Any, Any]) -> str:
        return await info.context.loader.load(self.number % 7)

    @strawberry.field(description="Others beside it.")
    def beside(
        self, info: Info[Any, Any], first: int | None = strawberry.UNSET, last: int | None = strawberry.UNSET
    ) -> Connection[Item]:
        return connection(info, first=first, last=last)

    @strawberry.field(description="Only for those who manage.", directives=[Requires(scope=Scope.MANAGE)])
    def secret(self) -> str:
        return "managed"


def item(number: int) -> Item:
    at = datetime.fromisoformat("2026-11-21T09:30:00.125+00:00")
    return Item(
        id=strawberry.ID(f"item_{number}"), number=number, size_bytes=Long(2**40), created_at=at, label=f"Item {number}"
    )


def connection(info: Info[Any, Any], **arguments: Any) -> Connection[Item]:
    world = world_of(info)
    page = PageArguments.parse(ITEMS, **arguments)
    rows = [
        number
        for number in world.items
        if (page.after is None or number > page.after[0]) and (page.before is None or number < page.before[0])
    ]
    stretch = rows[-page.limit - 1 :] if page.reverse else rows[: page.limit + 1]

    async def count() -> int:
        world.counted += 1
        return len(world.items)

    return Connection[Item].of(page_of(stretch, page, lambda number: ITEMS.encode((number,))), item, count)


@strawberry.type
class Query:
    @strawberry.field
    def hello(self) -> str:
        return "world"

    @strawberry.field(directives=[Requires(scope=Scope.READ), Mcp(read_only=True)])
    def items(
        self,
        info: Info[Any, Any],
        first: int | None = strawberry.UNSET,
        after: Cursor | None = strawberry.UNSET,
        last: int | None = strawberry.UNSET,
        before: Cursor | None = strawberry.UNSET,
    ) -> Connection[Item]:
        return connection(info, first=first, after=after, last=last, before=before)

    @strawberry.field
    def item_list(self, info: Info[Any, Any]) -> list[Item]:
        return [item(number) for number in world_of(info).items[:100]]

    @strawberry.field
    def nodes(self, ids: list[strawberry.ID]) -> list[Item]:
        return [item(0) for _ in ids]

    @strawberry.field(directives=[Requires(scope=Scope.MANAGE)])
    def managed(self) -> str:
        return "managed"

    @strawberry.field(directives=[Cost(weight=4_000)])
    def dear(self) -> str:
        return "dear"

    @strawberry.field
    def broken(self) -> str | None:
        raise RuntimeError("secret: /etc/internal/path")

    @strawberry.field
    async def broken_batch(self) -> list[Item]:
        raise LookupError("secret batch")

    @strawberry.field
    def refused(self) -> str | None:
        raise PublicError("The thing `x` is missing; make it first.", "NOT_FOUND", thing="x")

    @strawberry.field
    async def pending(self, info: Info[Any, Any]) -> str:
        await world_of(info).go.wait()
        return "done"

    @strawberry.field
    def echo(
        self,
        text: str | None = None,
        json: JSON | None = None,
        long: Long | None = None,
        at: datetime | None = None,
        key: Key | None = None,
        schema: JSONSchema | None = None,
    ) -> JSON:
        written = at.isoformat() if at else None
        return JSON({"text": text, "json": json, "long": long, "at": written, "key": key, "schema": schema})


@strawberry.type
class Mutation:
    @strawberry.mutation(directives=[Requires(scope=Scope.WRITE)])
    def change(self, info: Info[Any, Any]) -> int:
        world_of(info).changes += 1
        return world_of(info).changes


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def count(self, info: Info[Any, Any], to: int = 3) -> AsyncGenerator[int, None]:
        for number in range(1, to + 1):
            yield number

    @strawberry.subscription(directives=[Requires(scope=Scope.READ)])
    async def ticks(self, info: Info[Any, Any], step: int = 1) -> AsyncGenerator[Item, None]:
        """One item at once, one more each time the world says go."""
        world = world_of(info)
        world.open_streams += 1
        try:
            number = 0
            while True:
                yield item(number)
                number += step
                await world.go.wait()
                world.go.clear()
        finally:
            world.open_streams -= 1
            world.closed_stream.set()

    @strawberry.subscription
    async def flood(self, info: Info[Any, Any], size: int = 100_000) -> AsyncGenerator[str, None]:
        world = world_of(info)
        try:
            while True:
                world.flooded += 1
                yield "x" * size
                await asyncio.sleep(0)
        finally:
            world.closed_stream.set()

    @strawberry.subscription
    async def breaks(self) -> AsyncGenerator[int, None]:
        yield 1
        raise RuntimeError("secret stream")

    @strawberry.subscription(directives=[Requires(scope=Scope.MANAGE)])
    async def managed(self) -> AsyncGenerator[int, None]:
        yield 1


def build_schema(limits: RequestLimits | None = None) -> GuardedSchema:
    return GuardedSchema(Query, Mutation, Subscription, limits=limits)


def build_app(
    world: World,
    *,
    limits: RequestLimits | None = None,
    transport: TransportLimits | None = None,
    authenticate: Callable[[HTTPConnection, str | None], Awaitable[Visitor | None]] | None = None,
) -> GraphQLApp[Visitor]:
    async def known(connection: HTTPConnection, token: str | None) -> Visitor | None:
        return world.visitors.get(token or connection.cookies.get("session", ""))

    async def watch(caller: Visitor) -> None:
        await caller.expired.wait()

    return GraphQLApp(
        build_schema(limits),
        authenticate=authenticate or known,
        make_context=lambda caller, _connection: Context(world, caller),
        watch_caller=watch,
        transport=transport,
    )
