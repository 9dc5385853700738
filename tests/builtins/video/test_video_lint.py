"""`video.lint`: what it finds by reading, what it finds by looking, and that it lets good compositions pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packline import PackError
from tests.builtins.video.films import needs_chromium, page
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from pathlib import Path

lint = load_pack("video/lint.py")
compose = load_pack("video/compose.py")
rules = load_module("video/_rules.py")

LONG = "A sentence that is rather longer than anybody would put on a screen, and then goes on for a while. " * 3
SCENES = [
    {"layout": "title", "title": "Donaudampfschifffahrtsgesellschaftskapitän und seine Grundstücksverkehrsordnung"},
    {"layout": "statement", "title": LONG[:155], "text": LONG[:300]},
    {"layout": "bullets", "title": LONG[:100], "bullets": [LONG[:100]] * 5},
    {"layout": "statistic", "figure": "$1,234 million", "text": LONG[:310], "source": LONG[:80], "title": LONG[:60]},
    {
        "layout": "comparison",
        "title": "This or that?",
        "left": {"title": LONG[:60], "points": [LONG[:50]] * 4},
        "right": {"title": "That", "points": ["short"]},
    },
    {"layout": "quote", "text": LONG[:310], "source": LONG[:70]},
    {"layout": "closing", "title": LONG[:120], "text": "The end"},
]


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        (page("<img src=https://example.org/a.png>"), "outside-resource"),
        (page("<img src=photo.png>"), "outside-resource"),
        (page("<p>x</p>", style="p{background:url(//cdn.example/x.png)}"), "outside-resource"),
        (page("<p>x</p>", style="@import 'https://fonts.example/css';"), "outside-resource"),
        (page("<script src=/lib.js></script>"), "outside-resource"),
        (page("<video src=data:video/mp4,x></video>"), "not-shown"),
        (page("<iframe></iframe>"), "not-shown"),
        (page("x<meta http-equiv=Refresh content='0;url=x'>"), "leaves-page"),
        ("<!doctype html><p>x</p>", "duration"),
        (page("x", seconds=900), "duration"),
        (page("<p data-start=2 data-end=1>x</p>", seconds=4), "timeline"),
        (page("<p data-start=5>x</p>", seconds=4), "timeline"),
        (page("<p data-start=soon>x</p>", seconds=4), "timeline"),
        (page("<p data-start=0 data-end=1>x</p><p data-start=2 data-end=4>y</p>", seconds=4), "timeline"),
        (page("x<script>alert(1)</script>"), "script"),
        (page("x<script>fetch('/x')</script>"), "script"),
        (page("x<script>while (true) {}</script>"), "script"),
        (page(""), "empty"),
    ],
)
def test_read(html: str, rule: str) -> None:
    assert rule in {finding.rule for finding in rules.static_findings(html) if finding.severity == "error"}


@pytest.mark.parametrize(
    "html",
    [
        page("<p>x</p>"),
        page("<img src=data:image/png;base64,AAAA><img src=artifact:art_01J>"),
        page("<p data-start=0 data-end=2>x</p><p data-start=2 data-duration=2>y</p>", seconds=4),
        page("<h1>Always</h1><p data-start=1 data-end=2>x</p>", seconds=4),
        page("x<script>document.addEventListener('packline:seek', e => 0)</script>"),
    ],
)
def test_good_ones_pass_reading(html: str) -> None:
    assert rules.static_findings(html) == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<p style='position:absolute;left:1200px;white-space:nowrap'>Out of the picture</p>", "text-outside"),
        ("<div style='height:20px;overflow:hidden'><p>Cut off<br>below</p></div>", "text-clipped"),
        ("<p style='position:absolute;top:9px'>One</p><p style='position:absolute;top:9px'>Other</p>", "text-overlap"),
        ("<p style='font-size:9px'>Tiny</p>", "text-small"),
        ("<p style='color:#123'>Faint</p>", "contrast"),
        ("<p>x</p><script>new Image().src = 'http' + '://192.0.2.1/x'</script>", "outside-resource"),
        ("<p>x</p><script>nobody_knows()</script>", "script-fails"),
        ("<p>x</p><script>setTimeout(() => { throw new Error('late') }, 100)</script>", "script-fails"),
        ("<p>\U000fffff \U0010fffd \u0378</p>", "missing-glyphs"),
    ],
)
async def test_seen(harness: Harness, body: str, rule: str) -> None:
    needs_chromium()
    output = await harness.call(lint, {"composition_html": page(body)})
    assert output["checked"] == "loaded"
    assert rule in {issue["rule"] for issue in output["issues"]}, output["issues"]


@pytest.mark.browser
@pytest.mark.parametrize("ratio", ["16:9", *(pytest.param(each, marks=pytest.mark.sweep) for each in ("9:16", "1:1"))])
async def test_the_fullest_scenes_pass_strictly(harness: Harness, ratio: str) -> None:
    needs_chromium()
    composed = await harness.call(compose, {"scenes": SCENES, "aspect_ratio": ratio, "title": LONG[:110]})
    output = await harness.call(lint, {"composition_html": composed["composition_html"], "strict": True})
    assert output["issues"] == []
    assert output["composition_html"] == composed["composition_html"]


async def test_strict_fails_with_the_list(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    bad = page("<img src=https://example.org/a.png><video></video>")
    with pytest.raises(PackError, match=r"2 errors: .*outside-resource.*not-shown") as caught:
        await harness.call(lint, {"composition_html": bad, "strict": True})
    assert caught.value.failure.code == "invalid_input"
    output = await harness.call(lint, {"composition_html": bad})
    assert (output["ok"], output["checked"], output["errors"]) == (False, "static", 2)
    assert any("only read" in warning for warning in harness.warnings)
