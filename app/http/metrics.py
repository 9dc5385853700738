"""`GET /metrics`: what this process has done and what the database holds now, for Prometheus.

Every process answers for itself; what the database holds is the same in each (`packline_runs`, `packline_queue_…`,
`packline_worker…`, `packline_triggers`), so dashboards take the maximum of it, not the sum.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.addresses import is_loopback
from store.database.errors import StoreError
from store.runs import reads as run_reads
from store.runs.admission import find_pause
from store.runs.workers import list_queue, list_workers
from store.triggers.reads import count_trigger_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from prometheus_client.metrics_core import Metric
    from pydantic import SecretStr
    from starlette.requests import Request

    from resolvers.context import Services

_Labels = TypeVar("_Labels", bound=tuple[str, ...])

#: Headers of a proxy: a request with one of them does not come from this machine.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
#: Different needs that are reported; the longest waiting come first.
_NEEDS_MAX = 50


def metrics_route(services: Callable[[], Services | None], token: SecretStr | None) -> Route:
    """Serve metrics to callers with the token; without a token, only to requests from this machine.

    Args:
        services: What use cases work with; None before the start.
        token: `PACKLINE_METRICS_TOKEN`.
    """
    expected = None if token is None else f"Bearer {token.get_secret_value()}".encode()

    async def metrics(request: Request) -> Response:
        if (refusal := _refusal(request, expected)) is not None:
            return refusal
        now = services()
        if now is None:
            return PlainTextResponse("not ready\n", 503, {"retry-after": "1"})
        read = CollectorRegistry()
        read.register(_Read(await _gauges(now)))
        text = generate_latest(now.engine.resources.metrics.registry) + generate_latest(read)
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4, headers={"cache-control": "no-store"})

    return Route("/metrics", metrics, methods=["GET"])


def _refusal(request: Request, expected: bytes | None) -> Response | None:
    if expected is not None:
        if hmac.compare_digest(request.headers.get("authorization", "").encode(), expected):
            return None
        message = "Send the value of PACKLINE_METRICS_TOKEN as a bearer token.\n"
        return PlainTextResponse(message, 401, {"www-authenticate": "Bearer"})
    is_forwarded = any(name in request.headers for name in _FORWARDED)
    # A page of the internet may make a browser of this machine ask, by a name that leads here.
    is_asked_by_name = not is_loopback(request.url.hostname or "")
    if request.client is not None and is_loopback(request.client.host) and not is_forwarded and not is_asked_by_name:
        return None
    return PlainTextResponse("Set PACKLINE_METRICS_TOKEN to read metrics from another machine.\n", 403)


class _Read(Collector):
    """Metrics that were read for one scrape."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


async def _gauges(services: Services) -> list[Metric]:
    """Read what the database holds; if it cannot be read, only that."""
    engine = services.engine
    try:
        stored = await _stored(services)
    except StoreError:
        stored = []
    return [
        _gauge("packline_release", "The release that runs.", {(services.version,): 1}, ["version"]),
        _gauge("packline_accepting", "Whether this process takes new runs.", {(): engine.worker.accepting}),
        _gauge("packline_database_up", "Whether the database answered.", {(): bool(stored)}),
        _gauge("packline_database_reads", "Reads that are under way.", {(): services.store.reading}),
        _gauge("packline_watchers", "Pages, subscriptions and waits that follow a run.", {(): services.tails.watchers}),
        *stored,
    ]


async def _stored(services: Services) -> list[Metric]:
    store, limits = services.store, services.limits
    queue = (await list_queue(store))[:_NEEDS_MAX]
    workers = await list_workers(store, limits.lease_seconds)
    oldest = await run_reads.oldest_queued(store)
    alive = [worker for worker in workers if worker.alive]
    states = {("alive",): len(alive), ("lost",): len(workers) - len(alive)}
    states["draining",] = sum(worker.draining for worker in alive)
    without_worker = await run_reads.oldest_without_worker(store)
    triggers = await count_trigger_states(store)
    runs = {("queued",): await run_reads.count_queued(store), ("held",): await run_reads.count_held(store)}
    return [
        _gauge(
            "packline_runs", "Runs in progress: queued, or held by a worker; counted up to 10,000.", runs, ["state"]
        ),
        _gauge(
            "packline_queue_runs",
            "Queued runs by what their next step needs of a worker; empty for nothing special.",
            {(",".join(record.needs),): record.runs for record in queue},
            ["needs"],
        ),
        _gauge(
            "packline_queue_oldest_seconds", "How long the oldest queued run has waited.", {(): _age(services, oldest)}
        ),
        _gauge(
            "packline_queue_no_worker_seconds",
            "How long the oldest run has waited that needs nothing but a worker; without waits for a slot.",
            {(): _age(services, without_worker)},
        ),
        _gauge("packline_workers", "Workers by state; draining ones are alive, too.", states, ["state"]),
        _gauge(
            "packline_worker_lanes",
            "Runs that the living workers can execute at the same time.",
            {(): sum(worker.lanes for worker in alive)},
        ),
        _gauge(
            "packline_worker_runs",
            "Runs that the living workers hold, which is the number of their leases.",
            {(): sum(worker.running for worker in alive)},
        ),
        _gauge(
            "packline_admission_paused",
            "Whether an operator has paused admission.",
            {(): await find_pause(store) is not None},
        ),
        _gauge("packline_triggers", "Triggers by kind and state.", triggers, ["kind", "state"]),
    ]


def _age(services: Services, since: datetime | None) -> float:
    return 0.0 if since is None else max(0.0, (services.now() - since).total_seconds())


def _gauge(
    name: str, documentation: str, values: Mapping[_Labels, float], labels: Iterable[str] = ()
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, documentation, labels=[*labels])
    for names, value in values.items():
        family.add_metric([*names], value)
    return family
