"""One product per module and database; each test is a caller of its own on it, through each transport."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.mcp_surface import McpSurface
from tests.support.packs import Workbench
from tests.support.product import ADMIN_TOKEN, product
from tests.support.surfaces import GraphQLSurface, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.support.product import Product
    from tests.support.surfaces import Surface

_numbers = itertools.count(1)
#: Transports by name.
SURFACES: dict[str, type[GraphQLSurface]] = {"graphql": GraphQLSurface, "mcp": McpSurface}
#: Each operation goes through each transport and to each database in `make test`; the other two pairs are a sweep.
_SAMPLE = (("sqlite", "mcp"), ("postgresql", "graphql"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and getattr(item.function, "operations", frozenset()) - McpSurface.lacks:
            given = item.callspec.params if hasattr(item, "callspec") else {}
            if {"house", "api"} <= given.keys() and (given["house"], given["api"]) not in _SAMPLE:
                item.add_marker(pytest.mark.sweep)


@dataclass
class House:
    """A product on one of the databases, and the packs it has."""

    product: Product
    bench: Workbench


class Recorder:
    """A surface that notes which operations answered or were refused."""

    def __init__(self, inner: Surface, called: set[str]) -> None:
        self._inner = inner
        self._called = called

    async def call(self, operation: str, /, **arguments: Any) -> Any:
        self._called.add(operation)
        return await self._inner.call(operation, **arguments)

    async def watch(self, operation: str, /, **arguments: Any) -> AsyncIterator[Any]:
        self._called.add(operation)
        async for message in self._inner.watch(operation, **arguments):
            yield message


@dataclass
class Api:
    """What a test speaks to.

    Attributes:
        me: The caller of this test, who may read, run and write.
        admin: The administrator.
        subject: Subject of the caller.
        key: A pipeline key no other test uses.
    """

    me: Recorder
    admin: Recorder
    subject: str
    key: str
    house: House
    _speaking: Callable[[str], Recorder]

    @property
    def bench(self) -> Workbench:
        return self.house.bench

    async def as_caller(self, subject: str, *scopes: str) -> Recorder:
        """Another caller."""
        return self.speaking(await self.house.product.token_for(f"{self.subject}-{subject}", *scopes))

    def speaking(self, token: str) -> Recorder:
        """Whoever holds a token."""
        return self._speaking(token)

    async def save(self, *steps: dict[str, Any], key: str | None = None, **document: Any) -> str:
        """Saves a pipeline of this test's; its key."""
        key = key or self.key
        definition = {"key": key, "name": key, "steps": list(steps), **document}
        await self.me.call("create_pipeline", definition={"document": definition})
        return key

    async def refusal(self, operation: str, **arguments: Any) -> Refused:
        """How an operation of the caller's is refused."""
        with pytest.raises(Refused) as refused:
            await self.me.call(operation, **arguments)
        return refused.value


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    bench = Workbench()
    folder = tmp_path_factory.mktemp("house")
    more = request.module.settings(folder) if hasattr(request.module, "settings") else {}
    packs = [*bench.packs, *getattr(request.module, "PACKS", ())]
    async with product(folder, packs, database_url=request.param, caller_concurrent_runs=2, **more) as running:
        yield House(running, bench)


@pytest_asyncio.fixture(loop_scope="module", params=sorted(SURFACES))
async def api(request: pytest.FixtureRequest, house: House) -> AsyncIterator[Api]:
    surface = SURFACES[request.param]
    stated: frozenset[str] = request.function.operations
    if stated & surface.lacks:
        pytest.skip(f"{request.param} has no {', '.join(sorted(stated & surface.lacks))}")
    bench = house.bench
    bench.log.clear()
    bench.started.clear()
    bench.release.clear()
    bench.failing = True
    number = next(_numbers)
    subject, called = f"caller-{number}", set[str]()
    token = await house.product.token_for(subject, "READ", "RUN", "WRITE")
    made: list[Surface] = []

    def speaking(token: str) -> Recorder:
        made.append(surface(house.product, token))
        return Recorder(made[-1], called)

    yield Api(
        me=speaking(token),
        admin=speaking(ADMIN_TOKEN),
        subject=subject,
        key=f"pipeline-{number}",
        house=house,
        _speaking=speaking,
    )
    bench.release.set()
    for each in made:
        await each.close()
    assert stated <= called, f"stated but not called: {sorted(stated - called)}"
