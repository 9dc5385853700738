"""The process that exports spans: what happens when it dies, hangs, or is left by its server."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import psutil
import pytest
import structlog
from opentelemetry.sdk.resources import Resource

from app.telemetry import export
from app.telemetry.export import MOST_WAITING, SpanExport
from tests.support.otlp_receiver import otlp_receiver
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from app.telemetry.records import Record

PATIENCE_SECONDS = 15
#: A server that hands over three spans at once and waits for its end.
SERVER = """
import sys, psutil
from opentelemetry.sdk.resources import Resource
from app.telemetry import export
from tests.app.telemetry.test_export import record

export.STOP_SECONDS = export.COLLECT_SECONDS = 0.1
spans = export.SpanExport(Resource({"service.name": "killed"}), "0", sys.argv[1], "json")
for name in ("first", "second", "orphan"):
    spans.put(record(name))
sys.stdin.readline()
print(psutil.Process().children()[0].pid, flush=True)
sys.stdin.read()
"""


def record(name: str, **attributes: Any) -> Record:
    place = (1 << 127, secrets.randbits(64), False, 1, "")
    return name, "INTERNAL", place, 0, False, 1, 2, attributes, (), False


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "COLLECT_SECONDS", 0.01)
    monkeypatch.setattr(export, "RESTART_SECONDS", 0)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")


def new_export(log_level: str = "error") -> SpanExport:
    return SpanExport(Resource({"service.name": "tested", "some.list": ("a", "b")}), "0", log_level, "json")


def exporting_processes() -> list[psutil.Process]:
    """Those that run; other children of this process belong to other tests."""
    return [
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and "app.telemetry.export_process" in " ".join(child.cmdline())
    ]


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def test_spans_arrive_again_after_the_process_was_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKLINE_VAULT_KEY", "not for it")
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = new_export()
        spans.put(record("before"))
        await collector.first("before")
        (killed,) = exporting_processes()
        assert not [name for name in killed.environ() if name.startswith("PACKLINE_")]
        killed.suspend()
        spans.put(record("lost"))
        await eventually(lambda: not spans.waiting)
        killed.kill()
        # A zombie may still have threads, which keep its pipe open.
        await asyncio.to_thread(os.waitid, os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
        with structlog.testing.capture_logs() as lines:
            spans.put(record("after"))
            await collector.first("after")
        (line,) = lines
        assert line["status"] == -signal.SIGKILL
        assert line["lost_spans"] in (1, 2)  # it may have died before it confirmed the first
        await spans.stop()
        assert [span.name for span in collector.spans] == ["before", "after"]
        resource = collector.spans[0].resource
        assert resource["service.name"] == "tested"
        assert [each.string_value for each in resource["some.list"].values] == ["a", "b"]


@pytest.mark.parametrize("given", [None, "70"])
async def test_spans_wait_a_second_in_the_process_unless_the_operator_chooses(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OTEL_BSP_SCHEDULE_DELAY")
    if given is not None:
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", given)
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = new_export()
        spans.put(record("first"))
        await collector.first("first")
        (process,) = exporting_processes()
        assert process.environ()["OTEL_BSP_SCHEDULE_DELAY"] == (given or "1000")
        await spans.stop()


async def test_a_process_that_hangs_holds_up_nobody_and_does_not_outlive_the_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "STOP_SECONDS", 0.1)
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = new_export()
        spans.put(record("first"))
        await collector.first("first")
        (hanging,) = exporting_processes()
        hanging.suspend()
        for _ in range(3 * MOST_WAITING):  # more than its pipe takes, too
            spans.put(record("step"))
        assert 0 < spans.waiting <= MOST_WAITING
        await spans.stop()
    await eventually(lambda: is_gone(hanging))


async def test_a_stop_sends_what_has_ended_and_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    monkeypatch.setattr(export, "COLLECT_SECONDS", 60)
    monkeypatch.setattr(export, "STOP_SECONDS", PATIENCE_SECONDS)
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = new_export()
        spans.put(record("last"))
        await spans.stop()
        assert [span.name for span in collector.spans] == ["last"]
        assert exporting_processes() == []
        await spans.stop()


async def test_spans_that_are_dropped_on_the_way_do_not_count_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
    monkeypatch.setattr(export, "STOP_SECONDS", PATIENCE_SECONDS)
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = new_export()
        with structlog.testing.capture_logs() as lines:
            spans.put(record("broken", value=object()))
            for _ in range(2000):  # in a moment, in which four of them cannot be sent
                spans.put(record("step"))
            spans.put(record("last"))
            await spans.stop()
    assert collector.spans[-1].name == "last"
    assert len(collector.spans) < 2000
    assert [line["event"] for line in lines] == ["a span cannot be exported"]


async def test_sending_that_fails_is_logged_once_with_its_reason_and_again_when_it_works(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(export, "STOP_SECONDS", PATIENCE_SECONDS)
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        collector.refusals = 2
        spans = new_export("warning")
        for refused in (1, 2):
            spans.put(record("lost"))
            await eventually(lambda refused=refused: collector.refusals == 2 - refused)
        spans.put(record("sent"))
        await collector.first("sent")
        with structlog.testing.capture_logs() as at_the_stop:
            await spans.stop()
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["event"], line.get("spans"), line.get("lost_spans")) for line in lines] == [
        ("traces cannot be sent, so spans are lost", 1, None),
        ("traces are sent again", None, 2),
    ]
    assert "404" in lines[0]["error"]
    assert at_the_stop == []


@pytest.mark.parametrize("is_slow", [False, True], ids=["refuses", "hangs"])
async def test_a_stop_says_how_many_spans_were_lost(is_slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "STOP_SECONDS", 0.1 if is_slow else PATIENCE_SECONDS)
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        collector.refusals = 9
        spans = new_export("critical")
        spans.put(record("lost"))
        await eventually(lambda: collector.refusals < 9)
        if is_slow:
            (hanging,) = exporting_processes()
            hanging.suspend()
        spans.put(record("lost"))
        spans.put(record("lost"))
        with structlog.testing.capture_logs() as lines:
            await spans.stop()
    assert [(line["event"], line["spans"]) for line in lines] == [("spans could not be sent before the stop", 3)]


@pytest.mark.parametrize("is_away", [False, True], ids=["collector", "no collector"])
async def test_a_server_that_is_killed_leaves_no_process_and_loses_no_span_it_has_handed_over(
    is_away: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600")  # by itself, the exporter would try for half a minute
    async with AsyncExitStack() as stack:
        collector = await stack.enter_async_context(otlp_receiver())
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVER, "critical" if is_away else "error"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        await collector.first("second")  # so the process has the third, which it keeps for the next batch
        server.stdin.write(b"\n")
        orphan = psutil.Process(int(await server.stdout.readline()))
        assert [span.name for span in collector.spans] == ["first", "second"]
        if is_away:
            await stack.aclose()
        server.kill()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await server.wait()  # until its standard error ends, which is that of the process, too
        if not is_away:
            await collector.first("orphan")
        await eventually(lambda: is_gone(orphan))
        assert await server.stderr.read() == b"", "nothing is wrong that an operator should know"
