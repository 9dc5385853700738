"""Signing in over SSH: the private key goes through a pipe to a separate `ssh-agent` and is never in a file.

Blocks, so it runs in a worker. The agent and its socket live as long as the clone or push and are reachable by the
server's user alone.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packline import PackError, excerpt

from ._access import ssh_refused, unknown_server, unusable_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._address import Remote

_CONNECT_SECONDS = 20
_ADD_SECONDS = 20.0
_MAX_FOLDER_CHARACTERS = 70
#: The host name is looked up under the name it was given, while the connection goes to the address that was checked.
_CONFIG = """\
Host *
HostName "{address}"
HostKeyAlias "{server}"
UserKnownHostsFile "{folder}/known_hosts"
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
VerifyHostKeyDNS no
UpdateHostKeys no
CheckHostIP no
CanonicalizeHostname no
IdentityAgent "{folder}/agent"
IdentityFile none
PreferredAuthentications publickey
BatchMode yes
ProxyCommand none
ControlPath none
PermitLocalCommand no
ForwardAgent no
ClearAllForwardings yes
ConnectTimeout {seconds}
ServerAliveInterval 15
ServerAliveCountMax 2
LogLevel ERROR
"""
#: What Git hosts and `git-shell` say of a repository that is not there for this key.
_MISSING = ("not found", "could not be found", "cannot find", "not exist", "no longer exists", "does not appear to be",
            "denied", "read only")  # fmt: skip
_NOT_REACHED = ("Connection refused", "No route to host", "Network is unreachable")
_BROKEN_OFF = ("Connection reset", "Connection closed", "kex_exchange_identification", "Broken pipe")


@dataclass(frozen=True, slots=True)
class SshSession:
    """How Git signs in to an SSH server, and what `ssh` says of it.

    Attributes:
        variables: Environment variables for Git; empty for other remotes.
        server: Host and port as `known_hosts` names them; None for other remotes.
        log: Where `ssh` writes its own words, apart from what the server prints.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    server: str | None = None
    log: Path | None = None

    def failure(self, url: str, complaint: str) -> PackError | None:
        """Return what went wrong at the server; None for other remotes and failures of Git's.

        The status of `ssh` is 255 for all of it, so this reads words: those of `ssh` itself, which the server cannot
        choose. The exception is `not_found`, which only the server's words tell from a broken connection, since Git
        prints the same after both.

        Args:
            url: Address of the repository.
            complaint: What Git printed, with the server's words in it.
        """
        if self.server is None or self.log is None:
            return None
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        # The reason for a disconnect is the server's.
        said = "\n".join(line for line in lines if not line.startswith("Received disconnect"))
        if "Host key verification failed" in said or "REMOTE HOST IDENTIFICATION HAS CHANGED" in said:
            return unknown_server(self.server)
        if "Permission denied (" in said or any(line.endswith("Too many authentication failures") for line in lines):
            return ssh_refused(self.server)
        if "timed out" in said or "Timeout, server" in said:
            return PackError("timeout", f"{self.server} did not answer within {_CONNECT_SECONDS} s.", field="url")
        if any(words in said for words in _NOT_REACHED):
            return PackError("upstream_unavailable", f"{self.server} cannot be reached over SSH.", field="url")
        is_broken_off = bool(lines) and any(words in said for words in _BROKEN_OFF)
        if not is_broken_off and "Could not read from remote repository" not in complaint:
            return None
        if not is_broken_off and any(words in complaint.lower() for words in _MISSING):
            return PackError(
                "not_found",
                f"{self.server} has no repository {url}, or the key of the credential may not read it.",
                field="url",
                hint="Check the address, and that the key was given access to this repository.",
            )
        shown = excerpt("\n".join([*lines, complaint.strip()]).strip(), 2_000, from_end=True)
        return PackError(
            "upstream_unavailable", f"{self.server} ended the SSH connection.", field="url", detail={"git": shown}
        )


@contextmanager
def ssh_session(remote: Remote, *, lifetime_seconds: float) -> Iterator[SshSession]:
    """Start an agent with the key of the credential, for as long as the block runs; nothing for other remotes.

    Raises:
        PackError: `handler_failed` without OpenSSH, `credential_invalid` for a key that cannot be used.
    """
    if remote.ssh is None:
        yield SshSession()
        return
    ssh, agent, add = (_program(name) for name in ("ssh", "ssh-agent", "ssh-add"))
    folder = Path(tempfile.mkdtemp(prefix="packline-ssh-", dir=_short_folder()))
    process: subprocess.Popen[bytes] | None = None
    try:
        config = folder / "config"
        config.write_text(
            _CONFIG.format(address=remote.address, server=remote.ssh.server, folder=folder, seconds=_CONNECT_SECONDS)
        )
        (folder / "known_hosts").write_text(_lines(remote.ssh.known_hosts))
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        process = subprocess.Popen(
            [agent, "-s", "-D", "-a", str(folder / "agent"), "-t", str(int(lifetime_seconds) + 1)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        if not process.stdout.readline():  # what it prints once its socket is open
            raise PackError(
                "handler_failed",
                "`ssh-agent` did not start.",
                cause="OpenSSH does not work on this server.",
                hint="Try it on the machine of the server.",
                remedy="ask_operator",
            )
        added = subprocess.run(
            [add, "-q", "-"],
            env={**environment, "SSH_AUTH_SOCK": str(folder / "agent"), "SSH_ASKPASS_REQUIRE": "never"},
            input=_lines(remote.ssh.private_key).encode(),
            capture_output=True,
            check=False,
            timeout=_ADD_SECONDS,
            start_new_session=True,  # without a terminal, so that nothing is asked there
        )
        if added.returncode != 0:
            raise unusable_key()
        log = folder / "log"
        command = shlex.join([ssh, "-F", str(config), "-E", str(log)])
        yield SshSession({"GIT_SSH_COMMAND": command, "GIT_SSH_VARIANT": "ssh"}, remote.ssh.server, log)
    finally:
        if process is not None:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


def _short_folder() -> str:
    """A folder for temporary files in which the name of a socket fits (`man 7 unix`: 108 bytes)."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= _MAX_FOLDER_CHARACTERS else "/tmp"


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PackError(
            "handler_failed",
            f"The program `{name}` is not on PATH.",
            cause="OpenSSH is not installed on this server.",
            hint="Install OpenSSH's client (`openssh-client`) on the machine of the server.",
            remedy="ask_operator",
        )
    return found


def _lines(text: str) -> str:
    """The text with the line ends OpenSSH wants, the last one included."""
    return "\n".join(text.strip().splitlines()) + "\n"
