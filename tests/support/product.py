"""The whole product behind a real server on loopback, for tests that go through the front door.

async with product(tmp_path, packs=[ECHO]) as it:
    data = await it.query("{viewer {name}}")
    success = await it.mutate("mutation {…}")
    async for message in it.subscribe("subscription {…}"):
        …
"""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import app.main
import app.surfaces
from app.settings.server import Settings
from runner.processes.processes import stop_processes
from schema.build import build_schema
from tests.support.databases import prepare_sqlite, ready_database
from tests.support.graphql_client import Answer, GraphQLClient, GraphQLSocket, Served, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from packline import Pack
    from resolvers.context import Services

#: What the product's first caller, the administrator, presents.
ADMIN_TOKEN = "pkl_test_administrator_token"

_PACK_FILE = """from tests.support.product import offered

globals().update(offered(__file__))
"""
_offers: dict[str, list[Pack]] = {}
#: A schema keeps nothing of the application it serves; building one takes a third of the time of a start in a test.
_schema_of = cache(build_schema)
#: The packs of installed distributions are none here; to find that out takes a fifth of the time of a start.
_load_registry = partial(app.main.load_registry, entry_points=False)
#: What processes of the spawner that runs inherit.
_inherited: tuple[dict[str, str], str, list[str]] | None = None


@dataclass
class Product:
    """A running server.

    Attributes:
        application: What `create_app` made; start and stop are the server's business.
        admin: Speaks as the administrator.
        folder: Its data folder.
    """

    application: app.main.Application
    served: Served
    admin: GraphQLClient
    folder: Path
    token: str = ADMIN_TOKEN
    _clients: list[GraphQLClient] = field(default_factory=list)

    @property
    def services(self) -> Services:
        """What the use cases work with."""
        services = self.application.services
        assert services is not None, "the product has stopped"
        return services

    def url(self, path: str = "/") -> str:
        """An address on this server; a whole one, such as agents are given, stays as it is."""
        return path if path.startswith("http://") else self.served.url(path)

    def client(self, token: str | None) -> GraphQLClient:
        """Speaks as whoever holds a token; closed with the product."""
        client = GraphQLClient(self.url("/graphql"), token=token)
        self._clients.append(client)
        return client

    async def answer(
        self, query: str, variables: Mapping[str, Any] | None = None, *, token: str | None = None
    ) -> Answer:
        """The whole answer, errors included."""
        client = self.admin if token is None else self.client(token)
        return await client.execute(query, variables)

    async def query(
        self, query: str, variables: Mapping[str, Any] | None = None, *, token: str | None = None
    ) -> dict[str, Any]:
        """The data of a query; fails the test when there are errors."""
        return (await self.answer(query, variables, token=token)).data

    async def mutate(
        self, query: str, variables: Mapping[str, Any] | None = None, *, token: str | None = None
    ) -> dict[str, Any]:
        """What the only field of a command answers."""
        data = await self.query(query, variables, token=token)
        assert len(data) == 1, data
        answer = next(iter(data.values()))
        assert isinstance(answer, dict)
        return answer

    @asynccontextmanager
    async def socket(self, token: str | None = None) -> AsyncIterator[GraphQLSocket]:
        """A `graphql-transport-ws` connection, signed in."""
        async with GraphQLSocket.open(self.served.ws_url("/graphql"), token=token or self.token) as opened:
            yield opened

    async def subscribe(
        self, query: str, variables: Mapping[str, Any] | None = None, *, token: str | None = None
    ) -> AsyncIterator[Any]:
        """The values of a subscription's only field, until it completes."""
        async with self.socket(token) as opened:
            async for payload in opened.subscribe(query, variables):
                assert "errors" not in payload, payload["errors"]
                yield next(iter(payload["data"].values()))

    async def token_for(self, subject: str, *scopes: str) -> str:
        """A new token of a caller, with scopes as the API spells them, such as `RUN`."""
        made = await self.mutate(
            """mutation ($name: String!, $scopes: [Scope!]!, $subject: String) {
                createToken(name: $name, scopes: $scopes, subject: $subject) {
                    __typename ... on CreateTokenSuccess { plaintext } ... on Problem { message } } }""",
            {"name": f"token of {subject}", "subject": subject, "scopes": list(scopes)},
        )
        assert made["__typename"] == "CreateTokenSuccess", made
        return str(made["plaintext"])


