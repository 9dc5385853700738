"""Work on foreign files in a worker process: its memory, and what it means when it takes too long."""

from __future__ import annotations

import os
from pathlib import Path

from packline import PackError

#: Memory a parser may take on top of what its process starts with; documents and pages of our sizes need a tenth.
MEMORY_BYTES = 2 * 1024**3


def limit_memory(server_process: int) -> None:
    """Caps this process's address space, so that a hostile document fails alone.

    Args:
        server_process: Id of the process that asked for the work; nothing happens in that one.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return
    if os.getpid() == server_process:
        return
    statm = Path("/proc/self/statm")
    used = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + MEMORY_BYTES
    if soft == resource.RLIM_INFINITY or wanted < soft:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def too_slow(what: str, seconds: float, field: str) -> PackError:
    """The failure of reading something that took all the time it may: trying again would take as long once more."""
    return PackError(
        "resource_exhausted",
        f"{what} was not read within {seconds:g} seconds.",
        field=field,
        hint="It is very large or built unusually: give a smaller or simpler one.",
    )
