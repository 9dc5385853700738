"""Plans a resume or re-run: what it does with each step, for preview and execution.

Pure functions: the caller passes the states of the steps, the live sessions and the erased artifacts. The plan begins
with the steps that have not succeeded. Then it adds succeeded steps, until nothing changes, for two reasons only: a
later step to run needs their session, which has ended, or their artifact, which was erased. An added step may fail, so
succeeded steps may follow a failed one; they are kept, too.

A changed input of a step stays until a later resume changes it again, drops it with null, changes a run input that the
step reads, or uses a definition in which the step differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from runner.excerpts import excerpt
from runner.issues import Hint, Issue, argument_error, error, has_errors, nearest, warning
from store.states import RunState, StepState, predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.failures import JSONValue
    from runner.packs.pack import Effects
    from runner.resuming.step_snapshots import InputSource, StepSnapshot


class Unchanged(Enum):
    """The value of an absent step input, since null has a meaning."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
#: A resume's change of the failed step's input: none, null to drop the input of an earlier resume, or a value.
StepInputChange: TypeAlias = "JSONValue | Unchanged"

Action = Literal["reuse", "run_again", "run"]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """The plan of one step.

    Attributes:
        key: The step.
        action: `reuse` its output, `run_again` although it succeeded, or `run`.
        reason: Why, for people.
        effects: Its external changes.
        may_repeat_effects: Whether an external change may happen a second time.
        input_source: Where its input comes from; None if it does not run.
    """

    key: str
    action: Action
    reason: str
    effects: Effects
    may_repeat_effects: bool
    input_source: InputSource | None = None


@dataclass(frozen=True, slots=True)
class ResumePlan:
    """The plan of a resume or re-run.

    Attributes:
        allowed: Whether it would be accepted: no issue is an error.
        issues: Errors and warnings.
        steps: Every step, in order; `run_again` and `run` steps are executed in this order.
        entry: The first step of the run that has not succeeded, which gets a changed step input; None if all have, or
            if the chosen definition does not have it.
    """

    allowed: bool
    issues: tuple[Issue, ...]
    steps: tuple[PlannedStep, ...]
    entry: str | None = None


def plan_resume(
    steps: Sequence[StepSnapshot],
    *,
    run_state: RunState,
    live_sessions: frozenset[str] = frozenset(),
    gone_artifacts: frozenset[str] = frozenset(),
    given_artifacts: frozenset[str] = frozenset(),
    changed_inputs: frozenset[str] = frozenset(),
    step_input: StepInputChange = UNCHANGED,
    new_steps: Sequence[StepSnapshot] | None = None,
) -> ResumePlan:
    """Plan a resume of a failed or cancelled run.

    Args:
        steps: Every step of the run, in order.
        run_state: State of the run.
        live_sessions: Sessions that are usable on the machine that would run.
        gone_artifacts: Artifacts that are erased or unreadable.
        given_artifacts: Artifacts from outside, which no step produces again.
        changed_inputs: Names of run inputs with new values.
        step_input: New input of the first step that has not succeeded; null drops the inputs of all earlier resumes.
        new_steps: The steps of another chosen definition, all pending.
    """
    issues: list[Issue] = []
    if run_state not in (RunState.FAILED, RunState.CANCELLED):
        message = f"The run {predicate(run_state)}; only failed and cancelled runs can be resumed."
        issues.append(error((), "wrong_state", message, _STATE_HINTS.get(run_state)))
    ahead = _switch_definition(steps, _fixed_count(steps), new_steps, issues)
    entry = next((step.key for step in steps if step.state is not StepState.SUCCEEDED), None)
    if entry not in {step.key for step in ahead}:
        if step_input is not UNCHANGED and step_input is not None:
            issues.append(_no_entry(entry))
        entry = None
    kept = frozenset(index for index, step in enumerate(ahead) if step.state is StepState.SUCCEEDED)
    settled = [
        step
        if index in kept
        else _with_input_change(
            step, changed_inputs, step_input if step.key == entry or step_input is None else UNCHANGED
        )
        for index, step in enumerate(ahead)
    ]
    dropped = frozenset(
        new.key for old, new in zip(ahead, settled, strict=True) if new.earlier_input is not old.earlier_input
    )
    plan = _Plan(settled, kept, given_artifacts, new_run=False)
    return replace(plan.finish(issues, live_sessions, gone_artifacts, changed_inputs, dropped), entry=entry)


