"""Work on foreign files in a worker process: its memory and time, and what it means when it takes too long."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Literal

from packline import PackError

#: Memory a parser may take on top of what its process starts with; pages of our sizes need a tenth.
MEMORY_BYTES = 2 * 1024**3


def limit_memory(server_process: int, memory_bytes: int = MEMORY_BYTES) -> None:
    """Caps this process's address space, so that a hostile document fails alone.

    Args:
        server_process: Id of the process that asked for the work; nothing happens in that one.
        memory_bytes: What it may take on top of what it has.
    """
    statm = Path("/proc/self/statm")
    used = int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0
    _limit(server_process, "RLIMIT_AS", used + memory_bytes)


def limit_time(server_process: int, cpu_seconds: int) -> None:
    """Caps the processor time this process may take from now on; the kernel ends it by SIGXCPU.

    Time spent waiting for a processor does not count: a document is refused on a busy machine as on an idle one.

    Args:
        server_process: Id of the process that asked for the work; nothing happens in that one.
        cpu_seconds: What it may take on top of what it took.
    """
    _limit(server_process, "RLIMIT_CPU", math.ceil(time.process_time()) + cpu_seconds)


def _limit(server_process: int, name: Literal["RLIMIT_AS", "RLIMIT_CPU"], wanted: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    if os.getpid() == server_process:
        return
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    if soft == resource.RLIM_INFINITY or wanted < soft:
        resource.setrlimit(kind, (wanted, hard))


def too_slow(what: str, seconds: float, field: str) -> PackError:
    """The failure of reading something that took all the time it may: trying again would take as long once more."""
    return PackError(
        "resource_exhausted",
        f"{what} was not read within {seconds:g} seconds.",
        field=field,
        hint="It is very large or built unusually: give a smaller or simpler one.",
    )
