"""`video.render` in a real Chromium: the same pictures every time, sound, sizes, and a clock of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError
from tests.builtins.video.films import colour_at, frame_digests, needs_chromium, page, tone
from tests.support.pack_harness import Harness, load_pack

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser
render = load_pack("video/render.py")

MOVING = page(
    '<div class="a">One</div><section data-start="0.5" data-end="1"><div class="b">Two</div></section><p id="n"></p>'
    "<script>setInterval(() => { n.textContent = Date.now() + ' ' + Math.random().toFixed(9); }, 200);"
    "let x = 0; requestAnimationFrame(function step(t) { n.style.marginLeft = t / 10 + 'px';"
    " if (t < 600) requestAnimationFrame(step); });</script>",
    style="@keyframes go{from{transform:translateX(0);opacity:0}to{transform:translateX(400px);opacity:1}}"
    ".a,.b{font-weight:700;animation:go .4s both}"
    "body{background:radial-gradient(circle at 30% 30%,#456,#123)}",
)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    needs_chromium()
    return Harness(tmp_path)


def path_of(harness: Harness, output: dict[str, Any]) -> Path:
    return harness.artifacts[output["artifact"]["artifact_id"]].path


async def test_the_same_composition_gives_the_same_pictures(harness: Harness) -> None:
    films = [await harness.call(render, {"composition_html": MOVING}) for _ in range(2)]
    first, second = (frame_digests(path_of(harness, film)) for film in films)
    assert first == second
    assert len(first) == films[0]["frames"] == 24
    assert len(set(first)) > 12  # it did move


async def test_a_film_has_the_declared_size_and_length_and_true_colours(harness: Harness) -> None:
    html = page('<div data-start="0.5" style="position:fixed;inset:0;background:#c03020"></div>')
    output = await harness.call(render, {"composition_html": html, "fps": 30, "aspect_ratio": "1:1"})
    assert (output["width"], output["height"], output["frames"]) == (720, 720, 30)
    assert output["duration_seconds"] == 1.0
    assert output["artifact"]["name"] == "test-film.mp4"
    path = path_of(harness, output)
    for number, wanted in ((2, (0x10, 0x20, 0x30)), (20, (0xC0, 0x30, 0x20))):
        seen = colour_at(path, number, 360, 600)
        assert all(abs(one - other) <= 6 for one, other in zip(seen, wanted, strict=True)), (number, seen)
    assert harness.read_artifact(output["poster"]["artifact_id"]).startswith(b"\xff\xd8")


async def test_pictures_that_stay_the_same_are_not_drawn_again(harness: Harness) -> None:
    html = page('<p>Still</p><p data-start="1" data-end="2">More</p>', seconds=3)
    output = await harness.call(render, {"composition_html": html})
    assert output["frames"] == 72
    assert output["frames_drawn"] <= 5


@pytest.mark.parametrize(
    ("ratio", "size"), [pytest.param("16:9", (1920, 1080), marks=pytest.mark.sweep), ("9:16", (1080, 1920))]
)
async def test_1080p(harness: Harness, ratio: str, size: tuple[int, int]) -> None:
    html = page("<p>Fine pixels</p>", seconds=0.2, root=f'data-aspect-ratio="{ratio}"')
    output = await harness.call(render, {"composition_html": html, "resolution": "1080p"})
    assert (output["width"], output["height"]) == size


async def test_sound_lies_under_it_and_is_never_cut_off(harness: Harness) -> None:
    av = pytest.importorskip("av")
    sound = harness.add_artifact("tone.wav", tone(1.7), "audio/wav")
    html = page("<p>Heard</p>", root=f'data-audio="artifact:{sound.artifact_id}"')
    output = await harness.call(render, {"composition_html": html})
    assert output["has_audio"]
    assert output["audio_seconds"] == pytest.approx(1.7, abs=0.01)
    assert output["duration_seconds"] >= output["audio_seconds"]
    assert any("longer than the composition" in warning for warning in harness.warnings)
    with av.open(str(path_of(harness, output))) as film:
        assert film.streams.audio[0].codec_context.name == "aac"
        frames = [frame.to_ndarray() for frame in film.decode(audio=0)]
    assert sum(frame.shape[1] for frame in frames) / 48_000 == pytest.approx(1.7, abs=0.06)
    assert max(float(abs(frame).max()) for frame in frames) > 0.1


async def test_a_file_without_sound_is_refused(harness: Harness) -> None:
    noise = harness.add_artifact("voice.mp3", b"this is not sound" * 100, "audio/mpeg")
    with pytest.raises(PackError, match="no sound that can be read") as caught:
        await harness.call(render, {"composition_html": MOVING, "audio_artifact": noise.artifact_id})
    assert caught.value.failure.code == "invalid_input"
    assert caught.value.failure.field == "audio_artifact"


async def test_artifacts_are_shown(harness: Harness) -> None:
    red = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10">'
        b'<rect width="10" height="10" fill="#e00"/></svg>'
    )
    picture = harness.add_artifact("red.svg", red, "image/svg+xml")
    html = page(f'<img src="artifact:{picture.artifact_id}" style="position:fixed;inset:0;width:100%;height:100%">')
    output = await harness.call(render, {"composition_html": html})
    assert colour_at(path_of(harness, output), 0, 640, 360)[0] > 200
    assert output["warnings"] == []
    wrong = harness.add_artifact("note.txt", b"text", "text/plain")
    with pytest.raises(PackError, match="which is text/plain"):
        await harness.call(render, {"composition_html": page(f'<img src="artifact:{wrong.artifact_id}">')})


async def test_time_is_ours(harness: Harness) -> None:
    """Timers and frames fall due by the film's clock: the page is red from 0.5 s on, however slow the machine is."""
    html = page(
        "<script>document.body.style.background = performance.now() === 0 ? '#00f' : '#ff0';"
        "setTimeout(() => { if (performance.now() === 500 && new Date().getUTCFullYear() === 2026)"
        " document.body.style.background = '#f00'; }, 500)</script>"
    )
    output = await harness.call(render, {"composition_html": html})
    path = path_of(harness, output)
    assert colour_at(path, 11, 5, 5)[2] > 240
    assert colour_at(path, 12, 5, 5)[0] > 240


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<!doctype html><p>How long?</p>", "does not say how long"),
        (page("x", seconds=721), "at most 720"),
    ],
)
async def test_a_film_needs_a_sensible_length(harness: Harness, html: str, message: str) -> None:
    with pytest.raises(PackError, match=message) as caught:
        await harness.call(render, {"composition_html": html})
    assert caught.value.failure.code == "invalid_input"


async def test_progress_is_told(harness: Harness) -> None:
    await harness.call(render, {"composition_html": page("<p>x</p>", seconds=2)})
    messages = [message for _, message in harness.progress]
    assert messages[0] == "Loading the composition"
    assert "frames drawn" in messages[-1]


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    service = next(service for service in render.services if service.name == "chromium")
    missing = service.probe()
    assert missing is not None
    assert "Chromium" in missing.message
    assert "apt-get install chromium" in missing.hint


async def test_characters_no_font_has_are_named(harness: Harness) -> None:
    output = await harness.call(render, {"composition_html": page("<p>\u0378 lost</p>", seconds=0.1)})
    assert any("No font on this machine has \u0378" in warning for warning in output["warnings"])
