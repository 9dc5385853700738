"""What a resume or a re-run would do with each step: one plan for preview and deed.

Pure: the caller says how the steps fared, which sessions live and which artifacts are gone. The plan starts with the
steps that have not succeeded, then pulls succeeded ones back in for two reasons only, until nothing changes: a session
that steps yet to run would be given is gone, or an artifact that they would read is. A step that was pulled back in may
fail, so steps that have succeeded may follow one that has not; they are kept, too.

An input that a resume gave for a step stays with it until a later resume replaces what it replaced: it gives another,
drops it with null, changes a run input the step reads, or goes on with a definition in which the step is another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from runner.excerpts import excerpt
from runner.issues import Hint, Issue, argument_error, error, has_errors, nearest, warning
from store.states import RunState, StepState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.failures import JSONValue
    from runner.packs.pack import Effects
    from runner.resuming.step_snapshots import InputSource, StepSnapshot


class Unchanged(Enum):
    """The value of a step input that was left out, since null is a choice."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
#: What a resume says of the failed step's input: nothing, null to take back what an earlier resume gave, or a value.
StepInputChange: TypeAlias = "JSONValue | Unchanged"

Action = Literal["reuse", "run_again", "run"]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """What would be done with one step.

    Attributes:
        key: The step.
        action: `reuse` its output untouched, `run_again` although it succeeded, or `run`.
        reason: Why, for people.
        effects: What it changes outside.
        may_repeat_effects: Whether an outside effect may happen a second time.
        input_source: Where its input comes from; None when it does not run.
    """

    key: str
    action: Action
    reason: str
    effects: Effects
    may_repeat_effects: bool
    input_source: InputSource | None = None


@dataclass(frozen=True, slots=True)
class ResumePlan:
    """What a resume or re-run would do.

    Attributes:
        allowed: Whether it would be accepted: no issue is an error.
        issues: Everything that blocks it, and warnings.
        steps: Every step, in order; `run_again` and `run` steps are executed in this order.
        entry: The first step of the run that has not succeeded, which a step input is for; None when all have or it is
            not in the definition to go on with.
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
    """Plan going on with a failed or cancelled run.

    Args:
        steps: Every step of the run, in order.
        run_state: State of the run.
        live_sessions: Sessions that can still be used on the machine that would run.
        gone_artifacts: Artifacts that are erased or unreadable.
        given_artifacts: Artifacts the run was given: no step makes them again.
        changed_inputs: Run inputs to be replaced by another value.
        step_input: The input to give the first step that has not succeeded; null drops all that earlier resumes gave.
        new_steps: The steps of the definition to go on with when another than the run's, all pending.
    """
    issues: list[Issue] = []
    if run_state not in (RunState.FAILED, RunState.CANCELLED):
        message = f"The run is {run_state}; only failed and cancelled runs can be resumed."
        issues.append(error((), "wrong_state", message, _STATE_HINTS.get(run_state)))
    ahead = _switched(steps, _fixed(steps), new_steps, issues)
    entry = next((step.key for step in steps if step.state is not StepState.SUCCEEDED), None)
    if entry not in {step.key for step in ahead}:
        if step_input is not UNCHANGED and step_input is not None:
            issues.append(_no_entry(entry))
        entry = None
    kept = frozenset(index for index, step in enumerate(ahead) if step.state is StepState.SUCCEEDED)
    settled = [
        step
        if index in kept
        else _with_choice(step, changed_inputs, step_input if step.key == entry or step_input is None else UNCHANGED)
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
    """Plan a new run out of a recorded one. They share no session: the recorded run may still be resumed.

    Args:
        steps: Every step of the recorded run, in order.
        from_step: The first step to run; the outputs of those before it are reused. None runs all.
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
            message = f"The step `{blocking.key}` before `{from_step}` is {blocking.state}; it has no output to reuse."
            hint = Hint(f"Start from `{blocking.key}` or earlier.")
            issues.append(argument_error("from_step", "step_not_succeeded", message, hint))
            kept = succeeded
    ahead = _switched(steps, kept, new_steps, issues)
    ahead = [*ahead[:kept], *(replace(step, earlier_input=None) for step in ahead[kept:])]
    plan = _Plan(ahead, frozenset(range(kept)), given_artifacts, new_run=True)
    return plan.finish(issues, frozenset(), gone_artifacts, changed_inputs)


_STATE_HINTS = {
    RunState.SUCCEEDED: "Re-run it instead.",
    RunState.QUEUED: "It goes on by itself.",
    RunState.RUNNING: "It goes on by itself; cancel it first to change something.",
    RunState.WAITING: "It goes on by itself; cancel it first to change something.",
    RunState.CANCELLING: "Wait until it is cancelled.",
}


