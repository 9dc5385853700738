"""The Git program, run on behalf of people who are not trusted, in a worker process.

Everything here blocks. Git has a separate environment: no configuration of this machine, no hooks, no filters, no
submodules, no prompts, no proxies, no other protocol, no redirects (`git help config`, `git help git`). Its children
stay in the worker's process group, so that they die with it.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING, NoReturn

from packline import PackError, excerpt

from ._ssh import SshSession

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ._address import Remote

#: First Git with `http.curloptResolve`, which ties it to the address that was checked.
MIN_GIT_VERSION = (2, 37)
MAX_CHECKED_OUT_FILES = 200_000

_GIT_MEMORY_BYTES = 4 * 1024**3
_FULL_DISK_BYTES = 16 * 1024**2
_MAX_ANSWER_BYTES = 64 * 1024
_WATCH_SECONDS = 0.2
_CONFIG = {
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.askPass": "",
    "credential.helper": "",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.uriProtocols": "",
    "transfer.bundleURI": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "init.defaultBranch": "main",
    "advice.detachedHead": "false",
}
_PASSED_ON = ("PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "LD_LIBRARY_PATH")


class Git:
    """Runs Git for one clone and watches it: time, size on disk, memory.

    Args:
        remote: The repository, checked.
        workspace: An existing folder, where Git runs until `target` exists.
        target: Folder of the clone, whose size is watched.
        max_bytes: Most that it may take.
        time_limit_seconds: For everything run here together.
        ssh: How to sign in, for a remote over SSH.
        variables: Environment variables besides Packline's own.
        task: What is being done, for messages.
    """

    def __init__(
        self,
        remote: Remote,
        workspace: Path,
        target: Path,
        *,
        max_bytes: int,
        time_limit_seconds: float,
        ssh: SshSession | None = None,
        variables: Mapping[str, str] | None = None,
        task: str = "Cloning",
    ) -> None:
        self._remote = remote
        self._workspace = workspace
        self._target = target
        self._max_bytes = max_bytes
        self._time_limit_seconds = time_limit_seconds
        self._deadline = time.monotonic() + time_limit_seconds
        self._task = task
        self._ssh = ssh or SshSession()
        self._environment = {**(variables or {}), **self._ssh.variables, **_environment(remote, workspace)}
        program = shutil.which("git")
        if program is None:
            raise PackError(
                "handler_failed",
                "The program `git` is not on PATH.",
                cause="Git is not installed on this server.",
                hint="Install Git on the machine of the server.",
                remedy="ask_operator",
            )
        self._program = program

    def require_version(self) -> None:
        """Raises unless Git can be tied to an address.

        Raises:
            PackError: `handler_failed` with the version needed.
        """
        answer = self.run("version").split()
        numbers = answer[2].split(".")[:2] if len(answer) > 2 else []
        version = tuple(int(number) for number in numbers if number.isdigit())
        if version < MIN_GIT_VERSION:
            needed = ".".join(map(str, MIN_GIT_VERSION))
            raise PackError(
                "handler_failed",
                f"Git {'.'.join(numbers) or 'of an unknown version'} is too old for a safe clone; {needed} is needed.",
                cause="The version of Git on this server is too old.",
                hint=f"Install Git {needed} or newer on the machine of the server.",
                remedy="ask_operator",
            )

    def run(self, *arguments: str) -> str:
        """What Git printed.

        Raises:
            PackError: `timeout` or `resource_exhausted` at a limit, `handler_failed` when Git ends otherwise than well.
        """
        status, printed, complaint = self.try_run(*arguments)
        if status != 0:
            self.fail("handler_failed", f"`git {arguments[0]}` failed with status {status}.", complaint)
        return printed

    def try_run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit status, output and complaints, each output at most 64 KiB.

        Raises:
            PackError: `timeout` or `resource_exhausted` at a limit.
        """
        cwd = self._target if self._target.exists() else self._workspace
        # Files instead of pipes: nothing to drain, so no deadlock, and RLIMIT_FSIZE bounds them.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [self._program, *arguments],
                cwd=cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
            try:
                self._limit(process)
                self._watch(process)
            finally:
                _end(process)
            return process.returncode, _text_of(out), _text_of(err)

    def fail(
        self, code: str, message: str, complaint: str, *, field: str | None = None, hint: str | None = None
    ) -> NoReturn:
        """Raises the failure, or that the disk is full when it is.

        Raises:
            PackError: always.
        """
        if shutil.disk_usage(self._workspace).free < _FULL_DISK_BYTES:
            raise PackError("resource_exhausted", "The disk of the server is full.", hint="Free some space there.")
        detail = excerpt(complaint.replace(str(self._workspace), "").strip(), 2_000, from_end=True)
        raise PackError(code, message, field=field, hint=hint, detail={"git": detail} if detail else None)

    def fail_unreachable(self, complaint: str) -> NoReturn:
        """Raises the failure of a server that did not do what it was asked.

        Raises:
            PackError: always.
        """
        self.raise_over_ssh(complaint)
        self.fail("upstream_unavailable", f"{self._remote.url} stopped answering.", complaint)

    def raise_over_ssh(self, complaint: str) -> None:
        """Raise what `ssh` says went wrong, if the repository is reached over SSH and it says something.

        Raises:
            PackError: see `SshSession.failure`.
        """
        if (failure := self._ssh.failure(self._remote.url, complaint)) is not None:
            raise failure

    def _limit(self, process: subprocess.Popen[bytes]) -> None:
        """Bounds memory and file size, where the system can: a tree of nested trees unpacks in memory first."""
        if not hasattr(resource, "prlimit"):
            return
        try:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (_GIT_MEMORY_BYTES, _GIT_MEMORY_BYTES))
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (self._max_bytes, self._max_bytes))
        except (OSError, ValueError):
            return  # already gone, or below its own limits

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        pause = _WATCH_SECONDS
        while True:
            try:
                process.wait(max(0.0, min(pause, self._deadline - time.monotonic())))
                running = False
            except subprocess.TimeoutExpired:
                running = True
            began = time.monotonic()
            if self._target.exists():
                self._check_size()
            # Measuring a large tree must not take more time than making it.
            pause = max(_WATCH_SECONDS, 5 * (time.monotonic() - began))
            if not running:
                return
            if time.monotonic() >= self._deadline:
                raise PackError(
                    "timeout",
                    f"{self._task} {self._remote.url} took longer than {self._time_limit_seconds:.0f} s.",
                    hint="Give a smaller depth, or a smaller repository.",
                )

    def _check_size(self) -> None:
        size, files = _measure(self._target)
        if size > self._max_bytes:
            raise PackError(
                "resource_exhausted",
                f"{self._remote.url} takes more than {self._max_bytes // 1_000_000} MB.",
                field="max_size_mb",
                hint="Give a larger max_size_mb, a smaller depth, or a smaller repository.",
            )
        if files > MAX_CHECKED_OUT_FILES:
            raise PackError(
                "resource_exhausted",
                f"{self._remote.url} has more than {MAX_CHECKED_OUT_FILES:,} files.",
                hint="Use a smaller repository.",
            )


