"""How commands end: exit statuses, and the error that ends one."""

from __future__ import annotations

#: Exit statuses: what they mean, for the help and the reference page, and their names here.
EXIT_STATUSES = (
    "0 done, or the run succeeded",
    "1 the run or a check failed, or the server could not start",
    "2 wrong usage, or the command was refused, even if it may work later",
    "3 the run was cancelled",
    "4 the server cannot be reached",
    "130 interrupted",
)
EXIT_OK, EXIT_FAILED, EXIT_REFUSED, EXIT_CANCELLED, EXIT_UNREACHABLE, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130

#: What to do when a command needs the data folder that a server uses.
STOP_SERVER = "Stop it, repeat this command, then start it again."


class CliError(Exception):
    """A command cannot go on; `message` is for the user, `status` ends the process."""

    def __init__(self, message: str, status: int = EXIT_REFUSED) -> None:
        super().__init__(message)
        self.status = status
