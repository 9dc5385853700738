from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.issues import Hint
from runner.packs.schemas import pack_schemas
from runner.schemas.admission import MAX_PATTERNS, check_schema
from runner.schemas.formats import is_of_format
from runner.schemas.shapes import ABSENT, OPEN, field_schema, fits
from runner.schemas.validation import compile_schema
from tests.support.checked_packs import render, scrape
from tests.support.effort import at_most


def told(schema, value):
    return [(".".join(issue.path), issue.rule, issue.message) for issue in compile_schema(schema).issues(value)]


def message(schema, value):
    ((_, _, text),) = told(schema, value)
    return text


@pytest.mark.parametrize("kind", ["null", "boolean", "integer", "number", "string", "array", "object"])
def test_the_type_of_a_property_is_checked_like_any_other(kind):
    for value in (None, True, 1, 1.0, 1.5, "x", [], {}):
        schema = {"type": kind, "title": "A title", "default": None}
        inside = told({"type": "object", "properties": {"a": schema}}, {"a": value})
        assert [rule for _, rule, _ in inside] == [rule for _, rule, _ in told(schema, value)]
        assert all(path == "a" for path, _, _ in inside)


def test_alternatives_of_required_fields_are_named():
    one = {"type": "object", "oneOf": [{"required": ["url"]}, {"required": ["name", "size"]}, {"required": ["text"]}]}
    some = {"properties": {"file": {"anyOf": one["oneOf"][:2]}}}
    assert told(one, {}) == [("", "required", "Give `url`, `name` with `size` or `text`.")]
    assert told(one, {"url": "u", "text": "t"}) == [
        ("", "wrong_type", "Give only one of `url`, `name` with `size` and `text`.")
    ]
    assert told(some, {"file": {"name": "n"}}) == [
        ("file", "required", "`file` must have `url` or `name` with `size`.")
    ]
    assert told(one, "text")[0][1] == "wrong_type"
    mixed = {"anyOf": [{"required": ["url"]}, {"required": ["text"], "properties": {"size": {"type": "integer"}}}]}
    assert "fits none of the forms allowed" in message(mixed, {"size": "big"})


class TestForeignSchemas:
    def test_ordinary_ones_pass(self):
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "pattern": "^[a-z]+$"},
                "$ref": {"const": {"$ref": "http://data.example"}},
                "list": {"items": {"$ref": "#/$defs/Item"}},
            },
            "$defs": {"Item": {"enum": ["(?=x)"]}},
        }
        assert check_schema(schema) == []
        assert check_schema(True) == []

    @pytest.mark.parametrize(
        ("schema", "path", "rule"),
        [
            ([], "", "invalid_schema"),
            ({"type": "strin"}, "type", "invalid_schema"),
            ({"properties": {"a": {"minLength": -1}}}, "properties.a.minLength", "invalid_schema"),
            ({"properties": {"a": {"required": "a"}}}, "properties.a.required", "invalid_schema"),
            ({"$ref": "https://example.org/s.json"}, "$ref", "remote_reference"),
            ({"items": {"$ref": "file:///etc/passwd"}}, "items.$ref", "remote_reference"),
            ({"$ref": "#/$defs/Nope"}, "$ref", "unknown_reference"),
            ({"$dynamicRef": "#x"}, "$dynamicRef", "unsupported_schema"),
            ({"pattern": "(?=a)b"}, "pattern", "unsafe_pattern"),
            ({"pattern": r"(a)\1"}, "pattern", "unsafe_pattern"),
            ({"pattern": "("}, "pattern", "unsafe_pattern"),
            ({"pattern": "a{1000}{1000}"}, "pattern", "unsafe_pattern"),
            ({"patternProperties": {"(?!a)": {}}}, "patternProperties.(?!a)", "unsafe_pattern"),
            ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "", "unsupported_schema"),
            ({"description": "x" * 70_000}, "", "schema_too_large"),
            ({"const": "a\0"}, "const", "forbidden_text"),
        ],
    )
    def test_others_are_refused_with_their_place(self, schema, path, rule):
        issues = check_schema(schema)
        assert (path, rule) in [(".".join(issue.path), issue.rule) for issue in issues]
        assert all(issue.severity == "error" for issue in issues)

    def test_an_unknown_format_is_a_warning(self):
        (issue,) = check_schema({"format": "datetime"})
        assert (issue.severity, issue.rule, issue.hint) == ("warning", "unknown_format", Hint(closest="date-time"))

    def test_deep_ones_are_refused(self):
        schema: dict[str, object] = {}
        for _ in range(5_000):
            schema = {"items": schema}
        assert [issue.rule for issue in check_schema(schema)] == ["too_deep"]

    def test_patterns_are_bounded_in_number_since_each_may_take_10_mb(self):
        def patterned(patterns):
            return {"properties": {f"p{index}": {"pattern": text} for index, text in enumerate(patterns)}}

        assert check_schema(patterned([f"a{number}" for number in range(MAX_PATTERNS)] * 2)) == []
        issues = check_schema(patterned([f"a{number}" for number in range(MAX_PATTERNS + 1)]))
        assert [issue.rule for issue in issues] == ["too_many_patterns"]
        refused = check_schema(patterned(["("] * 20))
        assert [issue.rule for issue in refused] == ["unsafe_pattern"] * 5


