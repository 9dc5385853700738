"""Whoever listens may go at any moment: what was begun for them ends, and nothing is heard of it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import warnings
from collections.abc import AsyncIterator

import strawberry

from schema.guard.guarded_schema import GuardedSchema

#: More turns of the loop than the answer below takes.
TURNS = 30


@strawberry.type
class Leaf:
    size: int

    @strawberry.field
    async def weight(self) -> int:
        await asyncio.sleep(0)
        return self.size


@strawberry.type
class Branch:
    size: int

    @strawberry.field
    async def leaf(self) -> Leaf:
        await asyncio.sleep(0)
        return Leaf(size=self.size)

    @strawberry.field
    async def leaves(self) -> list[Leaf]:
        await asyncio.sleep(0)
        return [Leaf(size=size) for size in range(self.size)]


@strawberry.type
class Tree:
    branches: list[Branch]


@strawberry.type
class Query:
    name: str = "forest"


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def trees(self) -> AsyncIterator[Tree]:
        while True:
            yield Tree(branches=[Branch(size=3), Branch(size=2)])


SCHEMA = GuardedSchema(Query, subscription=Subscription)
WATCH = "subscription { trees { branches { size leaf { weight } leaves { size weight } } } }"


async def test_a_listener_who_goes_while_an_event_is_answered_leaves_no_field_unawaited():
    gc.collect()  # a model's client that an earlier test left closes itself, in a task
    await asyncio.sleep(0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for turns in range(TURNS):
            stream = await SCHEMA.subscribe(WATCH)
            asked = asyncio.create_task(anext(stream))
            for _ in range(turns):
                await asyncio.sleep(0)
            ended = asked.done()
            asked.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asked
            await stream.aclose()
        gc.collect()
    assert ended, "the last one had its answer"
    assert [str(warning.message) for warning in heard] == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
