"""`triggers:` in documents: reading, writing, and taking them out of a text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runner.schemas.validation import compile_schema
from runner.triggers.documents import KINDS, TriggerEntry, document_schema, read_triggers, write_triggers
from runner.triggers.run_ends import RunEndedSettings, RunsOf
from runner.triggers.schedules import CatchUp, Overlap, Schedule
from runner.triggers.webhooks import Preset, WebhookSettings
from runner.yaml_documents import load_document, without_key
from store.states import RunState, TriggerKind

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENTRIES = [
    TriggerEntry("Daily", Schedule("@daily", None, "UTC"), {}),
    TriggerEntry(
        "Mornings: in Berlin",
        Schedule("30 6 * * 1-5", None, "Europe/Berlin", overlap=Overlap.QUEUE, catch_up=CatchUp.ALL, catch_up_limit=3),
        {"at": "${{ trigger.scheduled_at }}", "deep": {"list": [1, None, True]}},
        version=2,
    ),
    TriggerEntry("Pushes", WebhookSettings(Preset.GITHUB, ("push",)), {"repo": "x"}, enabled=False),
    TriggerEntry(
        "Failures", RunEndedSettings((RunState.FAILED, RunState.CANCELLED), ("deck",), RunsOf.ALL), {"run": "x"}
    ),
    TriggerEntry("Ends", RunEndedSettings((RunState.SUCCEEDED,)), {}),
    TriggerEntry("Anything", WebhookSettings(Preset.BEARER), {}),
    TriggerEntry("Hourly", Schedule(None, 3600, "UTC"), {}),
]


def test_what_is_written_is_read_back_and_defaults_are_left_out():
    written = write_triggers(ENTRIES)
    assert read_triggers(load_document(written)["triggers"], NOW) == (ENTRIES, [])
    assert written.startswith('triggers:\n  - name: Daily\n    schedule:\n      cron: "@daily"\n  - name:')
    assert write_triggers([]) == ""


def test_every_kind_of_trigger_has_a_form():
    assert {kind.value for kind in TriggerKind} == set(KINDS)


def entry(**given: Any) -> dict[str, Any]:
    return {"name": "T", "schedule": {"cron": "@daily"}, **given}


@pytest.mark.parametrize(
    ("wrong", "path", "says"),
    [
        ("daily", (), "must be a list"),
        ([5], ("0",), "must be an object"),
        ([entry(name="")], ("0", "name"), "`triggers.0.name` is empty"),
        ([entry(name="  ")], ("0", "name"), "blank"),
        ([entry(), entry(name=" T ")], ("1", "name"), "Two triggers"),
        ([entry(nmae="x")], ("0", "nmae"), "not a known field"),
        ([entry(webhook={"preset": "github"})], ("0",), "either"),
        ([{"name": "T"}], ("0",), "either"),
        ([entry(schedule={"cron": "@daily", "zone": "UTC"})], ("0", "schedule", "zone"), "not a known field"),
        ([entry(schedule={})], ("0", "schedule", "cron"), "either"),
        ([entry(schedule={"cron": "0 9 31 2 *"})], ("0", "schedule", "cron"), "never fires"),
        ([entry(schedule={"cron": "@daily", "time_zone": "Mars"})], ("0", "schedule", "time_zone"), "no time zone"),
        ([entry(schedule={"cron": "@daily", "overlap": "SKIP"})], ("0", "schedule", "overlap"), "SKIP"),
        ([entry(schedule={"interval_seconds": 0})], ("0", "schedule", "interval_seconds"), "0"),
        ([{"name": "T", "webhook": {}}], ("0", "webhook", "preset"), "missing"),
        ([{"name": "T", "webhook": {"preset": "gitlab"}}], ("0", "webhook", "preset"), "gitlab"),
        ([{"name": "T", "webhook": {"preset": "github", "events": [""]}}], ("0", "webhook", "events", "0"), "1 to 100"),
        ([{"name": "T", "webhook": {"preset": "github", "secret": "x"}}], ("0", "webhook", "secret"), "not a known"),
        ([{"name": "T", "run_ended": {"states": ["queued"]}}], ("0", "run_ended", "states", "0"), "queued"),
        ([{"name": "T", "run_ended": {"states": []}}], ("0", "run_ended", "states"), "0 entries"),
        ([entry(inputs=[])], ("0", "inputs"), "must be an object"),
        ([entry(version=0)], ("0", "version"), "0"),
        ([entry(enabled="no")], ("0", "enabled"), "must be"),
        ([entry(name=str(number)) for number in range(1001)], (), "1,000"),
    ],
)
def test_what_is_wrong_is_reported_at_its_place(wrong: Any, path: tuple[str, ...], says: str):
    _, issues = read_triggers(wrong, NOW)
    assert [issue.path for issue in issues] == [("triggers", *path)]
    assert says in issues[0].message


DEFINITION = "# Mine\nkey: a  # short\nname: A\n"
LISTED = "triggers:\n  - name: T\n    schedule:\n      cron: '@daily'  # at night\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (DEFINITION + LISTED, DEFINITION),
        (DEFINITION + LISTED.removesuffix("\n"), DEFINITION),
        (DEFINITION + "\n# When it runs.\n# Daily.\n" + LISTED, DEFINITION),
        (DEFINITION + "# Not about triggers.\n\n" + LISTED, DEFINITION + "# Not about triggers.\n"),
        (LISTED + "\n# Mine, too.\n" + DEFINITION, "\n# Mine, too.\n" + DEFINITION),
        (LISTED + "  # inside\n" + DEFINITION + "# The end.", DEFINITION + "# The end."),
        (DEFINITION + '"triggers": []\nsteps: []\n', DEFINITION + "steps: []\n"),
        (DEFINITION + "triggers: [\n{name: T}\n]\nsteps: []\n", DEFINITION + "steps: []\n"),
        ((DEFINITION + LISTED).replace("\n", "\r\n"), DEFINITION.replace("\n", "\r\n")),
        (DEFINITION + "description: |+\n  x\n\n" + LISTED, DEFINITION + "description: |+\n  x\n\n"),
        ("description: |\n  # no comment\n" + LISTED, "description: |\n  # no comment\n"),
    ],
)
def test_a_key_is_taken_out_of_a_text_with_its_comment(text: str, left: str):
    assert without_key(text, "triggers") == left


@pytest.mark.parametrize(
    "text", ["{key: a, triggers: []}", " key: a\n triggers: []\n", "? triggers\n: []\n", "key: a\n"]
)
def test_a_text_that_cannot_be_taken_apart_has_no_rest(text: str):
    assert without_key(text, "triggers") is None


def test_editors_accept_documents_with_triggers_and_with_nothing_else():
    schema = compile_schema(document_schema(64))
    listed = load_document(write_triggers(ENTRIES))
    whole = {"name": "A", "steps": [{"id": "a", "pack": "test.echo"}]}
    assert [schema.issues(one) for one in ({**whole, **listed}, {"key": "a", **listed}, whole)] == [[], [], []]
    assert schema.issues({"key": "a", "name": "A", **listed})
    assert schema.issues({**whole, "triggers": [{"name": "T"}, {}]})
