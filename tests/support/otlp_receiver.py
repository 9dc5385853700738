"""A collector on loopback that takes spans over OTLP/HTTP, as OpenTelemetry's SDK sends them.

async with otlp_receiver() as collector:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    …
    spans = await collector.trace(trace_id, "run", "step")
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.graphql_client import PATIENCE_SECONDS
from tests.support.loopback_http import Reply, loopback_http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import TypeVar

    from tests.support.loopback_http import Request

    T = TypeVar("T")


@dataclass(frozen=True)
class Received:
    """A span as it arrived.

    Attributes:
        kind: OpenTelemetry's number: 1 internal, 2 server, 3 client.
        links: Ids of trace and span.
        raw: All of it as text.
    """

    name: str
    trace: str
    id: str
    parent: str
    kind: int
    attributes: dict[str, Any]
    links: list[tuple[str, str]]
    is_error: bool
    state: str
    resource: dict[str, Any]
    raw: str

    @property
    def context(self) -> str:
        """Its `traceparent`, as a caller would send it."""
        return f"00-{self.trace}-{self.id}-01"


@dataclass
class Collector:
    """The running receiver.

    Attributes:
        spans: Everything that arrived, in order.
        headers: Of each request.
        refusals: How many of the next requests are refused.
    """

    url: str
    spans: list[Received] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    refusals: int = 0
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def of(self, trace: str) -> list[Received]:
        """The spans of a trace."""
        return [span for span in self.spans if span.trace == trace]

    async def until(self, found: Callable[[], T | None]) -> T:
        """Waits until what arrived is enough."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._news:
            await self._news.wait_for(lambda: found() is not None)
        result = found()
        assert result is not None
        return result

    async def trace(self, trace: str, *names: str) -> list[Received]:
        """The spans of a trace, once it has spans of these names, each as often as it is named."""

        def complete() -> list[Received] | None:
            spans = self.of(trace)
            have = [span.name for span in spans]
            return spans if all(have.count(name) >= names.count(name) for name in names) else None

        return await self.until(complete)

    async def first(self, name: str, **attributes: Any) -> Received:
        """The first span of a name with these attributes; `_` in their names stands for a dot."""
        wanted = {key.replace("_", "."): value for key, value in attributes.items()}.items()
        return await self.until(
            lambda: next((span for span in self.spans if span.name == name and wanted <= span.attributes.items()), None)
        )

    async def _take(self, request: Request, _writer: asyncio.StreamWriter) -> Reply:
        if self.refusals:
            self.refusals -= 1
            return Reply(b"", status=404)
        message = ExportTraceServiceRequest.FromString(request.body)
        async with self._news:
            self.headers.append(request.headers)
            for each in message.resource_spans:
                resource = _attributes(each.resource.attributes)
                self.spans += [_read(span, resource) for scope in each.scope_spans for span in scope.spans]
            self._news.notify_all()
        return Reply(b"", headers={"content-type": "application/x-protobuf"})


def _read(span: Any, resource: dict[str, Any]) -> Received:
    return Received(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        kind=span.kind,
        attributes=_attributes(span.attributes),
        links=[(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
        is_error=span.status.code == 2,
        state=span.trace_state,
        resource=resource,
        raw=str(span),
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@asynccontextmanager
async def otlp_receiver() -> AsyncIterator[Collector]:
    """Receives while the block runs."""
    collector = Collector("")
    async with loopback_http({"/v1/traces": collector._take}) as served:
        collector.url = served.url("")
        yield collector