class TestMessages:
    @pytest.mark.parametrize(
        ("schema", "value", "text"),
        [
            ({"type": "string"}, 3, "The value is 3; it must be text."),
            ({"type": ["string", "null"]}, [], "The value is an empty list; it must be text or null."),
            ({"enum": ["pdf", "pptx"]}, "pfd", 'The value is "pfd"; it must be one of "pdf", "pptx".'),
            ({"const": 1}, 2, "The value is 2; it must be 1."),
            ({"minLength": 1}, "", "The value is empty."),
            ({"maxLength": 2}, "abc", "The value has 3 characters; at most 2 are allowed."),
            ({"minItems": 1}, [], "The value has 0 entries; at least 1 are needed."),
            ({"maximum": 5}, 6, "The value is 6; it must be at most 5."),
            ({"exclusiveMinimum": 0}, 0, "The value is 0; it must be more than 0."),
            ({"multipleOf": 5}, 6, "The value is 6; it must be a multiple of 5."),
            ({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}], "The value contains the same entry twice."),
            ({"pattern": "^a+$"}, "b", 'The value is "b"; it must match the pattern "^a+$".'),
            ({"format": "uri"}, "x", 'The value is "x"; it must be a URL such as https://example.org/page.'),
            (
                {"format": "uri"},
                "http://a:0",
                'The value is "http://a:0"; it must be a URL such as https://example.org/page: '
                "port 0 is not within 1 to 65535.",
            ),
            (
                {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "x",
                'The value is "x"; it must be a whole number or null.',
            ),
            ({"not": {"type": "string"}}, "x", "The value breaks the rule `not` of its schema."),
            (False, 1, "The value is not allowed."),
        ],
    )
    def test_are_sentences(self, schema, value, text):
        assert message(schema, value) == text

    def test_all_errors_are_told_with_their_paths(self):
        schema = pack_schemas(render).input
        found = told(schema, {"slides": [{"text": 1, "txt": 2}, {}], "format": "x", "tilte": "y"})
        assert [(path, rule) for path, rule, _ in found] == [
            ("format", "not_allowed"),
            ("markdown", "required"),
            ("slides.0.text", "wrong_type"),
            ("slides.0.txt", "unknown_field"),
            ("slides.1.text", "required"),
            ("tilte", "unknown_field"),
        ]
        hints = {issue.path[-1]: issue.hint for issue in compile_schema(schema).issues({"markdown": "m", "tilte": 1})}
        assert hints == {"tilte": Hint(closest="title")}

    def test_an_alternative_that_fits_by_type_speaks_for_itself(self):
        schema = {
            "anyOf": [
                {"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}},
                {"type": "null"},
            ]
        }
        assert told(schema, {"url": 1}) == [("url", "wrong_type", "`url` is 1; it must be text.")]
        assert told(schema, {})[0][:2] == ("url", "required")

    def test_a_missing_name_with_a_quote_is_named(self):
        assert told({"required": ["it's"]}, {})[0][0] == "it's"

    def test_true_is_not_one_and_one_is_not_true(self):
        assert told({"type": "integer"}, True)
        assert told({"enum": [1]}, True)
        assert told({"uniqueItems": True}, [1, True]) == []

    def test_at_most_50_are_told(self):
        assert len(told({"items": {"type": "string"}}, [1] * 1000)) == 50


class TestCost:
    def bounded(self, schema, value, rules):
        with at_most(calls=10_000_000):
            assert [rule for _, rule, _ in told(schema, value)] == rules

    def test_patterns_cannot_backtrack(self):
        self.bounded({"pattern": "^(a+)+$"}, "a" * 100_000 + "b", ["wrong_format"])
        self.bounded(
            {"patternProperties": {"^(a+)+$": False}, "additionalProperties": False},
            {"a" * 50_000 + "b": 1},
            ["unknown_field"],
        )

    def test_references_cannot_multiply(self):
        definitions = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}
        bomb = {"$defs": definitions, "$ref": "#/$defs/d0"}
        self.bounded(bomb, 1, ["schema_too_complex"])
        with at_most(calls=10_000_000):
            field_schema(bomb, ("a",))
            fits(bomb, bomb)

    def test_references_may_go_in_circles(self):
        loop = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
        self.bounded(loop, 1, ["schema_too_complex"])
        tree = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
        assert told(tree, {"next": {"next": {"nxt": 1}}})[0][:2] == ("next.next.nxt", "unknown_field")
        assert field_schema(tree, ("next", "next", "next")) in (OPEN, {})

    def test_large_lists_are_compared_in_one_pass(self):
        self.bounded({"uniqueItems": True}, [{"a": n} for n in range(30_000)], [])

    def test_alternatives_cannot_multiply_in_a_comparison(self):
        schema: dict[str, object] = {"type": "string", "enum": ["x"]}
        for _ in range(12):
            schema = {"type": "array", "items": {"anyOf": [schema, {"type": "array", "items": schema}, schema]}}
        with at_most(calls=10_000_000):
            fits(schema, schema)

    def test_jsonschema_is_not_imported_before_the_first_check(self):
        code = (
            "import sys, runner.definitions.check, runner.definitions.inputs, runner.resuming.plan\n"
            "import runner.running.retry\n"
            "from runner.definitions.parsing import parse_definition\n"
            "parse_definition({'name': 'x', 'inputs': {'properties': {}}, 'steps': [{'id': 'a', 'pack': 'b.c'}]})\n"
            "assert not {'jsonschema', 'ruamel.yaml'} & set(sys.modules), 'imported at start'\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class TestFormats:
    @pytest.mark.parametrize(
        ("name", "good", "bad"),
        [
            (
                "uri",
                [
                    *("https://example.org/a?b#c", "mailto:a@b.c", "http://[::1]:8080/"),
                    *("https://ü.de/ä b|c", " <https://a.example> ", "urn:isbn:1"),
                ],
                [
                    "x",
                    "http://",
                    "https://a b",
                    "http://a:99999",
                    "http://a:0",
                    "//x",
                    "mailto:ü@b.c",
                    "ftp://",
                    "bob:secret@git.example",
                ],
            ),
            ("iri", ["https://ü.de/ä", "mailto:ü@b.c"], ["ü"]),
            ("uri-reference", ["/a", "#b", "x"], ["a b"]),
            (
                "email",
                ["a.b+c@example.org", "a@müller.de"],
                ["a", "@b.c", "a@", "a b@c.d", "a@b@c.d", "a..b@c.d", "a@-b.c"],
            ),
            ("date", ["2024-02-29"], ["2023-02-29", "2023-2-9", "20230209", "x"]),
            ("time", ["10:00:00Z", "10:00:00.5+02:00"], ["10:00", "25:00:00Z"]),
            (
                "date-time",
                ["2024-01-31T10:00:00Z", "2024-01-31t10:00:00.123456789z"],
                ["2024-01-31", "2024-01-31T10:00:00", "2024-13-01T10:00:00Z"],
            ),
            ("duration", ["P1D", "PT1H30M", "P2W", "PT0.5S"], ["P", "PT", "1D", "P1H"]),
            ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "x"]),
            ("ipv4", ["127.0.0.1", "0.0.0.0"], ["127.0.0.256", "1"]),
            ("ipv6", ["::1", "::"], ["1.2.3.4", ":::"]),
            ("hostname", ["a-b.example"], ["-a", "a_b", "", "a" * 64]),
            ("idn-hostname", ["faß.example", "a-b.example"], ["☃.example", "a b", ""]),
            ("json-pointer", ["", "/a~0b/c"], ["a", "/~2"]),
            ("regex", ["^a$"], ["(?=a)", "["]),
            ("nobody-knows", ["anything"], []),
        ],
    )
    def test_are_asserted(self, name, good, bad):
        assert [text for text in good if not is_of_format(text, name)] == []
        assert [text for text in bad if is_of_format(text, name)] == []

    @given(st.text(max_size=30))
    def test_never_raise(self, text):
        for name in ("uri", "email", "date-time", "idn-hostname", "ipv6", "regex", "duration", "json-string", "uuid"):
            assert is_of_format(text, name) in (True, False)


