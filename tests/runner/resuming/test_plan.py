from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.issues import Hint
from runner.resuming.plan import plan_rerun, plan_resume
from runner.resuming.step_snapshots import StepSnapshot
from store.states import RunState, StepState, predicate


def step(key, state="succeeded", **changes):
    position = ord(key) - ord("a") + 1
    snapshot = StepSnapshot(key, position, StepState(state), f"digest-{key}", "none", repeatable=True)
    return replace(
        snapshot, **{name: frozenset(value) if isinstance(value, set) else value for name, value in changes.items()}
    )


def resume(*steps, state="failed", **changes):
    return plan_resume(steps, run_state=RunState(state), **changes)


def actions(plan):
    return {planned.key: planned.action for planned in plan.steps}


def errors(plan):
    return [(issue.path, issue.rule) for issue in plan.issues if issue.severity == "error"]


class TestEntry:
    def test_goes_on_at_the_first_step_without_success(self):
        plan = resume(step("a"), step("b", "failed"), step("c", "pending"))
        assert plan.allowed
        assert actions(plan) == {"a": "reuse", "b": "run", "c": "run"}
        assert [planned.reason for planned in plan.steps] == [
            "It succeeded; its output is reused.",
            "It failed and runs again.",
            "It has not run yet.",
        ]

    @pytest.mark.parametrize("state", list(RunState))
    def test_only_failed_and_cancelled_runs(self, state):
        plan = resume(step("a", "cancelled"), state=state)
        assert plan.allowed == (state in (RunState.FAILED, RunState.CANCELLED))
        if not plan.allowed:
            assert predicate(state) in plan.issues[0].message

    def test_nothing_is_left_when_all_succeeded(self):
        plan = resume(step("a"), state="cancelled")
        assert plan.allowed
        assert actions(plan) == {"a": "reuse"}
        assert errors(resume(step("a"), step_input={})) == [(("step_input",), "nothing_to_change")]


class TestChanges:
    def test_an_input_that_was_read_cannot_change(self):
        steps = (step("a", reads_inputs={"url"}), step("b", "failed", reads_inputs={"url", "style"}))
        assert resume(*steps, changed_inputs=frozenset({"style"})).allowed
        plan = resume(*steps, changed_inputs=frozenset({"style", "url"}))
        assert errors(plan) == [(("inputs", "url"), "input_already_read")]
        assert "`a`" in plan.issues[0].message

    def test_another_definition_needs_the_succeeded_steps_identical(self):
        steps = (step("a"), step("b", "failed"), step("c", "pending"))
        fresh = (step("a", "pending"), step("b", "pending", definition_digest="other"), step("d", "pending"))
        plan = resume(*steps, new_steps=fresh)
        assert plan.allowed
        assert actions(plan) == {"a": "reuse", "b": "run", "d": "run"}

    @pytest.mark.parametrize(
        ("new", "said"),
        [
            ((step("a", "pending", definition_digest="x"), step("b", "pending")), "differs"),
            ((step("b", "pending"), step("a", "pending")), "is in another place"),
            ((step("b", "pending"),), "is missing"),
            ((), "is missing"),
        ],
    )
    def test_a_definition_that_changed_them_is_refused(self, new, said):
        plan = resume(step("a"), step("b", "failed"), new_steps=new)
        assert errors(plan) == [(("definition",), "definition_changed")]
        assert said in plan.issues[0].message


