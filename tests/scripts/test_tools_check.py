"""What `make test` says before it begins, by the programs that there are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def told(tmp_path):
    """Runs the check on a PATH of these programs, each a script that prints a text or fails."""

    def call(**programs):
        for name, text in programs.items():
            program = tmp_path / name
            program.write_text("#!/bin/sh\n" + (f"echo {text}\n" if text is not None else "exit 1\n"))
            program.chmod(0o755)
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "tools_check.py")],
            env={**os.environ, "PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    return call


def test_a_bare_machine_is_told_what_is_skipped_and_what_to_install(told):
    assert [line.partition(": ")[2] for line in told()] == [
        "skips the tests of agents in a sandbox: bubblewrap is not installed. Install `bubblewrap`.",
        "skips the tests in a browser and of videos: Chromium is not installed. Install `chromium`.",
        "skips the tests with MCP servers and an OpenID provider from npm: Node is not on PATH. Install Node 22. "
        "The page is built with one from the package index.",
    ]


def test_a_machine_with_everything_is_told_nothing(told):
    assert told(**{"bwrap": "", "google-chrome": "", "node": "v22.1.0", "npm": ""}) == []


def test_what_is_there_and_does_not_do_is_told(told):
    sandbox, page = told(bwrap=None, chromium="", node="v18.0.0", npm="")
    assert "bubblewrap cannot make one here" in sandbox
    assert "older than 20.19" in page


def test_make_test_begins_with_it():
    done = subprocess.run(
        ["make", "--dry-run", "test"], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    lines = [line for line in done.stdout.splitlines() if "scripts/" in line]
    assert "scripts/tools_check.py" in lines[0]
