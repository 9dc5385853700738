"""A reducer over run events: the current state of a run, and a line of text for each event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from app.cli.base.exits import EXIT_CANCELLED, EXIT_FAILED, EXIT_OK
from app.cli.base.output import duration, seconds_between

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.cli.base.output import JSON

FINAL = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})


@dataclass(slots=True)
class StepView:
    """The current state of a step.

    Attributes:
        fraction: Progress from 0 to 1; None if its pack does not report it.
        message: The last message of its pack.
        spans: Start and end of each attempt that ran, by its number; the end is None while it runs.
        reused_from: The run whose output it reused, for people; None if it ran here.
    """

    key: str
    pack: str
    state: str
    spans: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    fraction: float | None = None
    message: str = ""
    attempts: int = 0
    warnings: list[str] = field(default_factory=list)
    failure: JSON | None = None
    wait: JSON | None = None
    reused_from: str | None = None

    @property
    def time(self) -> str:
        """How long its attempts took; empty if none has started since the run was started or resumed."""
        return duration(worked(self.spans.values())) if self.spans and self.state != "PENDING" else ""


@dataclass(slots=True)
class RunView:
    """The current state of a run; `apply` keeps it up to date."""

    id: str
    title: str
    name: str
    state: str
    cursor: str | None
    failure: JSON | None
    wait: JSON | None
    steps: dict[str, StepView]
    artifacts: dict[str, JSON]

    @classmethod
    def of(cls, run: JSON) -> Self:
        pipeline, pack = run.get("pipeline"), run.get("pack")
        return cls(
            id=run["id"],
            title=run["title"],
            name=pipeline["key"] if pipeline else pack["id"] if pack else "",
            state=run["state"],
            cursor=run.get("eventCursor"),
            failure=run["failure"],
            wait=run["wait"],
            steps={step["key"]: _step(step) for step in run["steps"]},
            artifacts={artifact["id"]: artifact for artifact in run["artifacts"]["nodes"]},
        )

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    @property
    def time(self) -> str:
        """How long its attempts took; pauses, such as the one before a resume, do not count."""
        spans = [span for step in self.steps.values() for span in step.spans.values()]
        return duration(worked(spans)) if spans else ""

    @property
    def status(self) -> int:
        """Exit status for how the run ended."""
        return {"SUCCEEDED": EXIT_OK, "CANCELLED": EXIT_CANCELLED}.get(self.state, EXIT_FAILED)

    def apply(self, event: JSON) -> str | None:
        """Apply one event, and return a line about it; None if it needs none."""
        match event["__typename"]:
            case "RunStateChanged":
                self.state = event["runState"]
                return f"run {self.state.lower()}{_reason(event)}"
            case "StepStateChanged":
                return self._step_changed(event)
            case "AttemptStateChanged":
                step = self._of(event["attempt"]["runStep"]["key"])
                number = event["attempt"]["number"]
                step.attempts = max(step.attempts, number)
                if event["attemptState"] == "RUNNING":
                    step.fraction, step.message = None, ""
                    step.spans[number] = event["at"], None
                elif number in step.spans:
                    step.spans[number] = step.spans[number][0], event["at"]
                failure = event["attempt"].get("failure")
                if event["attemptState"] in ("FAILED", "LOST"):
                    why = f": {failure['code'].lower()}: {failure['message']}" if failure else ""
                    return f"{step.key}: attempt {number} {event['attemptState'].lower()}{why}"
                return None
            case "StepProgressed":
                step = self._of(event["runStep"]["key"])
                said_before, step.message = step.message, event["milestone"]["message"]
                step.fraction = event["milestone"]["fraction"]
                if step.message == said_before:
                    return None  # only the fraction has changed
                share = "" if step.fraction is None else f"{step.fraction:.0%} "
                return f"{step.key}: {share}{step.message}".rstrip()
            case "ArtifactChanged":
                artifact = event["artifact"]
                new = artifact["id"] not in self.artifacts
                self.artifacts[artifact["id"]] = artifact
                return f"artifact {artifact['name']} {'made' if new else event['artifactStatus'].lower()}"
            case _:
                return None

    def _step_changed(self, event: JSON) -> str:
        step = self._of(event["runStep"]["key"])
        step.state = event["stepState"]
        if step.state == "RUNNING":
            step.reused_from = step.wait = None
        elif step.state == "SUCCEEDED":
            step.fraction = 1.0
        if step.state in ("RUNNING", "WAITING", "PENDING"):  # what an earlier attempt reported is over
            step.fraction, step.message = None, ""
        return f"{step.key}: {step.state.lower()}{_reason(event)}"

    def _of(self, key: str) -> StepView:
        return self.steps.setdefault(key, StepView(key, "", "PENDING"))

    def advice(self) -> list[tuple[str, str]]:
        """The commands to run next, each with its effect."""
        if self.state not in ("FAILED", "CANCELLED"):
            return []
        failed = next((step.key for step in self.steps.values() if step.state in ("FAILED", "CANCELLED")), None)
        where = f"resumes at `{failed}`" if failed else "resumes where it stopped"
        resume, again = f"packline resume {self.id}", f"packline rerun {self.id}"
        kept, same = "succeeded steps are kept", "the same inputs"
        if failed and self.failure is not None and self.failure["remedy"] == "CHANGE_INPUT":
            # Without a change, the step would fail again. Succeeded steps have read their inputs: then only the failed
            # step's own input can change for certain.
            is_first = all(step.state != "SUCCEEDED" for step in self.steps.values())
            resume += " --input NAME=VALUE" if is_first else " --step-input JSON"
            again += " --input NAME=VALUE"
            where, same = f"{where} with a corrected input", "corrected inputs"
        advice = [(resume, f"{where}; {kept}")]
        if failed and self.state == "FAILED":
            advice.append((f"packline show {self.id} --step {failed}", "its input, output and log"))
        advice.append((again, f"starts a new run with {same}"))
        return advice


def _reason(event: JSON) -> str:
    return f": {event['reason']}" if event.get("reason") else ""


def worked(spans: Iterable[tuple[str, str | None]]) -> float:
    """The seconds of attempts, from their starts and ends."""
    return sum(seconds_between(start, end) for start, end in spans)


def spans_of(attempts: list[JSON]) -> dict[int, tuple[str, str | None]]:
    """Start and end of each attempt that ran, by its number."""
    return {one["number"]: (one["startedAt"], one["endedAt"]) for one in attempts if not one.get("reuse")}


def reused_from(attempts: list[JSON]) -> str | None:
    """The run whose output the last attempt of a step reused, for people; None if it ran."""
    reuse = attempts[-1].get("reuse") if attempts else None
    if reuse is None:
        return None
    made_by = reuse["madeBy"]
    return made_by["runStep"]["run"]["id"] if made_by else "a run that is no longer kept"


def _step(step: JSON) -> StepView:
    milestone = step["milestones"][-1] if step["milestones"] else None
    return StepView(
        key=step["key"],
        pack=(step.get("step") or {}).get("packName") or "",
        state=step["state"],
        spans=spans_of(step["attempts"]),
        fraction=step["progress"],
        message=milestone["message"] if milestone else "",
        attempts=max((one["number"] for one in step["attempts"]), default=0),
        warnings=list(step["warnings"]),
        failure=step["failure"],
        wait=step["wait"],
        reused_from=reused_from(step["attempts"]),
    )