def _succeeded(steps: Sequence[StepSnapshot]) -> int:
    """How many steps succeeded before the first that did not."""
    return next((index for index, step in enumerate(steps) if step.state is not StepState.SUCCEEDED), len(steps))


def _fixed(steps: Sequence[StepSnapshot]) -> int:
    """How many steps there are up to the last that succeeded: another definition has to have them as they are."""
    return max((index for index, step in enumerate(steps, 1) if step.state is StepState.SUCCEEDED), default=0)


def _switched(
    steps: Sequence[StepSnapshot], fixed: int, new_steps: Sequence[StepSnapshot] | None, issues: list[Issue]
) -> list[StepSnapshot]:
    """The steps of the definition to go on with, as far as they were tried as they fared."""
    if new_steps is None:
        return list(steps)
    for index, step in enumerate(steps[:fixed]):
        other = new_steps[index] if index < len(new_steps) else None
        if other is None or other.key != step.key:
            there = "is gone" if step.key not in {new.key for new in new_steps} else "stands elsewhere"
            message = f"The step `{step.key}` has succeeded but {there} in the chosen definition."
        elif other.definition_digest != step.definition_digest:
            message = f"The step `{step.key}` has succeeded but is another in the chosen definition."
        else:
            continue
        issues.append(
            error(
                ("definition",),
                "definition_changed",
                message,
                "Go on with the run's own definition, or start a new run.",
            )
        )
        return list(steps)
    before = {step.key: step for step in steps[fixed:]}
    return [
        *steps[:fixed],
        *(_as_tried(step, before[step.key]) if step.key in before else step for step in new_steps[fixed:]),
    ]


def _as_tried(step: StepSnapshot, before: StepSnapshot) -> StepSnapshot:
    """A step of another definition, with its state in the run, which tried it as its own definition had it."""
    same = step.definition_digest == before.definition_digest
    return replace(
        step,
        state=before.state,
        earlier_input=before.earlier_input if same else None,
        takes_idempotency_key=step.takes_idempotency_key and same,
    )


def _with_choice(step: StepSnapshot, changed: frozenset[str], given: StepInputChange) -> StepSnapshot:
    """A step that is to run, with the input a resume gives it or takes from it; changed run inputs take it, too."""
    if given is not UNCHANGED and given is not None and given == step.earlier_input:
        return step
    if given is not UNCHANGED and given is not None:
        # Another input has another idempotency key.
        return replace(step.taking(given, "given"), earlier_input=None, takes_idempotency_key=False)
    if (given is None and step.earlier_input is not None) or step.reads_any(changed):
        return replace(step, earlier_input=None, takes_idempotency_key=False)
    return step


def _no_entry(key: str | None) -> Issue:
    if key is None:
        return argument_error(
            "step_input", "nothing_to_change", "Every step has succeeded; no step's input is left to change."
        )
    return argument_error(
        "step_input",
        "unknown_step",
        f"The step `{key}`, whose input is to be replaced, is not in the chosen definition.",
        "Change no step's input, or go on with the run's own definition.",
    )