class TestSessions:
    CLONE = step("a", produced_session="s1", preserves_session=True)
    LOOK = step("b", used_sessions={"s1"})

    def test_a_living_session_changes_nothing(self):
        plan = resume(self.CLONE, self.LOOK, step("c", "failed"), live_sessions=frozenset({"s1"}))
        assert actions(plan) == {"a": "reuse", "b": "reuse", "c": "run"}

    def test_a_dead_one_is_made_anew_with_those_who_used_it(self):
        plan = resume(self.CLONE, self.LOOK, step("c"), step("d", "failed"))
        assert plan.allowed
        assert actions(plan) == {"a": "run_again", "b": "run_again", "c": "reuse", "d": "run"}
        assert "`a`" in plan.steps[1].reason

    def test_not_when_no_step_to_come_is_given_it(self):
        plan = resume(self.CLONE, step("b", "failed", uses_session=False))
        assert actions(plan) == {"a": "reuse", "b": "run"}
        assert actions(resume(self.CLONE, state="cancelled")) == {"a": "reuse"}

    @pytest.mark.parametrize(
        ("steps", "blamed"),
        [
            ((replace(CLONE, repeatable=False), LOOK), "a"),
            ((CLONE, replace(LOOK, repeatable=False)), "b"),
            ((CLONE, replace(LOOK, effects="external")), "b"),
            ((CLONE, replace(LOOK, effects="idempotent")), "b"),
        ],
    )
    def test_session_unavailable_when_it_cannot_be_made_anew(self, steps, blamed):
        plan = resume(*steps, step("c", "failed"))
        assert not plan.allowed
        assert errors(plan) == [(("steps", blamed), "session_unavailable")]

    def test_only_the_latest_session_is_handed_on(self):
        other = step("b", produced_session="s2", preserves_session=True)
        plan = resume(self.CLONE, other, step("c", "failed"), live_sessions=frozenset({"s2"}))
        assert actions(plan)["a"] == "reuse"
        plan = resume(self.CLONE, other, step("c", "failed"), live_sessions=frozenset({"s1"}))
        assert actions(plan) == {"a": "reuse", "b": "run_again", "c": "run"}

    def test_a_step_made_anew_needs_its_own_session_too(self):
        chain = (
            self.CLONE,
            step("b", used_sessions={"s1"}, produced_session="s2", preserves_session=True),
            step("c", "failed"),
        )
        assert actions(resume(*chain)) == {"a": "run_again", "b": "run_again", "c": "run"}

    def test_a_session_passed_on_is_made_by_its_first_producer(self):
        passed = step("b", used_sessions={"s1"}, produced_session="s1", preserves_session=True)
        assert actions(resume(self.CLONE, passed, step("c", "failed"))) == {
            "a": "run_again",
            "b": "run_again",
            "c": "run",
        }

    def test_one_that_a_step_names_is_made_anew_though_another_was_left_since(self):
        named = step("c", "failed", chooses_session=True, names_sessions={"a"})
        other = step("b", produced_session="s2", preserves_session=True, uses_session=False)
        assert actions(resume(self.CLONE, other, named, live_sessions=frozenset({"s2"})))["a"] == "run_again"
        assert actions(resume(self.CLONE, other, named, live_sessions=frozenset({"s1"}))) == {
            "a": "reuse",
            "b": "reuse",
            "c": "run",
        }

    def test_what_worked_in_a_session_by_its_name_runs_again_with_it(self):
        by_name = step("b", uses_session=False, names_sessions={"a"})
        plan = resume(self.CLONE, by_name, step("c", "failed"))
        assert actions(plan) == {"a": "run_again", "b": "run_again", "c": "run"}

    def test_a_step_is_never_given_a_session_that_was_left_after_it(self):
        later = step("c", produced_session="s2", preserves_session=True, uses_session=False)
        made = step("b", used_sessions={"s1"}, mentioned_artifacts={"art_1"})
        reader = step("d", "failed", reads_steps={"b"}, uses_session=False)
        gone = frozenset({"art_1"})
        plan = resume(self.CLONE, made, later, reader, live_sessions=frozenset({"s2"}), gone_artifacts=gone)
        assert actions(plan) == {"a": "run_again", "b": "run_again", "c": "reuse", "d": "run"}

    def test_a_producer_that_runs_anyway_makes_its_own(self):
        plan = resume(self.CLONE, step("b", "failed", preserves_session=True), step("c", "pending"))
        assert actions(plan)["a"] == "run_again"  # `b` itself is given the session of `a`
        lone = replace(step("b", "failed", preserves_session=True), uses_session=False)
        assert actions(resume(self.CLONE, lone, step("c", "pending")))["a"] == "reuse"


