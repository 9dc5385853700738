"""Loaders that read at once, and resolvers that run up to their first wait when they are called."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from schema.loading import Loader, begun


class Shelf:
    """What loaders read, and how often they did."""

    def __init__(self, *, waits: bool = False) -> None:
        self.waits = waits
        self.asked: list[list[str]] = []

    async def read(self, keys: list[str]) -> list[str]:
        self.asked.append(keys)
        if self.waits:
            await asyncio.sleep(0)
        return [key.upper() for key in keys]


@dataclass
class Asking:
    """An operation."""

    gathers: bool = False


async def test_the_first_values_are_read_at_once_and_the_others_together():
    shelf = Shelf()
    loader = Loader(shelf.read, Asking())
    first = [loader.load(key) for key in "abcd"]
    assert shelf.asked == [["a"], ["b"], ["c"], ["d"]]
    assert [begun(_awaited(value)) for value in first] == ["A", "B", "C", "D"]
    assert await asyncio.gather(*map(loader.load, "aefgb")) == ["A", "E", "F", "G", "B"]
    assert shelf.asked[4:] == [["e", "f", "g"]]
    assert await loader.load_many(["a", "h", "a", "i"]) == ["A", "H", "A", "I"]
    assert shelf.asked[5:] == [["h", "i"]]


async def test_what_is_asked_for_together_is_read_together_at_once():
    shelf, asking = Shelf(), Asking()
    loader = Loader(shelf.read, asking, 4)
    assert begun(loader.load_many(["a", "b", "a", "c"])) == ["A", "B", "A", "C"]
    assert begun(_awaited(loader.load("b"))) == "B"
    assert begun(loader.load_many(["c", "d"])) == ["C", "D"]
    assert shelf.asked == [["a", "b", "c"], ["d"]]
    many = [str(number) for number in range(5)]
    assert await loader.load_many(many) == many
    asking.gathers = True
    assert await asyncio.gather(loader.load_many("ef"), loader.load_many("fg")) == [["E", "F"], ["F", "G"]]
    assert shelf.asked[2:] == [many, ["e", "f", "g"]]
    waiting = Shelf(waits=True)
    assert await Loader(waiting.read, Asking(), 4).load_many("ab") == ["A", "B"]
    assert waiting.asked[-1] == ["a", "b"]


async def test_a_read_that_has_to_wait_is_gathered_with_the_others():
    shelf = Shelf(waits=True)
    loader = Loader(shelf.read, Asking())
    assert await asyncio.gather(*map(loader.load, "ab")) == ["A", "B"]
    assert shelf.asked == [["a"], ["b"], ["a", "b"]]


async def test_an_operation_with_a_long_list_has_everything_gathered():
    shelf, asking = Shelf(), Asking()
    loader = Loader(shelf.read, asking)
    assert await loader.load("a") == "A"
    asking.gathers = True
    assert await asyncio.gather(*map(loader.load, "abc")) == ["A", "B", "C"]
    assert shelf.asked == [["a"], ["b", "c"]]


async def test_a_loader_of_what_takes_long_reads_nothing_at_once():
    shelf = Shelf()
    loader = Loader(shelf.read)
    assert await asyncio.gather(loader.load("a"), loader.load("b")) == ["A", "B"]
    assert shelf.asked == [["a", "b"]]


@pytest.mark.parametrize("gathers", [False, True])
async def test_a_value_whose_read_was_cancelled_is_read_again(*, gathers: bool):
    shelf = Shelf(waits=True)
    loader = Loader(shelf.read, Asking(gathers=gathers))
    asyncio.ensure_future(loader.load("a")).cancel()
    assert await loader.load("a") == "A"


async def test_a_read_that_fails_fails_whoever_asked():
    async def read(keys):
        raise LookupError(f"no {keys}")

    for asking in (Asking(), None):
        loader = Loader(read, asking)
        with pytest.raises(LookupError, match="no"):
            await _load(loader, "a")


async def test_what_was_begun_is_gone_on_with_in_another_task():
    gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    steps = []

    async def resolver():
        steps.append("begun")
        steps.append(await gate)
        try:
            await asyncio.sleep(0)
        finally:
            steps.append("left")
        return "done"

    rest = begun(resolver())
    assert steps == ["begun"]
    task = asyncio.ensure_future(rest)
    await asyncio.sleep(0)
    gate.set_result("went on")
    assert await task == "done"
    assert steps == ["begun", "went on", "left"]


async def test_several_wait_for_the_same():
    gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    rests = [begun(_awaited(gate)) for _ in range(3)]
    waiting = asyncio.gather(*rests)
    await asyncio.sleep(0)
    gate.set_result("open")
    assert await waiting == ["open"] * 3
    late = begun(_awaited(gate))
    assert late == "open"


async def test_a_task_that_is_cancelled_cancels_what_it_goes_on_with():
    gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    seen = []

    async def resolver():
        try:
            await gate
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = asyncio.ensure_future(begun(resolver()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_what_fails_before_it_waits_fails_at_once():
    async def resolver():
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        begun(resolver())


async def _awaited(value):
    return await value


async def _load(loader, key):
    return await loader.load(key)
