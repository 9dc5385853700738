#!/usr/bin/env python3
"""Prove that the server runs on what `requirements.lock` installs, and on nothing else.

The test environment holds more than the server may rely on: a distribution that only a test tool brings in would hide
that it is missing from the lock. So a second environment is made, the server is started in it, and `/healthz` and
`/graphql` have to answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.environment import ROOT, SetupError, ensure

FOLDER = ROOT / "build" / "runtime-venv"
#: Test tools; if one can be imported, the environment proves nothing.
ABSENT = ("pytest", "hypothesis", "playwright", "mypy")
START_SECONDS = 60.0
TOKEN = "runtime-check-of-the-lock"


def main() -> int:
    """Returns 0 when the server answered, else 1 with its output."""
    try:
        ensure("runtime", FOLDER)
    except SetupError as error:
        print(f"packline: {error}", file=sys.stderr)
        return 1
    python = FOLDER / "bin" / "python"
    for name in ABSENT:
        if subprocess.run([str(python), "-c", f"import {name}"], check=False, capture_output=True).returncode == 0:
            print(f"packline: {name} is in the runtime environment, which then proves nothing.", file=sys.stderr)
            return 1
    with tempfile.TemporaryDirectory(prefix="packline-runtime-") as data:
        log = Path(data) / "server.log"
        with log.open("wb") as out:
            environment = {key: value for key, value in os.environ.items() if not key.startswith("PACKLINE_")}
            server = subprocess.Popen(
                [str(FOLDER / "bin" / "packline"), "up", "--port", "0", "--data-dir", data],
                # Away from the sources: only what is installed may be found.
                cwd=data,
                env={**environment, "PACKLINE_BOOTSTRAP_TOKEN": TOKEN},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            report = _probe(server, Path(data))
        finally:
            server.terminate()
            try:
                status = server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                status = server.wait()
        output = log.read_text("utf-8", "replace")
    if report is None or status != 0:
        print(output)
        why = "did not answer" if report is None else f"ended with exit status {status}"
        print(f"packline: with requirements.lock alone the server {why}.", file=sys.stderr)
        return 1
    print(f"With requirements.lock alone the server started and reported: {report}")
    return 0


def _probe(server: subprocess.Popen[bytes], data: Path) -> str | None:
    """Return what the server reports; None when it does not answer in time or ended."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            url = (data / "cli-address").read_text("utf-8").strip()
            with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:
                if answer.status != 200:
                    continue
            request = urllib.request.Request(
                f"{url}/graphql",
                data=json.dumps({"query": "{ server { version } }"}).encode(),
                headers={"content-type": "application/json", "authorization": f"Bearer {TOKEN}"},
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                return str(json.load(answer)["data"])
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    return None


if __name__ == "__main__":
    sys.exit(main())
