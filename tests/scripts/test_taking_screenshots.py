"""`scripts/screenshots.py` furnishes a real server and takes pictures of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.browser import NEEDS_BROWSER

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.sweep, *NEEDS_BROWSER]


def test_a_picture_is_taken_in_both_themes(tmp_path: Path) -> None:
    command = [sys.executable, "scripts/screenshots.py", "palette", "--into", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    taken = {file.name: file.read_bytes()[8:12] for file in tmp_path.iterdir()}
    assert taken == {"palette-light.webp": b"WEBP", "palette-dark.webp": b"WEBP"}
