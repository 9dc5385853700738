"""What may be learned, whatever it is given; and what is made of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.memory.audit_memory import ScopeError, parse_scope
from catalog.memory.defaults import OTHERS, DefaultValue, FieldOverride, values_of
from catalog.memory.learning import VALUE_CHARACTERS, LearnedField, is_learnable, learned_values
from catalog.memory.tally import Tally
from runner.secrets.redaction import Redactor

SECRET = "a secret nobody guesses"
REDACTOR = Redactor({"github.token": SECRET})
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*LearnedField, "title", "url", "markdown", "password", "Persona", "persona "]) | st.text()


@given(st.dictionaries(NAMES, ANYTHING, max_size=6) | ANYTHING)
def test_only_short_plain_texts_of_the_closed_set_are_learned(inputs: Any) -> None:
    for field, value in learned_values(inputs, REDACTOR).items():
        assert field in LearnedField
        assert inputs[field.value].strip() == value
        assert 0 < len(value) <= VALUE_CHARACTERS
        assert value.splitlines() == [value]


FORBIDDEN = st.sampled_from([SECRET, "https://a.b", "\n", "\0", "\u2028", "www.x"])


@given(st.text(max_size=30), st.text(max_size=30), FORBIDDEN)
def test_nothing_around_what_is_forbidden_makes_it_fit(before: str, after: str, forbidden: str) -> None:
    assert not is_learnable(f"x{before} {forbidden} {after}x", REDACTOR)


@pytest.mark.parametrize(
    "value",
    ["executive", "openai/gpt-5", "claude-sonnet-5", "l\u2019équipe", "管理者", "👩‍💻 dev", "v1.2", "A: B", "x" * 100],
)
def test_what_people_write_there_fits(value: str) -> None:
    assert is_learnable(value, REDACTOR)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "  ",
        "x" * 101,
        "a\tb",
        "mailto:ada@example.org",
        "//host/x",
        "see example.com/x",
        "javascript:alert(1)",
        "[redacted:github.token]",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "postgres://u:p@h/d",
        "data:text/html,x",
    ],
)
def test_what_does_not_belong_there_is_dropped(value: str) -> None:
    assert not is_learnable(value, REDACTOR)


def uses(*values: str, days_apart: float = 0) -> list[tuple[datetime, dict[LearnedField, str]]]:
    """Uses of personas, oldest first; the last one now."""
    count = len(values)
    return [
        (NOW - timedelta(days=days_apart * (count - 1 - place)), {LearnedField.PERSONA: value})
        for place, value in enumerate(values)
    ]


def learned_defaults(
    uses: list[tuple[datetime, dict[LearnedField, str]]], overrides: tuple[FieldOverride, ...] = ()
) -> tuple[DefaultValue, ...]:
    tally = Tally()
    for at, values in uses:
        tally.add(at, values)
    return values_of(tally, overrides)


def persona(*values: str, days_apart: float = 0, override: FieldOverride | None = None) -> DefaultValue | None:
    found = learned_defaults(uses(*values, days_apart=days_apart), () if override is None else (override,))
    return next(iter(found), None)


def test_a_value_must_have_been_used_twice() -> None:
    assert persona("a") is None
    assert persona("a", "b", "c") is None
    found = persona("a", "b", "a")
    assert found is not None
    assert (found.value, found.count, found.others) == ("a", 2, ("b",))


def test_recent_uses_count_more() -> None:
    found = persona("a", "a", "a", "b", "b", days_apart=10)
    assert found is not None
    assert (found.value, found.count) == ("b", 2)
    assert 0.7 < found.share < 0.9


def test_a_pin_stands_whatever_is_learned_and_an_exclusion_says_nothing() -> None:
    pinned = persona("a", "a", override=FieldOverride(LearnedField.PERSONA, excluded=False, value="z"))
    assert pinned is not None
    assert (pinned.value, pinned.count, pinned.share, pinned.pinned, pinned.others) == ("z", 0, 0.0, True, ("a",))
    excluded = persona("a", "a", override=FieldOverride(LearnedField.PERSONA, excluded=True, value=None))
    assert excluded is not None
    assert (excluded.value, excluded.excluded, excluded.others) == (None, True, ())
    unread = persona("a", "a", override=FieldOverride(LearnedField.PERSONA, excluded=False, value=None))
    assert unread is not None
    assert (unread.value, unread.pinned) == ("a", False), "a pin that cannot be read does not hide what is learned"


@given(
    st.lists(
        st.tuples(st.datetimes(timezones=st.just(UTC)), st.sampled_from("abcdefghijklmnop")), min_size=1, max_size=40
    )
)
def test_shares_add_up_and_order_and_clocks_do_not_matter(made: list[tuple[datetime, str]]) -> None:
    every = [(at, {LearnedField.THEME: value}) for at, value in made]
    found = learned_defaults(every)
    assert found == learned_defaults(every[::-1]) or [one.value for one in found] == [
        one.value for one in learned_defaults(every[::-1])
    ]
    for value in found:
        assert value.count >= 2
        assert 0 < value.share <= 1 + 1e-9
        assert value.value not in value.others
        assert len(value.others) <= OTHERS
        assert sum(one == value.value for _, one in made) == value.count


@pytest.mark.parametrize(
    "text", ["all", "packs", "pipelines", "pack:web.scrape", "pipeline:builtin.sample", "entry:mem_1"]
)
def test_the_vocabulary_of_scopes(text: str) -> None:
    parse_scope(text)


@given(st.text(max_size=300))
def test_nothing_else_is_a_scope(text: str) -> None:
    known = text in ("all", "packs", "pipelines") or text.startswith(("pack:", "pipeline:", "entry:"))
    if not known:
        with pytest.raises(ScopeError):
            parse_scope(text)
