"""Isolation levels of this machine, and the command line that isolates a process (bubblewrap)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Where the workspace appears inside a sandbox.
WORKSPACE = "/workspace"
_LANDLOCK_CREATE = 444  # landlock_create_ruleset(2), the same number on every architecture
#: The script that restricts a process, see there.
CONFINE = str(Path(__file__).with_name("confine.py"))
#: Where programs are looked up that agents may be allowed to spawn.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Limits of an agent's temporary files and of shared memory inside a sandbox.
TMP_BYTES, SHARED_BYTES = 256 << 20, 64 << 20
#: Files that control the kernel. Bubblewrap leaves them writable if the server runs as root, who owns them: one line in
#: `core_pattern` would run a program outside the sandbox.
_PROC_READ_ONLY = ("acpi", "bus", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
#: Files that reveal the machine's memory and keys.
_PROC_HIDDEN = ("kcore", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "timer_list")
#: Devices that may be opened to write where there is no separate `/dev`.
DEVICES = ("full", "null", "ptmx", "pts", "random", "shm", "tty", "urandom", "zero")
#: The parts of the system that programs need to start and to reach servers; a sandbox has nothing else of the disk.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
_CONFIGURATION = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
)


class Isolation(StrEnum):
    """Isolation levels of an agent's process, weakest first."""

    PROCESS = "process"  # own process group, empty environment
    SANDBOX = "sandbox"  # also own view of files and processes
    SANDBOX_OFFLINE = "sandbox_offline"  # also no network


_ORDER = {level: index for index, level in enumerate(Isolation)}


def weaker(level: Isolation, than: Isolation) -> bool:
    """Whether one level is weaker than another."""
    return _ORDER[level] < _ORDER[than]


def best_isolation() -> Isolation:
    """Find the strongest level this machine offers; starts bubblewrap once (5 ms)."""
    program = shutil.which("bwrap")
    if program is None:
        return Isolation.PROCESS
    trial = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    try:
        done = subprocess.run([*trial, "true"], capture_output=True, timeout=10, check=False, env={"PATH": os.defpath})
    except (OSError, subprocess.TimeoutExpired):
        return Isolation.PROCESS
    return Isolation.SANDBOX_OFFLINE if done.returncode == 0 else Isolation.PROCESS


@cache
def has_landlock() -> bool:
    """Whether the kernel can restrict what a process may spawn and write."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None, use_errno=True).syscall(_LANDLOCK_CREATE, None, 0, 1) > 0)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The confinement of one process.

    Attributes:
        level: Its isolation level.
        workspace: The folder it works in, the only one it may write to besides temporary files.
        home: Its home folder outside a sandbox; inside, it is in memory.
        read: Further paths it may read.
        hidden: Folders that are hidden even inside a readable folder.
        programs: Visible files of the system's program folders, by absolute path; None for all.
        denied: Programs that it sees as empty files, links followed.
    """

    level: Isolation
    workspace: Path
    home: Path
    read: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    programs: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()

    @property
    def folder(self) -> str:
        """The workspace as the process sees it."""
        return str(self.workspace) if self.level is Isolation.PROCESS else WORKSPACE

    @property
    def home_seen(self) -> str:
        """The home folder as the process sees it."""
        return str(self.home) if self.level is Isolation.PROCESS else "/tmp/home"

    def readable(self, program: str) -> tuple[str, ...]:
        """Return the read-only paths: the system, the program, and the profile's paths."""
        own = [*self.read, *places_of(program), *places_of(sys.executable), CONFINE]
        seen = dict.fromkeys((*_SYSTEM, *_CONFIGURATION, *own))
        return tuple(place for place in seen if os.path.exists(place))

    def command(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that runs a program in this confinement; the program must be an absolute path."""
        if self.level is Isolation.PROCESS:
            return list(argv)
        bwrap = shutil.which("bwrap") or "bwrap"
        line = [bwrap, "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if self.level is Isolation.SANDBOX_OFFLINE:
            line.append("--unshare-net")
        # If root starts bubblewrap, the program may mount, and so make everything writable again.
        line += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev"]
        for name in _PROC_READ_ONLY:
            line += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
        for name in _PROC_HIDDEN:
            if os.path.exists(f"/proc/{name}"):
                line += ["--ro-bind", os.devnull, f"/proc/{name}"]
        line += ["--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        line += ["--size", str(TMP_BYTES), "--tmpfs", "/tmp", "--dir", "/tmp/home"]
        places = self.readable(argv[0])
        holders = [place for place in places if not os.path.islink(place)]
        bound: list[str] = []
        for place in places:
            target = os.path.realpath(place)
            if os.path.islink(place) and place in _SYSTEM:
                line += ["--symlink", os.readlink(place), place]
            elif any(_is_inside(_in_real_folder(place), holder) for holder in bound):
                continue
            elif os.path.islink(place) and os.path.isfile(place):
                # As a link, since a program looks for its files next to the link's target. If the target is not inside,
                # such as the list of name servers in `/run`, as a file.
                is_there = any(_is_inside(target, holder) for holder in holders)
                line += ["--symlink", target, place] if is_there else ["--ro-bind", target, place]
            else:
                line += ["--ro-bind", place, place]
                bound.append(place)
        for folder in self.hidden:
            if any(_is_inside(str(folder), holder) for holder in bound):
                line += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
        line += self._programs(argv[0])
        line += ["--bind", str(self.workspace), WORKSPACE, "--remount-ro", "/", "--chdir", WORKSPACE, "--"]
        return [*line, *argv]

    def _programs(self, program: str) -> list[str]:
        """Hide programs that may not be spawned.

        The kernel refuses to execute them, but the loader, which every program needs, runs any file that it can read
        (`ld.so /usr/bin/curl`).
        """
        folders = {os.path.realpath(part) for part in SYSTEM_PATH.split(":") if os.path.isdir(part)}
        line: list[str] = []
        if self.programs is None:
            for place in sorted(self.denied):
                line += ["--ro-bind", os.devnull, place]
            return line
        for folder in sorted(folders):
            line += ["--tmpfs", folder]
        waiting, found = [*sorted(self.programs), program, sys.executable], set[str]()
        while waiting:
            path = waiting.pop()
            place = _in_real_folder(path)
            if place in found or not os.path.exists(place):
                continue
            found.add(place)
            is_link = os.path.islink(place)  # stays a link: a script looks for its parts next to the target
            if is_link:
                waiting.append(os.path.join(os.path.dirname(place), os.readlink(place)))
            if os.path.dirname(place) in folders:
                line += ["--symlink", os.readlink(place), place] if is_link else ["--ro-bind", place, place]
        for folder in sorted(folders):
            line += ["--remount-ro", folder]
        return line


def _in_real_folder(place: str) -> str:
    """Resolve the links of a path except for its last part."""
    return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _is_inside(place: str, holder: str) -> bool:
    return place == holder or place.startswith(holder.rstrip("/") + "/")


def places_of(program: str) -> Iterable[str]:
    """Yield the paths of a program, before and after links: the file, and the package that has the script."""
    path = Path(program)
    for place in (path, path.resolve()):
        yield str(place)
        for parent in place.parents:
            if parent.name == "node_modules":
                yield str(parent)
                break
            # A Python installation has its library: `bin/python3` alone may be in a home folder.
            if (parent / "pyvenv.cfg").is_file() or next(parent.glob("lib*/python3*/os.py"), None) is not None:
                if str(parent) != "/":
                    yield str(parent)
                break
