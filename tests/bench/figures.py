"""What a row of `make bench` is given, what it returns, and what it raises."""

from __future__ import annotations

from dataclasses import dataclass

_TIMES = frozenset({"s", "ms"})
_RATES = frozenset({"per s of CPU", "steps/s", "runs/s", "MB/s"})

#: Runs behind the row `history`, unless the command line says otherwise.
HISTORY_RUNS = 1_000_000


class MissingError(Exception):
    """This machine lacks something that the row needs; says what, and how to get it."""


@dataclass(frozen=True)
class Counts:
    """How often a row does what it measures.

    Attributes:
        tiny: Whether rows run only to show that they still do: their figures say nothing.
        history_runs: Runs behind the row `history`.
    """

    tiny: bool = False
    history_runs: int = HISTORY_RUNS

    def of(self, full: int, tiny: int = 2) -> int:
        """The count that is asked for: all a row differs in when it is tiny."""
        return tiny if self.tiny else full


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        goal: The figure to reach; None where there is none.
        higher_is_better: How to read the goal.
        fixed: The part of the goal, in its unit, that the speed of the CPU does not change.
    """

    row: str
    name: str
    value: float
    unit: str
    goal: float | None = None
    higher_is_better: bool = False
    fixed: float = 0.0

    def goal_at(self, slowness: float) -> float | None:
        """The goal for a machine that takes `slowness` times as long: times grow, rates shrink, the rest stays."""
        if self.goal is None:
            return None
        if self.unit in _TIMES:
            return self.fixed + (self.goal - self.fixed) * slowness
        return self.goal / slowness if self.unit in _RATES else self.goal

    def meets(self, goal: float) -> bool:
        """Whether the figure is as good as a goal."""
        return self.value >= goal if self.higher_is_better else self.value <= goal
