"""Traces: from the request through the command, the run and its step to the call that the step makes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from pydantic import BaseModel

import app.telemetry.export
from packline import PackContext, pack
from tests.support.front_door import step
from tests.support.loopback_http import Reply, loopback_http
from tests.support.otlp_receiver import otlp_receiver
from tests.support.surfaces import states

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.contract.api.conftest import Api
    from tests.support.loopback_http import LoopbackHttp
    from tests.support.otlp_receiver import Collector

pytestmark = pytest.mark.asyncio(loop_scope="module")

#: Spans of a run that a caller starts, by surface; each belongs to the one before.
SPANS = {
    "graphql": ("POST /graphql", "run_pipeline", "run", "step", "GET"),
    "mcp": ("POST /mcp", "tools/call", "run_pipeline", "run", "step", "GET"),
}


class Address(BaseModel):
    url: str


class Empty(BaseModel):
    """Nothing."""


@pack("trace.fetch", version="1.0.0", effects="none", repeatable=True)
async def fetch(ctx: PackContext, given: Address) -> Empty:
    """Fetches a page."""
    await ctx.http.get(given.url)
    return Empty()


PACKS = (fetch,)


def settings(_folder: Path) -> dict[str, Any]:
    return {"egress_allow": ("127.0.0.1",)}


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def collector() -> AsyncIterator[Collector]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        async with otlp_receiver() as receiver:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
            monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
            monkeypatch.setattr(app.telemetry.export, "COLLECT_SECONDS", 0.01)
            yield receiver


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/page": Reply()}) as served:
        yield served


@states("run_pipeline")
async def test_each_span_belongs_to_what_caused_it(
    api: Api, collector: Collector, site: LoopbackHttp, request: pytest.FixtureRequest
) -> None:
    await api.save(step("fetch", "trace.fetch", url=site.url("/page")))
    started = (await api.me.call("run_pipeline", pipeline=api.key, waitSeconds=20))["run"]
    assert started["state"] == "SUCCEEDED", started
    run = await collector.first("run", packline_run_id=started["id"])
    names = SPANS[request.node.callspec.params["api"]]
    spans = {span.name: span for span in await collector.trace(run.trace, *names)}
    assert sorted(spans) == sorted(names)
    assert [spans[below].parent for _, below in pairwise(names)] == [spans[above].id for above, _ in pairwise(names)]
    assert spans[names[0]].parent == ""
    assert site.requests[-1].headers["traceparent"].split("-")[1:3] == [run.trace, spans["GET"].id]
