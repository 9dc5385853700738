"""What a pack's function does first in a worker process."""

from __future__ import annotations

import os
from pathlib import Path

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
