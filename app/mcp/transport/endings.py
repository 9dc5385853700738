"""Programs that end their input while their calls are open.

A script that writes its calls to `packline mcp` and closes the pipe still wants its answers, and soon: calls that wait
for a run stop waiting and answer that time is up. The bridge names itself with each request and tells the server when
its input has ended; the embedded server notices by itself.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

#: Names the bridge that sends a request.
CLIENT_HEADER: Final = "x-packline-client"
#: Tells the server that the input of the named bridge has ended.
ENDING_HEADER: Final = "x-packline-ending"
#: How long open calls may take once the input has ended, in seconds; hosts kill a server that lingers.
GRACE_SECONDS: Final = 10.0
#: Requests that the client keeps open and that are never answered.
OPEN_ENDED: Final = frozenset({"subscriptions/listen"})
#: Longest name accepted.
_NAME_MAX: Final = 64


class ProgramKey(NamedTuple):
    """A program, by its own name and its caller, so that no caller can end the waits of another."""

    caller_id: str
    name: str


class Endings:
    """The programs with open requests."""

    def __init__(self) -> None:
        self._open: dict[ProgramKey, tuple[asyncio.Event, int]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begun(self, caller_id: str, name: str | None) -> tuple[ProgramKey, asyncio.Event] | None:
        """Count a request of a program as open; the event is set once its input ends. None without a name."""
        if not name or len(name) > _NAME_MAX:
            return None
        key = ProgramKey(caller_id, name)
        event, count = self._open.get(key, (None, 0))
        event = event or asyncio.Event()
        self._open[key] = (event, count + 1)
        return key, event

    def done(self, key: ProgramKey) -> None:
        """Count a request as answered."""
        event, count = self._open.pop(key)
        if count > 1:
            self._open[key] = (event, count - 1)

    def end(self, caller_id: str, name: str) -> None:
        """Set the event of a program with open requests, because its input has ended."""
        found = self._open.get(ProgramKey(caller_id, name))
        if found is not None:
            found[0].set()


def too_late(method: str) -> str:
    """The error of a call that is given up."""
    return (
        f"The input ended, and {method} was not answered within {GRACE_SECONDS:.0f} s. A started run continues: find "
        "it with list_runs."
    )
