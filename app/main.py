"""The application: the one place where objects are wired together.

`create_app` is cheap and opens nothing. Starting (the ASGI lifespan) opens the store, loads packs and starters and
starts the engine; stopping undoes it in the opposite order.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from app.auth.gate import AttemptGate
from app.auth.hosts import guard_for
from app.auth.identity import Authenticator
from app.graphiql import graphiql_routes
from app.graphql.endpoint import GraphQLApp, TransportLimits
from app.http.base_path import inside
from app.http.downloads import Downloads
from app.http.login import login_routes
from app.http.pages import health_route, nothing_here, page_routes, wrong_method
from app.http.uploads import Uploads
from app.mcp.resources.agent_files import agent_file_routes
from app.mcp.transport.mount import METADATA_PATHS, McpMount
from app.mcp.transport.mount import PATH as MCP_PATH
from app.run_resources import resources_of
from app.settings.mounts import mount_specs
from catalog.memory.audit_memory import Memory
from catalog.memory.defaults import DefaultsCache
from resolvers.catalog.compiled_catalog import CompiledCatalogCache
from resolvers.catalog.pack_routing import PackRouter
from resolvers.context import Caller, Context, Services
from resolvers.pipelines.versions import Versions
from resolvers.usage import UsageCache
from runner.definitions.starters import seed_starters
from runner.egress.client import Egress, EgressPolicy
from runner.excerpts import excerpt, in_force
from runner.files.previews import Previews
from runner.mounts.mounts import Mounts
from runner.packs.registry import builtins_folder, load_registry
from runner.processes.processes import stop_processes
from runner.running.engine import Engine
from runner.secrets.redaction import Redactor
from runner.secrets.vault_sync import VaultSync
from runner.watching.tail import Tails
from schema.base.context import RequestContext
from schema.build import build_schema
from store.database.engine import open_store
from store.secrets.vault_key import key_source
from store.states import RunCause

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.settings.server import Settings
    from runner.packs.registry import Registry
    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: How long a request may take besides what it waits for.
ANSWER_SECONDS = 10.0


class Application:
    """Packline as an ASGI application.

    Attributes:
        services: What use cases work with; None before start and after stop.
        authenticator: Who may call; None before start and after stop.
        schema: What every surface runs on.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.services: Services | None = None
        self.authenticator: Authenticator | None = None
        self.schema = build_schema(settings.request_limits())
        self._base = settings.base
        self._inner: ASGIApp | None = None
        self._graphql: GraphQLApp[Caller] | None = None
        self._mcp: McpMount | None = None
        self._stack = AsyncExitStack()
        self._outer = guard_for(
            Starlette(routes=[health_route(lambda: self._inner is not None)], exception_handlers={405: wrong_method}),
            settings,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection, or starts and stops the application."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._base:
            scope = inside(scope, self._base)
        inner = self._inner
        if inner is None or scope.get("path") == "/healthz":
            await self._outer(scope, receive, send)
            return
        await inner(scope, receive, send)

    def begin_stopping(self) -> None:
        """Ends open event streams, so that the server need not wait for them."""
        if self._graphql is not None:
            self._graphql.stop()
        if self._mcp is not None:
            self._mcp.begin_stopping()

    async def start(self) -> None:
        """Opens the store, loads packs and starters, starts the engine.

        Raises:
            StoreError: the database cannot be used; the message says what to do.
            EgressPolicyError: PACKLINE_EGRESS_ALLOW has a bad entry.
        """
        settings = self.settings
        redactor = Redactor()
        self._stack.enter_context(in_force(redactor))
        policy = EgressPolicy.parse(",".join(settings.egress_allow))
        store = await self._open_store()
        registry = await self._load_packs(store)
        egress = Egress(policy)
        self._stack.push_async_callback(egress.aclose)
        keeper = await self._open_vault(store, redactor)
        memory = Memory(store, keeper, redactor, keep_days=settings.memory_days)
        router = PackRouter()
        resources = resources_of(
            settings,
            store=store,
            registry=registry,
            redactor=redactor,
            egress=egress,
            vault=keeper.vault,
            memory=memory,
            router=router,
        )
        authenticator = await self._open_sign_in(store)
        previews = Previews(store, resources.blobs)
        self._stack.push_async_callback(previews.stop)
        downloads = Downloads(store, resources.blobs, previews, authenticator, settings)
        mounts = Mounts(
            mount_specs(settings.mcp_servers, settings.mcp_commands),
            store,
            registry,
            egress,
            settings.data_dir / "mcp",
            keeper.vault.find,
        )
        self.services = _services(settings, Engine(resources), keeper, memory, mounts, previews, downloads)
        router.open(self.services)
        await self._set_to_work(self.services)
        self.authenticator = authenticator
        self._mcp = self._open_mcp(authenticator)
        self._inner = self._surfaces(authenticator, downloads, self._mcp)

    async def stop(self) -> None:
        """Stops what `start` started; harmless twice and before it."""
        self._inner = None
        await self._stack.aclose()
        self.services = self.authenticator = self._graphql = self._mcp = None

    async def _open_store(self) -> Store:
        url = self.settings.database_url
        store = await open_store(url, self.settings.data_dir, migrate=url == "sqlite")
        self._stack.push_async_callback(store.close)
        self._stack.push_async_callback(stop_processes)
        return store

    async def _load_packs(self, store: Store) -> Registry:
        registry = load_registry(builtins_folder(), self.settings.pack_path)
        for problem in registry.load_errors():
            log.warning("a pack could not be loaded; the others were", origin=problem.origin, problem=problem.message)
        await seed_starters(store, registry, builtins_folder() / "pipelines")
        return registry

    async def _open_vault(self, store: Store, redactor: Redactor) -> VaultSync:
        key = key_source(self.settings.data_dir, self.settings.vault_key_text())
        keeper = VaultSync(store, key, redactor)
        await keeper.start()
        self._stack.push_async_callback(keeper.stop)
        return keeper

    async def _open_sign_in(self, store: Store) -> Authenticator:
        authenticator = Authenticator(store, self.settings)
        await authenticator.start()
        self._stack.push_async_callback(authenticator.stop)
        return authenticator

    async def _set_to_work(self, services: Services) -> None:
        """Starts what works by itself; the engine last, since its runs need the others."""
        await services.memory.start()
        self._stack.push_async_callback(services.memory.stop)
        await services.mounts.start()
        self._stack.push_async_callback(services.mounts.stop)
        await services.engine.start()
        self._stack.push_async_callback(services.engine.stop, self.settings.shutdown_grace_seconds)

    def _open_mcp(self, authenticator: Authenticator) -> McpMount:
        mcp = McpMount(self.schema, authenticator, self.settings, self._command)
        mcp.start()
        self._stack.push_async_callback(mcp.stop)
        return mcp

    def _surfaces(self, authenticator: Authenticator, downloads: Downloads, mcp: McpMount) -> ASGIApp:
        graphql = self._graphql = GraphQLApp(
            self.schema,
            authenticate=authenticator.authenticate,
            make_context=self._context,
            watch_caller=authenticator.watch,
            transport=transport_limits(self.settings),
            allowed_origins=self.settings.allowed_origins,
        )
        router = Starlette(
            routes=[
                Route("/graphql", graphql),
                WebSocketRoute("/graphql", graphql),
                *(Route(path, mcp) for path in (MCP_PATH, *METADATA_PATHS)),
                *downloads.routes(),
                *Uploads(authenticator, self.settings, self._command).routes(),
                *login_routes(authenticator),
                *graphiql_routes(),
                *agent_file_routes(authenticator, self.schema, self._command, self.settings.public_url),
                *page_routes(base=self._base),
            ],
            exception_handlers={404: nothing_here(base=self._base), 405: wrong_method},
        )
        return guard_for(AttemptGate(router, authenticator), self.settings)

    def _context(self, caller: Caller, connection: HTTPConnection) -> RequestContext:
        assert self.services is not None, "surfaces exist only while the application runs"
        client = connection.headers.get("x-packline-client") or connection.headers.get("user-agent")
        context = Context(
            services=self.services,
            caller=caller,
            client_name=excerpt(client, 200) if client else None,
            cause=RunCause.PERSON,
        )
        return RequestContext(context)

    def _command(self, caller: Caller, request: Request) -> Context:
        return self._context(caller, request).context

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})


def create_app(settings: Settings) -> Application:
    """The application for these settings; nothing is opened until it is started."""
    return Application(settings)


def transport_limits(settings: Settings) -> TransportLimits:
    """Times and sizes of the transport; a request may take as long as it may wait for a run, and a little."""
    return TransportLimits(
        request_seconds=settings.wait_seconds_max + ANSWER_SECONDS, frame_bytes=settings.request_body_bytes
    )


def _services(
    settings: Settings,
    engine: Engine,
    keeper: VaultSync,
    memory: Memory,
    mounts: Mounts,
    previews: Previews,
    downloads: Downloads,
) -> Services:
    store = engine.resources.store
    return Services(
        engine=engine,
        vault_sync=keeper,
        tails=Tails(store, engine.bus),
        settings=settings.describe,
        sign_download=downloads.sign,
        sign_transcript=downloads.sign_transcript,
        upload_url=f"{settings.outward}/artifacts",
        previews=previews,
        version=version("packline"),
        versions=Versions(),
        mounts=mounts,
        memory=memory,
        defaults=DefaultsCache(store, memory),
        usage=UsageCache(),
        routing=CompiledCatalogCache(),
    )
