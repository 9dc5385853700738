"""MCP servers by others, as a user would mount them: from npm and from PyPI."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_FOLDER = Path(__file__).with_name("mcp_servers")


def installed(folder: Path) -> Path:
    """The `node_modules` of a folder with a lock file, installed once, as it says."""
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        pytest.skip("Node is not on PATH")
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "node_modules" / ".installed-from"
        wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
        if not stamp.is_file() or stamp.read_text() != wanted:
            done = subprocess.run(
                [npm, "ci", "--no-progress"], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
            assert done.returncode == 0, done.stderr[-2000:]
            stamp.write_text(wanted)
    return folder / "node_modules"


def node_server(name: str, *arguments: str) -> list[str]:
    """The command of a server from npm."""
    modules = installed(_FOLDER)
    return ["node", str(modules / "@modelcontextprotocol" / f"server-{name}" / "dist/index.js"), *arguments]


def python_server(module: str, *arguments: str) -> list[str]:
    """The command of a server from PyPI."""
    return [sys.executable, "-m", module, *arguments]