def plan_rerun(
    steps: Sequence[StepSnapshot],
    *,
    from_step: str | None = None,
    gone_artifacts: frozenset[str] = frozenset(),
    given_artifacts: frozenset[str] = frozenset(),
    changed_inputs: frozenset[str] = frozenset(),
    new_steps: Sequence[StepSnapshot] | None = None,
) -> ResumePlan:
    """Plan a new run from a recorded one. They share no session, since the recorded run may still be resumed.

    Args:
        steps: Every step of the recorded run, in order.
        from_step: The first step to run; outputs of earlier steps are reused. None runs all steps.
        gone_artifacts: As in `plan_resume`.
        given_artifacts: As in `plan_resume`.
        changed_inputs: Run inputs that differ from the recorded run's.
        new_steps: As in `plan_resume`.
    """
    issues: list[Issue] = []
    keys = [step.key for step in steps]
    kept = 0
    if from_step is not None and from_step not in keys:
        near = nearest(from_step, keys)
        hint = Hint(closest=near) if near else Hint(f"Its steps: {', '.join(keys)}.")
        issues.append(argument_error("from_step", "unknown_step", f"The run has no step `{from_step}`.", hint))
    elif from_step is not None:
        kept = keys.index(from_step)
        if kept > (succeeded := _succeeded(steps)):
            blocking = steps[succeeded]
            blocked = f"The step `{blocking.key}` before `{from_step}` {predicate(blocking.state)}"
            message = f"{blocked}; it has no output to reuse."
            hint = Hint(f"Start from `{blocking.key}` or earlier.")
            issues.append(argument_error("from_step", "step_not_succeeded", message, hint))
            kept = succeeded
    ahead = _switch_definition(steps, kept, new_steps, issues)
    ahead = [*ahead[:kept], *(replace(step, earlier_input=None) for step in ahead[kept:])]
    plan = _Plan(ahead, frozenset(range(kept)), given_artifacts, new_run=True)
    return plan.finish(issues, frozenset(), gone_artifacts, changed_inputs)


_STATE_HINTS = {
    RunState.SUCCEEDED: "Re-run it instead.",
    RunState.QUEUED: "It will start without a resume.",
    RunState.RUNNING: "It needs no resume. To change something, cancel it first.",
    RunState.WAITING: "It needs no resume. To change something, cancel it first.",
    RunState.CANCELLING: "Wait until it is cancelled.",
}


def _succeeded(steps: Sequence[StepSnapshot]) -> int:
    """Count the steps before the first that has not succeeded."""
    return next((index for index, step in enumerate(steps) if step.state is not StepState.SUCCEEDED), len(steps))


def _fixed_count(steps: Sequence[StepSnapshot]) -> int:
    """Count the steps up to the last that succeeded, which another definition must have unchanged."""
    return max((index for index, step in enumerate(steps, 1) if step.state is StepState.SUCCEEDED), default=0)


def _switch_definition(
    steps: Sequence[StepSnapshot], fixed: int, new_steps: Sequence[StepSnapshot] | None, issues: list[Issue]
) -> list[StepSnapshot]:
    """Return the steps of the chosen definition, with the states of those that were tried."""
    if new_steps is None:
        return list(steps)
    for index, step in enumerate(steps[:fixed]):
        other = new_steps[index] if index < len(new_steps) else None
        if other is None or other.key != step.key:
            where = "is missing" if step.key not in {new.key for new in new_steps} else "is in another place"
            message = f"The step `{step.key}` has succeeded but {where} in the chosen definition."
        elif other.definition_digest != step.definition_digest:
            message = f"The step `{step.key}` has succeeded but differs in the chosen definition."
        else:
            continue
        issues.append(
            error(
                ("definition",),
                "definition_changed",
                message,
                "Use the run's own definition, or start a new run.",
            )
        )
        return list(steps)
    before = {step.key: step for step in steps[fixed:]}
    return [
        *steps[:fixed],
        *(_as_tried(step, before[step.key]) if step.key in before else step for step in new_steps[fixed:]),
    ]


