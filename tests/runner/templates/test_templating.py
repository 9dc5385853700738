from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.failures import FailureCode
from runner.issues import Hint
from runner.templates.templating import TemplateError, compile_template, escape_text
from tests.support.effort import at_most

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30) | st.sampled_from(
    ["${{", "$${{", "$$${{", "}}", "${{ inputs.x }}", "$${{ inputs.x }}", "$", "{{A_B}}", "${{ inputs.x"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=10
)


def resolve(template, inputs=None, outputs=None, optional=frozenset()):
    compiled = compile_template(template)
    assert compiled.issues == ()
    return compiled.resolve(inputs or {}, outputs or {}, optional)


def value(template, inputs=None, outputs=None, optional=frozenset()):
    return resolve(template, inputs, outputs, optional).value


def failure(template, inputs=None, outputs=None, optional=frozenset()):
    with pytest.raises(TemplateError) as caught:
        value(template, inputs, outputs, optional)
    return caught.value


def syntax(text):
    (issue,) = compile_template({"a": text}).issues
    assert issue.rule == "template_syntax"
    assert issue.path == ("a",)
    return issue.message


class TestValues:
    @pytest.mark.parametrize("given_value", [1, 1.5, True, None, [1, {"a": 2}], {"b": []}, "text", -(2**63), 2**64 - 1])
    def test_a_whole_reference_keeps_the_type(self, given_value):
        result = value({"a": "${{ inputs.x }}"}, {"x": given_value})["a"]
        assert result == given_value
        assert type(result) is type(given_value)

    def test_paths_reach_fields_odd_names_and_positions(self):
        outputs = {"s": {"a": {"odd name }}": [[1, {"b-c": "x"}]]}}}
        assert value('${{ steps.s.output.a["odd name }}"][0][1].b-c }}', {}, outputs) == "x"
        assert value("${{steps.s.output}}", {}, outputs) == outputs["s"]
        assert value('${{ inputs["ü.x"] }}', {"ü.x": 3}) == 3

    def test_embedded_references_become_text(self):
        inputs = {"n": 3, "t": 'say "hi"', "o": {"b": 1, "a": [None, True]}, "f": 0.5}
        assert value("${{ inputs.n }}:${{ inputs.t }}:${{ inputs.o }}:${{ inputs.f }}", inputs) == (
            '3:say "hi":{"b":1,"a":[null,true]}:0.5'
        )

    @pytest.mark.parametrize("text", [" ${{ inputs.n }}", "${{ inputs.n }} ", "${{ inputs.n }}\n"])
    def test_surrounding_space_makes_it_embedded(self, text):
        assert value(text, {"n": 3}) == text.replace("${{ inputs.n }}", "3")

    def test_only_the_dollar_before_the_braces_is_special(self):
        assert value("$${{ inputs.x }} $$ $x ${x} {{x}}") == "${{ inputs.x }} $$ $x ${x} {{x}}"
        assert value("$$${{ x }}") == "$${{ x }}"
        assert value(["$${{", {"a": "$${{ ${{ inputs.n }}"}], {"n": 1}) == ["${{", {"a": "${{ 1"}]

    def test_keys_are_never_resolved(self):
        assert value({"${{ inputs.n }}": "${{ inputs.n }}"}, {"n": 1}) == {"${{ inputs.n }}": 1}

    def test_braces_inside_a_default_or_a_name_do_not_close(self):
        assert value('${{ inputs.x | default({"a": "}}"}) }}') == {"a": "}}"}
        assert value('<${{ inputs["}}"] | default("}}") }}>', {"}}": 1}) == "<1>"


class TestAbsence:
    def test_a_default_applies_when_absent_never_when_null(self):
        template = {"a": "${{ inputs.x.y | default([1]) }}", "b": "${{ steps.s.output[2] | default(null) }}"}
        assert value(template, {}, {"s": [0]}) == {"a": [1], "b": None}
        assert value(template, {"x": {"y": None}}, {"s": [0, 1, None]}) == {"a": None, "b": None}

    @pytest.mark.parametrize(
        ("suffix", "optional"),
        [("?", frozenset()), (" ?", frozenset()), ("", frozenset({"x"})), ("", lambda path: path == ("x",))],
    )
    def test_what_may_be_absent_is_dropped_blank_or_null_with_one_note(self, suffix, optional):
        ref = "${{ inputs.x" + suffix + " }}"
        result = resolve({"a": ref, "b": f"<{ref}>", "c": [1, ref], "d": {"e": [{"f": ref}]}}, {}, {}, optional)
        assert result.value == {"b": "<>", "c": [1, None], "d": {"e": [{}]}}
        assert result.note == f"Not set, because they had no value: a, {ref} in b, c.1 (null instead), d.e.0.f."

    def test_how_large_the_result_may_be_is_for_whoever_resolves(self):
        template = compile_template({"a": "${{ inputs.x }}", "b": "<${{ inputs.x }}>"})
        inputs = {"x": "y" * 600_000}
        with pytest.raises(TemplateError, match="limit is 1,048,576 bytes"):
            template.resolve(inputs, {})
        assert template.resolve(inputs, {}, limit_bytes=2 << 20).value["b"].endswith("y>")

    def test_the_note_names_the_first_places_and_counts_the_rest(self):
        result = resolve({f"f{number:02}": "${{ inputs.x? }}" for number in range(20)})
        assert result.note.endswith("f10, f11 and 8 more.")
        assert resolve({"a": "${{ inputs.x? }}", "b": 1}, {"x": 2}).note is None

    def test_an_optional_whole_input_is_null(self):
        assert value("${{ inputs.x? }}") is None

    def test_declared_optional_says_nothing_of_what_lies_deeper(self):
        error = failure({"a": "${{ inputs.x.y }}"}, {"x": {"z": 1}}, {}, frozenset({"x"}))
        assert "no field `y`" in error.reason
        assert value({"a": "${{ inputs.x.y }}"}, {"x": {}}, {}, lambda path: path == ("x", "y")) == {}

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("${{ inputs.nope }}", "no input `nope`"),
            ("${{ inputs.o.nam }}", "`inputs.o` has no field `nam`"),
            ("${{ inputs.l[2] }}", "`inputs.l` has only 2 items"),
            ("${{ inputs.o[0] }}", "`inputs.o` is an object, not a list"),
            ("${{ inputs.l.x }}", "`inputs.l` is a list, not an object"),
            ("${{ inputs.t.x }}", "`inputs.t` is text, not an object"),
            ("${{ inputs.z.x }}", "`inputs.z` is null, not an object"),
            ("${{ steps.s.output }}", "step `s` has no output yet"),
        ],
    )
    def test_everything_else_fails_loudly(self, text, reason):
        inputs = {"o": {"name": 1}, "l": [1, 2], "t": "x", "z": None}
        error = failure({"a": {"b": [f"-{text}"]}}, inputs)
        assert (error.path, error.expression) == (("a", "b", "0"), text)
        assert reason in error.reason
        assert error.failure.code is FailureCode.INVALID_INPUT
        assert error.failure.field == "a.b.0"
        assert text in error.failure.message

    def test_the_nearest_field_is_named(self):
        assert failure("${{ inputs.o.nam }}", {"o": {"name": 1}}).hint == Hint(closest="name")


