"""A chain of calls becomes a definition that, resolved again, gives each pack the very input it had."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.promotion import PackCall, chain_of, definition_of
from runner.templates.templating import compile_template

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["url"],
    "properties": {"url": {"type": "string", "description": "Where."}, "format": {"type": "string", "default": "pdf"}},
}


def call(number: int, pack: str, given: dict[str, Any], output: Any) -> PackCall:
    return PackCall(f"run_{number}", pack, given, output, SCHEMA)


def defaults(document: dict[str, Any]) -> dict[str, Any]:
    """The inputs that make the definition do what was done."""
    return {
        name: schema["default"] if "default" in schema else schema["examples"][0]
        for name, schema in document["inputs"]["properties"].items()
    }


def replayed(document: dict[str, Any], calls: list[PackCall]) -> list[Any]:
    """What each step would be given, had each earlier one given what it gave then."""
    outputs: dict[str, Any] = {}
    found = []
    for step, made in zip(document["steps"], calls, strict=True):
        resolved = compile_template(step["input"]).resolve(
            defaults(document), outputs, lambda _: False, limit_bytes=1 << 20
        )
        found.append(resolved.value)
        outputs[step["id"]] = made.output
    return found


SCRAPED = call(1, "web.scrape", {"url": "https://example.org"}, {"markdown": "# A page about lenses", "status": 200})
OUTLINED = call(
    2, "slides.outline", {"text": "# A page about lenses", "persona": "executive"}, {"markdown": "# Lens\n"}
)
RENDERED = call(3, "slides.render", {"markdown": "# Lens\n", "format": "pdf"}, {"artifact_id": "art_1"})


def test_outputs_that_reappear_become_references_and_the_rest_inputs() -> None:
    document: dict[str, Any] = definition_of([SCRAPED, OUTLINED, RENDERED], name="Deck", description="Made.")
    assert [step["id"] for step in document["steps"]] == ["scrape", "outline", "render"]
    assert [step["input"] for step in document["steps"]] == [
        {"url": "${{ inputs.url }}"},
        {"text": "${{ steps.scrape.output.markdown }}", "persona": "${{ inputs.persona }}"},
        {"markdown": "${{ steps.outline.output.markdown }}", "format": "${{ inputs.format }}"},
    ]
    assert document["inputs"]["required"] == ["url"]
    assert document["inputs"]["properties"]["url"] == {
        "type": "string",
        "description": "Where.",
        "examples": ["https://example.org"],
    }
    assert document["inputs"]["properties"]["format"] == {"type": "string", "default": "pdf"}


def test_the_chain_is_found_among_other_calls() -> None:
    stray = call(9, "web.scrape", {"url": "https://example.com"}, {"markdown": "Something else entirely"})
    older = call(0, "web.scrape", {"url": "https://old.example"}, {"markdown": "# A page about lenses"})
    found = chain_of(RENDERED, [stray, OUTLINED, SCRAPED, older])
    assert [made.run_id for made in found] == ["run_1", "run_2", "run_3"]
    assert chain_of(SCRAPED, [stray]) == [SCRAPED]


def test_what_may_be_the_same_by_chance_is_no_reference() -> None:
    chance = {"count": 1, "zero": 0.0, "less": -1, "ok": True, "text": "", "blank": " ", "none": None, "empty": []}
    first = call(1, "a.one", {}, {**chance, "format": "pdf"})
    second = call(2, "a.two", {**chance, "format": "pdf"}, {})
    document: dict[str, Any] = definition_of([first, second], name="n", description="d")
    assert "steps." not in str(document["steps"][1])
    assert chain_of(second, [first]) == [second]


@pytest.mark.parametrize("value", ["7", 42, "pdf", 0.5, -3, "é"])
def test_a_short_value_of_the_call_right_before_is_a_reference(value: Any) -> None:
    made = call(1, "a.create", {"url": "https://example.org"}, {"record": {"id": value}, "ok": True})
    read = call(2, "a.read", {"record_id": value, "deep": [{"of": value}]}, {"text": "What it says."})
    assert chain_of(read, [made]) == [made, read]
    document: dict[str, Any] = definition_of([made, read], name="n", description="d")
    there = "${{ steps.create.output.record.id }}"
    assert document["steps"][1]["input"] == {"record_id": there, "deep": [{"of": there}]}
    assert replayed(document, [made, read]) == [made.input, read.input]


def test_a_short_value_of_an_earlier_call_is_none() -> None:
    made = call(1, "a.create", {"url": "https://example.org"}, {"id": 42, "text": "A text that is handed on"})
    between = call(2, "a.say", {"text": "A text that is handed on"}, {"said": "A text that was said"})
    read = call(3, "a.read", {"id": 42}, {})
    assert chain_of(read, [between, made]) == [read]
    told = call(4, "a.tell", {"id": 42, "text": "A text that was said"}, {})
    assert chain_of(told, [between, made]) == [made, between, told]
    document: dict[str, Any] = definition_of([made, between, told], name="n", description="d")
    assert document["steps"][2]["input"] == {"id": "${{ inputs.id }}", "text": "${{ steps.say.output.said }}"}


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ({"rows": 42, "columns": 42}, None),
        ({"rows": 42, "deep": {"columns": 42}}, "rows"),
        ({"rows": 42, "deep": {"id": 42}}, "deep.id"),
        ({"rows": 42, "id": 42, "deep": {"id": 42}}, "id"),
    ],
)
def test_a_short_value_in_two_places_is_the_one_of_its_name_or_nearest_the_top(output: Any, place: str | None) -> None:
    calls = [call(1, "a.create", {}, output), call(2, "a.read", {"id": 42}, {})]
    document: dict[str, Any] = definition_of(calls, name="n", description="d")
    expected = "inputs.id" if place is None else f"steps.create.output.{place}"
    assert document["steps"][1]["input"] == {"id": f"${{{{ {expected} }}}}"}


def test_a_choice_among_a_few_is_an_input() -> None:
    taken = {"type": "object", "$defs": {"F": {"enum": ["pdf", "doc"]}}, "properties": {"as": {"$ref": "#/$defs/F"}}}
    calls = [call(1, "a.one", {}, {"as": "doc"}), PackCall("run_2", "a.two", {"as": "doc"}, {}, taken)]
    document: dict[str, Any] = definition_of(calls, name="n", description="d")
    assert document["steps"][1]["input"] == {"as": "${{ inputs.as }}"}


def test_two_inputs_of_one_name_and_two_values_are_told_apart() -> None:
    calls = [call(1, "a.one", {"format": "html"}, {}), call(2, "a.two", {"format": "pdf"}, {})]
    document: dict[str, Any] = definition_of(calls, name="n", description="d")
    assert defaults(document) == {"format": "html", "two_format": "pdf"}
    assert replayed(document, calls) == [dict(made.input) for made in calls]


def test_text_that_looks_like_a_template_stays_text() -> None:
    piece = "a long enough text from the first call"
    calls = [
        call(1, "a.one", {"x": "${{ inputs.evil }}"}, {"odd name": [{"t": piece}]}),
        call(2, "a.one", {"y": [{"z": f"before ${{{{ steps.no }}}} {piece} after"}], "w": piece}, {}),
    ]
    document: dict[str, Any] = definition_of(calls, name="n", description="d")
    assert [step["id"] for step in document["steps"]] == ["one", "one_2"]
    assert document["steps"][1]["input"]["w"] == '${{ steps.one.output["odd name"][0].t }}'
    assert replayed(document, calls) == [dict(made.input) for made in calls]


#: What documents may hold: neither U+0000 nor half of a surrogate pair.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(LETTERS, max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(LETTERS, max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["url", "text", "format", "name"])


@given(st.lists(st.tuples(st.dictionaries(FIELDS, VALUES, max_size=3), VALUES), min_size=1, max_size=4))
def test_every_chain_resolves_to_what_was_given(made: list[tuple[dict[str, Any], Any]]) -> None:
    calls = []
    carried: Any = None
    for number, (given_input, output) in enumerate(made):
        full = given_input if carried is None else {**given_input, "carried": carried}
        calls.append(call(number, "a.step", full, output))
        carried = output
    document: dict[str, Any] = definition_of(calls, name="n", description="d")
    assert replayed(document, calls) == [dict(each.input) for each in calls]