class _Plan:
    """Works out which steps run."""

    def __init__(
        self, steps: list[StepSnapshot], kept: frozenset[int], given: frozenset[str], *, new_run: bool
    ) -> None:
        self.steps = [
            step if step.earlier_input is None else step.taking(step.earlier_input, "given_earlier") for step in steps
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
                f"The step `{step.key}` may have its outside effect a second time.",
            )
            for step in planned
            if step.may_repeat_effects
        ]
        return ResumePlan(not has_errors(issues), tuple(issues), tuple(planned))

    def _runs(self, index: int) -> bool:
        return index not in self._kept or index in self._again

    def _pull_back_one(self, live_sessions: frozenset[str], gone_artifacts: frozenset[str]) -> bool:
        """Mark one more succeeded step to run again, if some step that runs needs it."""
        for index in range(len(self.steps)):
            if self._runs(index) and (
                self._needs_session(index, live_sessions)
                or self._needs_passed_on(index, live_sessions)
                or self._needs_artifact(index, gone_artifacts)
            ):
                return True
        return any(not self._runs(index) and self._lost_its_session(index) for index in sorted(self._kept))

    def _needs_session(self, index: int, live_sessions: frozenset[str]) -> bool:
        """Whether a session that a step would be given or names is gone, so that its producer was marked."""
        self._refuse_given_session(index, live_sessions)
        for producer in self._session_producers(index):
            left = self.steps[producer].produced_session
            if left is not None and left not in live_sessions and self._makes_session_again(producer):
                return True
        return False

    def _makes_session_again(self, producer: int) -> bool:
        """Whether a step whose session is gone was marked; False where it runs anyway or cannot be repeated."""
        step = self.steps[producer]
        if self._runs(producer):
            return False
        if step.repeatable:
            self._again[producer] = (
                "A later step needs its session, which a new run makes for itself."
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
        """Whether a session is gone that a step names by an output which holds its id, so that a step was marked."""
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
                elif self._repeats_with_session(place, "It passes on a session that is made again.", session):
                    self._pass_on.add(place)
                    return True
        return False

    def _repeats_with_session(self, index: int, reason: str, session: str) -> bool:
        """Whether a succeeded step that had used a session which is made again was marked."""
        step = self.steps[index]
        if step.repeatable and step.effects == "none":
            self._again[index] = reason
            return True
        why = "cannot be repeated" if not step.repeatable else "has outside effects"
        source = next((f"of `{each.key}`" for each in self.steps if each.produced_session == session), session)
        message = f"The step `{step.key}` used the session {source}, which {self._lost}, and {why}."
        self._refuse(index, "session_unavailable", message)
        return False

    def _session_producers(self, index: int) -> list[int]:
        """Earlier steps whose session a step names or would be given: of the latter only the last to leave one."""
        step, earlier = self.steps[index], range(index)
        producers = [each for each in earlier if self.steps[each].key in step.names_sessions]
        if step.uses_session and not step.chooses_session:
            producers += [each for each in earlier if self._leaves_session(each)][-1:]
        return producers

    def _leaves_session(self, index: int) -> bool:
        step = self.steps[index]
        return step.preserves_session if self._runs(index) else step.produced_session is not None

    def _refuse_given_session(self, index: int, live_sessions: frozenset[str]) -> None:
        """Refuse a given input that names a session which is gone: a recreated one has another id."""
        step = self.steps[index]
        if step.given_session is None or not step.uses_session:
            return
        kept = {each.produced_session for place, each in enumerate(self.steps) if not self._runs(place)}
        if step.given_session not in live_sessions & kept:
            issue = error(
                ("_session_id",) if step.input_source == "given" else ("steps", step.key),
                "session_unavailable",
                f"The input given for the step `{step.key}` names the session {excerpt(step.given_session, 80)}, "
                "which is not one of this run or has ended.",
                "Leave `_session_id` out: the step is then given the session that its definition gives it."
                if step.input_source == "given"
                else "Give the step another input, or null to drop this one.",
            )
            if step.input_source == "given":
                issue = issue.under_argument("step_input")
            if issue not in self._issues:
                self._issues.append(issue)

    def _lost_its_session(self, index: int) -> bool:
        """Whether a succeeded step had used a session that is recreated, so that it was marked as well."""
        step = self.steps[index]
        for producer in list(self._again):
            source = self.steps[producer]
            used = source.produced_session in step.used_sessions or source.key in step.names_sessions
            if producer >= index or source.produced_session is None or not used:
                continue
            reason = f"It used the session of `{source.key}`, which is made again."
            if self._repeats_with_session(index, reason, source.produced_session):
                return True
        return False

    def _needs_artifact(self, index: int, gone: frozenset[str]) -> bool:
        """Whether an artifact named in an output that a step reads is gone, so that step was marked."""
        for source in range(index):
            step = self.steps[source]
            if self._runs(source) or step.key not in self.steps[index].reads_steps:
                continue
            if lost := step.mentioned_artifacts & gone & self._given:
                self._warn_of_given(step, min(lost))
            if not (missing := step.mentioned_artifacts & gone - self._given):
                continue
            if step.repeatable:
                self._again[source] = f"Its artifact {min(missing)} is gone and a later step needs it."
                return True
            message = f"The artifact {min(missing)} of the step `{step.key}` is gone, and its pack cannot be repeated."
            self._refuse(source, "artifact_gone", message)
        return False

    def _warn_of_given(self, step: StepSnapshot, artifact: str) -> None:
        message = f"The artifact {artifact}, which the run was given and `{step.key}` passes on, is gone."
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
        """Refusals of another input for a step from whose earlier output a reused step was made.

        `dropped` names the steps that lost the input an earlier resume gave.
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
                    f"The step `{step.key}`, whose output is reused, was made from the output of `{source}`; the input "
                    f"of `{source}` cannot change."
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
        """Whether a provider would recognise the repeat: same run and same input, in which a session does not count."""
        step = self.steps[index]
        reads_again = any(self.steps[each].key in step.reads_steps for each in range(index) if self._runs(each))
        return step.takes_idempotency_key and not self._new_run and not reads_again

    def _reason(self, index: int) -> str:
        match self.steps[index].state:
            case _ if self._new_run:
                return "It runs in the new run."
            case StepState.FAILED:
                return "It failed and runs anew."
            case StepState.CANCELLED:
                return "It was cancelled and runs anew."
            case StepState.PENDING:
                return "It has not run yet."
            case _:
                return "It did not finish and runs anew."
