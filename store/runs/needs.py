"""What steps need of the worker that executes them, as the columns `run.needs` and `worker.offers` keep it.

On a shared database a run is offered only to workers that offer each of its needs, and only they may claim it. With
SQLite one process serves all, and both columns stay empty. A need is one of

- a service, program or library that a pack declares, such as `chromium`, or a label that an operator gave a worker;
- `model:<role>`, `agent:<profile>`, and `agent` for packs that use any agent;
- `pack:<name>@<major>`, for packs that do not ship with Packline;
- `@<machine>`, for steps that use a session of that machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SEPARATOR = ","
#: Begins the need of a machine.
MACHINE = "@"


def as_need(name: str) -> str:
    """Return a name, such as that of a service or the path of a folder, as a need, which has no commas."""
    return name.replace(SEPARATOR, " ")


def needs_text(needs: Iterable[str]) -> str:
    """Return needs or offers as the store keeps them: sorted, without repeats, separated by commas."""
    return SEPARATOR.join(sorted(set(needs)))


def needs_of(text: str) -> frozenset[str]:
    """Return the needs or offers that `needs_text` wrote."""
    return frozenset(text.split(SEPARATOR)) if text else frozenset()


def serves(offers: str, needs: str) -> str:
    """Return the SQL of whether a worker serves a run, for PostgreSQL; both are names of columns or parameters."""
    return f"({needs} = '' OR string_to_array({needs}, '{SEPARATOR}') <@ string_to_array({offers}, '{SEPARATOR}'))"
