"""How far a process can be kept apart on this machine, and the command that does it (bubblewrap)."""

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
#: The script that holds a process to a list of programs, see there.
CONFINE = str(Path(__file__).with_name("confine.py"))
#: Where programs are looked up that agents may be allowed to spawn.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Memory an agent's temporary files may take inside a sandbox, and what it may share between its processes.
TMP_BYTES, SHARED_BYTES = 256 << 20, 64 << 20
#: What the kernel takes orders by. Bubblewrap leaves it writable to a server's root, who owns it without any rights:
#: one line in `core_pattern` would be a program run outside of every wall.
_PROC_READ_ONLY = ("acpi", "bus", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
#: What tells of the whole machine, its memory and its keys.
_PROC_HIDDEN = ("kcore", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "timer_list")
#: Devices that may be opened to write where there is no separate `/dev`.
DEVICES = ("full", "null", "ptmx", "pts", "random", "shm", "tty", "urandom", "zero")
#: What of the system programs need to start and to reach servers; the rest of the disk is not there.
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
    """How far an agent's process is kept apart, weakest first."""

    PROCESS = "process"  # own process group, empty environment
    SANDBOX = "sandbox"  # also own view of files and processes
    SANDBOX_OFFLINE = "sandbox_offline"  # also no network


_ORDER = {level: index for index, level in enumerate(Isolation)}


def weaker(level: Isolation, than: Isolation) -> bool:
    """Whether one level keeps less apart than another."""
    return _ORDER[level] < _ORDER[than]


def best_isolation() -> Isolation:
    """The strongest level this machine reaches; starts bubblewrap once to see (5 ms)."""
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
    """Whether the kernel can hold a process to what it may spawn and where it may write."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None, use_errno=True).syscall(_LANDLOCK_CREATE, None, 0, 1) > 0)


@dataclass(frozen=True, slots=True)
class Confinement:
    """What is around one process.

    Attributes:
        level: How far it is kept apart.
        workspace: The folder it works in, the only one it may write to besides temporary files.
        home: Its home folder outside a sandbox; inside, one in memory stands for it.
        read: What else it may read.
        hidden: Folders that are not to be seen even where they lie inside something readable.
        programs: What of the system's program folders is to be seen, by absolute path; all of it when None.
        denied: Programs that are empty files to it, links followed.
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
        """What of the disk is there, read-only: the system, the program, and what the profile names."""
        own = [*self.read, *places_of(program), *places_of(sys.executable), CONFINE]
        seen = dict.fromkeys((*_SYSTEM, *_CONFIGURATION, *own))
        return tuple(place for place in seen if os.path.exists(place))

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs a program behind this confinement; `PROGRAM` must be an absolute path."""
        if self.level is Isolation.PROCESS:
            return list(argv)
        bwrap = shutil.which("bwrap") or "bwrap"
        line = [bwrap, "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if self.level is Isolation.SANDBOX_OFFLINE:
            line.append("--unshare-net")
        # Started by root, bubblewrap leaves a program the rights to mount, which would make every wall writable again.
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
                # As a link: a program looks for the files beside it where the link leads. What leads to nowhere inside,
                # such as the list of name servers below `/run`, is there as a file.
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
        """Leave of the system's program folders what may be spawned, when not everything may.

        The kernel refuses to execute what is not allowed, but the loader, which everything needs to start, runs
        whatever file it can read (`ld.so /usr/bin/curl`).
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
            is_link = os.path.islink(place)  # kept as a link: a script looks for its parts where it really lies
            if is_link:
                waiting.append(os.path.join(os.path.dirname(place), os.readlink(place)))
            if os.path.dirname(place) in folders:
                line += ["--symlink", os.readlink(place), place] if is_link else ["--ro-bind", place, place]
        for folder in sorted(folders):
            line += ["--remount-ro", folder]
        return line


def _in_real_folder(place: str) -> str:
    """A path without links but, perhaps, its last part."""
    return os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def _is_inside(place: str, holder: str) -> bool:
    return place == holder or place.startswith(holder.rstrip("/") + "/")


def places_of(program: str) -> Iterable[str]:
    """Where a program lies, before and after links: the file, and the package around it when it is a script of one."""
    path = Path(program)
    for place in (path, path.resolve()):
        yield str(place)
        for parent in place.parents:
            if parent.name == "node_modules":
                yield str(parent)
                break
            # The folder of a Python by its library: `bin/python3` alone may lie in somebody's home.
            if (parent / "pyvenv.cfg").is_file() or next(parent.glob("lib*/python3*/os.py"), None) is not None:
                if str(parent) != "/":
                    yield str(parent)
                break
