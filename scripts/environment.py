#!/usr/bin/env python3
"""Make the virtual environment in `.venv`, or leave it alone when it is what the lock files ask for.

    python3 scripts/environment.py runtime    what `make run` needs: requirements.lock
    python3 scripts/environment.py dev        what checks and tests need: requirements-dev.lock, which holds both

Only the standard library is used: this runs before anything is installed. Every distribution is checked against the
hashes of the lock. `uv` does the installing when it is there, pip otherwise.
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
LOCKS = {"runtime": ROOT / "requirements.lock", "dev": ROOT / "requirements-dev.lock"}
#: Our own sources; without bytecode each start of the server takes a second longer.
SOURCES = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "builtins")
OLDEST = (3, 11)


class SetupError(Exception):
    """Raised when the environment cannot be made; the message says what to do."""


def main() -> int:
    """Bring the environment up to date and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=sorted(LOCKS))
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv", help="where it is; .venv")
    given = parser.parse_args()
    try:
        ensure(given.kind, given.folder.resolve())
    except SetupError as error:
        print(f"packline: {error}", file=sys.stderr)
        return 1
    return 0


def ensure(kind: str, folder: Path) -> None:
    """Makes or completes the environment in `folder`.

    Raises:
        SetupError: it cannot be made.
    """
    python = folder / "bin" / "python"
    if not _works(python):
        _make(folder)
    # The development lock holds everything of the runtime lock, so it serves both.
    stamps = {name: folder / f".packline-{name}" for name in LOCKS}
    wanted = {name: _digest(name) for name in LOCKS}
    serving = [kind, "dev"] if kind == "runtime" else [kind]
    if not any(_read(stamps[name]) == wanted[name] for name in serving):
        _install(kind, folder, python)
        for stamp in stamps.values():
            stamp.unlink(missing_ok=True)
        stamps[kind].write_text(wanted[kind], "utf-8")
    _run([str(python), "-m", "compileall", "-q", *SOURCES], quiet=True)


def _digest(kind: str) -> str:
    """What the environment depends on: the lock, and our own metadata and commands."""
    found = hashlib.sha256(LOCKS[kind].read_bytes())
    found.update((ROOT / "pyproject.toml").read_bytes())
    # An environment that was made for another copy of the sources is not ours.
    found.update(str(ROOT).encode())
    return found.hexdigest()


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return ""


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    # One whose making was interrupted has a Python, but nothing to install with.
    probe = f"import importlib.util, sys; sys.exit(sys.version_info < {OLDEST} or not importlib.util.find_spec('pip'))"
    return subprocess.run([str(python), "-c", probe], check=False, capture_output=True).returncode == 0


def _make(folder: Path) -> None:
    if sys.version_info < OLDEST:
        raise SetupError(
            f"Python {'.'.join(map(str, OLDEST))} or newer is needed, this is {sys.version.split()[0]} at "
            f"{sys.executable}. Name another one: make run PYTHON=python3.12"
        )
    print(f"Making the virtual environment {_shown(folder)} with Python {sys.version.split()[0]}", flush=True)
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--quiet", "--clear", "--seed", "--python", sys.executable, str(folder)])
        return
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    except SetupError as error:
        raise SetupError(
            f"{error} On Debian and Ubuntu, `apt-get install python3-venv` adds what Python lacks there."
        ) from error


def _install(kind: str, folder: Path, python: Path) -> None:
    lock = LOCKS[kind]
    print(f"Installing {lock.name} into {_shown(folder)} (a minute or two the first time)", flush=True)
    uv = shutil.which("uv")
    if uv:
        into = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python)]
    else:
        into = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
    # The lock names everything. With dependencies, pip 23 prefers a release newer than the lock's for a requirement
    # with extras (google-auth[requests]), and stops because the lock has no hash of it.
    _run([*into, "--no-deps", "--require-hashes", "-r", str(lock)])
    _run([*into, "--no-deps", "-e", str(ROOT)])


def _run(command: list[str], *, quiet: bool = False) -> None:
    environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}
    # Set on some machines, it would leave every later start without bytecode.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.pop("PIP_NO_COMPILE", None)
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0 and not quiet:
        raise SetupError(f"`{' '.join(command)}` failed with exit status {done.returncode}; see above.")


def _shown(folder: Path) -> str:
    return str(folder.relative_to(ROOT)) if folder.is_relative_to(ROOT) else str(folder)


if __name__ == "__main__":
    sys.exit(main())