class TestArtifacts:
    def test_one_that_a_step_to_come_reads_is_made_anew(self):
        deck = step("a", mentioned_artifacts={"art_1", "art_2"})
        plan = resume(deck, step("b", "failed", reads_steps={"a"}), gone_artifacts=frozenset({"art_2"}))
        assert actions(plan) == {"a": "run_again", "b": "run"}
        assert "art_2" in plan.steps[0].reason

    def test_one_that_nobody_reads_is_let_be(self):
        deck = step("a", mentioned_artifacts={"art_1"})
        assert actions(resume(deck, step("b", "failed"), gone_artifacts=frozenset({"art_1"})))["a"] == "reuse"
        assert resume(deck, step("b", "failed", reads_steps={"a"})).steps[0].action == "reuse"

    def test_those_who_passed_it_on_run_again_as_well(self):
        steps = (
            step("a", mentioned_artifacts={"art_1"}),
            step("b", mentioned_artifacts={"art_1"}, reads_steps={"a"}),
            step("c", "failed", reads_steps={"b"}),
        )
        assert actions(resume(*steps, gone_artifacts=frozenset({"art_1"}))) == {
            "a": "run_again",
            "b": "run_again",
            "c": "run",
        }

    def test_refused_when_it_cannot_be_made_anew(self):
        deck = step("a", mentioned_artifacts={"art_1"}, repeatable=False)
        plan = resume(deck, step("b", "failed", reads_steps={"a"}), gone_artifacts=frozenset({"art_1"}))
        assert errors(plan) == [(("steps", "a"), "artifact_gone")]


class TestEffects:
    @pytest.mark.parametrize(
        ("state", "effects", "keyed", "changed", "may"),
        [
            ("failed", "external", False, False, True),
            ("failed", "external", True, False, False),
            ("failed", "external", True, True, True),
            ("failed", "idempotent", False, False, False),
            ("cancelled", "external", False, False, True),
            ("pending", "external", False, False, False),
        ],
    )
    def test_a_second_time_is_told_beforehand(self, state, effects, keyed, changed, may):
        plan = resume(
            step("a", state, effects=effects, takes_idempotency_key=keyed),
            **({"step_input": {"x": 1}} if changed else {}),
        )
        assert plan.steps[0].may_repeat_effects is may
        assert plan.allowed
        assert [issue.rule for issue in plan.issues] == (["may_repeat_effects"] if may else [])

    def test_a_key_is_another_where_the_input_will_be(self):
        sent = step(
            "b", "failed", effects="external", takes_idempotency_key=True, reads_steps={"a"}, reads_inputs={"to"}
        )
        made = step("a", mentioned_artifacts={"art_1"})
        assert resume(made, sent).steps[1].may_repeat_effects is False
        assert resume(made, sent, changed_inputs=frozenset({"to"})).steps[1].may_repeat_effects
        assert resume(made, sent, gone_artifacts=frozenset({"art_1"})).steps[1].may_repeat_effects
        other = (replace(made, state=StepState.PENDING), replace(sent, state=StepState.PENDING, definition_digest="x"))
        assert resume(made, sent, new_steps=other).steps[1].may_repeat_effects