class TestSyntax:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("${{", "begins with `inputs` or `steps`"),
            ("${{}}", "begins with `inputs` or `steps`"),
            ("${{ inputs.x", "never closed"),
            ("${{ inputs }}", "name of an input"),
            ("${{ inputs[0] }}", "name of an input"),
            ("${{ env.HOME }}", "`env` is neither"),
            ("${{ steps }}", "a step id"),
            ("${{ steps.a }}", "Only the `output` of step `a`"),
            ("${{ steps.a.outputs.x }}", "Only the `output`"),
            ("${{ inputs.x? | default(1) }}", "not both"),
            ("${{ inputs.x | default }}", "default(…)"),
            ("${{ inputs.x | upper }}", "default(…)"),
            ("${{ inputs.x | default(1 }}", "default(…)"),
            ("${{ inputs.x | default('a') }}", "not a JSON value"),
            ("${{ inputs.x | default(NaN) }}", "not a JSON value"),
            ('${{ inputs.x | default({"a":1,"a":2}) }}', "not a JSON value"),
            ("${{ inputs.x | default(" + "[" * 50_000 + ") }}", "not a JSON value"),
            ("${{ inputs.x | default(99999999999999999999) }}", "64 bits"),
            ('${{ inputs.x | default("\\u0000") }}', "U+0000"),
            ("${{ inputs.x y }}", 'Unexpected "y"'),
            ("${{ inputs..x }}", "must follow the dot"),
            ("${{ inputs.x[-1] }}", "Brackets hold"),
            ("${{ inputs.x['a'] }}", "Brackets hold"),
            ("${{ inputs.x[99999999999] }}", "Brackets hold"),
            ("${{ inputs" + ".x" * 50_000 + " }}", "deeper than 64"),
        ],
    )
    def test_errors_are_found_at_compile_time_with_their_place(self, text, said):
        message = syntax(f"ab {text}")
        assert said in message
        assert "at character" in message

    def test_the_place_counts_from_the_start_of_the_text(self):
        assert "(at character 4)" in syntax("ab ${{ inputs.x")

    def test_all_are_collected_and_nothing_resolves(self):
        template = compile_template({"a": "${{ x }}", "b": ["${{ y }}", "${{ inputs.z }}"]})
        assert [issue.path for issue in template.issues] == [("a",), ("b", "0")]
        with pytest.raises(TemplateError):
            template.resolve({"z": 1}, {})

    def test_each_of_a_text_is_told_with_what_was_meant(self):
        template = compile_template(
            "${{ step.a.output.x }} $${{ a }} ${{ inputs.ok }} ${{ bed }}: ${{ inputs.x y }} ${{ inputs.ab"
        )
        assert [(issue.message.partition(" (")[0], str(issue.hint)) for issue in template.issues] == [
            ("`step` is neither `inputs` nor `steps`", "Did you mean `steps`?"),
            (
                "`bed` is neither `inputs` nor `steps`",
                "Write `${{ inputs.bed }}` for the input `bed`, or `$${{` for a literal `${{`.",
            ),
            ('Unexpected "y" in a reference', "None"),
            ("The reference is never closed with `}}`", "Write `$${{` for a literal `${{`."),
        ]


