"""A machine with Packline on it: a server that is a process of its own, and commands as a user types them.

Commands run in the process of the tests, which spares each half a second of imports; what a command does as a process
(how it ends when its reader goes, what a first start costs) is for tests that start `PACKLINE` themselves.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from app.cli import main
from tests.support.databases import prepare_sqlite
from tests.support.forks import fork

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.support.forks import Fork

#: Starts the command line as a process.
PACKLINE = (sys.executable, "-c", "from app.cli import main; main()")


def run_packline(
    arguments: Sequence[str], environment: Mapping[str, str], text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command whose standard input is `text`."""
    given, out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(3))
    given.write(text or "")
    given.seek(0)
    status: Any = 0
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "argv", ["packline", *arguments]),
        patch.object(sys, "stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
    for written in (out, err):
        written.seek(0)
    return subprocess.CompletedProcess(["packline", *arguments], status, out.read(), err.read())


class Machine:
    """A data folder, and commands that see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PACKLINE_")}
        self.environment = {**clean, "PACKLINE_DATA_DIR": str(folder / "data"), "COLUMNS": "140"}
        self.url = self.second_line = ""

    def run(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        done = run_packline(arguments, self.environment, text)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def lines(self, *arguments: str, status: int = 0) -> list[Any]:
        """The objects that a command printed."""
        done = self.run(*arguments)
        assert done.returncode == status, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    @contextmanager
    def up(self, *arguments: str) -> Iterator[Fork]:
        """Start a server, and stop it as an operator would."""
        prepare_sqlite(self.folder / "data", starters=True)
        with fork(["up", "--port", "0", *arguments], self.environment) as process:
            try:
                first = process.stdout.readline()
                assert first.startswith("Packline is running at http://127.0.0.1:"), first
                self.url = first.split()[-1]
                self.second_line = process.stdout.readline()
                yield process
            finally:
                process.terminate()
                assert process.wait() == 0
