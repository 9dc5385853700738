"""Traces as a collector gets them: over OTLP, of a server that people and programs call."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product as combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from opentelemetry import propagate
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic import BaseModel

import app.telemetry.export
from app.telemetry.tracing import OpenTelemetry
from packline import Pack, PackContext, pack
from runner import tracing
from tests.support.front_door import ended, look, ran, save, step
from tests.support.graphql_client import GraphQLSocket
from tests.support.loopback_http import Reply, loopback_http
from tests.support.mcp_agent import content_of, stdio_agent, stdio_environment
from tests.support.model_server import KEY, model_server
from tests.support.otlp_receiver import Collector, otlp_receiver
from tests.support.packs import Workbench
from tests.support.ports import free_port
from tests.support.product import ADMIN_TOKEN, Product, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.loopback_http import LoopbackHttp

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENT = Path(__file__).parents[2] / "support" / "agent_program.py"
SECRET = "s3cr3t-that-no-collector-may-see"
RUN = """mutation ($pipeline: ID!) { runPipeline(pipeline: $pipeline, waitSeconds: 50) {
    ... on StartRunSuccess { run { id state } } } }"""


class Empty(BaseModel):
    """Nothing."""


@dataclass
class Traced:
    """A product that sends its traces to a collector.

    Attributes:
        site: What the pack `trace.work` calls, at `/page`.
    """

    it: Product
    collector: Collector
    site: LoopbackHttp
    bench: Workbench = field(default_factory=Workbench)

    async def post(
        self, query: str, /, headers: dict[str, str] | None = None, extensions: Any = None, **variables: Any
    ) -> Any:
        """The data of an operation over HTTP."""
        body = {"query": query, "variables": variables, "extensions": extensions}
        given = {"authorization": f"Bearer {ADMIN_TOKEN}", **(headers or {})}
        async with httpx2.AsyncClient(base_url=self.it.url(""), timeout=60, verify=False) as http:
            answer = (await http.post("/graphql", json=body, headers=given)).json()
        assert "errors" not in answer, answer
        return answer["data"]

    async def run(self, pipeline: str, **given: Any) -> str:
        """Starts a run and waits for its end; its id."""
        return str((await self.post(RUN, pipeline=pipeline, **given))["runPipeline"]["run"]["id"])


def new_context() -> tuple[str, str]:
    """The id of a trace, and the `traceparent` of a caller in it."""
    trace = secrets.token_hex(16)
    return trace, f"00-{trace}-{secrets.token_hex(8)}-01"


def worker_of(site: LoopbackHttp) -> Pack:
    @pack("trace.work", version="1.0.0", effects="none", repeatable=True)
    async def work(ctx: PackContext, _given: Empty) -> Empty:
        """Calls a site, with a secret in its address and headers, and a model, with one in the prompt."""
        await ctx.http.get(site.url(f"/page?key={SECRET}"), headers={"authorization": SECRET})
        await ctx.models.text("writer", f"Tell me of {SECRET}. It is one.")
        ctx.warn(SECRET)
        return Empty()

    return work


@asynccontextmanager
async def traced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Traced]:
    bench = Workbench()
    async with otlp_receiver() as collector, model_server() as models, loopback_http({"/page": Reply()}) as site:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
        monkeypatch.setattr(app.telemetry.export, "COLLECT_SECONDS", 0.01)
        agent = {"command": [sys.executable, "-I", str(AGENT), "show", "TRACEPARENT"], "read": [str(AGENT.parent)]}
        settings = {
            **models.settings(writer=["good"]),
            "egress_allow": (f"127.0.0.1:{site.port}",),
            "agents": {"shows": agent},
        }
        async with product(folder, [*bench.packs, worker_of(site)], **settings) as it:
            yield Traced(it, collector, site, bench)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Traced]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        async with traced(tmp_path_factory.mktemp("traced"), monkeypatch) as running:
            await save(running.it, "says", step("say", "test.echo"))
            yield running


async def test_the_trace_of_a_caller_goes_through_command_run_step_and_calls(server: Traced) -> None:
    await save(server.it, "works", step("work", "trace.work"))
    trace, caller = new_context()
    run_id = await server.run("works", headers={"traceparent": caller, "tracestate": "vendor=opaque"})
    names = ["POST /graphql", "run_pipeline", "run", "step", "GET", "chat good", "POST"]
    spans = {span.name: span for span in await server.collector.trace(trace, *names)}
    assert sorted(spans) == sorted(names)
    parents = {
        "POST /graphql": caller.split("-")[2],
        "run_pipeline": spans["POST /graphql"].id,
        "run": spans["run_pipeline"].id,
        "step": spans["run"].id,
        "GET": spans["step"].id,
        "chat good": spans["step"].id,
        "POST": spans["chat good"].id,
    }
    assert {name: span.parent for name, span in spans.items()} == parents
    assert {span.state for span in spans.values()} == {"vendor=opaque"}
    assert not any(span.is_error for span in spans.values())
    assert spans["POST /graphql"].attributes == {
        "http.request.method": "POST",
        "http.route": "/graphql",
        "http.response.status_code": 200,
    }
    assert spans["run"].attributes == {
        "packline.run.id": run_id,
        "packline.run.target": "works",
        "packline.run.taken_over": False,
        "packline.run.state": "succeeded",
    }
    assert spans["step"].attributes == {
        "packline.step.key": "work",
        "packline.pack": "trace.work",
        "packline.attempt": 1,
    }
    assert spans["GET"].attributes == {
        "http.request.method": "GET",
        "server.address": "127.0.0.1",
        "server.port": server.site.port,
        "http.response.status_code": 200,
    }
    usage = {name: spans["chat good"].attributes.pop(f"gen_ai.usage.{name}_tokens") for name in ("input", "output")}
    assert all(tokens > 0 for tokens in usage.values())
    assert spans["chat good"].attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "good",
        "gen_ai.output.type": "text",
        "packline.model.role": "writer",
    }
    assert spans["run"].resource["service.name"] == "packline"

    sent = server.site.requests[0].headers
    assert (sent["traceparent"], sent["tracestate"]) == (spans["GET"].context, "vendor=opaque")

    everything = "".join(span.raw for span in server.collector.spans)
    assert "works" in everything
    for secret in (SECRET, ADMIN_TOKEN, KEY):
        assert secret not in everything


async def test_a_resume_goes_on_in_the_trace_of_the_run(server: Traced) -> None:
    await save(server.it, "switched", step("first", "test.echo"), step("second", "test.switch"))
    trace, caller = new_context()
    run_id = await server.run("switched", headers={"traceparent": caller})
    spans = await server.collector.trace(trace, "run", "step", "step")
    (failed,) = [span for span in spans if span.name == "run"]
    assert (failed.attributes["packline.run.state"], failed.is_error) == ("failed", True)
    assert failed.attributes["error.type"] == "invalid_input"
    assert {span.attributes.get("error.type") for span in spans if span.name == "step"} == {None, "invalid_input"}

    server.bench.failing = False
    other, resuming = new_context()
    async with GraphQLSocket.open(
        server.it.served.ws_url("/graphql"), payload={"Authorization": f"Bearer {ADMIN_TOKEN}", "traceparent": resuming}
    ) as socket:
        await socket.execute("mutation ($id: ID!) { resumeRun(id: $id) { __typename } }", {"id": run_id})
    await ended(server.it, run_id)
    spans = await server.collector.trace(trace, "run", "run", "step", "step", "step")
    assert [span.parent for span in spans if span.name == "run"] == [failed.parent] * 2
    resumed = await server.collector.trace(other, "mutation", "resume_run")
    spans_by_name = {span.name: span for span in resumed}
    assert spans_by_name["mutation"].parent == resuming.split("-")[2]
    assert spans_by_name["resume_run"].attributes == {"packline.run.id": run_id}, "it leads to the trace of the run"


async def test_the_context_comes_in_extensions_in_meta_and_in_every_websocket_operation(server: Traced) -> None:
    trace, caller = new_context()
    await server.run("says", extensions={"traceparent": caller})
    await server.collector.trace(trace, "operation", "run_pipeline", "run", "step")

    trace, caller = new_context()
    async with GraphQLSocket.open(server.it.served.ws_url("/graphql"), token=ADMIN_TOKEN) as socket:
        payload = {"query": RUN, "variables": {"pipeline": "says"}, "extensions": {"traceparent": caller}}
        await socket.send({"id": "1", "type": "subscribe", "payload": payload})
        assert (await socket.receive())["type"] == "next"
    await server.collector.trace(trace, "mutation", "run_pipeline", "run", "step")

    for by_meta in (True, False):
        trace, caller = new_context()
        answer = await call_tool(server.it, caller, by_meta=by_meta)
        assert answer["result"]["structuredContent"]["state"] == "SUCCEEDED", answer
        request = () if by_meta else ("POST /mcp",)
        spans = await server.collector.trace(trace, *request, "tools/call", "run_pipeline", "run", "step")
        parents = {span.name: span.parent for span in spans}
        ids = {span.name: span.id for span in spans}
        assert parents["run_pipeline"] == ids["tools/call"]
        assert ids.get("POST /mcp") is None if by_meta else parents["tools/call"] == ids["POST /mcp"]


async def test_every_answer_of_the_mcp_endpoint_has_its_span_with_its_status(server: Traced) -> None:
    for body, status in (({"jsonrpc": "2.0", "method": "notifications/initialized"}, 202), ({"neither": "nor"}, 400)):
        trace, caller = new_context()
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}", "accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(base_url=server.it.url(""), timeout=60, verify=False) as http:
            answer = await http.post("/mcp", json=body, headers={**headers, "traceparent": caller})
        assert answer.status_code == status, answer.text
        (request,) = await server.collector.trace(trace, "POST /mcp")
        assert request.attributes["http.response.status_code"] == status


async def call_tool(it: Product, caller: str, *, by_meta: bool) -> Any:
    """Runs a pipeline by an agent's tool."""
    params: dict[str, Any] = {"name": "run_pipeline", "arguments": {"pipeline": "says", "wait_seconds": 50}}
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}", "accept": "application/json, text/event-stream"}
    if by_meta:
        params["_meta"] = {"traceparent": caller}
    else:
        headers["traceparent"] = caller
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with httpx2.AsyncClient(base_url=it.url(""), timeout=60, verify=False) as http:
        answer = await http.post("/mcp", json=body, headers=headers)
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = next(line for line in text.splitlines() if line.startswith("data: {")).removeprefix("data: ")
    return json.loads(text)


