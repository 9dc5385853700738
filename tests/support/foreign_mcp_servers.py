"""MCP servers by others, as a user would mount them: from npm and from PyPI."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_FOLDER = Path(__file__).with_name("mcp_servers")


def node_server(name: str, *arguments: str) -> list[str]:
    """The command of a server from npm; the packages are installed once, as their lock file says."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node is not on PATH")
    with (_FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (_FOLDER / "node_modules" / ".package-lock.json").exists():
            done = subprocess.run(
                [npm, "ci", "--no-progress"], cwd=_FOLDER, capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
            assert done.returncode == 0, done.stderr[-2000:]
    return [node, str(_FOLDER / "node_modules/@modelcontextprotocol" / f"server-{name}" / "dist/index.js"), *arguments]


def python_server(module: str, *arguments: str) -> list[str]:
    """The command of a server from PyPI."""
    return [sys.executable, "-m", module, *arguments]
