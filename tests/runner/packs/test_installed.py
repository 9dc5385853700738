"""What is installed: found, and not looked for again and again."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from runner.packs import installed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_modules_and_programs_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed.has_module("json")
    assert not installed.has_module("no_such_module_anywhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not installed.has_program("tool")
    other = tmp_path / "bin"
    other.mkdir()
    (other / "tool").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other))
    assert installed.has_program("tool"), "another PATH is another question"


def test_an_answer_counts_for_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(name: str) -> None:
        looked.append(name)

    monkeypatch.setattr(importlib.util, "find_spec", look)
    assert not installed.has_module("looked_for_twice")
    assert not installed.has_module("looked_for_twice")
    assert looked == ["looked_for_twice"]
    monkeypatch.setattr(installed, "_SECONDS", -1.0)
    assert not installed.has_module("looked_for_twice")
    assert len(looked) == 2
