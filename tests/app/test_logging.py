import json
import logging
import warnings
from pathlib import Path

import pytest
import structlog

from app.logging import configure_logging
from runner.excerpts import in_force
from runner.secrets.redaction import Redactor


@pytest.fixture(autouse=True)
def restore():
    root = logging.getLogger()
    handlers, level, ours = list(root.handlers), root.level, structlog.get_config()
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**ours)


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


STYLES = ("json", "console")
#: What JSON, Python and terminals escape, each in a way of its own.
SECRET = 'a/b"c\\d\nsecond line, longer\té-ü-42'


@pytest.fixture
def vault():
    """A server that knows `SECRET`."""
    with in_force(Redactor({"vault": SECRET})):
        yield


def raised(text: str) -> None:
    raise KeyError(text)


def log_value():
    structlog.get_logger().warning("said", error=SECRET)


def log_event():
    structlog.get_logger().warning(f"said {SECRET}")


def log_key():
    structlog.get_logger().warning("said", **{SECRET: 1})


def log_nested():
    structlog.get_logger().warning("said", of={"a": [1, {SECRET: (SECRET, {SECRET})}], 2: SECRET})


def log_object():
    structlog.get_logger().warning("said", error=ValueError(SECRET), path=Path(f"/x/{SECRET}"), data=SECRET.encode())


def log_json():
    structlog.get_logger().warning("said", body=json.dumps({"error": json.dumps({"key": SECRET})}))


def log_positional():
    structlog.get_logger().warning("said %s", SECRET)


def log_positional_elsewhere():
    logging.getLogger("theirs").warning("said %s and %r", SECRET, {"key": SECRET})


def log_traceback():
    try:
        raised(SECRET)
    except KeyError:
        structlog.get_logger().exception("failed")


def log_traceback_elsewhere():
    try:
        raised(SECRET)
    except KeyError:
        logging.getLogger("theirs").exception("failed")


def log_chain():
    try:
        try:
            raised(SECRET)
        except KeyError as error:
            error.add_note(SECRET)
            raise ValueError(SECRET) from error
    except ValueError as error:
        structlog.get_logger().error("failed", exc_info=error)


@pytest.mark.parametrize(
    "log",
    [
        log_value,
        log_event,
        log_key,
        log_nested,
        log_object,
        log_json,
        log_positional,
        log_positional_elsewhere,
        log_traceback,
        log_traceback_elsewhere,
        log_chain,
    ],
)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.usefixtures("vault")
def test_secrets_are_masked_however_they_are_logged_and_escaped(style, log, capsys):
    configure_logging("debug", style)

    log()

    line = capsys.readouterr().err
    assert "[redacted:vault]" in line
    unescaped = [line]
    for _ in range(3):
        unescaped.append(unescaped[-1].encode("latin-1", "backslashreplace").decode("unicode_escape"))
    for shown in unescaped:
        for piece in ("a/b", 'b"c', "c\\d", "second", "longer", "ü-42"):
            assert piece not in shown


@pytest.mark.parametrize("style", STYLES)
def test_tracebacks_do_not_show_local_variables(style, capsys):
    configure_logging("debug", style)

    def fail(local: int) -> None:
        raise ValueError("short")

    try:
        fail(40_000 + 2)
    except ValueError:
        structlog.get_logger().exception("failed")

    line = capsys.readouterr().err
    assert "in fail" in line
    assert "40002" not in line


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.usefixtures("vault")
def test_lines_that_hold_no_secret_stay_as_they_are(style, capsys):
    configure_logging("debug", style)

    structlog.get_logger().warning("disk nearly full", percent=99, parts=["a", None, True, 1.5])

    line = capsys.readouterr().err
    for piece in ("disk nearly full", "99", "1.5"):
        assert piece in line


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.usefixtures("vault")
def test_warnings_of_libraries_are_logged_and_masked(style, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        configure_logging("info", style)
        warnings.warn(f"The token {SECRET} is old.", stacklevel=1)

    shown = capsys.readouterr().err
    assert "[redacted:vault] is old." in shown
    assert "second line" not in shown