class TestReferences:
    def test_tell_where_they_stand_and_what_they_read(self):
        template = compile_template(
            {
                "a": ["x ${{ steps.inputs.output.b[0] }}", '${{ inputs.n["odd name"] | default(1) }}'],
                "c": "${{ inputs.o? }}",
            }
        )
        first, second, third = template.references
        assert (first.path, first.source_step, first.source_path) == (("a", "0"), "inputs", ("b", 0))
        assert (first.whole, first.expression, first.source_text) == (False, "${{ steps.inputs.output.b[0] }}", "b[0]")
        assert (second.source_step, second.source_path, second.has_default, second.default) == (
            None,
            ("n", "odd name"),
            True,
            1,
        )
        assert (second.whole, second.source_text) == (True, 'n["odd name"]')
        assert (third.optional, third.has_default) == (True, False)


class TestLimits:
    def test_depth(self):
        def nested(levels, leaf):
            for _ in range(levels):
                leaf = [leaf]
            return leaf

        assert compile_template(nested(64, 1)).issues == ()
        assert [issue.rule for issue in compile_template(nested(65, 1)).issues] == ["too_deep"]
        assert [issue.rule for issue in compile_template(nested(10_000, "${{ inputs.x }}")).issues] == ["too_deep"]
        deep = nested(40, 1)
        assert value(nested(24, "${{ inputs.x }}"), {"x": deep}) == nested(64, 1)
        assert "nested deeper" in failure(nested(25, "${{ inputs.x }}"), {"x": deep}).reason

    def test_size(self):
        half = "x" * (1 << 19)
        assert len(value("${{ inputs.x }}${{ inputs.x }}".replace("}}${{", "}}${{"), {"x": half[:-1]})) == (1 << 20) - 2
        assert "1,048,576" in failure(["${{ inputs.x }}", "${{ inputs.x }}"], {"x": half}).reason

    @pytest.mark.parametrize("large", ["x" * 1_000_000, ["x" * 1_000_000], {"a": {"b": "x" * 1_000_000}}])
    @pytest.mark.parametrize("embedded", [True, False])
    def test_a_hostile_template_is_refused_before_it_grows(self, large, embedded):
        template = "${{ inputs.x }}" * 10_000 if embedded else ["${{ inputs.x }}"] * 10_000
        with at_most(calls=1_000_000):
            failure(template, {"x": large})

    @pytest.mark.parametrize("bad", [1 << 64, "a\0b", "\ud800"])
    def test_what_json_here_cannot_hold_is_refused(self, bad):
        assert failure({"a": ["${{ inputs.x }}"]}, {"x": bad}).failure.code is FailureCode.INVALID_INPUT

    def test_a_large_integer_inside_a_text_is_refused(self):
        assert "not JSON" in failure({"a": "n=${{ inputs.x }}"}, {"x": 1 << 64}).reason


