from __future__ import annotations

from typing import Any

import pytest

from runner.definitions.inputs import (
    check_inputs,
    declared_optional,
    derive_input_schema,
    inner_default_issues,
    run_title,
    url_credential_issues,
    with_defaults,
)
from runner.definitions.parsing import parse_definition
from runner.issues import MAX_ISSUES, Hint
from runner.templates.templating import compile_template
from tests.support.checked_packs import Packs
from tests.support.effort import at_most

SCHEMA = {
    "type": "object",
    "required": ["url"],
    "properties": {
        "url": {"type": "string", "format": "uri", "description": "Page to turn into slides"},
        "count": {"type": "integer", "default": 3},
        "style": {
            "type": "object",
            "properties": {"theme": {"type": "string"}, "font": {"type": "string"}},
            "required": ["font"],
        },
    },
}


def derived(*inputs, pack="slides.render"):
    steps = [{"id": f"s{index}", "pack": pack, "input": value} for index, value in enumerate(inputs)]
    definition, issues = parse_definition({"name": "x", "steps": steps})
    assert issues == []
    return derive_input_schema(definition, Packs())


def told(inputs, schema=SCHEMA):
    return [(".".join(issue.path), issue.rule) for issue in check_inputs(schema, inputs)]


class TestDeriving:
    def test_takes_the_schema_of_the_field_an_input_flows_into(self):
        schema = derived({"url": "${{ inputs.page }}", "timeout": "${{ inputs.wait }}"}, pack="web.scrape")
        assert schema == {
            "type": "object",
            "properties": {
                "page": {"type": "string", "format": "uri", "description": "Page to read."},
                "wait": {"type": "integer", "default": 10},
            },
            "required": ["page"],
            "additionalProperties": False,
        }

    def test_text_when_it_is_only_put_into_texts(self):
        schema = derived({"markdown": "# ${{ inputs.topic }} ${{ inputs.note? }}"})
        assert schema["properties"] == {"topic": {"type": "string"}, "note": {"type": "string"}}
        assert schema["required"] == ["topic"]

    def test_optional_when_no_use_fails_without(self):
        schema = derived(
            {"markdown": '${{ inputs.a | default("x") }}', "title": "${{ inputs.b }}", "width": "${{ inputs.c }}"},
            {
                "markdown": "${{ inputs.a? }}",
                "title": "${{ inputs.b }}",
                "slides": [{"text": "x", "level": "${{ inputs.c }}"}],
            },
        )
        assert schema["required"] == []
        assert derived({"markdown": "x", "title": "${{ inputs.b }}"}, {"markdown": "${{ inputs.b }}"})["required"] == [
            "b"
        ]
        assert derived({"markdown": "x", "slides": ["${{ inputs.s }}"]})["required"] == ["s"]

    def test_the_stricter_of_several_uses(self):
        schema = derived({"markdown": "${{ inputs.t }}", "title": "${{ inputs.t }}"})
        assert schema["properties"]["t"] == {"type": "string", "minLength": 1, "maxLength": 100_000}
        both = derived({"markdown": "${{ inputs.t }}", "width": "${{ inputs.t }}"})["properties"]["t"]
        assert {branch["type"] for branch in both["allOf"]} == {"string", "integer"}

    def test_a_default_stays_only_where_absence_means_it(self):
        whole, text = {"markdown": "x", "width": "${{ inputs.w }}"}, {"markdown": "${{ inputs.w }}px"}
        assert derived(whole)["properties"]["w"] == {"type": "integer", "default": 3}
        assert derived(whole, text)["properties"]["w"] == {"type": "integer"}
        assert "default" not in derived({"markdown": "x", "title": "${{ inputs.t }}"})["properties"]["t"]

    def test_paths_into_an_input_make_it_an_object_or_list(self):
        schema = derived(
            {
                "markdown": "${{ inputs.doc.body }}",
                "width": "${{ inputs.doc.size[0] }}",
                "title": "${{ inputs.doc.t? }}",
            }
        )
        document = schema["properties"]["doc"]
        assert document["type"] == "object"
        assert document["required"] == ["body"]
        assert document["properties"]["size"] == {"type": "array", "items": {"type": "integer"}}

    def test_anything_when_nothing_can_be_told(self):
        assert derived({"a": "${{ inputs.x }}"}, pack="no.pack")["properties"] == {"x": {}}

    def test_a_derived_schema_takes_what_the_packs_take(self):
        schema = derived({"markdown": "${{ inputs.m }}", "format": "${{ inputs.f }}", "slides": "${{ inputs.s }}"})
        assert told({"m": "x", "f": "pptx", "s": [{"text": "a"}]}, schema) == []
        assert told({"m": "", "f": "x", "s": [{"txt": "a"}]}, schema) == [
            ("f", "not_allowed"),
            ("m", "too_short"),
            ("s.0.text", "required"),
            ("s.0.txt", "unknown_field"),
        ]