def _environment(remote: Remote, workspace: Path) -> dict[str, str]:
    """All that Git gets to know: nothing of this machine but where programs and certificates are.

    A secret in it is seen by nobody but the server's user, unlike one among the arguments.
    """
    config = {**_CONFIG, "http.curloptResolve": remote.resolve_entry}
    if remote.authorization is not None:
        config[f"http.{remote.url}.extraHeader"] = f"Authorization: {remote.authorization}"
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": remote.protocol,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        # A data folder may itself lie inside somebody's repository, whose configuration is none of ours.
        "GIT_CEILING_DIRECTORIES": str(workspace.resolve().parent),
        "GIT_CONFIG_COUNT": str(len(config)),
    }
    for number, (key, value) in enumerate(config.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends Git if it still runs; asked first, it ends its own children."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _text_of(file: IO[bytes]) -> str:
    """The last 64 KiB of what was written."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MAX_ANSWER_BYTES))
    return file.read().decode("utf-8", "replace")


def _measure(folder: Path) -> tuple[int, int]:
    """Bytes and number of files below a folder that may be changing."""
    size = files = 0
    for where, _, names in os.walk(folder):
        for name in names:
            files += 1
            try:
                size += os.lstat(os.path.join(where, name)).st_size
            except OSError:
                continue
    return size, files
