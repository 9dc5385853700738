from __future__ import annotations

import functools

import pytest
from ruamel.yaml import YAML

from catalog.metadata import incomplete_packs, kinds, metadata_issues, pack_issues
from runner.definitions.starters import ALIASES
from runner.packs.metadata import Metadata
from runner.packs.registry import Registry, builtins_folder, load_registry
from tests.support.pack_folders import pack_source, write_pack_folder

COMPLETE = Metadata(
    accepts=["url"],
    produces=["slide_deck", "pdf"],
    intent_keywords=["web page to slides", "deck from url", "slides", "presentation", "turn page into deck"],
    example_intents=[
        "make slides from this web page",
        "turn https://example.org/post into a presentation",
        "I need a deck about that article for Monday",
        "summarise the page as slides",
        "convert this blog post to PowerPoint",
        "present the linked announcement",
        "can you do a PDF deck of this URL?",
        "slides for the team out of our status page",
    ],
    typical_use="Use this when a public page should become slides, e.g. for a talk.",
    limitations=["Does not sign in to pages."],
    supersedes=["web.scrape", "slides.render"],
)
PACKS = ["web.scrape", "slides.render", "slides.outline"]


def issues(*, is_pipeline: bool = True, **changes: object) -> list[str]:
    return metadata_issues(COMPLETE.model_copy(update=changes), is_pipeline=is_pipeline, known_packs=PACKS)


def test_every_kind_is_described():
    assert len(kinds()) >= 30
    assert all(description.endswith(".") for description in kinds().values())
    seeds = "markdown url pdf repo_url query brief source_content session_id blog_markdown mp4 code_diff pr_url"
    assert set(f"{seeds} slide_deck outline_markdown mp3 json".split()) <= kinds().keys()


def test_a_complete_entry_has_no_issues():
    assert issues() == []
    assert issues(is_pipeline=False, supersedes=[]) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"accepts": []}, "accepts is empty"),
        ({"produces": ["slide_dek"]}, "produces names `slide_dek`, which does not exist; did you mean `slide_deck`?"),
        ({"accepts": ["url", "url"]}, "accepts contains `url` twice."),
        ({"intent_keywords": ["a", "A ", "b", "c", "d"]}, "intent_keywords has 4 different phrases"),
        ({"example_intents": COMPLETE.example_intents[:7]}, "example_intents has 7 requests"),
        ({"example_intents": [*COMPLETE.example_intents, "Make slides from this web page!"]}, "says the same as"),
        ({"example_intents": [*COMPLETE.example_intents, "slides"]}, "`slides` is not a request"),
        ({"typical_use": None}, "typical_use is missing"),
        ({"typical_use": "Use it. Then use it again."}, "typical_use is not one sentence"),
        ({"limitations": [" "]}, "limitations is empty"),
        ({"supersedes": []}, "supersedes is empty"),
        (
            {"supersedes": ["web.scrap"]},
            "supersedes names `web.scrap`, which does not exist; did you mean",
        ),
    ],
)
def test_what_is_missing_is_named(changes, expected):
    found = issues(**changes)
    assert len(found) == 1
    assert expected in found[0]


def test_packs_replace_nothing():
    assert issues(is_pipeline=False) == ["supersedes is only for pipelines: leave it empty for a pack."]


def test_an_entry_that_needs_nothing_may_accept_nothing():
    nothing = COMPLETE.model_copy(update={"accepts": []})
    assert metadata_issues(nothing, is_pipeline=True, known_packs=PACKS, needs_input=False) == []


def test_an_empty_entry_is_incomplete_in_every_way():
    assert len(metadata_issues(Metadata(), is_pipeline=True, known_packs=PACKS)) == 7


@functools.cache
def shipped() -> Registry:
    return load_registry(builtins_folder(), entry_points=False)


@pytest.mark.parametrize("name", shipped().names())
def test_every_shipped_pack_is_complete(name):
    pack = shipped().find(name)
    assert pack is not None
    assert pack_issues(pack, shipped().names()) == []


def test_incomplete_packs_of_users_load_and_are_marked(tmp_path):
    folder = write_pack_folder(tmp_path, {"text/echo.py": pack_source("text.echo")})
    registry = load_registry(builtins_folder(), [folder], entry_points=False)
    assert registry.find("text.echo") is not None
    assert (
        "typical_use is missing: say in one sentence when to use it."
        in incomplete_packs(registry)[("text.echo", "1.0.0")]
    )


PIPELINES = [file for file in (builtins_folder() / "pipelines").glob("*.yaml") if file.stem != ALIASES]


@pytest.mark.parametrize("file", sorted(PIPELINES), ids=lambda file: file.stem)
def test_every_shipped_pipeline_is_complete(file):
    document = YAML(typ="safe", pure=True).load(file)
    needs_input = bool(document.get("inputs", {}).get("required"))
    metadata = Metadata(**document.get("metadata", {}))
    found = metadata_issues(metadata, is_pipeline=True, known_packs=shipped().names(), needs_input=needs_input)
    assert found == []
