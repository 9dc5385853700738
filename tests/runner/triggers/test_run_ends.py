"""Which ends of runs a trigger fires for, and the fields that its inputs may read."""

from __future__ import annotations

import pytest

from runner.templates.references import TRIGGER
from runner.templates.templating import compile_template
from runner.triggers.run_ends import (
    PIPELINES_MAX,
    RunEndedSettings,
    RunsOf,
    check_run_ended,
    unknown_run_fields,
)
from store.states import RunState

FAILED = RunEndedSettings((RunState.FAILED,))


@pytest.mark.parametrize("runs_of", RunsOf)
def test_stored_settings_read_back_the_same(runs_of: RunsOf) -> None:
    settings = RunEndedSettings((RunState.FAILED, RunState.CANCELLED), ("pipe_1",), runs_of)
    assert RunEndedSettings.read(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("settings", "state", "is_own", "wanted"),
    [
        (FAILED, "failed", True, True),
        (FAILED, "succeeded", True, False),
        (FAILED, "failed", False, False),
        (RunEndedSettings((RunState.FAILED,), runs_of=RunsOf.ALL), "failed", False, True),
        (RunEndedSettings((RunState.FAILED,), ("pipe_1",)), "failed", True, True),
        (RunEndedSettings((RunState.FAILED,), ("pipe_2",)), "failed", True, False),
    ],
)
def test_a_trigger_fires_for_its_states_pipelines_and_callers(
    settings: RunEndedSettings, state: str, is_own: bool, wanted: bool
) -> None:
    assert settings.wants("pipe_1", state, is_own=is_own) is wanted


@pytest.mark.parametrize(
    ("settings", "rule", "path"),
    [
        (RunEndedSettings(()), "too_few", ("states",)),
        (RunEndedSettings((RunState.RUNNING,)), "not_final", ("states", "0")),
        (RunEndedSettings((RunState.FAILED,), ("pipe_1", "pipe_own")), "own_pipeline", ("pipelines", "1")),
        (
            RunEndedSettings((RunState.FAILED,), tuple(f"pipe_{number}" for number in range(PIPELINES_MAX + 1))),
            "too_many",
            ("pipelines",),
        ),
    ],
)
def test_wrong_settings_are_named(settings: RunEndedSettings, rule: str, path: tuple[str, ...]) -> None:
    assert [(issue.rule, issue.path) for issue in check_run_ended(settings, "pipe_own")] == [(rule, path)]


@pytest.mark.parametrize("field", ["run.code", "run.failure.class"])
def test_a_field_that_no_run_has_is_named(field: str) -> None:
    template = compile_template({"text": f"${{{{ trigger.{field} }}}}"}, root=TRIGGER)
    (issue,) = unknown_run_fields(template.references)
    assert field.rpartition(".")[2] in issue.message


def test_the_fields_of_a_run_are_known() -> None:
    texts = [f"${{{{ trigger.run.{field} }}}}" for field in ("id", "output.a[0].code", "failure.message", "url")]
    assert unknown_run_fields(compile_template({"texts": texts}, root=TRIGGER).references) == []
