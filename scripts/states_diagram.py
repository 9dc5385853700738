"""What `docs/states.md` says: the states of runs and steps and every legal transition, from `store/states.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from store.states import FINAL_RUN_STATES, RUN_TRANSITIONS, STEP_TRANSITIONS, RunState, StepState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

S = TypeVar("S", bound="StrEnum")

_HEAD = """\
# States

Made by `make docs` from `store/states.py`, the table that every write consults. A transition that is not drawn here
cannot be stored: each is one guarded UPDATE together with its event. If the UPDATE changes no row, another writer was
faster.
"""

_RUNS = """\
## Runs

`succeeded`, `failed` and `cancelled` are final; a resume takes a failed or cancelled run back to `queued`. `waiting` is
the pause before a step is retried, or before the start time that was asked for; afterwards the run is queued if its
caller has no free slot. `running` goes back to `queued` when a server shuts down and releases the run.
"""

_STEPS = """\
## Steps

A succeeded step runs again only if a later step needs a session or a file of it that is gone. Every run of a step is a
numbered attempt, which ends as succeeded, failed, cancelled or lost (its process died).
"""


def page() -> str:
    """The whole page as Markdown."""
    runs = _diagram(RUN_TRANSITIONS, RunState.QUEUED, FINAL_RUN_STATES)
    done = frozenset({StepState.SUCCEEDED, StepState.FAILED, StepState.CANCELLED})
    return "\n".join([_HEAD, _RUNS, runs, _STEPS, _diagram(STEP_TRANSITIONS, StepState.PENDING, done)])


def _diagram(transitions: Mapping[S, frozenset[S]], first: S, final: frozenset[S]) -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {first}"]
    for before, afters in transitions.items():
        order = list(type(before))
        lines += [f"    {before} --> {after}" for after in sorted(afters, key=order.index)]
    lines += [f"    {state} --> [*]" for state in type(first) if state in final]
    return "\n".join([*lines, "```", ""])
