"""Starts an MCP server's program so that it cannot outlive us: `python -S launcher.py PARENT PROGRAM ARGUMENTS…`.

It stays the same process: limits are set, the kernel is asked to kill it when its parent dies, then the program takes
over. It runs before anything of ours is imported.
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Set limits and become the program."""
    parent, program, *arguments = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):
            sys.exit("The server that wanted this program has gone.")
    os.execv(program, [program, *arguments])


main()