class TestStepInputs:
    FAILED = step("b", "failed", reads_inputs={"url"}, reads_steps={"a"}, earlier_input={"x": 1})

    def source(self, *steps, **changes):
        plan = resume(step("a"), *steps, **changes)
        assert plan.allowed, plan.issues
        return plan.steps[1].input_source

    def test_the_latest_choice_wins(self):
        assert self.source(replace(self.FAILED, earlier_input=None)) == "definition"
        assert self.source(self.FAILED) == "given_earlier"
        assert self.source(self.FAILED, step_input={"x": 2}) == "given"
        assert self.source(self.FAILED, step_input=None) == "definition"
        assert self.source(self.FAILED, changed_inputs=frozenset({"url"})) == "definition"
        assert self.source(self.FAILED, changed_inputs=frozenset({"style"})) == "given_earlier"
        call = replace(self.FAILED, reads_inputs=frozenset(), takes_inputs=True)
        assert self.source(call, changed_inputs=frozenset({"style"})) == "definition", "a call takes them all"

    def test_it_stays_where_a_kept_step_was_made_from_its_output(self):
        opened = step("a", "failed", reads_inputs={"url"}, earlier_input={"x": 1})
        steps = (opened, step("b", reads_steps={"a"}), step("c", "pending"))
        assert resume(*steps).allowed
        assert resume(*steps, step_input={"x": 1}).allowed, "it takes that anyway"
        for choice in ({"step_input": {"x": 2}}, {"step_input": None}, {"changed_inputs": frozenset({"url"})}):
            assert errors(resume(*steps, **choice)) == [(("steps", "a"), "output_already_read")]

    def test_a_reused_step_has_none(self):
        assert resume(step("a"), self.FAILED).steps[0].input_source is None

    def test_of_another_definition_only_a_step_that_is_the_same_keeps_one(self):
        fresh = (step("a", "pending"), step("b", "pending"))
        assert self.source(self.FAILED, new_steps=fresh) == "given_earlier"
        changed = (fresh[0], replace(fresh[1], definition_digest="x"))
        assert self.source(self.FAILED, new_steps=changed) == "definition"

    def test_it_is_for_the_failed_step_not_for_one_put_before_it(self):
        fresh = (step("a", "pending"), replace(step("c", "pending"), key="new"), step("b", "pending"))
        plan = resume(step("a"), self.FAILED, new_steps=fresh, step_input={"x": 2})
        assert [planned.input_source for planned in plan.steps] == [None, "definition", "given"]
        assert plan.entry == "b"
        lost = resume(step("a"), self.FAILED, new_steps=fresh[:2], step_input={"x": 2})
        assert errors(lost) == [(("step_input",), "unknown_step")]
        assert resume(step("a"), self.FAILED, new_steps=fresh[:2], step_input=None).allowed, "nothing is left to drop"

    def test_a_given_input_reads_nothing(self):
        made = step("a", mentioned_artifacts={"art_1"}, repeatable=False)
        assert resume(made, self.FAILED, gone_artifacts=frozenset({"art_1"})).allowed
        done = replace(self.FAILED, state=StepState.SUCCEEDED)
        assert resume(step("a"), done, step("c", "failed"), changed_inputs=frozenset({"url"})).allowed

    @pytest.mark.parametrize("live", [set(), {"s1"}])
    def test_a_session_it_names_has_to_be_there(self, live):
        clone = step("a", produced_session="s1", preserves_session=True)
        step_input = {"_session_id": "s1"}
        plan = resume(clone, step("b", "failed"), live_sessions=frozenset(live), step_input=step_input)
        assert plan.allowed == bool(live)
        assert actions(plan)["a"] == "reuse", "it is not the session that would be made anew"


class TestRerun:
    STEPS = (
        step("a", reads_inputs={"url"}),
        step("b", effects="external", takes_idempotency_key=True),
        step("c", "failed"),
    )

    def test_runs_everything_by_default(self):
        plan = plan_rerun(self.STEPS, changed_inputs=frozenset({"url"}))
        assert plan.allowed
        assert set(actions(plan).values()) == {"run"}

    def test_from_a_step_reuses_those_before(self):
        plan = plan_rerun(self.STEPS, from_step="b")
        assert actions(plan) == {"a": "reuse", "b": "run", "c": "run"}
        assert plan.steps[1].may_repeat_effects, "a new run has new idempotency keys"

    def test_reused_steps_must_have_succeeded(self):
        plan = plan_rerun((*self.STEPS, step("d", "pending")), from_step="d")
        assert errors(plan) == [(("from_step",), "step_not_succeeded")]
        assert plan.issues[0].hint == Hint("Start from `c` or earlier.")

    def test_an_unknown_step_is_named(self):
        steps = (replace(step("a"), key="scrape"), replace(step("b"), key="render"))
        plan = plan_rerun(steps, from_step="rendr")
        assert (plan.issues[0].rule, plan.issues[0].hint) == ("unknown_step", Hint(closest="render"))

    def test_an_input_that_a_reused_step_read_cannot_change(self):
        assert errors(plan_rerun(self.STEPS, from_step="b", changed_inputs=frozenset({"url"}))) == [
            (("inputs", "url"), "input_already_read")
        ]

    def test_sessions_of_the_recorded_run_are_made_anew(self):
        steps = (step("a", produced_session="s1", preserves_session=True), step("b"))
        plan = plan_rerun(steps, from_step="b")
        assert actions(plan) == {"a": "run_again", "b": "run"}
        assert plan.steps[0].reason == "A later step needs its session, which a new run must create again."
        assert errors(plan_rerun((replace(steps[0], repeatable=False), steps[1]), from_step="b")) == [
            (("steps", "a"), "session_unavailable")
        ]

    def test_an_input_given_at_a_resume_counts_for_what_is_repeated_alone(self):
        given = step("a", produced_session="s1", preserves_session=True, earlier_input={"x": 1})
        plan = plan_rerun((given, step("b", earlier_input={"x": 2})), from_step="b")
        assert [planned.input_source for planned in plan.steps] == ["given_earlier", "definition"]
        assert [planned.input_source for planned in plan_rerun((given,)).steps] == ["definition"]