async def test_an_agent_gets_the_context_and_its_tools_go_on_in_the_trace(server: Traced, tmp_path: Path) -> None:
    document = {
        "key": "asks",
        "name": "asks",
        "steps": [{"id": "ask", "agent": {"use": "shows", "prompt": "Show it."}}],
    }
    await server.it.mutate(
        "mutation ($document: JSON!) { createPipeline(definition: {document: $document}) { __typename } }",
        {"document": document},
    )
    trace, caller = new_context()
    run_id = await server.run("asks", headers={"traceparent": caller})
    (asked,) = (await look(server.it, run_id))["steps"]
    shown = asked["output"]["json"]["text"].strip()
    spans = {span.name: span for span in await server.collector.trace(trace, "step", "invoke_agent")}
    assert shown == spans["invoke_agent"].context
    assert spans["invoke_agent"].parent == spans["step"].id
    assert spans["invoke_agent"].attributes["gen_ai.agent.name"] == "shows"

    command = [sys.executable, "-c", "from app.cli import main; main()", "mcp"]
    env = stdio_environment(tmp_path, PACKLINE_TOKEN=ADMIN_TOKEN, TRACEPARENT=shown)
    async with stdio_agent([*command, "--server", server.it.url("").rstrip("/")], env) as client:
        answer = content_of(await client.call_tool("run_pipeline", {"pipeline": "says", "wait_seconds": 50}))
    child = await server.collector.first("run", packline_run_id=answer["run_id"])
    assert child.trace == trace


