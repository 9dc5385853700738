"""The service of `deploy/systemd/packline.service`: under systemd, or supervised here where systemd does not run."""

from __future__ import annotations

import configparser
import os
import pwd
import signal
import socket
import subprocess
import threading
from pathlib import Path

UNIT = Path("/etc/systemd/system/packline.service")
#: sd_booted(3).
BOOTED = Path("/run/systemd/system")


class Service:
    """Answers to the words of `systemctl` that the documentation uses.

    Without systemd as the first process, the unit's program runs as the unit's user, with its environment and state
    folder; a start waits for the program's word (`Type=notify`), and what ends is started again (`Restart=`). The
    sandbox is left to `systemd-analyze security` (tests/test_deploy.py).
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self._notifications = log.with_name("notify")
        self._notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notified.bind(str(self._notifications))
        self._notified.settimeout(120)
        self._notifications.chmod(0o666)
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = threading.Event()
        self._unwanted = threading.Event()
        self._supervisor: threading.Thread | None = None

    def control(self, *words: str) -> None:
        """`enable --now`, `start`, `stop` or `restart`, and the name of the unit."""
        if BOOTED.is_dir():
            subprocess.run(["systemctl", *words], check=True)
            return
        verb = words[0]
        if verb in {"stop", "restart"}:
            self._stop()
        if verb in {"enable", "start", "restart"}:
            self._start()

    def tail(self) -> str:
        """The last lines of the log."""
        if BOOTED.is_dir():
            return subprocess.run(["journalctl", "-u", "packline", "-n", "50"], capture_output=True, text=True).stdout
        return "\n".join(self.log.read_text().splitlines()[-50:]) if self.log.exists() else ""

    def kill(self) -> None:
        """Kills the program with SIGKILL, as when memory runs out; it is started again."""
        if BOOTED.is_dir():
            subprocess.run(["systemctl", "kill", "--signal=KILL", "packline"], check=True)
        elif self._process is not None:
            self._process.kill()

    def _start(self) -> None:
        self._unwanted.clear()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()
        while self._notified.recv(64) != b"READY=1":
            pass

    def _stop(self) -> None:
        self._unwanted.set()
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
        if self._supervisor is not None:
            self._supervisor.join(float(_unit()["TimeoutStopSec"]))
            assert not self._supervisor.is_alive(), "the service did not stop in time"

    def _supervise(self) -> None:
        unit = _unit()
        folder = Path("/var/lib") / unit["StateDirectory"]
        while not self._unwanted.is_set():
            folder.mkdir(exist_ok=True)
            os.chown(folder, *_ids(unit["User"]))
            folder.chmod(int(unit["StateDirectoryMode"], 8))
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    unit["ExecStart"].split(),
                    cwd="/",
                    env={**_environment(unit), "NOTIFY_SOCKET": str(self._notifications)},
                    user=unit["User"],
                    group=unit["Group"],
                    extra_groups=[],
                    umask=int(unit["UMask"], 8),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
                self._process.wait()
            self._unwanted.wait(float(unit["RestartSec"]))


def _unit() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    return parser["Service"]


def _environment(unit: configparser.SectionProxy) -> dict[str, str]:
    given = unit["Environment"].split()
    file = Path(unit["EnvironmentFile"].removeprefix("-"))
    if file.is_file():
        given += file.read_text().splitlines()
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", **dict(pair.split("=", 1) for pair in given if "=" in pair)}


def _ids(user: str) -> tuple[int, int]:
    entry = pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid
