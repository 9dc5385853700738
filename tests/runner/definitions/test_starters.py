"""Starters: loaded, stored, kept in step with the release, never in the way of a start."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import runner.definitions.starters
from runner.definitions.starters import load_starters, seed_starters
from runner.packs.registry import PackSource, Registry
from store.pipelines.aliases import Alias
from store.pipelines.reads import current_versions, find_bodies, find_pipeline, find_pipelines
from tests.support.databases import sqlite_store
from tests.support.packs import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from packline import Pack

ECHO = """\
# What it says is what it keeps.
key: say
name: Say
inputs: {type: object, properties: {words: {type: string}}}
steps: [{id: a, pack: test.echo, input: {text: "${{ inputs.words }}"}}]
metadata: {accepts: [], intent_keywords: [say]}
"""


def registry_of(*packs: Pack) -> Registry:
    registry = Registry()
    registry.put(PackSource("builtin_folder", "here"), [("here", pack) for pack in packs])
    return registry


REGISTRY = registry_of(*Workbench().packs)


def starter(folder: Path, text: str = ECHO, key: str = "say") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{key}.yaml").write_text(text.replace("key: say", f"key: {key}"))
    return folder


def test_a_starter_keeps_its_text_and_what_is_told_of_it(tmp_path: Path) -> None:
    starter(tmp_path)
    (tmp_path / "aliases.yaml").write_text(
        "speak: {key: say, inputs: {said: words}}\nnowhere: {key: gone}\nsay: {key: say}\nodd: say\n"
    )
    loaded = load_starters(tmp_path, REGISTRY)
    (say,) = loaded.starters
    assert say.id == "builtin.say"
    assert say.definition.yaml == ECHO
    assert say.heading.aliases == (Alias("speak", (("said", "words"),)),)
    metadata = json.loads(say.heading.metadata_json)
    assert metadata["accepts"] == [], "written as empty, so it stays empty"
    assert metadata["produces"] == ["text"]
    assert metadata["derived"] == ["produces", "supersedes"]
    assert "speak" in say.heading.search_text
    assert [problem.file for problem in loaded.problems] == ["aliases.yaml"] * 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("key: [", "cannot be read"),
        ("- a list", "cannot be read"),
        (ECHO.replace("key: say", "key: other"), "must be `bad`"),
        (ECHO.replace("name: Say", "nmae: Say"), "nmae"),
        ("\0", "cannot be read"),
    ],
)
def test_a_bad_file_is_told_and_the_others_load(tmp_path: Path, text: str, told: str) -> None:
    starter(tmp_path)
    (tmp_path / "bad.yaml").write_text(text)
    loaded = load_starters(tmp_path, REGISTRY)
    assert [found.id for found in loaded.starters] == ["builtin.say"]
    assert {problem.file for problem in loaded.problems} == {"bad.yaml"}
    assert any(told in problem.message for problem in loaded.problems)


async def test_a_starter_whose_pack_is_missing_is_stored_all_the_same(tmp_path: Path) -> None:
    folder = starter(tmp_path / "starters")
    async with sqlite_store(tmp_path) as store:
        changes = await seed_starters(store, registry_of(), folder)
        assert changes.added == ("builtin.say",)
        found = await find_pipeline(store, "say")
        assert found is not None
        assert found.builtin


async def test_a_start_that_finds_nothing_new_checks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = starter(tmp_path / "starters")
    async with sqlite_store(tmp_path) as store:
        await seed_starters(store, REGISTRY, folder)

        def fail(*_: object) -> None:
            raise AssertionError("read or checked once more")

        monkeypatch.setattr(runner.definitions.starters, "load_document", fail)
        monkeypatch.setattr(runner.definitions.starters, "check_definition", fail)
        assert (await seed_starters(store, REGISTRY, folder)).added == ()
        with pytest.raises(AssertionError):
            await seed_starters(store, registry_of(), folder)


async def test_starters_follow_their_files_and_packs(tmp_path: Path) -> None:
    folder = starter(starter(tmp_path / "starters"), key="shout")
    async with sqlite_store(tmp_path) as store:

        async def kept() -> tuple[int, str]:
            version = (await current_versions(store, ["builtin.say"]))["builtin.say"]
            body = (await find_bodies(store, [version.id]))[version.id]
            return version.number, body.yaml

        await seed_starters(store, registry_of(), folder)
        assert await kept() == (1, ECHO)
        assert (await seed_starters(store, REGISTRY, folder)).updated == ("builtin.say", "builtin.shout")
        assert (await kept())[0] == 1, "a pack that came tells of kinds; the definition is the same"
        starter(folder, ECHO.replace("name: Say", "name: Says"))
        assert (await seed_starters(store, REGISTRY, folder)).updated == ("builtin.say",)
        assert (await kept())[0] == 2
        (folder / "shout.yaml").unlink()
        assert (await seed_starters(store, REGISTRY, folder)).removed == ("builtin.shout",)
        assert set(await find_pipelines(store, ["builtin.say", "builtin.shout"])) == {"builtin.say"}


def test_what_ships_has_no_problem() -> None:
    from runner.packs.registry import builtins_folder, load_registry

    loaded = load_starters(builtins_folder() / "pipelines", load_registry(builtins_folder(), entry_points=False))
    assert loaded.problems == ()
    assert "builtin.sample" in {found.id for found in loaded.starters}
