"""`make bench` as a whole, counting to a few: no row rots unseen, and none hides what another measured."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from tests.bench.__main__ import INTERRUPTED, main
from tests.bench.figures import Counts, Figure, MissingError
from tests.bench.measuring import ROWS, measure
from tests.bench.server import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "name", [name if name == "step" else pytest.param(name, marks=pytest.mark.sweep) for name in ROWS]
)
def test_a_row_runs_and_tells_its_figures(name: str) -> None:
    result = measure(name, ROWS[name], Counts(tiny=True))
    if result.outcome == "missing":
        pytest.skip(result.cause)  # such as no Chromium; in CI a skip is a failure
    assert result.outcome == "measured", result.cause
    assert result.figures
    json.dumps(asdict(result), allow_nan=False)


async def _measured(_: Path, counts: Counts) -> list[Figure]:
    return [Figure("a row", "what it did", counts.of(77), "ms", goal=1)]


async def _failing(_: Path, __: Counts) -> list[Figure]:
    raise RuntimeError("there is no page [/red] after this one")


async def _lacking(_: Path, __: Counts) -> list[Figure]:
    raise MissingError("there is no such program here; install it")


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.usefixtures("wide")
def test_a_failing_row_reports_in_its_own_line_and_the_others_keep_their_figures(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = {"first": _measured, "second": _failing, "third": _lacking, "fourth": _measured}
    assert main(["--tiny", "--json", str(tmp_path / "found.json")], rows) == 1
    told = capfd.readouterr()
    lines = told.out.splitlines()
    assert sum("what it did" in line and "2 ms" in line for line in lines) == 2
    (failed,) = [line for line in lines if "failed" in line]
    assert failed.startswith("│ second")
    assert "RuntimeError: there is no page [/red] after this one" in failed
    assert any("third" in line and "install it" in line and "missing" in line for line in lines)
    assert "Traceback" in told.err
    assert "in _failing" in told.err
    found = json.loads((tmp_path / "found.json").read_text())
    assert [result["outcome"] for result in found] == ["measured", "failed", "missing", "measured"]
    assert [len(result["figures"]) for result in found] == [1, 0, 0, 1]
    assert found[3]["figures"][0]["goal"] is None


@pytest.mark.usefixtures("wide")
def test_what_this_machine_lacks_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chromium, to the real command."""
    monkeypatch.setenv("PATH", "/nonexistent")
    told = subprocess.run(
        [sys.executable, "-m", "tests.bench", "page", "memory", "--tiny"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "there is no Chromium here" in told.stdout
    assert "CPU to remember a run" in told.stdout


_INTERRUPTED = """
import asyncio, os, signal, sys
from tests.bench.__main__ import main
from tests.bench.test_rows import _measured

async def interrupted(folder, counts):
    os.killpg(0, signal.SIGINT)
    try:
        await asyncio.Event().wait()
    finally:
        if sys.argv[1] == "untidy":
            raise ConnectionError("the browser is gone")

async def never(folder, counts):
    print("went on")

sys.exit(main(["--tiny"], {"first": _measured, "second": interrupted, "third": never}))
"""


@pytest.mark.parametrize("end", ["tidy", "untidy"])
def test_ctrl_c_prints_what_was_measured(end: str) -> None:
    """To the whole group of processes, as a terminal sends it."""
    told = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, end],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        start_new_session=True,
        # Whoever runs the tests in the background of a script has them ignore Ctrl-C, and so what they start.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        check=False,
    )
    assert told.returncode == INTERRUPTED, told.stderr
    assert "what it did" in told.stdout
    assert "went on" not in told.stdout
    assert told.stderr == ""
