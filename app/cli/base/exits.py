"""How commands end: exit statuses, and the error that ends one."""

from __future__ import annotations

#: Exit statuses, as the help says.
EXIT_OK, EXIT_FAILED, EXIT_REFUSED, EXIT_CANCELLED, EXIT_UNREACHABLE, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130

#: What to do when a command needs the data folder that a server uses.
STOP_SERVER = "Stop it, repeat this command, then start it again."


class CliError(Exception):
    """A command cannot go on; `message` is for the user, `status` ends the process."""

    def __init__(self, message: str, status: int = EXIT_REFUSED) -> None:
        super().__init__(message)
        self.status = status
