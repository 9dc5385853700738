from __future__ import annotations

import pytest

from runner.definitions.models import Concurrency
from runner.definitions.parsing import (
    DefinitionLimits,
    RetryPolicy,
    definition_digest,
    definition_document,
    key_from_name,
    parse_definition,
    step_digest,
)
from runner.issues import Hint

FULL = {
    "key": "scrape-deck",
    "name": "Web page to deck",
    "description": "Turns a page into slides.",
    "inputs": {"type": "object", "required": ["url"], "properties": {"url": {"type": "string", "format": "uri"}}},
    "deadline_seconds": 900,
    "concurrency": {"limit": 2, "key": "${{ inputs.url }}"},
    "steps": [
        {
            "id": "scrape",
            "pack": "web.scrape",
            "version": 1,
            "input": {"url": "${{ inputs.url }}"},
            "retry": {"max_attempts": 5},
        },
        {"id": "render", "pack": "slides.render", "version": "1.2.3", "timeout_seconds": 1.5},
    ],
    "metadata": {"accepts": ["url"], "supersedes": ["web.scrape"]},
}


def parsed(**changes):
    definition, issues = parse_definition({**FULL, **changes})
    assert issues == []
    return definition


def issues_of(document):
    definition, issues = parse_definition(document)
    assert definition is None
    return {(".".join(issue.path), issue.rule): issue for issue in issues}


def step(**changes):
    return {"name": "x", "steps": [{"id": "a", "pack": "x.y", **changes}]}


class TestReading:
    def test_reads_everything(self):
        definition = parsed()
        assert (definition.key, definition.deadline_seconds) == ("scrape-deck", 900)
        assert definition.concurrency == Concurrency(2, "${{ inputs.url }}")
        scrape, render = definition.steps
        assert scrape.version == "1"
        assert scrape.retry == RetryPolicy(max_attempts=5)
        assert (render.version, render.timeout_seconds, render.input) == ("1.2.3", 1.5, {})
        assert definition.metadata.supersedes == ["web.scrape"]

    def test_the_normal_form_reads_back_to_the_same(self):
        definition = parsed()
        again, _ = parse_definition(definition_document(definition))
        assert again == definition
        assert definition_digest(again) == definition_digest(definition)

    def test_what_is_default_does_not_count(self):
        spelled, _ = parse_definition(step(input=None, retry={"max_attempts": 3, "jitter": 0.2}, timeout_seconds=None))
        bare, _ = parse_definition(step())
        assert definition_digest(spelled) == definition_digest(bare)
        assert step_digest(spelled.steps[0]) == step_digest(bare.steps[0])
        assert definition_digest(parsed(deadline_seconds=901)) != definition_digest(parsed())

    @pytest.mark.parametrize(
        ("name", "key"),
        [
            ("Web page → Deck!", "web-page-deck"),
            ("Übergröße 2", "ubergrosse-2"),
            ("3 things", "p-3-things"),
            ("a" * 100, "a" * 64),
            ("日本", "pipeline-"),
        ],
    )
    def test_a_key_is_made_from_the_name(self, name, key):
        assert key_from_name(name).startswith(key)
        assert parsed(key=None, name=name).key == key_from_name(name)