async def test_a_trigger_begins_a_trace_that_is_linked_to_its_firing(server: Traced) -> None:
    await save(server.it, "hooked", step("say", "test.echo"))
    made = await server.it.mutate(
        """mutation { createWebhook(pipeline: "hooked", name: "Calls", preset: BEARER) {
            ... on WebhookSecretSuccess { secret trigger { webhook { url } } } } }"""
    )
    url = server.it.url(made["trigger"]["webhook"]["url"])
    trace, caller = new_context()
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        headers = {"authorization": f"Bearer {made['secret']}", "traceparent": caller}
        answer = await http.post(url, json={}, headers=headers)
    assert answer.status_code == 202, answer.text
    run_id = answer.json()["run"]
    await ended(server.it, run_id)
    run = await server.collector.first("run", packline_run_id=run_id)
    assert run.trace != trace
    start = next(span for span in await server.collector.trace(run.trace, "start run") if span.name == "start run")
    assert (start.id, start.parent) == (run.parent, "")
    spans = {span.name: span for span in await server.collector.trace(trace, "POST /hooks/{address}", "fire trigger")}
    firing = spans["fire trigger"]
    assert start.links == [(trace, firing.id)]
    assert firing.attributes["packline.firing.outcome"] == "fired"
    assert url.rpartition("/")[2] not in "".join(span.raw for span in server.collector.spans)


