from __future__ import annotations

import pytest

from runner.definitions.check import check_definition
from runner.definitions.parsing import definition_document
from runner.issues import MAX_ISSUES, Hint
from runner.schemas import shapes as schema_types
from runner.yaml_documents import load_document
from tests.support.checked_packs import Packs, fetch, scrape

GOOD = """
name: Web page to deck
inputs: {required: [url], properties: {url: {type: string, format: uri}, wait: {type: integer}, note: {type: string}}}
steps:
  - {id: scrape, pack: web.scrape, version: 1, input: {url: "${{ inputs.url }}", timeout: "${{ inputs.wait }}"}}
  - id: render
    pack: slides.render
    input:
      markdown: "# ${{ inputs.note }}\\n${{ steps.scrape.output.markdown }}"
      title: ${{ steps.scrape.output.title }}
      slides: [{text: "${{ steps.scrape.output.links[0].href }}"}]
metadata: {supersedes: [web.scrape]}
"""


def check(text):
    return check_definition(load_document(text), Packs())


def told(text):
    return {(".".join(issue.path), issue.rule, issue.severity) for issue in check(text).issues}


def render_input(**fields):
    document = load_document(GOOD)
    document["steps"][1]["input"] = {"markdown": "x ${{ inputs.note }}", **fields}
    result = check_definition(document, Packs())
    return [(".".join(issue.path[3:]), issue.rule, issue.severity) for issue in result.issues]


def only(text):
    (issue,) = [issue for issue in check(text).issues if issue.severity == "error"]
    return issue


class TestValid:
    def test_a_good_definition_has_no_issues(self):
        result = check(GOOD)
        assert result.issues == ()
        assert result.valid
        assert result.definition.key == "web-page-to-deck"
        assert result.input_schema["required"] == ["url"]

    def test_its_normal_form_checks_the_same(self):
        assert check_definition(definition_document(check(GOOD).definition), Packs()).valid

    def test_without_declared_inputs_the_schema_is_derived(self):
        document = load_document(GOOD)
        del document["inputs"]
        result = check_definition(document, Packs())
        assert result.issues == ()
        assert result.input_schema["required"] == ["url", "note"]
        assert result.input_schema["properties"]["wait"] == {"type": "integer", "default": 10}

    def test_a_whole_output_may_be_the_input(self):
        text = (
            "name: x\nsteps:\n  - {id: a, pack: repo.fetch, input: {repo: r}}\n"
            "  - {id: b, pack: web.scrape, input: '${{ steps.a.output }}'}\n"
        )
        assert told(text) == {("steps.1.input", "type_mismatch", "error")}

    def test_a_session_may_be_handed_on_by_its_author(self):
        text = (
            "name: x\nsteps:\n  - {id: a, pack: repo.fetch, input: {repo: r}}\n"
            "  - {id: b, pack: web.scrape, "
            "input: {url: 'https://a.b', _session_id: '${{ steps.a.output._session_id }}'}}\n"
        )
        assert told(text) == set()


