#!/usr/bin/env python3
"""Say what `make test` will skip on this machine, and why, before it installs or runs anything.

The tests drive programs that pip cannot install. Without one, the tests that need it are skipped; in CI a skip is a
failure. Only the standard library is used.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import frontend

#: The headless shell first: a test in it costs a third less CPU (`pytest tests/browser/test_runs_list.py`).
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: As `runner.agents.isolation.best_isolation` tries it.
SANDBOX = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]


def main() -> int:
    """Print what will be skipped, and succeed."""
    for line in skipped():
        print(f"make test: {line}", flush=True)
    return 0


def skipped() -> list[str]:
    """Return a line for each program that is missing: what is skipped, why, what to do."""
    lines = []
    if shutil.which("bwrap") is None:
        lines.append("skips the tests of agents in a sandbox: bubblewrap is not installed. Install `bubblewrap`.")
    elif not _sandbox_works():
        lines.append(
            "skips the tests of agents in a sandbox: bubblewrap cannot make one here. Allow unprivileged user "
            "namespaces."
        )
    if not any(map(shutil.which, CHROMIUM)):
        lines.append("skips the tests in a browser and of videos: Chromium is not installed. Install `chromium`.")
    if shutil.which("sshd") is None and not Path("/usr/sbin/sshd").exists():
        lines.append("skips the tests of repositories over SSH: sshd is not installed. Install `openssh-server`.")
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        lines.append(
            "skips the tests with MCP servers and an OpenID provider from npm: Node is not on PATH. Install Node 22. "
            "The page is built with one from the package index."
        )
    elif frontend.node_version(node) < frontend.OLDEST_NODE:
        oldest = ".".join(map(str, frontend.OLDEST_NODE))
        lines.append(f"builds the page with Node from the package index: the one on PATH is older than {oldest}.")
    return lines


def _sandbox_works() -> bool:
    try:
        return subprocess.run([*SANDBOX, "true"], capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    sys.exit(main())
