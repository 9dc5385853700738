"""Names that were probably meant."""

from __future__ import annotations

import pytest

from runner.issues import Hint, did_you_mean, nearest

KNOWN = ["web.scrape", "web.search", "doc.parse", "max_attempts", "timeout_seconds"]


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("web.scrap", "web.scrape"),
        ("wbe.search", "web.search"),
        ("MAX_ATTEMPTS", "max_attempts"),
        ("max-attempts", "max_attempts"),
        ("Timeout-Second", "timeout_seconds"),
        ("quantum", None),
        ("deadline_seconds", None),
        ("timeouts", "timeout_seconds"),
        ("", None),
    ],
)
def test_the_name_that_was_meant_is_found(mistyped, meant):
    assert nearest(mistyped, KNOWN) == meant


def test_an_area_in_common_makes_no_packs_similar():
    assert nearest("garden.order", ["garden.moisture"]) is None
    assert nearest("garden.moistre", ["garden.order", "garden.moisture"]) == "garden.moisture"


def test_a_name_that_is_right_but_for_its_case_wins():
    assert nearest("NAMES", ["name", "names_", "Names"]) == "Names"


def test_few_names_are_listed_when_none_is_near():
    assert did_you_mean("zzz", ["a", "b"]) == Hint("Known names: `a`, `b`.")
    assert did_you_mean("zzz", [f"name{n}" for n in range(13)]) is None
    assert did_you_mean("zzz", []) is None


def test_long_names_are_not_suggested():
    assert nearest("x" * 300, ["x" * 300]) is None
    assert nearest("x" * 1_000_000, ["x" * 200]) is None