class TestReferences:
    @pytest.mark.parametrize(
        ("reference", "rule", "closest"),
        [
            ("steps.scrap.output.markdown", "unknown_step", "scrape"),
            ("steps.render.output.pages", "forward_reference", None),
            ("steps.last.output.pages", "forward_reference", None),
            ("steps.scrape.output.markdwn", "unknown_field", "markdown"),
            ("steps.scrape.output.links[0].hrf", "unknown_field", None),
            ("steps.scrape.output.markdown.x", "unknown_field", None),
            ("inputs.ulr", "undeclared_input", "url"),
            ("inputs.url.host", "unknown_field", None),
            ("inputs.url? | default(1)", "template_syntax", None),
        ],
    )
    def test_lead_to_an_earlier_step_or_a_declared_input(self, reference, rule, closest):
        document = load_document(GOOD)
        document["steps"][1]["input"] = {"markdown": "x ${{ inputs.note }}", "title": "${{ " + reference + " }}"}
        document["steps"].append({"id": "last", "pack": "slides.render", "input": {"markdown": "x"}})
        (issue,) = check_definition(document, Packs()).issues
        assert (issue.path, issue.rule, issue.severity) == (("steps", "1", "input", "title"), rule, "error")
        if closest:
            assert issue.hint == Hint(closest=closest)

    def test_what_cannot_be_decided_is_a_warning(self):
        assert render_input(title="${{ steps.scrape.output.raw.x }}") == [("title", "undecidable_reference", "warning")]
        assert render_input(markdown="${{ steps.scrape.output.title }} ${{ inputs.note }}") == []
        assert render_input(title="${{ steps.scrape.output.raw }}") == [("title", "type_undecided", "warning")]

    @pytest.mark.parametrize(
        ("field", "reference"),
        [
            ("title", "steps.scrape.output.links"),
            ("width", "steps.scrape.output.markdown"),
            ("width", "inputs.url"),
            ("slides", "steps.scrape.output"),
        ],
    )
    def test_a_proved_contradiction_of_types_is_an_error(self, field, reference):
        assert render_input(**{field: "${{ " + reference + " }}"}) == [(field, "type_mismatch", "error")]

    def test_a_text_where_no_text_goes_is_an_error(self):
        assert render_input(width=" ${{ inputs.wait }}") == [("width", "type_mismatch", "error")]

    def test_a_default_must_fit(self):
        assert render_input(width='${{ inputs.wait | default("wide") }}') == [("width", "type_mismatch", "error")]
        assert render_input(width="${{ inputs.wait | default(7) }}") == []

    def test_an_input_that_no_value_fits_is_a_warning(self):
        """Its schema comes from where it goes: a whole number and a text are never one value."""
        step = {"id": "render", "pack": "slides.render"}

        def conflicts(**fields):
            result = check_definition({"name": "x", "steps": [{**step, "input": fields}]}, Packs())
            assert result.valid
            return [issue.message for issue in result.issues if issue.rule == "input_conflict"]

        assert conflicts(markdown="${{ inputs.n }}", width="${{ inputs.n }}", title="${{ inputs.n }}") == [
            "No value of the input `n` fits both: `markdown` of slides.render takes text, "
            "`width` of slides.render takes a whole number."
        ]
        assert conflicts(markdown="${{ inputs.n }}", width="${{ inputs.n.width }}", title="${{ inputs.n }}") == []
        assert conflicts(markdown="is ${{ inputs.n }}", width="${{ inputs.n }}") == []

    def test_an_optional_value_in_a_required_field_is_a_warning(self):
        assert render_input(markdown="${{ inputs.note }}") == [("markdown", "may_be_missing", "warning")]
        assert render_input(markdown="${{ steps.scrape.output.markdown? }} ${{ inputs.note }}") == []


class TestLiterals:
    def test_must_fit_the_packs_input(self):
        assert render_input(format="pfd", slides=[{"text": 1, "txt": "x"}], foo=1, width="3") == [
            ("foo", "unknown_field", "error"),
            ("format", "not_allowed", "error"),
            ("slides.0.text", "wrong_type", "error"),
            ("slides.0.txt", "unknown_field", "error"),
            ("width", "wrong_type", "error"),
        ]

    def test_what_holds_references_is_left_open(self):
        assert render_input(slides=[{"text": "${{ inputs.url }}", "level": 2}], title="${{ inputs.url }}") == []
        assert render_input(slides=["${{ inputs.url }}"]) == [("slides.0", "type_mismatch", "error")]

    def test_an_unknown_field_is_told_although_it_holds_a_reference(self):
        assert render_input(titel="${{ inputs.url }}") == [("titel", "unknown_field", "error")]

    def test_a_missing_field_is_told(self):
        text = "name: x\nsteps: [{id: a, pack: web.scrape}]\n"
        assert told(text) == {("steps.0.input.url", "required", "error")}

    def test_escaped_braces_are_text(self):
        assert render_input(title="$${{ inputs.nope }}") == []