class TestRefusing:
    @pytest.mark.parametrize(
        ("concurrency", "path", "rule"),
        [
            (2, "concurrency", "wrong_type"),
            ({}, "concurrency.limit", "out_of_range"),
            ({"limit": 0}, "concurrency.limit", "out_of_range"),
            ({"limit": 1.5}, "concurrency.limit", "out_of_range"),
            ({"limit": 1_001}, "concurrency.limit", "out_of_range"),
            ({"limit": 1, "key": 5}, "concurrency.key", "wrong_type"),
            ({"limit": 1, "keys": "x"}, "concurrency.keys", "unknown_key"),
        ],
    )
    def test_a_limit_of_runs_is_a_number_and_its_key_text(self, concurrency, path, rule):
        assert set(issues_of({**FULL, "concurrency": concurrency})) == {(path, rule)}

    def test_collects_all_issues(self):
        found = issues_of(
            {
                "nam": "x",
                "key": "Bad Key",
                "deadline_seconds": -1,
                "metadata": {"accept": [], "produces": "pdf"},
                "steps": [
                    {
                        "id": "a",
                        "pack": "x.y",
                        "inputs": {},
                        "retry": {"max_attempt": 1, "jitter": 2, "max_attempts": 2.5},
                    },
                    {"id": "a", "pack": "", "version": "1.2", "timeout_seconds": True, "input": [1]},
                    "scrape",
                    {"id": "B"},
                ],
            }
        )
        assert set(found) == {
            ("nam", "unknown_key"),
            ("key", "invalid_key"),
            ("deadline_seconds", "out_of_range"),
            ("metadata.accept", "unknown_key"),
            ("metadata.produces", "wrong_type"),
            ("steps.0.inputs", "unknown_key"),
            ("steps.0.retry.max_attempt", "unknown_key"),
            ("steps.0.retry.jitter", "out_of_range"),
            ("steps.0.retry.max_attempts", "out_of_range"),
            ("steps.1.id", "duplicate_step_id"),
            ("steps.1.pack", "required"),
            ("steps.1.version", "invalid_version"),
            ("steps.1.timeout_seconds", "out_of_range"),
            ("steps.1.input", "wrong_type"),
            ("steps.2", "wrong_type"),
            ("steps.3.id", "invalid_key"),
            ("steps.3.pack", "required"),
        }
        assert found["nam", "unknown_key"].hint == Hint(closest="name")
        assert found["steps.0.inputs", "unknown_key"].hint == Hint(closest="input")
        assert found["metadata.accept", "unknown_key"].hint == Hint(closest="accepts")
        assert found["steps.0.retry.max_attempt", "unknown_key"].hint == Hint(closest="max_attempts")
        assert found["key", "invalid_key"].hint == Hint("For example, `bad-key`.")

    def test_an_agent_step_needs_a_profile_and_a_prompt(self):
        found = issues_of({"name": "x", "steps": [{"id": "solve", "agent": {}}]})
        assert set(found) == {("steps.0.agent.use", "required"), ("steps.0.agent.prompt", "required")}

    def test_an_agent_is_no_pack(self):
        assert ("steps.0.pack", "unknown_pack") in issues_of({"name": "x", "steps": [{"id": "a", "pack": "agent"}]})

    def test_a_step_is_of_one_kind(self):
        assert ("steps.0", "ambiguous_step") in issues_of(step(agent={}))

    @pytest.mark.parametrize("steps", [None, [], {}, "x"])
    def test_steps_are_needed(self, steps):
        assert ("steps", "no_steps") in issues_of({"name": "x", "steps": steps})

    def test_the_number_of_steps_is_limited(self):
        many = [{"id": f"s{index}", "pack": "x.y"} for index in range(65)]
        assert ("steps", "too_many_steps") in issues_of({"name": "x", "steps": many})
        assert parse_definition({"name": "x", "steps": many}, limits=DefinitionLimits(max_steps=65))[0] is not None

    @pytest.mark.parametrize("version", [1.0, "v1", "1.2", True, "01.2.3", [], "1.2.3\n"])
    def test_a_version_is_exact_or_a_major(self, version):
        assert ("steps.0.version", "invalid_version") in issues_of(step(version=version))

    @pytest.mark.parametrize(
        "bound",
        [{"max_attempts": 11}, {"max_attempts": 0}, {"factor": 0.5}, {"jitter": -0.1}, {"max_seconds": 1e9}],
    )
    def test_retry_is_bounded(self, bound):
        assert (f"steps.0.retry.{next(iter(bound))}", "out_of_range") in issues_of(step(retry=bound))

    @pytest.mark.parametrize(
        "inputs",
        [
            [],
            "x",
            {"type": "array"},
            {"properties": []},
            {"url": {"type": "string"}},
            {"required": ["x"], "properties": {"y": {}}},
        ],
    )
    def test_inputs_describe_an_object(self, inputs):
        assert any(place.startswith("inputs") for place, _ in issues_of({**FULL, "inputs": inputs}))

    @pytest.mark.parametrize("document", [None, [], "x", 3])
    def test_a_definition_is_an_object(self, document):
        assert ("", "wrong_type") in issues_of(document)

    def test_hostile_values_are_refused(self):
        deep = []
        for _ in range(10_000):
            deep = [deep]
        assert {rule for _, rule in issues_of({"name": "x", "steps": deep})} == {"too_deep"}
        assert {rule for _, rule in issues_of({"name": "a\0", "steps": []})} == {"forbidden_text"}
        assert ("description", "too_long") in issues_of({**FULL, "description": "x" * 10_000_000})
