"""Signing in over SSH: the private key goes through a pipe to an agent of its own and is never in a file.

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
from pathlib import Path
from typing import TYPE_CHECKING

from packline import PackError

from ._access import ssh_refused, unknown_server, unusable_key

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@contextmanager
def ssh_variables(remote: Remote, *, lifetime_seconds: float) -> Iterator[dict[str, str]]:
    """The variables by which Git signs in to an SSH server; none for other remotes.

    Raises:
        PackError: `handler_failed` without OpenSSH, `credential_invalid` for a key that cannot be used.
    """
    if remote.ssh is None:
        yield {}
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
            raise PackError("handler_failed", "`ssh-agent` did not start.", hint="Try it on the machine of the server.")
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
        yield {"GIT_SSH_COMMAND": f"{shlex.quote(ssh)} -F {shlex.quote(str(config))}", "GIT_SSH_VARIANT": "ssh"}
    finally:
        if process is not None:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


def ssh_failure(remote: Remote, complaint: str) -> PackError | None:
    """What went wrong at the server, by the words of `ssh`, whose status is 255 for all of it; None if unclear."""
    if remote.ssh is None:
        return None
    server = remote.ssh.server
    if "Host key verification failed" in complaint or "REMOTE HOST IDENTIFICATION HAS CHANGED" in complaint:
        return unknown_server(server)
    if "Permission denied (" in complaint or "Too many authentication failures" in complaint:
        return ssh_refused(server)
    if "timed out" in complaint or "Timeout, server" in complaint:
        return PackError("timeout", f"{server} did not answer within {_CONNECT_SECONDS} s.", field="url")
    if "Connection refused" in complaint or "No route to host" in complaint or "Network is unreachable" in complaint:
        return PackError("upstream_unavailable", f"{server} cannot be reached over SSH.", field="url")
    if "Could not read from remote repository" in complaint:
        return PackError(
            "not_found",
            f"{server} has no repository {remote.url}, or the key of the credential may not read it.",
            field="url",
            hint="Check the address, and that the key was given access to this repository.",
        )
    return None


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
            hint="Install OpenSSH's client (`openssh-client`) on the machine of the server.",
        )
    return found


def _lines(text: str) -> str:
    """The text with the line ends OpenSSH wants, the last one included."""
    return "\n".join(text.strip().splitlines()) + "\n"
