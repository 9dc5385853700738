"""Programs that end their input while calls of theirs are under way.

A script that writes its calls to `packline mcp` and closes the pipe wants its answers all the same, soon: what waits
for a run then waits no longer, and answers that time is up. The program on stdin names itself with each request it
carries to a server, and says so when its input has ended; one that serves by itself knows.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

#: Names the program a request comes through, so that it can say later that its input has ended.
CLIENT_HEADER: Final = "x-packline-client"
#: Says that the input of the named program has ended.
ENDING_HEADER: Final = "x-packline-ending"
#: How long calls under way may take once the input has ended, in seconds; hosts stop a server that lingers.
GRACE_SECONDS: Final = 10.0
#: Requests that stay open as long as the client wants, and are never answered.
OPEN_ENDED: Final = frozenset({"subscriptions/listen"})
#: Longest name that is looked at.
_NAME_MAX: Final = 64


class ProgramKey(NamedTuple):
    """Which program, by the name it gave itself; of one caller, so that nobody ends the waits of others."""

    caller_id: str
    name: str


class Endings:
    """The programs with requests under way."""

    def __init__(self) -> None:
        self._open: dict[ProgramKey, tuple[asyncio.Event, int]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begun(self, caller_id: str, name: str | None) -> tuple[ProgramKey, asyncio.Event] | None:
        """A request of a program begins: what is set once its input has ended; None when it gave no name."""
        if not name or len(name) > _NAME_MAX:
            return None
        key = ProgramKey(caller_id, name)
        event, count = self._open.get(key, (None, 0))
        event = event or asyncio.Event()
        self._open[key] = (event, count + 1)
        return key, event

    def done(self, key: ProgramKey) -> None:
        """A request that had begun is over."""
        event, count = self._open.pop(key)
        if count > 1:
            self._open[key] = (event, count - 1)

    def end(self, caller_id: str, name: str) -> None:
        """A program's input has ended; nothing where it has no requests under way."""
        found = self._open.get(ProgramKey(caller_id, name))
        if found is not None:
            found[0].set()


def too_late(method: str) -> str:
    """What a call is told that is given up."""
    return (
        f"The input ended, and {method} was not answered within {GRACE_SECONDS:.0f} s. A run that was started goes on: "
        "list_runs finds it."
    )