class TestFieldSchema:
    OUTPUT = pack_schemas(scrape).output

    @pytest.mark.parametrize(
        ("path", "type_"),
        [(("markdown",), "string"), (("links",), "array"), (("links", 3), "object"), (("links", 0, "href"), "string")],
    )
    def test_finds_the_schema_of_a_field(self, path, type_):
        found = field_schema(self.OUTPUT, path)
        assert isinstance(found, dict)
        assert found["type"] == type_

    @pytest.mark.parametrize(
        ("path", "answer"),
        [
            (("markdwn",), ABSENT),
            (("markdown", "x"), ABSENT),
            (("markdown", 0), ABSENT),
            (("links", "href"), ABSENT),
            (("links", 0, "hrf"), ABSENT),
            (("title", "x"), ABSENT),
            (("raw", "x", 0), OPEN),
        ],
    )
    def test_tells_absent_from_open(self, path, answer):
        assert field_schema(self.OUTPUT, path) is answer

    def test_reads_json_schema_at_large(self):
        assert field_schema({"type": "object", "properties": {"a": {}}}, ("b",)) is OPEN
        assert field_schema({"additionalProperties": {"type": "integer"}}, ("b",)) == {"type": "integer"}
        assert field_schema({"additionalProperties": False, "patternProperties": {"^x": {}}}, ("b",)) is OPEN
        assert field_schema({"prefixItems": [{"type": "string"}], "items": False}, (1,)) is ABSENT
        assert field_schema({"prefixItems": [{"type": "string"}], "items": False}, (0,)) == {"type": "string"}
        assert field_schema({"allOf": [{"properties": {"a": {"const": 1}}}, {}]}, ("a",)) == {"const": 1}
        either = {"anyOf": [{"properties": {"a": {"const": 1}}, "additionalProperties": False}, {"type": "null"}]}
        assert field_schema(either, ("a",)) == {"const": 1}
        assert field_schema(either, ("b",)) is ABSENT
        assert field_schema({"anyOf": [{"properties": {"a": {"const": 1}}}, {}]}, ("a",)) is OPEN
        assert field_schema(True, ("a",)) is OPEN

    def test_a_property_may_be_called_like_a_keyword(self):
        schema = {
            "properties": {"default": {"$ref": "#/$defs/X"}, "$defs": {"type": "null"}},
            "$defs": {"X": {"type": "integer"}},
        }
        assert field_schema(schema, ("default",)) == {"type": "integer"}
        assert field_schema(schema, ("$defs",)) == {"type": "null"}