class TestPacks:
    def test_an_unknown_pack_gets_the_nearest_name(self):
        issue = only("name: x\nsteps: [{id: a, pack: web.scrap, input: {url: '${{ inputs.u }}'}}]\n")
        assert (issue.path, issue.rule, issue.hint) == (
            ("steps", "0", "pack"),
            "unknown_pack",
            Hint(closest="web.scrape"),
        )

    @pytest.mark.parametrize(("version", "known"), [("1.2.0", True), (1, True), ("1.2.1", False), (2, False)])
    def test_a_version_is_installed(self, version, known):
        document = {
            "name": "x",
            "steps": [{"id": "a", "pack": "web.scrape", "version": version, "input": {"url": "https://a.b"}}],
        }
        result = check_definition(document, Packs())
        assert result.valid is known
        if not known:
            assert (result.issues[0].rule, result.issues[0].hint) == (
                "unknown_pack_version",
                Hint("Installed: 1.2.0."),
            )

    def test_what_is_superseded_exists(self):
        result = check_definition(load_document(GOOD), Packs(fetch))
        rules = {issue.rule for issue in result.issues}
        assert rules == {"unknown_pack"}
        assert len(result.issues) == 3
        assert check_definition(load_document(GOOD), Packs(scrape, fetch)).issues[0].path == ("steps", "1", "pack")


class TestEverythingAtOnce:
    def test_issues_of_reading_do_not_hide_those_of_references(self):
        found = told(
            """
            nam: x
            name: x
            steps:
              - {id: a, agent: {}}
              - {id: a, pack: web.scrape, input: {url: "${{ steps.b.output }}", tiemout: 3}}
              - {id: c, pack: web.scrape, retry: {max_attempt: 2}, input: {url: "${{ inputs.x"}}
            """
        )
        assert found == {
            ("nam", "unknown_key", "error"),
            ("steps.0.agent.use", "required", "error"),
            ("steps.0.agent.prompt", "required", "error"),
            ("steps.0.agent.outputs", "no_declared_output", "warning"),
            ("steps.0.agent.timeout_seconds", "no_timeout", "warning"),
            ("steps.1.id", "duplicate_step_id", "error"),
            ("steps.1.input.url", "unknown_step", "error"),
            ("steps.1.input.tiemout", "unknown_field", "error"),
            ("steps.2.retry.max_attempt", "unknown_key", "error"),
            ("steps.2.input.url", "template_syntax", "error"),
        }

    def test_the_declared_schema_is_checked_as_a_foreign_one(self):
        issue = only(
            "name: x\ninputs: {properties: {u: {pattern: '(?=a)'}}}\n"
            "steps: [{id: a, pack: web.scrape, input: {url: '${{ inputs.u }}'}}]\n"
        )
        assert (issue.path, issue.rule) == (("inputs", "properties", "u", "pattern"), "unsafe_pattern")

    def test_an_input_nobody_reads_is_a_warning(self):
        document = load_document(GOOD)
        document["inputs"]["properties"]["spare"] = {}
        (issue,) = check_definition(document, Packs()).issues
        assert (issue.path, issue.rule, issue.severity) == (
            ("inputs", "properties", "spare"),
            "unused_input",
            "warning",
        )

    @pytest.mark.parametrize("document", [None, [], {}, {"name": "x"}, {"name": "x", "steps": [None, 3, []]}])
    def test_any_document_gets_an_answer(self, document):
        result = check_definition(document, Packs())
        assert not result.valid
        assert result.definition is None
        assert result.issues


class TestFewerFalseAlarms:
    def test_steps_that_cannot_be_read_leave_no_input_unread(self):
        for steps in ("{}", "[]", "{a: {pack: web.scrape}}"):
            text = f"name: x\ninputs: {{properties: {{url: {{type: string}}}}}}\nsteps: {steps}\n"
            assert told(text) == {("steps", "no_steps", "error")}

    def test_a_mistyped_type_gets_the_nearest_and_hides_no_default(self):
        text = GOOD.replace("note: {type: string}", "note: {type: strng, default: x}")
        (issue,) = check(text).issues
        assert issue.path == ("inputs", "properties", "note", "type")
        assert issue.hint == Hint(closest="string")

    def test_a_position_inside_a_text_is_told_as_that(self):
        text = GOOD.replace("scrape.output.markdown }}", "scrape.output.markdown[0] }}")
        message = only(text).message
        assert message.endswith("`markdown` in the output of `scrape` (web.scrape) is text, with nothing inside.")


