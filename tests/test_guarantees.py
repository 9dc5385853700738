"""What docs/guarantees.md promises is held by tests that exist, and every id that is cited is on that page."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from app.settings.server import Settings

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "guarantees.md").read_text("utf-8")
#: A guarantee: its id, then everything up to the next one or the next blank line.
GUARANTEE = re.compile(r"^- \*\*(\w+)\*\* (.+?)(?=^- |^$)", re.DOTALL | re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::((?:\w+::)?\w+)`")
#: How code, tests and pages cite: `guarantee S2`, `guarantees E3, E4 and R2`.
CITED = re.compile(r"\b[Gg]uarantees?\s+((?:[A-Z]\d+(?:, | and )?)+)")
#: Clauses of documents that are not in the repository.
ELSEWHERE = re.compile(r"\b(CONTRACT|UX) §?\d")
CODE = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "builtins", "scripts", "tests")

GUARANTEES = GUARANTEE.findall(PAGE)


@cache
def named_in(file: str) -> set[str]:
    """The names of the tests in a file, those of a class behind its name, as pytest selects them."""
    found = set()
    for node in ast.parse((ROOT / file).read_text("utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        before = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {before + part.name for part in inside if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return {name for name in found if name.rpartition("::")[2].startswith("test_")}


def test_every_id_is_given_once():
    ids = [name for name, _ in GUARANTEES]
    assert len(ids) == len(re.findall(r"^- \*\*", PAGE, re.MULTILINE)) > 0
    assert [name for name in ids if not re.fullmatch(r"[A-Z][1-9]\d*", name)] == []
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize(("name", "text"), GUARANTEES, ids=[name for name, _ in GUARANTEES])
def test_every_guarantee_is_held_by_tests_that_exist(name, text):
    held = TEST.findall(text)
    assert held, f"{name} names no test"
    assert len(held) == text.count("`tests/"), f"{name} names something else than a test"
    lost = [f"{file}::{test}" for file, test in held if not (ROOT / file).is_file() or test not in named_in(file)]
    assert lost == []


def test_the_numbers_are_the_defaults_of_their_settings():
    seconds = {"s": 1, "minutes": 60, "": 1}
    told = re.findall(r"`PACKLINE_(\w+)` \(([\d,]+)(?: (s|minutes))?\)", " ".join(PAGE.split()))
    assert {name: int(number.replace(",", "")) * seconds[unit] for name, number, unit in told} == {
        name: Settings.model_fields[name.lower()].default for name, _, _ in told
    }
    assert len(told) > 5


def files() -> list[Path]:
    """What may cite: code, tests, pages, and the sources of the page."""
    code = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    return [*code, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "frontend" / "src").rglob("*.ts*")]


def test_every_id_that_is_cited_exists():
    known = {name for name, _ in GUARANTEES}
    cited = {
        (name, str(path.relative_to(ROOT)))
        for path in files()
        for names in CITED.findall(path.read_text("utf-8"))
        for name in re.findall(r"[A-Z]\d+", names)
    }
    assert {name for name, _ in cited} & known, "some are cited"
    assert sorted((name, where) for name, where in cited if name not in known) == []


def test_no_document_is_cited_that_readers_do_not_have():
    lost = [str(path.relative_to(ROOT)) for path in files() if ELSEWHERE.search(path.read_text("utf-8"))]
    assert lost == []
