import json
import logging

import pytest
import structlog

from app.logging import configure_logging


@pytest.fixture(autouse=True)
def restore():
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_lines_are_json_for_machines_whoever_logs(capsys):
    configure_logging("info", "json")

    structlog.get_logger("ours").info("run ended", run="run_1")
    structlog.get_logger("ours").debug("too much")
    logging.getLogger("theirs").warning("careful: %s", "x")
    logging.getLogger("uvicorn.error").info("chatter")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [("run ended", "info"), ("careful: x", "warning")]
    assert lines[0]["run"] == "run_1"
    assert lines[0]["at"].endswith("Z")


def test_lines_are_text_for_people(capsys):
    configure_logging("debug", "console")

    structlog.get_logger().warning("disk nearly full", percent=99)

    assert "disk nearly full" in capsys.readouterr().err
