#!/usr/bin/env python3
"""Print `docs/states.md`: the states of runs and steps and every legal transition, from `store/states.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from store.states import FINAL_RUN_STATES, RUN_TRANSITIONS, STEP_TRANSITIONS, RunState, StepState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

S = TypeVar("S", bound="StrEnum")

_HEAD = """\
# States

Made by `make states` from `store/states.py`, the table every write asks. A transition that is not drawn here cannot be
stored: each is one guarded UPDATE together with its event, and no row changed means that somebody else was faster.
"""

_RUNS = """\
## Runs

`succeeded`, `failed` and `cancelled` are final; a resume takes a failed or cancelled run back to `queued`. `waiting` is
the pause before a step is tried again. `running` goes back to `queued` when a server shuts down and lets the run go.
"""

_STEPS = """\
## Steps

A succeeded step runs again in one case only: its session is gone and a later step needs it. Every time a step runs is
an attempt of its own, numbered, which ends as succeeded, failed, cancelled or lost (its process died).
"""


def main() -> int:
    """Writes the page to standard output."""
    sys.stdout.write(page())
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
