"""Where defaults of a schema count: what cannot be told is left alone, and no schema leads in circles."""

from __future__ import annotations

from typing import Any

import pytest

from runner.schemas.defaults import declared_defaults, filled

ONE = {"properties": {"n": {"default": 1}}}


@pytest.mark.parametrize(
    "inner",
    [
        {"anyOf": [ONE, {"properties": {"m": {"default": 2}}}]},
        {"oneOf": [{"type": "object", **ONE}, {"type": "object"}]},
        {"if": {"required": ["m"]}, "then": ONE},
        {**ONE, "if": {"required": ["n"]}, "then": {"required": ["m"]}},
        {**ONE, "not": {"required": ["n"]}},
        {**ONE, "oneOf": [{"required": ["n"]}, {"required": ["m"]}]},
        {**ONE, "dependentRequired": {"n": ["m"]}},
        {**ONE, "maxProperties": 1},
        {"patternProperties": {"^n$": {"default": 1}}},
        {"additionalProperties": {"default": 1}},
        {"anyOf": [{"type": "null"}, {"type": "array", "items": ONE}]},
        {"$ref": "#/$defs/nowhere"},
        {"properties": {"x": {"patternProperties": {"a": True}, "additionalProperties": ONE}}},
        True,
        False,
    ],
)
def test_what_cannot_be_told_is_left_alone(inner: Any) -> None:
    given = {"q": {"x": {"a": {}}}}
    assert filled({"properties": {"q": inner}}, given) == (given, [])


@pytest.mark.parametrize(
    "definition",
    [
        {"$ref": "#/$defs/a"},
        {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]},
        {"anyOf": [{"$ref": "#/$defs/a"}]},
        {"$ref": "#"},
    ],
)
def test_schemas_that_lead_in_circles_come_to_an_end(definition: Any) -> None:
    schema = {
        "$defs": {"a": {**definition, "properties": {"n": {"default": 1}}}},
        "properties": {"q": {"$ref": "#/$defs/a"}},
    }
    assert filled(schema, {"q": {}})[0] == {"q": {"n": 1}}
    assert [found.path for found in declared_defaults(schema)] == [("$defs", "a", "properties", "n")]


def test_the_place_wins_over_what_it_refers_to_and_what_is_given_over_both() -> None:
    schema = {
        "$defs": {"a": {"default": 1}},
        "properties": {"q": {"properties": {"n": {"$ref": "#/$defs/a", "default": 2}}}},
    }
    assert filled(schema, {"q": {}})[0] == {"q": {"n": 2}}
    assert filled(schema, {"q": {"n": None}})[0] == {"q": {"n": None}}


def test_nothing_that_was_given_is_changed() -> None:
    given = {"q": {"list": [{}]}}
    schema = {"properties": {"q": {"default": {}, "properties": {"list": {"items": ONE}}}}}
    assert filled(schema, given)[0] == {"q": {"list": [{"n": 1}]}}
    assert given == {"q": {"list": [{}]}}
    assert schema == {"properties": {"q": {"default": {}, "properties": {"list": {"items": ONE}}}}}
