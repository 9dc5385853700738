"""Reads of nested fields without a turn of the event loop, where the database answers at once.

A field whose resolver waits costs a task and some 40 µs, and its loader as much again, although SQLite has answered
most reads before anybody could wait. So the first few values a loader is asked for are read right away, one by one, and
a resolver marked `loaded` is run up to its first wait when it is called: mostly to its end. What the items of a longer
list ask for is gathered into one read as ever.
"""

from __future__ import annotations

from asyncio import Future, gather
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from strawberry.dataloader import DataLoader

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence

K = TypeVar("K")
V = TypeVar("V")
S = TypeVar("S")
ResolverT = TypeVar("ResolverT", bound="Callable[..., Coroutine[Any, Any, Any]]")

#: So many values a loader reads one by one, each for less than a gathered read costs around it.
_ONE_BY_ONE: Final = 4
_LOADED: Final = "__packline_loaded__"


class Operation(Protocol):
    """The operation that is executed, as far as its loaders are concerned."""

    @property
    def gathers(self) -> bool:
        """Whether several will ask for the same kind of thing."""
        ...


class _Kept(dict[Any, Any]):
    """What a loader remembers; Strawberry's own calls a function for each key besides."""

    set = dict.__setitem__
    delete = dict.__delitem__


class Loader(DataLoader[K, V]):
    """A loader that reads its first values when they are asked for.

    Args:
        read: Values of keys, in their order.
        operation: What it reads for, when `read` mostly answers few keys without waiting.
        together: So many keys at most it mostly answers without waiting when they are asked for together.
    """

    def __init__(
        self,
        read: Callable[[list[K]], Coroutine[Any, Any, Sequence[V]]],
        operation: Operation | None = None,
        together: int = 1,
    ) -> None:
        super().__init__(load_fn=read, cache_map=_Kept())  # type: ignore[call-overload] # as far as it is asked for
        self._read = read
        self._operation = operation
        self._together = together
        self._shown: dict[K, Any] = {}
        self._left = 0 if operation is None else _ONE_BY_ONE

    def load(self, key: K) -> Awaitable[V]:
        """The value of a key; read once."""
        known = self.cache_map.get(key)
        if known is not None and not known.cancelled():
            return known
        if self._left and not self._gathers():
            self._left -= 1
            self._read_now([key])
            known = self.cache_map.get(key)
        return super().load(key) if known is None or known.cancelled() else known

    async def shown(self, key: K, show: Callable[[Any], S]) -> S | None:
        """The value of a key as the object that it is shown as, made once for the operation; None where it is None."""
        known: S | None = self._shown.get(key)
        if known is None and (value := await self.load(key)) is not None:
            known = self._shown[key] = show(value)
        return known

    def _gathers(self) -> bool:
        return self._operation is None or self._operation.gathers

    async def load_many(self, keys: Iterable[K]) -> list[V]:
        """The values of keys, in their order: read together, for a list to find them there."""
        wanted = list(keys)
        missing = [key for key in dict.fromkeys(wanted) if self.cache_map.get(key) is None]
        if 1 < len(missing) <= self._together and not self._gathers():
            self._read_now(missing)
        load = self.load if len(wanted) <= self._left else super().load
        found = [load(key) for key in wanted]
        if all(isinstance(value, Future) and value.done() for value in found):
            return [await value for value in found]  # no turn of the loop for what is there
        return await gather(*found)

    def _read_now(self, keys: list[K]) -> None:
        """Reads values and remembers them, if that can be done without waiting."""
        reading = self._read(keys)
        try:
            reading.send(None)
        except StopIteration as ended:
            for key, value in zip(keys, ended.value, strict=True):
                found: Future[V] = self.loop.create_future()
                found.set_result(value)
                self.cache_map.set(key, found)
        else:
            reading.close()  # somebody is writing: wait for it with the others


def loaded(resolver: ResolverT) -> ResolverT:
    """Marks a resolver of a nested field that waits for loaders and for reads of few rows, and for nothing else.

    It may be taken up by another task than it began in, so it must not enter what belongs to a task, such as
    `asyncio.timeout`.
    """
    setattr(resolver, _LOADED, True)
    return resolver


def is_loaded(resolver: Callable[..., Any]) -> bool:
    """Whether a resolver is marked."""
    return getattr(resolver, _LOADED, False) is True


def begun(coroutine: Coroutine[Any, Any, V]) -> V | Awaitable[V]:
    """What a coroutine returns when it returns without waiting; else the rest of it, to be awaited once."""
    try:
        awaited = coroutine.send(None)
    except StopIteration as ended:
        value: V = ended.value
        return value
    return _Rest(coroutine, awaited)


class _Rest:
    """A coroutine that has come to its first wait."""

    __slots__ = ("_awaited", "_coroutine")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], awaited: Any) -> None:  # noqa: ANN401 - a future of the loop
        self._coroutine = coroutine
        self._awaited = awaited
        if awaited is not None:
            # A future is marked when it is awaited, for the task that is handed it; until then others may await it.
            awaited._asyncio_future_blocking = False

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, awaited = self._coroutine, self._awaited
        if awaited is not None:
            awaited._asyncio_future_blocking = True
        while True:
            thrown: BaseException | None = None
            sent = None
            try:
                sent = yield awaited
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                thrown = error
            try:
                awaited = coroutine.send(sent) if thrown is None else coroutine.throw(thrown)
            except StopIteration as ended:
                return ended.value
