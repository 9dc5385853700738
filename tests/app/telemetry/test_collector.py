"""`packline doctor` tries the collector of traces."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.cli.server.doctor import Finding, examine
from tests.support.otlp_receiver import otlp_receiver
from tests.support.ports import free_port

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def findings(folder: Path) -> list[Finding]:
    found = await asyncio.to_thread(lambda: list(examine(folder, f"http://127.0.0.1:{free_port()}")))
    return [each for each in found if each.what == "traces"]


async def test_doctor_says_whether_the_collector_takes_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await findings(tmp_path) == [], "nobody has asked for traces"
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.replace("//", "//user:s3cr3t@"))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
        assert await findings(tmp_path) == [Finding("traces", "works", f"{collector.url.rstrip('/')} takes them")]
        assert collector.headers[0]["x-key"] == "abc"
        assert collector.spans == []
        collector.refusals = 1
        (refused,) = await findings(tmp_path)
        assert refused.state == "missing"
        assert "404" in refused.message
    (away,) = await findings(tmp_path)
    assert (away.state, away.vital) == ("missing", False)
    assert "refused" in away.message
    assert "correct OTEL_EXPORTER_OTLP_ENDPOINT" in away.message
    assert "s3cr3t" not in away.message + refused.message
