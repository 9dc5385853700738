"""In CI a skipped test fails the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("body", "ci", "status"),
    [
        ("def test_it(): pytest.skip('there is no Chromium')", "true", 1),
        ("pytest.importorskip('there_is_no_such_module')", "true", 1),
        ("def test_it(): pytest.skip('there is no Chromium')", "", 0),
        ("@pytest.mark.xfail(strict=True)\ndef test_it(): assert False", "true", 0),
        ("def test_it(): pass", "true", 0),
    ],
    ids=["a test", "a module", "not in CI", "an expected failure", "nothing skipped"],
)
def test_a_skip_fails_in_ci_alone(body, ci, status, tmp_path):
    (tmp_path / "test_probe.py").write_text(f"import pytest\n\n{body}\n", "utf-8")
    (tmp_path / "test_other.py").write_text("def test_it(): pass\n", "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tests.support.no_skips",
            "--rootdir",
            str(tmp_path),
            str(tmp_path),
        ],
        cwd=ROOT,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert ("which CI counts as failed" in done.stdout) == (status == 1)
