"""The key of a kept result: everything that decides it, framed, and nothing that does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.agents.caching import named_digests, result_key
from runner.agents.definition import AgentStep, Choice, CommandPolicy, CommandRule
from runner.agents.profiles import AgentProfile

STEP = AgentStep(Choice("real"), outputs=("a.md",), cache=True)
PROFILE = AgentProfile("real", ("/usr/bin/agent", "--json", "--config=x"), model_args=("--model", "{model}"))
BASE: dict[str, Any] = {"step": STEP, "profile": PROFILE, "model": "m", "prompt": "Do it.", "inputs": [("in.md", "d1")]}


def key(**changes: Any) -> str:
    return result_key(**{**BASE, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": "Do that."},
        {"model": "n"},
        {"model": None},
        {"inputs": [("in.md", "d2")]},
        {"inputs": [("other.md", "d1")]},
        {"inputs": []},
        {"script": "answers: []"},
        {"files": ["d1"]},
        {"profile": replace(PROFILE, key="other")},
        {"profile": replace(PROFILE, command=("/usr/bin/agent", "--json", "--config=y"))},
        {"profile": replace(PROFILE, command=("/usr/bin/another", "--json", "--config=x"))},
        {"profile": replace(PROFILE, command=("mock",))},
        {"profile": replace(PROFILE, capabilities=("edit",))},
        {"step": replace(STEP, outputs=("b.md",))},
        {"step": replace(STEP, stdout_to="b.md")},
        {"step": replace(STEP, output_schema={"type": "object"})},
        {"step": replace(STEP, tools=("get_run",))},
        {"step": replace(STEP, commands=CommandPolicy("allow", declared=True))},
        {"step": replace(STEP, commands=CommandPolicy("deny", (CommandRule("git"),), declared=True))},
        {"step": replace(STEP, isolation="sandbox_offline")},
    ],
)
def test_whatever_decides_a_result_changes_its_key(changes: dict[str, Any]) -> None:
    assert key(**changes) != key()


@pytest.mark.parametrize(
    "changes",
    [
        {"profile": replace(PROFILE, command=("/home/me/bin/agent", "--json", "--config=x"))},
        {"profile": replace(PROFILE, read=("/etc/agent",), timeout_seconds=5.0, script=Path("/x"))},
        {"profile": replace(PROFILE, credentials=(("A", "b.c"),), variables={"TOKEN": "secret"}, env=("B",))},
        {"step": replace(STEP, credentials=(("A", "b.c"),))},
        {"step": replace(STEP, effects="none")},
        {"inputs": [("in.md", "d1")]},
    ],
)
def test_neither_places_nor_secrets_do(changes: dict[str, Any]) -> None:
    assert key(**changes) == key()


def test_a_script_may_lie_elsewhere_on_another_machine() -> None:
    one, other = (
        key(profile=replace(PROFILE, command=("/usr/bin/python3", place, "--json"))) for place in ("/a/x.py", "/b/x.py")
    )
    assert one == other


def test_what_the_profile_has_run_is_known_by_its_content(tmp_path: Path) -> None:
    script, program = tmp_path / "x.py", tmp_path / "run"
    script.write_text("print(1)")
    program.write_text("#!/bin/sh")
    profile = replace(PROFILE, command=("/usr/bin/python3", str(script), "x.py", str(tmp_path), "/not/there"))
    by_script = replace(PROFILE, command=(str(program),))
    one = named_digests(profile)
    assert len(one) == len(named_digests(by_script)) == 1, "neither a program of the machine nor folders"
    script.write_text("print(2)")
    assert named_digests(profile) != one


@given(st.lists(st.text(max_size=6), min_size=6, max_size=6), st.integers(0, 4))
def test_no_text_moves_from_one_part_to_the_next(texts: list[str], at: int) -> None:
    """Unframed, `ab` and `c` would be `a` and `bc`."""
    moved = [*texts]
    moved[at], moved[at + 1] = texts[at] + texts[at + 1][:1], texts[at + 1][1:]

    def of(parts: list[str]) -> str:
        profile = AgentProfile(parts[0], ("agent", parts[1]))
        return result_key(STEP, profile, None, parts[2], [(parts[3], parts[4])], script=parts[5])

    assert (of(texts) == of(moved)) is (texts == moved)
