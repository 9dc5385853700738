"""How commands end: exit statuses, and the error that ends one."""

from __future__ import annotations

#: Exit statuses, as the help says.
EXIT_OK, EXIT_FAILED, EXIT_REFUSED, EXIT_CANCELLED, EXIT_UNREACHABLE, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130


class CliError(Exception):
    """A command cannot go on; `message` is for the user, `status` ends the process."""

    def __init__(self, message: str, status: int = EXIT_REFUSED) -> None:
        super().__init__(message)
        self.status = status