def _as_tried(step: StepSnapshot, before: StepSnapshot) -> StepSnapshot:
    """Return a step of another definition with its state in the run."""
    same = step.definition_digest == before.definition_digest
    return replace(
        step,
        state=before.state,
        earlier_input=before.earlier_input if same else None,
        takes_idempotency_key=step.takes_idempotency_key and same,
    )


def _with_input_change(step: StepSnapshot, changed: frozenset[str], given: StepInputChange) -> StepSnapshot:
    """Apply a resume's change of the input to a step to run; changed run inputs drop an earlier changed input."""
    if given is not UNCHANGED and given is not None and given == step.earlier_input:
        return step
    if given is not UNCHANGED and given is not None:
        # Another input has another idempotency key.
        return replace(step.with_input(given, "given"), earlier_input=None, takes_idempotency_key=False)
    if (given is None and step.earlier_input is not None) or step.reads_any(changed):
        return replace(step, earlier_input=None, takes_idempotency_key=False)
    return step


def _no_entry(key: str | None) -> Issue:
    if key is None:
        return argument_error(
            "step_input", "nothing_to_change", "Every step has succeeded; there is no step input to change."
        )
    return argument_error(
        "step_input",
        "unknown_step",
        f"The step `{key}`, whose input would change, is not in the chosen definition.",
        "Leave the step input out, or use the run's own definition.",
    )