async def test_the_span_of_a_firing_that_starts_no_run_has_the_code_of_its_problem(server: Traced) -> None:
    await save(server.it, "asking", step("say", "test.echo", text="${{ inputs.text }}"))
    made = await server.it.mutate(
        """mutation { createWebhook(pipeline: "asking", name: "Calls", preset: BEARER,
            inputs: {text: "${{ trigger.payload.who }}"}) {
            ... on WebhookSecretSuccess { secret trigger { webhook { url } } } } }"""
    )
    trace, caller = new_context()
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        headers = {"authorization": f"Bearer {made['secret']}", "traceparent": caller}
        answer = await http.post(server.it.url(made["trigger"]["webhook"]["url"]), json={}, headers=headers)
    assert answer.status_code == 422, answer.text
    (firing,) = [span for span in await server.collector.trace(trace, "fire trigger") if span.name == "fire trigger"]
    assert (firing.attributes["packline.firing.outcome"], firing.attributes["error.type"]) == ("failed", "INVALID")
    assert firing.is_error


@pytest.mark.parametrize(
    "headers",
    [
        {"traceparent": "x" * 10_000},
        {"traceparent": "00-" + "0" * 32 + "-" + "1" * 16 + "-01"},
        {"traceparent": "00-zz-1-1"},
        {"traceparent": "ff-" + "1" * 32 + "-" + "1" * 16 + "-01"},
        {"traceparent": "00-" + "1" * 32 + "-" + "1" * 16 + "-01" + "-more" * 2_000},
    ],
    ids=["long", "zeros", "letters", "version", "tail"],
)
async def test_a_context_that_cannot_be_read_is_ignored(server: Traced, headers: dict[str, str]) -> None:
    run_id = await server.run("says", headers=headers)
    run = await server.collector.first("run", packline_run_id=run_id)
    request = next(span for span in await server.collector.trace(run.trace, "POST /graphql") if span.kind == 2)
    assert request.parent == ""


