"""A real OpenSSH server on loopback that serves Git repositories to one key.

with SshServer(tmp_path) as server:
    server.url(repository)      # ssh://user@127.0.0.1:PORT/path/of/the/repository
    server.credential()         # the fields of a credential of kind `ssh`
"""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from tests.support.ports import free_port

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
#: Not every developer's machine has the server. CI installs it and counts a skip as a failure.
NEEDS_SSHD = pytest.mark.skipif(SSHD is None, reason="there is no sshd here; install the package `openssh-server`")
_CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
LogLevel VERBOSE
"""


@dataclass
class SshServer:
    """The server; a context manager.

    Attributes:
        folder: Where keys and configuration are kept.
    """

    folder: Path

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("host", "user"):
            self.make_key(name)
        self.port = free_port()
        self.allow("user")
        config = self.folder / "sshd_config"
        config.write_text(_CONFIG.format(port=self.port, folder=self.folder))
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # what the system's service makes for it
        assert SSHD is not None
        self._process = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        said = ""
        while "Server listening" not in said:
            line = self._process.stderr.readline()
            assert line, f"sshd did not start: {said}"
            said += line
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=10)

    def make_key(self, name: str, *, passphrase: str = "") -> str:
        """Makes a pair of keys; gives the private one."""
        path = self.folder / name
        if not path.exists():
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(path)], check=True
            )
        return path.read_text()

    def allow(self, name: str | None, *, options: str = "restrict") -> None:
        """Lets in who has this key, and nobody else."""
        line = ""
        if name is not None:
            public = (self.folder / f"{name}.pub").read_text()
            line = f'{options},command="git shell -c \\"$SSH_ORIGINAL_COMMAND\\"" {public}'
        (self.folder / "authorized_keys").write_text(line)

    @property
    def known_hosts(self) -> str:
        """The server's line of a `known_hosts` file."""
        return f"[127.0.0.1]:{self.port} {(self.folder / 'host.pub').read_text()}"

    def url(self, repository: Path) -> str:
        """Address of a repository."""
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{repository}"

    def credential(self, **more: str) -> dict[str, str]:
        """Fields of a credential of kind `ssh`."""
        return {
            "host": f"127.0.0.1:{self.port}",
            "private_key": (self.folder / "user").read_text(),
            "known_hosts": self.known_hosts,
            **more,
        }
