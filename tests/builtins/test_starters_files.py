"""Each starter that ships parses, checks clean against the packs that ship, and tells fully what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.metadata import metadata_issues
from runner.definitions.check import check_definition
from runner.definitions.inputs import check_inputs, with_defaults
from runner.packs.registry import Registry, builtins_folder, load_registry
from runner.yaml_documents import load_document

FOLDER = Path(builtins_folder()) / "pipelines"
STARTERS = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "aliases.yaml")
WITHOUT_MODEL = {"sample", "grounded-deck", "scrape-deck", "doc-deck", "repo-deck", "scrape-blog", "doc-blog"}

#: Inputs a person would give, by starter.
INPUTS = {
    "sample": {},
    "grounded-deck": {"markdown": "# A"},
    "scrape-deck": {"url": "https://example.org/a"},
    "doc-deck": {"source_url": "https://example.org/a.pdf"},
    "repo-deck": {"repo_url": "https://example.org/a/b"},
    "scrape-blog": {"url": "https://example.org/a", "title": "A"},
    "doc-blog": {"artifact": "art_1", "title": "A"},
}

starter = pytest.mark.parametrize("path", STARTERS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def registry() -> Registry:
    loaded = load_registry(builtins_folder(), entry_points=False)
    assert loaded.load_errors() == []
    return loaded


def test_the_starters_that_need_no_model_ship() -> None:
    assert {path.stem for path in STARTERS} >= WITHOUT_MODEL


@starter
def test_checks_without_a_single_issue(path: Path, registry: Registry) -> None:
    document = load_document(path.read_text(encoding="utf-8"))
    check = check_definition(document, registry)
    assert [str(issue) for issue in check.issues] == []
    assert check.definition is not None
    assert check.definition.key == path.stem


@starter
def test_inputs_are_declared_described_and_accepted(path: Path, registry: Registry) -> None:
    document = load_document(path.read_text(encoding="utf-8"))
    schema = document["inputs"]
    for name, field in schema["properties"].items():
        assert field.get("description"), name
        assert field.get("type"), name
    if path.stem in INPUTS:
        given = INPUTS[path.stem]
        assert check_inputs(schema, with_defaults(schema, given)) == []
    if schema.get("required"):
        assert check_inputs(schema, {}) != []


@starter
def test_metadata_is_complete_and_true(path: Path, registry: Registry) -> None:
    definition = check_definition(load_document(path.read_text(encoding="utf-8")), registry).definition
    assert definition is not None
    metadata = definition.metadata
    assert definition.description
    assert definition.deadline_seconds
    needs_input = path.stem != "sample"
    assert metadata_issues(metadata, is_pipeline=True, known_packs=registry.names(), needs_input=needs_input) == []
    packs = {step.pack for step in definition.steps if step.agent is None}
    is_coding = any(step.agent is not None and step.agent.workspace == "session" for step in definition.steps)
    assert set(metadata.supersedes) == (packs | {"swe.solve"} if is_coding else packs)
    assert definition.description.strip() == definition.description


@pytest.mark.parametrize("given", [{}, {"source_url": "https://example.org/a.pdf", "artifact": "art_1"}])
def test_a_document_comes_from_exactly_one_place(given: dict[str, str]) -> None:
    schema = load_document((FOLDER / "doc-deck.yaml").read_text(encoding="utf-8"))["inputs"]
    assert check_inputs(schema, given) != []


def test_the_sample_fails_once_for_a_person_and_not_for_the_runner() -> None:
    steps = load_document((FOLDER / "sample.yaml").read_text(encoding="utf-8"))["steps"]
    assert [step["pack"] for step in steps][2] == "practice.review"
    assert steps[2]["retry"] == {"max_attempts": 1}


@starter
def test_every_step_names_the_major_version_it_was_written_for(path: Path) -> None:
    steps = load_document(path.read_text())["steps"]
    assert isinstance(steps, list)
    for step in steps:
        assert isinstance(step, dict)
        if "agent" in step:
            continue
        assert step["version"] == "1", f"{path.name}: another pack of that name could take over {step['id']}"
