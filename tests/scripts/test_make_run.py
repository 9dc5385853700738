"""`make run` as a newcomer meets it, once everything is installed."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
def make_run(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PACKLINE_")}
    environment |= {"PACKLINE_DATA_DIR": str(tmp_path / "data"), "PACKLINE_PORT": str(free_port())}

    def call(*words, **variables):
        return subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "make_run.py"), *words],
            env=environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    call.port = environment["PACKLINE_PORT"]
    call.environment = environment
    yield call
    call("--stop")


def healthy(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_it_makes_decks_of_real_documents_and_leaves_the_server_running(make_run, tmp_path):
    first = make_run()
    assert first.returncode == 0, first.stdout + first.stderr
    out = tmp_path / "data" / "out"
    for deck in ("lighthouses-deck.pdf", "fresnel-lens-deck.pdf"):
        assert str(out / deck) in first.stdout
        assert (out / deck).read_bytes().startswith(b"%PDF-")
    for step in ("parse", "outline", "render", "scrape"):
        assert re.search(rf"^  [\d:.]+  {step}: running$", first.stdout, re.MULTILINE)
        assert re.search(rf"^  [\d:.]+  {step}: succeeded$", first.stdout, re.MULTILINE)
    assert f"Address:  http://127.0.0.1:{make_run.port}" in first.stdout
    assert re.search(rf"^Sign in:  http://127\.0\.0\.1:{make_run.port}/login#pkl_\S+", first.stdout, re.MULTILINE)
    assert healthy(make_run.port)

    take_keys_of_starters(make_run, tmp_path)
    started = time.monotonic()
    second = make_run()
    assert second.returncode == 0, second.stdout + second.stderr
    assert "was already running" in second.stdout
    assert time.monotonic() - started < 60

    assert make_run("--stop").stdout == "Stopped.\n"
    assert not healthy(make_run.port)
    assert make_run("--stop").stdout == "Nothing that `make run` started is running.\n"


def take_keys_of_starters(make_run, folder):
    """Gives a pipeline of the user's own the key that a starter of this release has, too."""
    mine = folder / "mine.yaml"
    mine.write_text("key: mine\nname: Mine\ndescription: Mine.\nsteps: [{id: a, pack: practice.text, input: {}}]\n")
    packline = str(Path(sys.executable).parent / "packline")
    given = {"env": make_run.environment, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    applied = subprocess.run([packline, "apply", "--yes", "-f", str(mine)], check=False, timeout=60, **given)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    with contextlib.closing(sqlite3.connect(folder / "data" / "packline.db")) as connection, connection:
        connection.execute("UPDATE pipeline SET key = 'scrape-deck' WHERE key = 'mine'")


def test_a_taken_port_is_named_with_a_way_out(make_run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(make_run.port)))
        taken.listen()
        refused = make_run()
    assert refused.returncode == 1
    assert f"Port {make_run.port} is taken by another program" in refused.stderr
    assert "make run PACKLINE_PORT=" in refused.stderr


def test_a_taken_port_is_refused_before_anything_is_installed(make_run, tmp_path):
    called, python = tmp_path / "called", tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$*" >> {called}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(make_run.port)))
        taken.listen()
        refused = subprocess.run(
            ["make", "run", f"PYTHON={python}", f"PACKLINE_PORT={make_run.port}"],
            cwd=ROOT,
            env=make_run.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert refused.returncode == 2
    assert f"Port {make_run.port} is taken by another program" in refused.stderr
    scripts = [line for line in called.read_text().splitlines() if line.startswith("scripts/")]
    assert scripts == ["scripts/make_run.py --check"]


def test_an_interrupted_start_leaves_nothing_behind(make_run, tmp_path):
    script = [sys.executable, str(ROOT / "scripts" / "make_run.py")]
    given = {"env": make_run.environment, "stdin": subprocess.DEVNULL, "text": True}
    # Whoever runs the tests in the background of a script has them ignore Ctrl-C, and so what they start.
    heard = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    starting = subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=heard, **given)
    asyncio.run(eventually((tmp_path / "data" / "server.log").exists))
    starting.send_signal(signal.SIGINT)
    said, _ = starting.communicate(timeout=60)
    assert (starting.returncode, said) == (130, "\nStopped.\n")
    ours = f"PACKLINE_DATA_DIR={tmp_path / 'data'}".encode()
    assert [process for process in Path("/proc").glob("[0-9]*/environ") if ours in environment_of(process)] == []


def environment_of(file):
    try:
        return file.read_bytes()
    except OSError:
        return b""
