"""A reducer over run events: the current state of a run, and a line of text for each event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from app.cli.base.exits import EXIT_CANCELLED, EXIT_FAILED, EXIT_OK

if TYPE_CHECKING:
    from app.cli.base.output import JSON

FINAL = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})


@dataclass(slots=True)
class StepView:
    """The current state of a step.

    Attributes:
        fraction: Progress from 0 to 1; None if its pack does not report it.
        message: The last message of its pack.
        reused_from: The run whose output it reused, for people; None if it ran here.
    """

    key: str
    pack: str
    state: str
    started_at: str | None = None
    ended_at: str | None = None
    fraction: float | None = None
    message: str = ""
    attempts: int = 0
    warnings: list[str] = field(default_factory=list)
    failure: JSON | None = None
    wait: JSON | None = None
    reused_from: str | None = None


@dataclass(slots=True)
class RunView:
    """The current state of a run; `apply` keeps it up to date."""

    id: str
    title: str
    name: str
    state: str
    cursor: str | None
    started_at: str | None
    ended_at: str | None
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
            started_at=run["startedAt"],
            ended_at=run["endedAt"],
            failure=run["failure"],
            wait=run["wait"],
            steps={step["key"]: _step(step) for step in run["steps"]},
            artifacts={artifact["id"]: artifact for artifact in run["artifacts"]["nodes"]},
        )

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    @property
    def status(self) -> int:
        """Exit status for how the run ended."""
        return {"SUCCEEDED": EXIT_OK, "CANCELLED": EXIT_CANCELLED}.get(self.state, EXIT_FAILED)

    def apply(self, event: JSON) -> str | None:
        """Apply one event, and return a line about it; None if it needs none."""
        match event["__typename"]:
            case "RunStateChanged":
                self.state = event["runState"]
                if self.state == "RUNNING" and self.started_at is None:
                    self.started_at = event["at"]
                self.ended_at = event["at"] if self.is_final else None
                return f"run {self.state.lower()}{_reason(event)}"
            case "StepStateChanged":
                return self._step_changed(event)
            case "AttemptStateChanged":
                step = self._of(event["attempt"]["runStep"]["key"])
                number = event["attempt"]["number"]
                step.attempts = max(step.attempts, number)
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
            step.reused_from = None
            step.started_at, step.ended_at, step.wait = step.started_at or event["at"], None, None
        elif step.state in FINAL:
            step.ended_at = event["at"]
            step.fraction = 1.0 if step.state == "SUCCEEDED" else step.fraction
        elif step.state == "PENDING":
            step.started_at = step.ended_at = step.fraction = None
        return f"{step.key}: {step.state.lower()}{_reason(event)}"

    def _of(self, key: str) -> StepView:
        return self.steps.setdefault(key, StepView(key, "", "PENDING"))

    def advice(self) -> list[tuple[str, str]]:
        """The commands to run next, each with its effect."""
        if self.state not in ("FAILED", "CANCELLED"):
            return []
        failed = next((step.key for step in self.steps.values() if step.state in ("FAILED", "CANCELLED")), None)
        where = f"resumes at `{failed}`" if failed else "resumes where it stopped"
        advice = [(f"packline resume {self.id}", f"{where}; succeeded steps are kept")]
        if failed and self.state == "FAILED":
            advice.append((f"packline show {self.id} --step {failed}", "its input, output and log"))
        advice.append((f"packline rerun {self.id}", "starts a new run with the same inputs"))
        return advice


def _reason(event: JSON) -> str:
    return f": {event['reason']}" if event.get("reason") else ""


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
        started_at=step["startedAt"],
        ended_at=step["endedAt"],
        fraction=step["progress"],
        message=milestone["message"] if milestone else "",
        attempts=max((one["number"] for one in step["attempts"]), default=0),
        warnings=list(step["warnings"]),
        failure=step["failure"],
        wait=step["wait"],
        reused_from=reused_from(step["attempts"]),
    )
