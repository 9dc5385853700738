"""Settings of triggers that fire when a run ends. Pure functions over values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.issues import Issue, error
from store.states import FINAL_RUN_STATES, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.failures import JSONValue
    from runner.templates.references import Reference

PIPELINES_MAX = 50
#: Fields of `trigger` in the inputs.
FIELDS = ("run", "id", "name", "kind")
#: Fields of `trigger.run`.
RUN_FIELDS = (
    "id", "state", "title", "pipeline", "output", "failure", "url", "resume_count", "started_at", "ended_at",
)  # fmt: skip
#: Fields of `trigger.run.failure`, which is null unless the run failed.
FAILURE_FIELDS = ("code", "message", "hint")


class RunsOf(StrEnum):
    """Whose runs a trigger fires for."""

    OWNER = "owner"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class RunEndedSettings:
    """Which runs a trigger fires for when they end.

    Attributes:
        states: How they end.
        pipelines: Ids of their pipelines; empty for all but the trigger's own.
        runs_of: Whose they are.
    """

    states: tuple[RunState, ...]
    pipelines: tuple[str, ...] = ()
    runs_of: RunsOf = RunsOf.OWNER

    @classmethod
    def read(cls, settings: Mapping[str, JSONValue]) -> RunEndedSettings:
        """Read what `to_json` wrote."""
        states, pipelines = settings["states"], settings["pipelines"]
        assert isinstance(states, list), "written by `to_json`"
        assert isinstance(pipelines, list), "written by `to_json`"
        return cls(
            tuple(RunState(str(state)) for state in states),
            tuple(map(str, pipelines)),
            RunsOf(str(settings["runs_of"])),
        )

    def to_json(self) -> dict[str, JSONValue]:
        """Return the settings of a trigger."""
        return {
            "states": [state.value for state in self.states],
            "pipelines": list(self.pipelines),
            "runs_of": self.runs_of.value,
        }

    def wants(self, pipeline_id: str, state: str, *, is_own: bool) -> bool:
        """Whether a trigger fires for a run with this end; `is_own` says that it belongs to the trigger's owner."""
        return (
            state in self.states
            and (not self.pipelines or pipeline_id in self.pipelines)
            and (is_own or self.runs_of is RunsOf.ALL)
        )


def check_run_ended(settings: RunEndedSettings, own_pipeline: str) -> list[Issue]:
    """Find what is wrong with the settings of a trigger that starts runs of the pipeline with the id `own_pipeline`."""
    issues = []
    if not settings.states:
        issues.append(error(("states",), "too_few", "The trigger fires for no state.", "Name at least one."))
    issues += [
        error(
            ("states", str(index)),
            "not_final",
            f"A run does not end {state.value}.",
            "Use succeeded, failed or cancelled.",
        )
        for index, state in enumerate(settings.states)
        if state not in FINAL_RUN_STATES
    ]
    if len(settings.pipelines) > PIPELINES_MAX:
        message = f"{len(settings.pipelines)} pipelines exceed the limit of {PIPELINES_MAX}."
        hint = "Leave the list empty to fire for all pipelines."
        issues.append(error(("pipelines",), "too_many", message, hint))
    if own_pipeline in settings.pipelines:
        where = ("pipelines", str(settings.pipelines.index(own_pipeline)))
        message = "A trigger does not fire for runs of the pipeline that it starts: they would start each other."
        issues.append(error(where, "own_pipeline", message, "Remove the pipeline from the list."))
    return issues


def unknown_run_fields(references: Sequence[Reference]) -> list[Issue]:
    """Find references to fields that `trigger.run` never has."""
    issues = []
    for reference in references:
        match reference.source_path:
            case ("run", str(field), *_) if field not in RUN_FIELDS:
                issues.append(_no_field(reference, "trigger.run", field, RUN_FIELDS))
            case ("run", "failure", str(field), *_) if field not in FAILURE_FIELDS:
                issues.append(_no_field(reference, "trigger.run.failure", field, FAILURE_FIELDS))
    return issues


def _no_field(reference: Reference, holder: str, field: str, known: Sequence[str]) -> Issue:
    message = f"{reference.expression}: `{holder}` has no field `{field}`."
    return error(reference.path, "unresolved_reference", message, f"Use one of {', '.join(known)}.")
