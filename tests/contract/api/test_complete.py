"""The contract leaves no operation out."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import schema.build  # noqa: F401 - declares every operation
from resolvers.operations import OPERATIONS
from tests.support.surfaces import ANSWERS


def stated() -> set[str]:
    """The operations that tests of this folder say they call; `api` holds them to it."""
    names: set[str] = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        spec = importlib.util.spec_from_file_location(f"contract_api_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[spec.name] = importlib.util.module_from_spec(
            spec
        )  # models look up their annotations there
        if path != Path(__file__):
            spec.loader.exec_module(module)
        for thing in vars(module).values():
            names |= getattr(thing, "operations", frozenset())
    return names


def test_every_operation_is_stated_by_a_test_over_every_database():
    assert sorted(set(OPERATIONS) - stated()) == []
    assert sorted(set(OPERATIONS) - set(ANSWERS)) == []