class TestChecking:
    def test_fitting_inputs_pass(self):
        assert told({"url": "https://example.org", "style": {"font": "x"}}) == []

    def test_all_problems_are_told(self):
        assert told({"ulr": "x", "count": "3", "style": {}}) == [
            ("ulr", "undeclared_input"),
            ("count", "wrong_type"),
            ("style.font", "required"),
            ("url", "required"),
        ]

    def test_a_missing_input_is_named_with_its_purpose(self):
        (issue,) = check_inputs(SCHEMA, {})
        assert "`url`" in issue.message
        assert "Page to turn into slides" in str(issue.hint)

    def test_of_many_undeclared_inputs_the_first_are_told_each_with_the_nearest_of_many_names(self):
        schema = {"type": "object", "properties": {f"field_of_{number}": {} for number in range(500)}}
        issues = check_inputs(schema, {f"feild_of_{number}": 1 for number in range(300, 400)})
        assert len(issues) == MAX_ISSUES
        assert issues[7].hint == Hint(closest="field_of_307")

    def test_an_undeclared_input_gets_the_nearest_name(self):
        (issue,) = check_inputs(SCHEMA, {"url": "https://a.b", "Count": 1})
        assert issue.hint == Hint(closest="count")
        (issue,) = check_inputs({"type": "object", "additionalProperties": True}, {"x": 1})
        assert (issue.rule, issue.hint) == ("undeclared_input", Hint("It takes no inputs."))

    def test_nothing_is_coerced(self):
        assert told({"url": "https://a.b", "count": 3.5}) == [("count", "wrong_type")]
        assert told({"url": "https://a.b", "count": True}) == [("count", "wrong_type")]

    @pytest.mark.parametrize("text", ["{{REPO_URL}}", " {{ REPO_URL }}\n", "{{A}}", "{{API_KEY_2}}"])
    def test_a_placeholder_is_refused_by_name(self, text):
        assert ("count", "placeholder") in told({"url": "https://a.b", "count": text})
        (issue,) = check_inputs(SCHEMA, {"url": "https://a.b", "style": {"font": "x", "theme": text}})
        assert issue.path == ("style", "theme")
        assert "placeholder" in issue.message

    @pytest.mark.parametrize(
        "text", ["{{repo}}", "see {{REPO_URL}}", "{{}}", "{{A}}{{B}}", "{{A B}}", "${{ inputs.x }}"]
    )
    def test_other_braces_are_text(self, text):
        assert told({"url": "https://a.b", "style": {"font": text}}) == []

    @pytest.mark.parametrize("inputs", [None, [], "x", 3])
    def test_inputs_are_an_object(self, inputs):
        assert told(inputs) == [("", "wrong_type")]

    def test_what_is_refused_everywhere_is_refused_here(self):
        assert told({"url": "a\0"}) == [("url", "forbidden_text")]
        assert told({"url": "\ud800"}) == [("url", "forbidden_text")]
        assert told({"count": 1 << 64}) == [("count", "integer_too_large")]


class TestCredentialsInUrls:
    URL = "https://me:secret@git.example/"

    def test_values_and_keys_are_refused_and_not_quoted(self):
        issues = url_credential_issues({"url": self.URL, "deep": [{"a": self.URL}, {self.URL: {"b": self.URL}}]})
        assert [(issue.path, issue.message) for issue in issues] == [
            (("deep", "0", "a"), "The input `deep.0.a` is a URL that contains credentials."),
            (("deep", "1"), "A key of the input `deep.1` is a URL that contains credentials."),
            (("url",), "The input `url` is a URL that contains credentials."),
        ]

    def test_a_default_that_would_fill_in_is_refused(self):
        def schema(**more: Any) -> dict[str, Any]:
            return {"type": "object", "properties": {"url": {"type": "string", "default": self.URL, **more}}}

        (issue,) = check_inputs(schema(), {})
        assert (issue.path, issue.rule) == (("url",), "url_credentials")
        assert issue.message == "The default of the input `url` is a URL that contains credentials."
        assert check_inputs(schema(), {"url": "https://git.example/"}) == []
        inner = {"type": "object", "properties": {"deep": schema(), "list": {"type": "array", "items": schema()}}}
        assert {issue.path for issue in check_inputs(inner, {"deep": {}, "list": [{}]})} == {
            ("deep", "url"),
            ("list", "0", "url"),
        }

    def test_an_input_as_a_whole_has_no_name(self):
        assert [
            issue.message for issue in (*url_credential_issues(self.URL), *url_credential_issues({self.URL: 1}))
        ] == [
            "The input is a URL that contains credentials.",
            "A key of the input is a URL that contains credentials.",
        ]


