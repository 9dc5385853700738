"""Settings say why traces are not exported although an endpoint is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.settings.server import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "begins with https:// or http://"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "Set it to http/protobuf",
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "collector", "OTEL_TRACES_EXPORTER": "none"}, None),
    ],
)
def test_settings_say_why_traces_are_not_exported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, str], warning: str | None
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    warnings = [each for each in Settings.load({"data_dir": tmp_path}).warnings if "traces" in each]
    assert len(warnings) == (warning is not None)
    assert warning is None or warning in warnings[0]


def test_settings_say_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.setattr("app.settings.telemetry._EXPORTER", "a-distribution-that-is-not-installed")
    (warning,) = [each for each in Settings.load({"data_dir": tmp_path}).warnings if "traces" in each]
    assert "pip install 'packline[otel]'" in warning