class _Plan:
    """Determines which steps run."""

    def __init__(
        self, steps: list[StepSnapshot], kept: frozenset[int], given: frozenset[str], *, new_run: bool
    ) -> None:
        self.steps = [
            step if step.earlier_input is None else step.with_input(step.earlier_input, "given_earlier")
            for step in steps
        ]
        self._kept = kept
        self._given = given
        self._new_run = new_run
        self._again: dict[int, str] = {}
        self._pass_on: set[int] = set()
        self._issues: list[Issue] = []

    def finish(
        self,
        issues: list[Issue],
        live_sessions: frozenset[str],
        gone_artifacts: frozenset[str],
        changed_inputs: frozenset[str],
        dropped: frozenset[str] = frozenset(),
    ) -> ResumePlan:
        while self._pull_back_one(live_sessions, gone_artifacts):
            pass
        issues = [*issues, *self._issues, *self._changed_inputs(changed_inputs)]
        issues += self._outdated(changed_inputs, dropped)
        planned = [self._planned(index) for index in range(len(self.steps))]
        issues += [
            warning(
                ("steps", step.key),
                "may_repeat_effects",
                f"The external change of the step `{step.key}` may happen a second time.",
            )
            for step in planned
            if step.may_repeat_effects
        ]
        return ResumePlan(not has_errors(issues), tuple(issues), tuple(planned))

    def _runs(self, index: int) -> bool:
        return index not in self._kept or index in self._again

    def _pull_back_one(self, live_sessions: frozenset[str], gone_artifacts: frozenset[str]) -> bool:
        """Mark one more succeeded step to run again, if a step that runs needs it."""
        for index in range(len(self.steps)):
            if self._runs(index) and (
                self._needs_session(index, live_sessions)
                or self._needs_passed_on(index, live_sessions)
                or self._needs_artifact(index, gone_artifacts)
            ):
                return True
        return any(not self._runs(index) and self._lost_its_session(index) for index in sorted(self._kept))

    def _needs_session(self, index: int, live_sessions: frozenset[str]) -> bool:
        """Mark the producer of a session that a step needs and that has ended; returns whether one was marked."""
        self._refuse_given_session(index, live_sessions)
        for producer in self._session_producers(index):
            left = self.steps[producer].produced_session
            if left is not None and left not in live_sessions and self._makes_session_again(producer):
                return True
        return False

    def _makes_session_again(self, producer: int) -> bool:
        """Mark a step whose session has ended; returns False if it runs anyway or cannot be repeated."""
        step = self.steps[producer]
        if self._runs(producer):
            return False
        if step.repeatable:
            self._again[producer] = (
                "A later step needs its session, which a new run must create again."
                if self._new_run
                else "Its session has ended and a later step needs it."
            )
            return True
        message = f"The session of the step `{step.key}` {self._lost}, and its pack cannot be repeated."
        self._refuse(producer, "session_unavailable", message)
        return False

    @property
    def _lost(self) -> str:
        return "is not shared with a new run" if self._new_run else "has ended"

    def _needs_passed_on(self, index: int, live_sessions: frozenset[str]) -> bool:
        """Mark a step because a session has ended whose id a step gets from an output; returns whether one was."""
        step = self.steps[index]
        sources = step.reads_steps if index in self._pass_on else step.session_sources
        for place in range(index):
            source = self.steps[place]
            if self._runs(place) or source.key not in sources:
                continue
            for session in sorted(source.mentioned_sessions - live_sessions):
                producers = [each for each in range(place) if self.steps[each].produced_session == session]
                if any(self._makes_session_again(each) for each in producers):
                    return True
                if source.produced_session == session:
                    if self._makes_session_again(place):
                        return True
                elif self._repeats_with_session(place, "It passes on a session that is created again.", session):
                    self._pass_on.add(place)
                    return True
        return False

    def _repeats_with_session(self, index: int, reason: str, session: str) -> bool:
        """Mark a succeeded step that used a session which is created again; returns whether it was marked."""
        step = self.steps[index]
        if step.repeatable and step.effects == "none":
            self._again[index] = reason
            return True
        why = "cannot be repeated" if not step.repeatable else "changes an external system"
        source = next((f"of `{each.key}`" for each in self.steps if each.produced_session == session), session)
        message = f"The step `{step.key}` used the session {source}, which {self._lost}, and {why}."
        self._refuse(index, "session_unavailable", message)
        return False

    def _session_producers(self, index: int) -> list[int]:
        """Return earlier steps whose session a step names, and the last one whose session it would get."""
        step, earlier = self.steps[index], range(index)
        producers = [each for each in earlier if self.steps[each].key in step.names_sessions]
        if step.uses_session and not step.chooses_session:
            producers += [each for each in earlier if self._provides_session(each)][-1:]
        return producers

    def _provides_session(self, index: int) -> bool:
        step = self.steps[index]
        return step.preserves_session if self._runs(index) else step.produced_session is not None

    def _refuse_given_session(self, index: int, live_sessions: frozenset[str]) -> None:
        """Refuse a changed input that names an ended session: a recreated one has another id."""
        step = self.steps[index]
        if step.given_session is None or not step.uses_session:
            return
        kept = {each.produced_session for place, each in enumerate(self.steps) if not self._runs(place)}
        if step.given_session not in live_sessions & kept:
            issue = error(
                ("_session_id",) if step.input_source == "given" else ("steps", step.key),
                "session_unavailable",
                f"The changed input of the step `{step.key}` names the session {excerpt(step.given_session, 80)}, "
                "which is not one of this run or has ended.",
                "Leave `_session_id` out; the step then gets the session of its definition."
                if step.input_source == "given"
                else "Give the step another input, or null to drop this one.",
            )
            if step.input_source == "given":
                issue = issue.under_argument("step_input")
            if issue not in self._issues:
                self._issues.append(issue)

    def _lost_its_session(self, index: int) -> bool:
        """Mark a succeeded step that used a recreated session; returns whether it was marked."""
        step = self.steps[index]
        for producer in list(self._again):
            source = self.steps[producer]
            used = source.produced_session in step.used_sessions or source.key in step.names_sessions
            if producer >= index or source.produced_session is None or not used:
                continue
            reason = f"It used the session of `{source.key}`, which is created again."
            if self._repeats_with_session(index, reason, source.produced_session):
                return True
        return False

    def _needs_artifact(self, index: int, gone: frozenset[str]) -> bool:
        """Mark the step whose output mentions an erased artifact and is read by a step; returns whether one was."""
        for source in range(index):
            step = self.steps[source]
            if self._runs(source) or step.key not in self.steps[index].reads_steps:
                continue
            if lost := step.mentioned_artifacts & gone & self._given:
                self._warn_of_given(step, min(lost))
            if not (missing := step.mentioned_artifacts & gone - self._given):
                continue
            if step.repeatable:
                self._again[source] = f"Its artifact {min(missing)} was erased and a later step needs it."
                return True
            message = (
                f"The artifact {min(missing)} of the step `{step.key}` was erased, and its pack cannot be repeated."
            )
            self._refuse(source, "artifact_gone", message)
        return False

    def _warn_of_given(self, step: StepSnapshot, artifact: str) -> None:
        message = f"The artifact {artifact}, an input of the run that `{step.key}` passes on, was erased."
        issue = warning(("steps", step.key), "artifact_gone", message, "If a later step needs it, start a new run.")
        if issue not in self._issues:
            self._issues.append(issue)

    def _refuse(self, index: int, rule: str, message: str) -> None:
        issue = error(("steps", self.steps[index].key), rule, message, "Start a new run.")
        if issue not in self._issues:
            self._issues.append(issue)

    def _changed_inputs(self, changed: frozenset[str]) -> list[Issue]:
        issues: list[Issue] = []
        for name in sorted(changed):
            read = frozenset((name,))
            kept = (self.steps[index] for index in sorted(self._kept))
            reader = next((step.key for step in kept if step.reads_any(read)), None)
            if reader is not None:
                message = (
                    f"The input `{name}` was read by the step `{reader}`, whose output is reused; it cannot change."
                )
                hint = f"Re-run from `{reader}` or from the start."
                issues.append(error(("inputs", name), "input_already_read", message, hint))
        return issues

    def _outdated(self, changed: frozenset[str], dropped: frozenset[str]) -> list[Issue]:
        """Refuse a new input of a step if a reused step has read the step's earlier output.

        `dropped` are the steps that lost the input of an earlier resume.
        """
        issues: list[Issue] = []
        sources: dict[str, str] = {}
        for index, step in enumerate(self.steps):
            source = next((sources[key] for key in step.reads_steps | step.session_sources if key in sources), None)
            if self._runs(index):
                if step.input_source == "given" or step.key in dropped or step.reads_any(changed):
                    sources[step.key] = step.key
                elif source is not None:
                    sources[step.key] = source
            elif source is not None:
                message = (
                    f"The step `{step.key}`, whose output is reused, has read the output of `{source}`; the input of "
                    f"`{source}` cannot change."
                )
                hint = f"Re-run from `{source}` or from the start."
                issues.append(error(("steps", source), "output_already_read", message, hint))
        return issues

    def _planned(self, index: int) -> PlannedStep:
        step = self.steps[index]
        if index in self._again:
            repeats = step.installed and step.effects == "external" and not self._keeps_key(index)
            return PlannedStep(step.key, "run_again", self._again[index], step.effects, repeats, step.input_source)
        if index in self._kept:
            return PlannedStep(step.key, "reuse", "It succeeded; its output is reused.", step.effects, False)
        tried = step.state is not StepState.PENDING
        repeats = step.installed and step.effects == "external" and tried and not self._keeps_key(index)
        return PlannedStep(step.key, "run", self._reason(index), step.effects, repeats, step.input_source)

    def _keeps_key(self, index: int) -> bool:
        """Whether a provider would recognise the repeat: same run and same input, apart from the session."""
        step = self.steps[index]
        reads_again = any(self.steps[each].key in step.reads_steps for each in range(index) if self._runs(each))
        return step.takes_idempotency_key and not self._new_run and not reads_again

    def _reason(self, index: int) -> str:
        match self.steps[index].state:
            case _ if self._new_run:
                return "It runs in the new run."
            case StepState.FAILED:
                return "It failed and runs again."
            case StepState.CANCELLED:
                return "It was cancelled and runs again."
            case StepState.PENDING:
                return "It has not run yet."
            case _:
                return "It did not finish and runs again."
