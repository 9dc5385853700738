"""Exit statuses of commands, and the error that ends a command."""

from __future__ import annotations

#: Exit statuses with their meaning, for the help and the reference page.
EXIT_STATUSES = (
    "0 done, or the run succeeded",
    "1 the run or a check failed, or the server could not start",
    "2 wrong usage, or the command was refused, even if it may work later",
    "3 the run was cancelled",
    "4 the server cannot be reached",
    "70 the server ended because code in it, such as a pack's, stopped it",
    "130 interrupted",
)
EXIT_OK, EXIT_FAILED, EXIT_REFUSED, EXIT_CANCELLED, EXIT_UNREACHABLE, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130

#: What to do when a command needs the data folder that a server uses.
STOP_SERVER = "Stop it, repeat this command, then start it again."


class CliError(Exception):
    """The error that ends a command, with a message for the user and the exit status."""

    def __init__(self, message: str, status: int = EXIT_REFUSED) -> None:
        super().__init__(message)
        self.status = status
