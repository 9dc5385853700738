"""`video.compose`, with a writer model and without one; nothing anybody wrote becomes markup."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packline import Missing, PackError
from tests.builtins.video.films import tone
from tests.support.model_server import model_server
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from pathlib import Path

compose = load_pack("video/compose.py")
scenes = load_module("video/_scenes.py")
document = load_module("video/_document.py")
declared = load_module("video/_declared.py")
rules = load_module("video/_rules.py")
seen = load_module("video/_seen.py")
writer = load_module("video/_writer.py")

BRIEF = """# A better kettle

Our kettle boils a litre in two minutes. It uses 38% less power than the last one.
“I never thought I would love a kettle.” - Ada Example, tester

- Pour in water
- Press the button
- Enjoy your tea

It is in the shops from May on."""


class NoModels:
    def missing(self, role: str) -> Missing:
        return Missing(f"No model is configured for the role {role}.", "Set one up.")


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    made = Harness(tmp_path)
    made.models = NoModels()  # type: ignore[assignment]
    return made


async def test_without_a_model_scenes_are_the_descriptions_own_sentences(harness: Harness) -> None:
    output = await harness.call(compose, {"description": BRIEF})
    assert (output["mode"], output["model"]) == ("deterministic", None)
    layouts = [scene["layout"] for scene in output["scenes"]]
    assert layouts[0] == "title"
    assert layouts[-1] == "closing"
    assert {"statistic", "quote", "bullets", "statement"} <= set(layouts)
    by_layout = {scene["layout"]: scene for scene in output["scenes"]}
    assert by_layout["statistic"]["figure"] == "38%"
    assert by_layout["quote"]["source"] == "Ada Example, tester"
    assert by_layout["bullets"]["bullets"][2] == "Enjoy your tea"
    again = await harness.call(compose, {"description": BRIEF})
    assert again["composition_html"] == output["composition_html"]
    assert rules.static_findings(output["composition_html"]) == []


async def test_with_a_model_it_plans_scenes_as_data(harness: Harness) -> None:
    async with model_server() as server:
        harness.models = server.models(writer=["good"])
        output = await harness.call(compose, {"description": BRIEF, "style": "calm", "example": "product-intro"})
    assert output["mode"] == "model"
    assert output["model"].endswith("good")
    assert rules.static_findings(output["composition_html"]) == []


@pytest.mark.parametrize(("model", "code"), [("limited", "rate_limited"), ("cut", "invalid_output")])
async def test_what_fails_at_the_model_fails_the_step(harness: Harness, model: str, code: str) -> None:
    async with model_server() as server:
        harness.models = server.models(writer=[model])
        with pytest.raises(PackError) as caught:
            await harness.call(compose, {"description": BRIEF})
    assert caught.value.failure.code == code


async def test_a_mode_that_needs_a_model_says_so(harness: Harness) -> None:
    with pytest.raises(PackError, match="No model is configured"):
        await harness.call(compose, {"description": BRIEF, "mode": "model"})


async def test_scenes_share_out_the_length_of_the_sound(harness: Harness) -> None:
    pytest.importorskip("av")
    sound = harness.add_artifact("voice.wav", tone(21.3), "audio/wav")
    output = await harness.call(compose, {"description": BRIEF, "audio_artifact": sound.artifact_id})
    assert output["duration_seconds"] == pytest.approx(21.8, abs=0.05)
    assert sum(scene["duration_seconds"] for scene in output["scenes"]) == pytest.approx(21.8, abs=0.1)
    said = declared.declarations(output["composition_html"])
    assert said.audio_artifact == sound.artifact_id
    assert said.duration_seconds == output["duration_seconds"]


async def test_given_scenes_are_shown_as_they_are(harness: Harness) -> None:
    given_scenes: list[dict[str, Any]] = [
        {"layout": "title", "title": "Hello <b>world</b>"},
        {"layout": "comparison", "title": "A or B", "left": {"title": "A"}, "right": {"title": "B", "points": ["x"]}},
    ]
    output = await harness.call(compose, {"scenes": given_scenes, "aspect_ratio": "9:16", "theme": "warm"})
    assert output["mode"] == "given"
    assert "&lt;b&gt;world" in output["composition_html"]
    with pytest.raises(PackError, match=r"Scene 2 .* lacks a side"):
        await harness.call(compose, {"scenes": [given_scenes[0], {"layout": "comparison", "title": "x"}]})


@pytest.mark.parametrize("description", ["", "  \n ", "!!!"])
async def test_nothing_to_show_is_refused(harness: Harness, description: str) -> None:
    with pytest.raises(PackError, match="nothing to show") as caught:
        await harness.call(compose, {"description": description})
    assert caught.value.failure.field == "description"


@given(
    description=st.text(min_size=1, max_size=400).filter(lambda text: any(char.isalnum() for char in text)),
    seconds=st.one_of(st.none(), st.floats(2, 720)),
)
def test_any_text_gives_a_sound_composition(description: str, seconds: float | None) -> None:
    found = scenes.split_description(description, None, None)
    if not found:
        return
    if seconds is not None:
        found = scenes.fewest_to(found, seconds)
    placed = scenes.timed(found, seconds)
    assert all(one.end == pytest.approx(two.start) for one, two in itertools.pairwise(placed))
    assert all(place.end > place.start for place in placed)
    html = document.composition(document.Film("T", placed, "dark", "16:9", None))
    assert [finding.rule for finding in rules.static_findings(html) if finding.rule != "empty"] == []


def test_markup_in_texts_stays_text() -> None:
    evil = '</style></script><script>alert(1)</script><img src=x onerror="alert(1)">'
    placed = scenes.timed([scenes.Scene(layout="statement", title=evil, text=evil)], 4)
    html = document.composition(document.Film(evil, placed, "light", "16:9", None))
    assert html.count("<script>") == 1
    assert "<img" not in html


def test_colours_of_every_look_can_be_read() -> None:
    for name, look in document.LOOKS.items():
        for text in (look.ink, look.dim, look.accent):
            grounds = [[*_rgb(look.ground)], [*_rgb(look.ground2)]]
            assert seen.least_contrast([*_rgb(text), 1], grounds) >= 4.5, (name, text)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def test_a_model_that_leaves_things_out_is_helped() -> None:
    kept, dropped = writer.usable(
        [
            scenes.Scene(layout="bullets", title="Only a heading"),
            scenes.Scene(layout="statistic", text="No figure"),
            scenes.Scene(layout="closing"),
        ]
    )
    assert [(scene.layout, scene.title) for scene in kept] == [
        ("statement", "Only a heading"),
        ("statement", "No figure"),
    ]
    assert dropped == 1
    assert writer.unsourced_figures([scenes.Scene(layout="statement", title="It is 42")], "It is 41") == ["42"]


def test_a_table_is_read_as_points_and_code_is_left_out() -> None:
    table = "| Lamp | Power | Life |\n|---|---:|---|\n| Filament | 1000 W | short |\n| LED | 40 W | |\n"
    found = scenes.split_description(f"# Lamps\n\n{table}\n```py\nx = 1\n```\n\n---\n\nThat is it.\n", None, None)
    (points,) = [scene.bullets for scene in found if scene.layout == "bullets"]
    assert points == ["Filament: Power 1000 W, Life short", "LED: Power 40 W"]
    assert not any("|" in word or "x = 1" in word for scene in found for word in (scene.title, scene.text))