async def test_a_state_that_is_too_long_or_no_state_does_not_cost_the_trace(server: Traced) -> None:
    for state in ("v=" + "x" * 10_000, "no state at all,,=;"):
        trace, caller = new_context()
        await server.run("says", headers={"traceparent": caller, "tracestate": state})
        assert {span.state for span in await server.collector.trace(trace, "run", "step")} == {""}
    for wrong in (1, [], {"a": "b"}, None):
        await server.run("says", extensions={"traceparent": wrong, "tracestate": wrong})


async def test_a_collector_that_is_away_costs_neither_runs_nor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    async with product(tmp_path, Workbench().packs) as it:
        await save(it, "says", step("say", "test.echo"))
        assert (await ran(it, "says"))["state"] == "SUCCEEDED"


async def test_a_span_that_cannot_be_exported_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def step_of(key: str, **attributes: Any) -> None:
        with tracing.span("step", attributes={"packline.step.key": key, **attributes}):
            pass

    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
        monkeypatch.setattr(app.telemetry.export, "COLLECT_SECONDS", 0.01)
        telemetry = OpenTelemetry("0")
        with tracing.in_force(telemetry), tracing.span("run"):
            await asyncio.to_thread(step_of, "outside the loop")
            step_of("broken", value=object())
            step_of("good")
            for key in ("outside the loop", "good"):
                await collector.first("step", packline_step_key=key)
            step_of("broken", value=object())
            step_of("last")
        await telemetry.stop()
        await collector.first("step", packline_step_key="last")
        assert [span.name for span in collector.spans if "broken" in span.raw] == []


@pytest.mark.parametrize("based", ["", "parentbased_"], ids=["alone", "parent based"])
@pytest.mark.parametrize(("sampler", "rate"), [("always_on", ""), ("always_off", ""), ("traceidratio", "0.5")])
async def test_traces_are_sampled_as_the_sdk_does(
    based: str, sampler: str, rate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", based + sampler)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", rate)
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("")
    telemetry = OpenTelemetry("0")
    for digit, flags in combinations("1f", ("00", "01", "02", "03")):
        sent = {"traceparent": f"00-{digit * 32}-{secrets.token_hex(8)}-{flags}"}
        with tracer.start_as_current_span("run", TraceContextTextMapPropagator().extract(sent)):
            expected = [flags_in_context()]
            with tracer.start_as_current_span("step"):
                expected.append(flags_in_context())
        with tracing.in_force(telemetry), tracing.span("run", parent=sent):
            first = tracing.carrier()
            assert first == context_of_libraries()
            found = [flags_in_context()]
            with tracing.span("step"):
                assert tracing.carrier() == context_of_libraries()
                found.append(flags_in_context())
                assert (tracing.carrier() != first) is (found[1] in ("01", "03")), "what is sampled has ids"
            assert first == context_of_libraries()
        assert context_of_libraries() == {}
        assert found == expected
    await telemetry.stop()


def context_of_libraries() -> dict[str, str]:
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


def flags_in_context() -> str:
    return context_of_libraries()["traceparent"].split("-")[3]


async def test_nothing_below_a_span_that_is_not_sampled_is_exported(server: Traced) -> None:
    await save(server.it, "dropped", step("work", "trace.work"))
    trace, caller = new_context()
    run_id = await server.run("dropped", headers={"traceparent": caller.removesuffix("01") + "00"})
    sampled, seen = new_context()
    await server.run("dropped", headers={"traceparent": seen})
    await server.collector.trace(sampled, "POST /graphql", "run_pipeline", "run", "step", "GET")
    assert server.collector.of(trace) == []
    assert (await look(server.it, run_id))["state"] == "SUCCEEDED"
    sent = server.site.requests[-2].headers["traceparent"]
    assert (sent.split("-")[1], sent.split("-")[3]) == (trace, "00"), "the called site is asked not to sample either"