class TestDefaults:
    def test_only_what_declares_one_is_filled_in(self):
        given = {"url": "u"}
        assert with_defaults(SCHEMA, given) == {"url": "u", "count": 3}
        assert with_defaults(SCHEMA, {"url": "u", "count": None}) == {"url": "u", "count": None}
        assert given == {"url": "u"}


class TestDeclaredOptional:
    def test_follows_the_schema_as_deep_as_it_goes(self):
        optional = declared_optional(SCHEMA)
        assert [
            optional(path)
            for path in [("count",), ("url",), ("other",), ("style", "theme"), ("style", "font"), ("style", "x")]
        ] == [
            True,
            False,
            False,
            True,
            False,
            False,
        ]

    def test_drives_templates(self):
        template = compile_template({"a": "${{ inputs.style.theme }}", "b": "<${{ inputs.count }}>"})
        resolved = template.resolve({"url": "u", "style": {"font": "f"}}, {}, declared_optional(SCHEMA))
        assert resolved.value == {"b": "<>"}
        assert resolved.note == "Not set, because they had no value: a, ${{ inputs.count }} in b."


class TestTitle:
    @pytest.mark.parametrize(
        ("inputs", "title"),
        [
            ({}, "Deck"),
            ({"count": 3, "flag": True}, "Deck"),
            ({"audience": "devs", "url": "https://a.b/c"}, "Deck: https://a.b/c"),
            ({"audience": "  two\n lines "}, "Deck: two lines"),
            ({"audience": "Ada <ada@b.c>", "markdown": "# A"}, "Deck: Ada <ada@b.c>"),
            ({"text": "a < b, c > d - #1 * 2"}, "Deck: a < b, c > d - #1 * 2"),
            ({"title": "Vec<String> in 10 minutes"}, "Deck: Vec<String> in 10 minutes"),
            ({"text": "<!DOCTYPE html><title>Tea</title>"}, "Deck"),
            ({"html": "\n<p class='x'>Tea", "audience": "devs"}, "Deck"),
            ({"markdown": "# Tea\n\nIt is hot."}, "Deck"),
            ({"markdown": "Some tea:\n\n- black\n- green"}, "Deck"),
            ({"text": "See [the pot](https://a.b)."}, "Deck"),
            ({"text": "It is **hot**."}, "Deck"),
            ({"text": "| a | b |\n|---|---|"}, "Deck"),
            ({"text": "<p>One<p>Two"}, "Deck"),
            ({"text": "```\nx"}, "Deck"),
            ({"text": "- buy milk"}, "Deck: - buy milk"),
            ({"text": "# Fix bug 12"}, "Deck: # Fix bug 12"),
            ({"text": "Explain **kwargs in Python"}, "Deck: Explain **kwargs in Python"),
            ({"text": "Pass **a and **b on"}, "Deck: Pass **a and **b on"),
            ({"text": "Center a <div> in CSS"}, "Deck: Center a <div> in CSS"),
            ({"text": "---\ntitle: Tea\n---\n"}, "Deck"),
        ],
    )
    def test_tells_runs_apart(self, inputs, title):
        assert run_title("Deck", inputs) == title

    def test_is_one_short_line(self):
        title = run_title("Deck", {"text": "word " * 100_000})
        assert len(title) <= 120
        assert title.endswith("…")


def doubling(keyword):
    """Definitions each of which refers to the next one twice, and the schema of 200 fields with a default over them."""

    def twice(number):
        two = [{"$ref": f"#/$defs/d{number + 1}"}] * 2
        return {"allOf": two} if keyword == "allOf" else {"properties": dict(zip("ab", two, strict=True))}

    fields = {f"f{number}": {"$ref": "#/$defs/d0", "default": {"a": {"b": number}}} for number in range(200)}
    definitions = {f"d{number}": twice(number) for number in range(20)} | {"d20": {"type": "object"}}
    return {"type": "object", "properties": {"x": {"properties": fields}}, "$defs": definitions}


class TestInnerDefaults:
    def test_are_checked_by_their_part_of_the_schema_without_a_copy_of_what_it_refers_to(self):
        schema = doubling("properties")
        schema["$defs"]["d2"] = {"type": "integer", "maximum": 198}
        with at_most(200_000):
            issues = inner_default_issues(schema)
        assert [(issue.path, issue.rule) for issue in issues] == [
            (("properties", "x", "properties", "f199", "default", "a", "b"), "out_of_range")
        ]
        with at_most(200_000):
            assert inner_default_issues(doubling("properties")) == []
            assert check_inputs(doubling("properties"), {"x": {}}) == []

    def test_share_a_budget_that_is_used_up_once(self):
        (issue,) = inner_default_issues(doubling("allOf"))
        assert (issue.rule, issue.path[-1]) == ("schema_too_complex", "default")