class TestHostile:
    """What costs the product of two lengths holds everybody up, since a check runs on the event loop."""

    def test_a_schema_is_not_copied_for_each_reference(self, monkeypatch):
        copies = []
        monkeypatch.setattr(schema_types, "inlined", lambda schema, *_: copies.append(schema) or schema)
        references = {f"k{number}": f"${{{{ inputs.n{number % 10} }}}} ${{{{ inputs.n1? }}}}" for number in range(100)}
        references |= {f"w{number}": "${{ inputs.n2 }}" for number in range(100)}
        document = {
            "name": "x",
            "inputs": {"type": "object", "properties": {f"n{number}": {"type": "string"} for number in range(10)}},
            "steps": [{"id": "a", "pack": "slides.render", "input": {"markdown": "x", "slides": [references]}}],
        }
        assert check_definition(document, Packs()).input_schema is not None
        del document["inputs"]
        assert check_definition(document, Packs()).input_schema is not None
        assert copies == []

    def test_only_the_first_mistakes_get_a_hint(self):
        wrong = "".join(f"${{{{ inputs.numbr{number} }}}}" for number in range(99))
        document = {
            "name": "x",
            "inputs": {"type": "object", "properties": {f"number{number}": {} for number in range(20)}},
            "steps": [{"id": "a", "pack": "web.scrape", "input": {"url": wrong}}],
        }
        told = [issue for issue in check_definition(document, Packs()).issues if issue.rule == "undeclared_input"]
        assert len(told) == 99
        hinted = [issue for issue in told if issue.hint is not None and issue.hint.closest]
        assert len(hinted) == MAX_ISSUES

    def test_unknown_keys_are_told_up_to_a_bound(self):
        document = {"name": "x", **{f"key{number}": 1 for number in range(200)}}
        found = [issue for issue in check_definition(document, Packs()).issues if issue.rule == "unknown_key"]
        assert len(found) == MAX_ISSUES


class TestConcurrency:
    @pytest.mark.parametrize("key", ["${{ inputs.url }}", "deploy ${{ inputs.note }}", "all", "${{ inputs.note? }}"])
    def test_a_key_reads_inputs(self, key):
        document = load_document(GOOD) | {"concurrency": {"limit": 1, "key": key}}
        assert check_definition(document, Packs()).issues == ()

    @pytest.mark.parametrize(
        ("key", "rule"),
        [
            ("${{ steps.scrape.output.title }}", "not_an_input"),
            ("${{ inputs.urls }}", "undeclared_input"),
            ("${{ inputs. }}", "template_syntax"),
        ],
    )
    def test_a_key_reads_nothing_else(self, key, rule):
        document = load_document(GOOD) | {"concurrency": {"limit": 1, "key": key}}
        found = check_definition(document, Packs())
        assert [(".".join(issue.path), issue.rule) for issue in found.issues] == [("concurrency.key", rule)]

    def test_a_key_reads_what_a_step_reads_if_no_inputs_are_declared(self):
        document = load_document(GOOD)
        del document["inputs"]
        assert check_definition(document | {"concurrency": {"limit": 1, "key": "${{ inputs.url }}"}}, Packs()).valid
        refused = check_definition(document | {"concurrency": {"limit": 1, "key": "${{ inputs.repo }}"}}, Packs())
        assert [issue.rule for issue in refused.issues] == ["undeclared_input"]

    def test_an_input_that_only_the_key_reads_is_used(self):
        text = GOOD.replace("note: {type: string}", "note: {type: string}, team: {type: string}")
        document = load_document(text) | {"concurrency": {"limit": 1, "key": "${{ inputs.team }}"}}
        assert check_definition(document, Packs()).issues == ()
