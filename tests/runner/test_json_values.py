from __future__ import annotations

import pytest

from runner.json_values import MAX_DEPTH, DocumentError, canonical_json, comparable_json, forbidden_text


class TestCanonicalJson:
    def test_is_the_same_for_equal_values(self):
        assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"é"]}'

    @pytest.mark.parametrize("value", ["\ud800", 1 << 64, {"a": -(1 << 63) - 1}])
    def test_refuses_what_json_cannot_hold(self, value):
        with pytest.raises(DocumentError):
            canonical_json(value)

    def test_keeps_integers_exact_to_64_bits(self):
        assert canonical_json([2**64 - 1, -(2**63)]) == "[18446744073709551615,-9223372036854775808]"


class TestComparableJson:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (-0.0, "0"),
            ([1.0, -3e2, 2.0**63], "[1,-300,9223372036854775808]"),
            ({"a": {"b": [1e0, "1.0"]}, "c": True}, '{"a":{"b":[1,"1.0"]},"c":true}'),
            ([2**53 + 1, 2.0**53], "[9007199254740993,9007199254740992]"),
            ([1.5, 1e-7, 2.0**64, 1e300], "[1.5,1e-7,1.8446744073709552e+19,1e+300]"),
        ],
    )
    def test_equal_numbers_look_alike(self, value, text):
        assert comparable_json(value) == text

    def test_is_canonical_json_where_all_numbers_are_integers(self):
        value = {"text": "[1.0, 2.0]", "n": [1, 2]}
        assert comparable_json(value) == canonical_json(value)


class TestForbiddenText:
    def test_passes_ordinary_values(self):
        assert forbidden_text({"a": [1, None, "ü", {"null": True}], "b": "\\u0000"}) == []

    @pytest.mark.parametrize(
        ("value", "path", "rule"),
        [
            ({"a": ["x\0y"]}, ("a", "0"), "forbidden_text"),
            ({"a\0": 1}, (), "forbidden_text"),
            ({"a": "\udfff"}, ("a",), "forbidden_text"),
            ({"a": 1 << 64}, ("a",), "integer_too_large"),
            ([float("nan")], ("0",), "not_a_number"),
            ({"n": None, "x": float("inf")}, ("x",), "not_a_number"),
            ({1: 2}, (), "key_not_text"),
            ({"a": {1, 2}}, ("a",), "not_json"),
        ],
    )
    def test_names_the_place(self, value, path, rule):
        assert [(issue.path, issue.rule) for issue in forbidden_text(value)] == [(path, rule)]

    def test_bounds_depth_without_recursing(self):
        def nested(levels):
            value = []
            for _ in range(levels - 1):
                value = [value]
            return value

        assert forbidden_text(nested(MAX_DEPTH)) == []
        assert [issue.rule for issue in forbidden_text(nested(MAX_DEPTH + 1))] == ["too_deep"]
        assert [issue.rule for issue in forbidden_text(nested(100_000))] == ["too_deep"]

    def test_tells_a_bounded_number_of_places(self):
        assert len(forbidden_text(["\0"] * 10_000)) == 50