class TestProperties:
    @given(JSON)
    def test_escaped_text_comes_back_verbatim(self, tree):
        def escaped(node):
            match node:
                case str():
                    return escape_text(node)
                case list():
                    return [escaped(item) for item in node]
                case dict():
                    return {key: escaped(item) for key, item in node.items()}
                case _:
                    return node

        assert value(escaped(tree)) == tree

    @given(TEXTS, TEXTS)
    def test_escaped_text_around_a_reference_comes_back_verbatim(self, before, after):
        # A `$` just before the braces would escape them: that is the rule, so it is kept away here.
        before = before.rstrip("$")
        text = f"{escape_text(before)}${{{{ inputs.x }}}}{escape_text(after)}"
        assert value({"a": text}, {"x": "·"})["a"] == f"{before}·{after}"

    @given(JSON)
    def test_what_a_reference_yields_is_never_read_again(self, hostile):
        result = value({"a": "${{ inputs.x }}", "b": ["${{ steps.s.output }}"]}, {"x": hostile}, {"s": hostile})
        assert result == {"a": hostile, "b": [hostile]}

    @given(TEXTS, TEXTS)
    def test_nor_is_what_was_spliced_into_a_text(self, first, second):
        template = "<${{ inputs.x }}${{ steps.s.output }}>"
        assert value(template, {"x": first}, {"s": second}) == f"<{first}{second}>"

    @given(JSON, JSON)
    def test_resolving_changes_nothing_it_was_given(self, literal, given_value):
        template = {
            "literal": literal if not isinstance(literal, str) else escape_text(literal),
            "a": ["${{ inputs.x }}", "${{ inputs.y? }}"],
        }
        inputs = {"x": given_value}
        before = copy.deepcopy((template, inputs))
        compiled = compile_template(template)
        first = compiled.resolve(inputs, {}).value if not compiled.issues else None
        second = compiled.resolve(inputs, {}).value if not compiled.issues else None
        assert (template, inputs) == before
        assert first == second

    @given(
        st.text(max_size=60)
        | st.text('${}}{ inputs.x[]"|?()$default', max_size=40).map(lambda text: "${{ inputs.x" + text)
    )
    def test_any_text_compiles_or_is_told(self, text):
        template = compile_template([text])
        assert template.issues or template.resolve({"x": 1}, {}, lambda path: True) is not None

    def test_two_resolutions_share_nothing_that_changes(self):
        template = compile_template(
            {"a": "${{ inputs.x? }}", "b": ["${{ inputs.x? }}"], "c": {"d": "<${{ inputs.x? }}>"}}
        )
        results = [template.resolve(inputs, {}).value for inputs in ({"x": 1}, {}, {"x": 2})]
        assert results == [
            {"a": 1, "b": [1], "c": {"d": "<1>"}},
            {"b": [None], "c": {"d": "<>"}},
            {"a": 2, "b": [2], "c": {"d": "<2>"}},
        ]

    def test_literal_parts_are_handed_on_uncopied(self):
        literal = {"big": [1, 2, 3]}
        result = value({"keep": literal, "a": "${{ inputs.x }}"}, {"x": 1})
        assert result["keep"] is literal