KEYS = "abcdef"
SNAPSHOTS = st.integers(0, 5).flatmap(
    lambda kept: st.tuples(
        *(
            st.builds(
                step,
                st.just(key),
                st.just("succeeded")
                if index < kept
                else st.sampled_from(["pending", "failed", "cancelled", "succeeded"] if index > kept else ["failed"]),
                repeatable=st.booleans(),
                effects=st.sampled_from(["none", "idempotent", "external"]),
                uses_session=st.booleans(),
                preserves_session=st.booleans(),
                names_sessions=st.sets(st.sampled_from(KEYS[:index]), max_size=1) if index else st.just(set()),
                produced_session=st.sampled_from([None, f"s-{key}"]) if index < kept else st.none(),
                used_sessions=st.sets(st.sampled_from([f"s-{each}" for each in KEYS[:index]]), max_size=1)
                if index
                else st.just(set()),
                session_sources=st.sets(st.sampled_from(KEYS[:index]), max_size=1) if index else st.just(set()),
                mentioned_sessions=st.sets(st.sampled_from([f"s-{each}" for each in KEYS[: index + 1]]), max_size=1),
                mentioned_artifacts=st.sets(st.sampled_from(["x", "y"])),
                reads_steps=st.sets(st.sampled_from(KEYS[:index])) if index else st.just(set()),
            )
            for index, key in enumerate(KEYS)
        )
    )
)


def handed(steps, snapshot, runs):
    """The steps whose sessions a step is handed when it runs, as the walk over the steps finds them."""
    last = None
    for source in steps:
        if source.key == snapshot.key:
            break
        left = source.preserves_session if source.key in runs else source.produced_session is not None
        if left and source.key in snapshot.names_sessions:
            yield source
        last = source if left else last
    if snapshot.uses_session and last is not None:
        yield last


SESSIONS = {f"s-{key}" for key in KEYS}


@given(SNAPSHOTS, st.just(SESSIONS) | st.sets(st.sampled_from(sorted(SESSIONS))), st.sets(st.sampled_from(["x", "y"])))
def test_a_plan_never_skips_or_repeats_what_it_must_not(steps, live, gone):
    plan = resume(*steps, live_sessions=frozenset(live), gone_artifacts=frozenset(gone))
    assert [planned.key for planned in plan.steps] == list(KEYS)
    runs = {planned.key for planned in plan.steps if planned.action != "reuse"}
    for snapshot, planned in zip(steps, plan.steps, strict=True):
        succeeded = snapshot.state is StepState.SUCCEEDED
        assert (planned.action == "run") == (not succeeded)
        if planned.action == "run_again":
            assert snapshot.repeatable
        if plan.allowed and planned.key in runs:
            for source in steps:
                if source.key in snapshot.reads_steps and source.key not in runs:
                    assert not source.mentioned_artifacts & gone
                if source.key in snapshot.session_sources and source.key not in runs:
                    assert source.mentioned_sessions <= live
            for source in handed(steps, snapshot, runs):
                assert source.key in runs or source.produced_session in live
        if plan.allowed and planned.key not in runs:
            for source in steps:
                if source.key in runs and source.produced_session is not None and source.key < planned.key:
                    assert source.produced_session not in snapshot.used_sessions
    if live == SESSIONS and not gone:
        assert plan.allowed
        assert "run_again" not in actions(plan).values()


def test_a_re_run_does_not_say_that_a_session_which_lives_has_ended():
    left = step("a", preserves_session=True, produced_session="s1")
    mailed = step("b", effects="external", used_sessions={"s1"})
    plan = plan_rerun((left, mailed, step("c", "failed")), from_step="c")
    assert [issue.message for issue in plan.issues] == [
        "The step `b` used the session of `a`, which is not shared with a new run, and changes an external system."
    ]