TEXT, WHOLE, NUMBER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "null"}


class TestFits:
    @pytest.mark.parametrize(
        ("producer", "consumer", "answer"),
        [
            (TEXT, TEXT, "yes"),
            (TEXT, WHOLE, "no"),
            (WHOLE, NUMBER, "yes"),
            (NUMBER, WHOLE, "unknown"),
            (TEXT, {}, "yes"),
            ({}, TEXT, "unknown"),
            (True, {"description": "anything"}, "yes"),
            (TEXT, {"anyOf": [TEXT, NULL]}, "yes"),
            ({"anyOf": [TEXT, NULL]}, TEXT, "unknown"),
            ({"anyOf": [TEXT, NULL]}, {"anyOf": [NULL, TEXT]}, "yes"),
            ({"anyOf": [TEXT, NULL]}, {"anyOf": [WHOLE, {"type": "boolean"}]}, "no"),
            ({"type": ["string", "null"]}, TEXT, "unknown"),
            (TEXT, {"type": "string", "maxLength": 3}, "yes"),
            (TEXT, {"type": "string", "format": "uri"}, "yes"),
            ({"type": "string", "format": "date"}, {"type": "string", "format": "uri"}, "unknown"),
            (TEXT, {"enum": ["a", "b"]}, "unknown"),
            ({"enum": ["a"]}, {"enum": ["a", "b"]}, "yes"),
            ({"enum": ["a", "c"]}, {"enum": ["a", "b"]}, "unknown"),
            ({"const": "c"}, {"enum": ["a", "b"], "type": "string"}, "no"),
            ({"const": 1}, {"enum": [True]}, "no"),
            ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT}, "yes"),
            ({"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}, "no"),
            ({"type": "array"}, {"type": "array", "items": WHOLE}, "unknown"),
            ({"type": "array", "items": TEXT}, TEXT, "no"),
            ({"allOf": [TEXT, {"maxLength": 3}]}, WHOLE, "no"),
            ({"allOf": [TEXT]}, {"allOf": [TEXT]}, "yes"),
        ],
    )
    def test_types(self, producer, consumer, answer):
        assert fits(producer, consumer) == answer

    def test_objects(self):
        def thing(required, additional=None, **properties):
            schema = {"type": "object", "properties": properties, "required": required}
            return schema if additional is None else {**schema, "additionalProperties": additional}

        closed = thing(["a"], False, a=TEXT)
        assert fits(closed, closed) == "yes"
        assert fits(thing([], False, a=TEXT), closed) == "unknown"
        assert fits(thing([], False), closed) == "no"
        assert fits(thing(["a"], False, a=WHOLE), closed) == "no"
        assert fits(thing(["a"], a=TEXT), closed) == "unknown"
        assert fits(thing(["a", "b"], False, a=TEXT, b=TEXT), closed) == "no"
        assert fits(thing(["a", "b"], False, a=TEXT, b=TEXT), thing(["a"], a=TEXT)) == "yes"

    def test_references_are_followed(self):
        assert fits({"$ref": "#/$defs/T", "$defs": {"T": TEXT}}, {"$ref": "#/$defs/N", "$defs": {"N": NUMBER}}) == "no"
