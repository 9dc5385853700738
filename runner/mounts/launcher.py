"""Starts an MCP server's program so that it cannot outlive us: `python -S launcher.py PARENT PROGRAM ARGUMENTS…`.

The script sets limits, asks the kernel to kill the process when its parent dies, and then becomes the program (exec).
It imports only the standard library.
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
            sys.exit("The Packline server that started this program has ended.")
    os.execv(program, [program, *arguments])


main()