@asynccontextmanager
async def product(
    folder: Path,
    packs: Sequence[Pack] = (),
    *,
    database_url: str = "sqlite",
    builtins: bool = False,
    **settings: Any,
) -> AsyncIterator[Product]:
    """Starts Packline on a port of its own and stops it at the end.

    Starting it again on the same folder (and database) is a restart.

    Args:
        folder: Its data lies in `data` below it.
        packs: Found in a pack folder of the user's, the way any user's are.
        database_url: `sqlite`, `postgresql` for a fresh database of its own, or the address of one that is ready.
        builtins: Whether to load the packs and starters that ship; it takes a while.
        settings: Fields of `app.settings.server.Settings`, such as `caller_concurrent_runs=1`; `port` is that of an
            earlier start, for clients that stay.
    """
    async with AsyncExitStack() as stack:
        if database_url == "postgresql":
            database_url = stack.enter_context(ready_database(starters=builtins))
        data = folder / "data"
        if database_url == "sqlite":
            prepare_sqlite(data, starters=builtins)
        given: dict[str, Any] = {
            "data_dir": data,
            "port": 0,
            "database_url": database_url,
            "bootstrap_token": ADMIN_TOKEN,
            "shutdown_grace_seconds": 1,
            "pack_path": (offer(folder, packs), *settings.pop("pack_path", ())),
            **settings,
        }
        if not builtins:
            stack.enter_context(_without_builtins(folder))
        stack.enter_context(patch.object(app.surfaces, "build_schema", _schema_of))
        stack.enter_context(patch.object(app.main, "load_registry", _load_registry))
        stack.enter_context(patch.object(app.main, "stop_processes", _stop_unlike_processes))
        await _stop_unlike_processes()
        application = app.main.create_app(Settings.load(given))
        served = await stack.enter_async_context(serve(application, port=given["port"], timeout_graceful_shutdown=1))
        stack.callback(application.begin_stopping)
        started = Product(application, served, GraphQLClient(served.url("/graphql"), token=ADMIN_TOKEN), data)
        started._clients.append(started.admin)
        try:
            yield started
        finally:
            for client in started._clients:
                await client.http.aclose()


def offer(folder: Path, packs: Sequence[Pack]) -> Path:
    """A pack folder below `folder` that holds these packs, for `PACKLINE_PACK_PATH` of this process."""
    place = folder / "test_packs"
    file = place / "packs" / "offered" / "packs.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    if packs:
        file.write_text(_PACK_FILE)
    else:
        file.unlink(missing_ok=True)
    path = str(file.resolve())
    if path in _offers:  # A restart in this process would otherwise meet the packs of the first start.
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) == path:
                del sys.modules[name]
    _offers[path] = list(packs)
    return place


def offered(file: str) -> dict[str, Pack]:
    """What a pack file made by `offer` holds; called by that file."""
    return {f"PACK_{number}": pack for number, pack in enumerate(_offers[str(Path(file).resolve())])}


async def _stop_unlike_processes() -> None:
    """Ends the spawner where its processes would inherit something else than those of one that starts now.

    It outlives products otherwise: to start and to import what packs need takes 0.2 s of processor time.
    """
    global _inherited
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    inherited = (environment, os.getcwd(), list(sys.path))
    if inherited != _inherited:
        await stop_processes()
        _inherited = inherited


@contextmanager
def _without_builtins(folder: Path) -> Iterator[None]:
    """The folder of what ships stands empty: loading and checking all of it costs more than most tests."""
    empty = folder / "no_builtins"
    (empty / "packs").mkdir(parents=True, exist_ok=True)
    (empty / "pipelines").mkdir(exist_ok=True)
    with patch.object(app.main, "builtins_folder", lambda: empty):
        yield
