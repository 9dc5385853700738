"""The application: the one place where objects are wired together.

`create_app` is cheap and opens nothing. Starting (the ASGI lifespan) opens the store, loads packs and starters, starts
the engine, and opens the surfaces last: runs of a former server go on while what answers requests is still being
imported. Stopping undoes it in the opposite order.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog
from starlette.applications import Starlette

from app.artifact_store import storage_place
from app.auth.hosts import HostGuard, guard_for
from app.auth.identity import Authenticator
from app.http.base_path import without_base
from app.http.downloads import Downloads
from app.http.metrics import metrics_route
from app.http.pages import health_route, wrong_method
from app.run_resources import resources_of
from app.settings.mounts import mount_specs
from app.settings.telemetry import exports_traces
from catalog.memory.audit_memory import Memory
from catalog.memory.defaults import DefaultsCache
from catalog.metadata import unknown_kinds
from resolvers.catalog.compiled_catalog import CompiledCatalogCache
from resolvers.catalog.pack_routing import PackRouter
from resolvers.context import Services
from resolvers.pipelines.versions import Versions
from resolvers.triggers.firing import fire_due
from resolvers.triggers.run_ends import fire_ended
from resolvers.usage import UsageCache
from runner import tracing
from runner.definitions.starters import seed_starters
from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from runner.excerpts import in_force
from runner.files.previews import Previews
from runner.metrics import Metrics
from runner.mounts.mounts import Mounts
from runner.packs.registry import builtins_folder, load_registry
from runner.packs.reload import PackReload
from runner.processes.processes import stop_processes
from runner.running.engine import Engine
from runner.secrets.redaction import Redactor
from runner.secrets.vault_sync import VaultSync
from runner.triggers.scheduler import EndedRuns, Scheduler
from runner.watching.tail import Tails
from store.database.engine import Connections, open_store
from store.files.shared_storage import require_shared_storage
from store.secrets.vault_key import key_source

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from app.settings.server import Settings
    from app.surfaces import Surfaces
    from runner.packs.registry import Registry
    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: Answered without a surface, and before there is one.
_OUTER_PATHS = frozenset({"/healthz", "/metrics"})


class Application:
    """Packline as an ASGI application.

    Args:
        settings: All settings.
        answers: Whether it serves the surfaces; a worker has only the health check and metrics.

    Attributes:
        services: What use cases work with; None before start and after stop.
        authenticator: Who may call; None before start and after stop.
        surfaces: What answers requests; None before start and after stop.
    """

    def __init__(self, settings: Settings, *, answers: bool = True) -> None:
        self.settings = settings
        self.services: Services | None = None
        self.authenticator: Authenticator | None = None
        self.surfaces: Surfaces | None = None
        self._answers = answers
        self._started = False
        self._base = settings.base
        self._stack = AsyncExitStack()
        routes = [
            health_route(lambda: self._started),
            metrics_route(lambda: self.services, settings.metrics_token),
        ]
        outer = Starlette(routes=routes, exception_handlers={405: wrong_method})
        # Probes and scrapes of an orchestrator name the address that the container happens to have.
        self._outer = guard_for(outer, settings) if settings.is_loopback else HostGuard(outer, hosts=None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection, or starts and stops the application."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._base:
            scope = without_base(scope, self._base)
        surfaces = self.surfaces
        if surfaces is None or scope.get("path") in _OUTER_PATHS:
            await self._outer(scope, receive, send)
            return
        await surfaces(scope, receive, send)

    def begin_stopping(self) -> None:
        """Ends open event streams, so that the server need not wait for them."""
        if self.surfaces is not None:
            self.surfaces.begin_stopping()

    async def start(self) -> None:
        """Opens the store, loads packs and starters, starts the engine, opens the surfaces.

        Raises:
            StoreError: the database cannot be used; the message says what to do.
            EgressPolicyError: PACKLINE_EGRESS_ALLOW has a bad entry.
        """
        settings = self.settings
        redactor = Redactor()
        self._stack.enter_context(in_force(redactor))
        policy = EgressPolicy.parse(",".join(settings.egress_allow))
        await self._open_tracing()
        metrics = Metrics()
        store = await self._open_store(metrics)
        reload = PackReload(settings.pack_path if settings.pack_reload else ())
        registry = await self._load_packs(store)
        egress = Egress(policy)
        self._stack.push_async_callback(egress.aclose)
        vault_sync = await self._open_vault(store, redactor)
        memory = Memory(store, vault_sync, redactor, keep_days=settings.memory_days)
        router = PackRouter()
        resources = resources_of(
            settings,
            store=store,
            registry=registry,
            redactor=redactor,
            egress=egress,
            vault=vault_sync.vault,
            memory=memory,
            metrics=metrics,
            router=router,
            answers=self._answers,
        )
        if store.shared and settings.shared_storage:
            await require_shared_storage(store, resources.blobs, storage_place(settings))
        authenticator = await self._open_sign_in(store, egress)
        previews = Previews(store, resources.blobs)
        self._stack.push_async_callback(previews.stop)
        downloads = Downloads(store, resources.blobs, previews, authenticator, settings)
        mounts = Mounts(
            mount_specs(settings.mcp_servers, settings.mcp_commands),
            store,
            registry,
            egress,
            settings.data_dir / "mcp",
            vault_sync.vault.find,
        )
        engine = Engine(resources)
        self.services = _services(settings, engine, vault_sync, memory, mounts, previews, downloads)
        router.open(self.services)
        await self._start_background_work(self.services, reload)
        self.authenticator = authenticator
        if self._answers:
            self.surfaces = await self._open_surfaces(self.services, authenticator, downloads)
        self._started = True

    async def stop(self) -> None:
        """Stops what `start` started; harmless twice and before it."""
        self._started = False
        self.surfaces = None
        await self._stack.aclose()
        self.services = self.authenticator = None

    async def _open_tracing(self) -> None:
        """Export traces if the environment says where to; stops last, so that the end of the last run is sent."""
        if not exports_traces():
            return
        from app.telemetry.tracing import OpenTelemetry

        telemetry = OpenTelemetry(version("packline"), self.settings.log_level, self.settings.log_format)
        self._stack.push_async_callback(telemetry.stop)
        self._stack.enter_context(tracing.in_force(telemetry))

    async def _open_store(self, metrics: Metrics) -> Store:
        url = self.settings.database_url
        store = await open_store(
            url,
            self.settings.data_dir,
            migrate=url == "sqlite",
            connections=self._connections(),
            watches=self._answers,
            observe_commit=metrics.committed,
        )
        self._stack.push_async_callback(store.close)
        self._stack.push_async_callback(stop_processes)
        return store

    def _connections(self) -> Connections:
        default = Connections() if self._answers else Connections(write=4, read=3)
        settings = self.settings
        return Connections(
            settings.database_write_connections or default.write, settings.database_read_connections or default.read
        )

    async def _load_packs(self, store: Store) -> Registry:
        registry = load_registry(builtins_folder(), self.settings.pack_path)
        for problem in registry.load_errors():
            log.warning("a pack could not be loaded; the others were", origin=problem.origin, problem=problem.message)
        for pack in registry.packs():
            metadata = pack.metadata
            if unknown := [*unknown_kinds("accepts", metadata.accepts), *unknown_kinds("produces", metadata.produces)]:
                log.warning("a pack names unknown kinds", pack=pack.name, problem=" ".join(unknown))
        if self._answers:
            await seed_starters(store, registry, builtins_folder() / "pipelines")
        return registry

    async def _open_vault(self, store: Store, redactor: Redactor) -> VaultSync:
        key = key_source(self.settings.data_dir, self.settings.vault_key_text())
        vault_sync = VaultSync(store, key, redactor)
        await vault_sync.start()
        self._stack.push_async_callback(vault_sync.stop)
        return vault_sync

    async def _open_sign_in(self, store: Store, egress: Egress) -> Authenticator:
        single_sign_on = None
        if self._answers and self.settings.oidc_issuer is not None:
            from app.auth.provider import Provider
            from app.auth.single_sign_on import SingleSignOn

            provider = Provider(self.settings.oidc_issuer, egress, skew_seconds=self.settings.oidc_clock_skew_seconds)
            provider.start()
            self._stack.push_async_callback(provider.stop)
            single_sign_on = SingleSignOn(provider, self.settings)
        authenticator = Authenticator(store, self.settings, single_sign_on)
        await authenticator.start()
        self._stack.push_async_callback(authenticator.stop)
        return authenticator

    async def _start_background_work(self, services: Services, reload: PackReload) -> None:
        """Starts memory, mounts and, because its runs need them, the engine, then triggers and the reload of packs."""
        await services.memory.start()
        self._stack.push_async_callback(services.memory.stop)
        await services.mounts.start()
        self._stack.push_async_callback(services.mounts.stop)
        await services.engine.start()
        self._stack.push_async_callback(services.engine.stop, self.settings.shutdown_grace_seconds)
        loops: list[Scheduler | EndedRuns] = [Scheduler(services.store, partial(fire_due, services))]
        if self._answers:  # a worker does not know the address of the page, which runs for ended runs are given
            loops.append(EndedRuns(services.store, partial(fire_ended, services)))
        for loop in loops:
            await loop.start()
            self._stack.push_async_callback(loop.stop)
        reload.start(services.registry, lambda: [attempt.pack for attempt in services.engine.worker.attempts()])
        self._stack.push_async_callback(reload.stop)

    async def _open_surfaces(self, services: Services, authenticator: Authenticator, downloads: Downloads) -> Surfaces:
        """Imports and builds what answers requests, in a thread: runs go on meanwhile."""

        def build() -> Surfaces:
            from app.surfaces import Surfaces

            return Surfaces(self.settings, services, authenticator, downloads)

        surfaces = await asyncio.to_thread(build)
        surfaces.start()
        self._stack.push_async_callback(surfaces.stop)
        return surfaces

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


def create_app(settings: Settings, *, answers: bool = True) -> Application:
    """The application for these settings; nothing is opened until it is started."""
    return Application(settings, answers=answers)


def _services(
    settings: Settings,
    engine: Engine,
    vault_sync: VaultSync,
    memory: Memory,
    mounts: Mounts,
    previews: Previews,
    downloads: Downloads,
) -> Services:
    store = engine.resources.store
    return Services(
        engine=engine,
        vault_sync=vault_sync,
        tails=Tails(store, engine.bus),
        settings=settings.describe,
        sign_download=downloads.sign,
        sign_transcript=downloads.sign_transcript,
        upload_url=f"{settings.outward}/artifacts",
        hooks_url=f"{settings.outward}/hooks",
        runs_url=f"{settings.outward}/runs" if settings.public_url else None,
        previews=previews,
        version=engine.resources.release,
        versions=Versions(),
        mounts=mounts,
        memory=memory,
        defaults=DefaultsCache(store, memory),
        usage=UsageCache(),
        routing=CompiledCatalogCache(),
    )
