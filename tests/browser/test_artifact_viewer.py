"""Files of a run as they are looked at: every type shows, nothing hostile runs, keys lead on and back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

import pytest

from tests.support.browser import BROWSER, browsing
from tests.support.file_packs import maker
from tests.support.front_door import ran, save, step
from tests.support.hostile_pdf import hostile_pdf
from tests.support.media_files import pdf, png, video, wav
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import put

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Dialog, Route

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = BROWSER

CAPTIONS = b"WEBVTT\n\n00:00.000 --> 00:01.000\nA kettle sings.\n"
MARKDOWN = (
    b"# Tea\n\nIt is **hot**. See [the harbour](https://example.org/), [another file](other.md) and [a part](#part)."
    b"\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n3. ![A cup](cup.png)\n\n- [x] drunk\n\n"
    b"| x |" + b" wide word |" * 80 + b"\n" + b"|-" * 81 + b"|\n"
)
HOSTILE_MARKDOWN = b"""# Calm

<script>window.hit = 1</script><img src=x onerror="window.hit = 1"><svg onload="window.hit = 1"></svg>
<iframe srcdoc="<script>parent.hit = 1</script>"></iframe><form action="/logout" method="post"><button>x</button></form>
[a](javascript:window.hit=1) <a href="data:text/html,<script>window.hit=1</script>">b</a>
![spy](https://example.org/spy.png) ![data](data:image/png;base64,AAAA) <p style="position: fixed" id="root">over</p>
<math><mtext><table><mglyph><style><img src=x onerror="window.hit=1"></style></mglyph></table></mtext></math>
"""
HOSTILE_HTML = b"""<h1 style="color: rgb(1, 2, 3)">Framed</h1><script>parent.hit = 1; top.hit = 1</script>
<img src=x onerror="top.hit = 1"><meta http-equiv="refresh" content="0; url=https://example.org/">"""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><script>top.hit = 1</script><rect width="80" \
height="40" fill="teal"/></svg>'
#: What browsers say when they stop a script in a frame, or miss the picture that is not there.
REFUSED = ("Blocked script execution", "Content Security Policy", "Refused to")


async def made(it: Product) -> tuple[str, dict[str, str]]:
    """Runs the pack; the run's id, and the files' ids by name."""
    await save(it, "files", step("make", "test.files"))
    run = await ran(it, "files")
    assert run["state"] == "SUCCEEDED", run["failure"]
    return run["id"], {file["name"]: file["id"] for file in run["steps"][0]["artifacts"]}


async def quiet(tab: Tab) -> None:
    assert await tab.page.evaluate("window.hit") is None


async def test_every_type_of_file_shows_as_what_it_is(tmp_path: Path) -> None:
    files = {
        "red.png": (png(300, 200), "image/png"),
        "two.pdf": (pdf(2), "application/pdf"),
        "talk.wav": (wav(1), "audio/wav"),
        "film.mp4": (video(tmp_path / "film.mp4", 1.0, codec="libx264"), "video/mp4"),
        "film.vtt": (CAPTIONS, "text/vtt"),
        "tea.md": (MARKDOWN, "text/markdown"),
        "tea.json": (b'{"leaves": ["green", "black"]}', "application/json"),
        "tea.csv": (b'Leaf,Price\n"Green, fine",3\nBlack,2\n', "text/csv"),
        "tea.patch": (b"--- a\n+++ b\n@@ -1 +1 @@\n-milk\n+lemon\n", "text/x-diff"),
        "odd.bin": (bytes(range(256)), "application/octet-stream"),
    }
    async with product(tmp_path, [maker(files)]) as it, browsing(it) as tab:
        run, at = await made(it)

        await tab.visit(f"/artifacts/{at['red.png']}")
        image = tab.page.get_by_role("img", name="What red.png looks like")
        await tab.page.wait_for_function("image => image.naturalWidth === 300", arg=await image.element_handle())
        await tab.press("Larger")
        await tab.press("Larger")
        await tab.sees("200%")
        assert await image.evaluate("image => image.clientWidth") == 600
        assert await tab.violations() == []

        await tab.visit(f"/artifacts/{at['two.pdf']}")
        await tab.sees("2 pages")
        frame = tab.page.locator("iframe[title='two.pdf']")
        assert await frame.get_attribute("sandbox") is None
        await tab.page.get_by_role("link", name="Page 2").click()
        await tab.page.wait_for_url("**page=2*")
        await tab.page.locator("iframe[title='two.pdf'][src$='#page=2&navpanes=0']").wait_for()
        # Each page of the strip is cut out of one picture of them all.
        strip = tab.page.get_by_role("navigation", name="Pages").locator("img").first
        await tab.page.wait_for_function("image => image.naturalHeight === 2 * 144", arg=await strip.element_handle())
        assert await tab.violations() == []

        await tab.visit(f"/artifacts/{at['film.mp4']}")
        player = await tab.page.locator("video").element_handle()
        await tab.page.wait_for_function("video => video.readyState > 0 && video.duration > 0.5", arg=player)
        await tab.page.wait_for_function("video => video.textTracks[0]?.cues?.length === 1", arg=player)
        await tab.page.evaluate("video => { video.currentTime = 0.5 }", player)
        await tab.page.wait_for_function("video => !video.seeking && video.currentTime >= 0.4", arg=player)
        await tab.page.get_by_text("Transcript: film.vtt").click()
        await tab.sees("A kettle sings.")
        assert await tab.violations() == []

        await tab.visit(f"/artifacts/{at['talk.wav']}")
        sound = await tab.page.locator("audio").element_handle()
        await tab.page.wait_for_function("audio => audio.duration > 0.5", arg=sound)

        await tab.visit(f"/artifacts/{at['tea.md']}")
        await tab.page.get_by_role("heading", name="Tea", exact=True).wait_for()
        cell = tab.page.get_by_role("cell", name="2")
        assert await cell.evaluate("it => getComputedStyle(it).textAlign") == "-webkit-right"
        prose = tab.page.locator(".prose-page")
        assert await prose.locator("ol").get_attribute("start") == "3"
        assert await prose.get_by_role("link").all_inner_texts() == ["the harbour"], "the others would lead nowhere"
        assert "(picture: A cup)" in (text := await prose.inner_text())
        assert "☑ drunk" in text
        assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "a table scrolls by itself"
        )
        assert await tab.violations() == []
        await tab.page.get_by_role("link", name="Source").click()
        await tab.sees("It is **hot**.")
        assert "view=source" in tab.page.url

        await tab.visit(f"/artifacts/{at['tea.json']}")
        await tab.sees("leaves")
        await tab.visit(f"/artifacts/{at['tea.csv']}")
        await tab.sees("2 rows, 2 columns")
        assert await tab.page.get_by_role("columnheader").all_inner_texts() == ["Leaf", "Price"]
        assert await tab.page.get_by_role("cell").all_inner_texts() == ["Green, fine", "3", "Black", "2"]
        assert await tab.violations() == []
        await tab.visit(f"/artifacts/{at['tea.patch']}")
        await tab.sees("+lemon")
        assert await tab.violations() == []
        await tab.visit(f"/artifacts/{at['odd.bin']}")
        await tab.sees("application/octet-stream")
        async with tab.page.expect_download() as download:
            await tab.page.get_by_role("link", name="Download").click()
        assert (await download.value).suggested_filename == "odd.bin"
        assert run


@pytest.mark.parametrize(("theme", "size"), [("light", (1440, 900)), ("dark", (390, 844))])
async def test_decks_show_their_first_pages_in_lists_and_as_the_result(
    tmp_path: Path, theme: Literal["light", "dark"], size: tuple[int, int]
) -> None:
    files = {
        "deck.pdf": (pdf(7), "application/pdf"),
        "one.pdf": (pdf(1), "application/pdf"),
        "tea.md": (MARKDOWN, "text/markdown"),
    }
    drawn = asyncio.Event()

    async def withheld(route: Route) -> None:
        await drawn.wait()
        await route.continue_()

    async with product(tmp_path, [maker(files)]) as it, browsing(it, theme=theme, size=size) as tab:
        run, ids = await made(it)
        await tab.page.route("**/preview?*pages=first", withheld)
        await tab.visit("/artifacts")
        row = tab.page.get_by_role("listitem").filter(has_text="deck.pdf")
        pages = row.get_by_role("img")
        await pages.first.wait_for(state="attached")
        rows = [await each.bounding_box() for each in await tab.page.get_by_role("main").get_by_role("listitem").all()]
        drawn.set()
        wide = size[0] > 1000
        strip = row.get_by_role("img", name=f"Pages {2 if wide else 1} to 4 of deck.pdf")
        await strip.wait_for()
        assert await strip.locator("img:visible").count() == (3 if wide else 4)
        await tab.page.get_by_role("img", name="Page 1 of one.pdf").wait_for()
        assert await tab.page.get_by_role("img", name="of one.pdf").count() == 1
        after = [await each.bounding_box() for each in await tab.page.get_by_role("main").get_by_role("listitem").all()]
        assert len(rows) == len(files)
        assert after == rows, "a picture that arrives moves nothing"
        assert await tab.violations() == []
        assert await tab.page.evaluate("document.documentElement.scrollWidth") <= size[0]

        await tab.visit(f"/runs/{run}")
        result = tab.page.get_by_role("region", name="Result")
        await result.get_by_role("heading", name="deck.pdf").wait_for()
        await result.get_by_role("img", name=f"Pages {2 if wide else 1} to 4 of deck.pdf").wait_for()
        assert await tab.violations() == []
        assert await tab.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert set(ids) == set(files)


async def test_how_a_file_looks_shows_once_it_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resolvers.artifacts.artifacts.PREVIEW_SECONDS", 0)  # the first answer never waits for it
    async with product(tmp_path, [maker({"two.pdf": (pdf(2), "application/pdf")})]) as it, browsing(it) as tab:
        _, at = await made(it)
        await tab.visit(f"/artifacts/{at['two.pdf']}")
        await tab.sees("2 pages")
        await tab.page.get_by_role("link", name="Page 2").wait_for()


async def test_hostile_files_run_nothing(tmp_path: Path) -> None:
    files = {
        "calm.md": (HOSTILE_MARKDOWN, "text/markdown"),
        "page.html": (HOSTILE_HTML, "text/html"),
        "drawing.svg": (SVG, "image/svg+xml"),
        "long.txt": (("\u202e<b>" + "x" * 100_000 + "\n").encode() * 4, "text/plain"),
    }
    async with product(tmp_path, [maker(files)]) as it, browsing(it, expect=REFUSED) as tab:
        _, at = await made(it)
        await tab.visit(f"/artifacts/{at['calm.md']}")
        await tab.page.get_by_role("heading", name="Calm", exact=True).wait_for()
        assert (
            await tab.page.locator(
                ".prose-page :is(script, iframe, form, button, svg, math, style, [onerror], [style], [id])"
            ).count()
            == 0
        )
        assert await tab.page.locator(".prose-page :is([href^=javascript], [href^=data], [src])").count() == 0
        await quiet(tab)

        await tab.visit(f"/artifacts/{at['page.html']}")
        framed = tab.page.frame_locator("iframe[title='page.html']").get_by_role("heading", name="Framed")
        assert await framed.evaluate("it => getComputedStyle(it).color") == "rgb(1, 2, 3)"
        assert await tab.page.locator("iframe[title='page.html']").get_attribute("sandbox") == ""
        await quiet(tab)

        await tab.visit(f"/artifacts/{at['drawing.svg']}")
        await tab.page.get_by_role("img", name="What drawing.svg looks like").wait_for()
        await quiet(tab)

        await tab.visit(f"/artifacts/{at['long.txt']}")
        await tab.sees("The first 200 kB of 400 kB.")
        await quiet(tab)


async def test_keys_lead_through_the_files_of_a_run_and_back_to_it(tmp_path: Path) -> None:
    files = {name: (name.encode(), "text/plain") for name in ("one.txt", "two.txt", "three.txt")}
    async with product(tmp_path, [maker(files)]) as it, browsing(it) as tab:
        run, at = await made(it)
        await tab.visit(f"/runs/{run}?step=make")
        await tab.page.get_by_role("link", name="one.txt", exact=True).click()
        await tab.page.get_by_role("heading", name="one.txt").wait_for()
        await tab.sees("1 of 3")
        await tab.page.keyboard.press("ArrowRight")
        await tab.page.get_by_role("heading", name="two.txt").wait_for()
        await tab.page.keyboard.press("ArrowRight")
        await tab.page.get_by_role("heading", name="three.txt").wait_for()
        assert tab.page.url == it.url(f"/artifacts/{at['three.txt']}")
        await tab.page.keyboard.press("ArrowLeft")
        await tab.page.get_by_role("heading", name="two.txt").wait_for()
        await tab.page.keyboard.press("Escape")
        await tab.page.wait_for_url(f"**/runs/{run}*")

        await tab.visit(f"/artifacts/{at['one.txt']}")
        await tab.press("Close")
        await tab.page.wait_for_url(lambda url: f"/artifacts/{at['one.txt']}" not in url)


async def test_a_file_is_pinned_and_used_in_a_pipeline_that_takes_it(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {"type": "object", "properties": {"artifact": {"type": "string", "description": "A file."}}}
    async with (
        product(tmp_path, [*bench.packs, maker({"note.txt": (b"tea", "text/plain")})]) as it,
        browsing(it) as tab,
    ):
        await save(
            it,
            "reader",
            step("say", "test.echo", text="${{ inputs.artifact }}"),
            inputs=inputs,
            metadata={"accepts": ["document"], "produces": ["text"]},
        )
        _, at = await made(it)
        await tab.visit(f"/artifacts/{at['note.txt']}")
        await tab.press("Pin")
        await tab.sees("kept forever")
        await tab.press("Use in…")
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_role("link", name="Reader").wait_for()
        assert await tab.violations() == []
        await dialog.get_by_role("link", name="Reader").click()
        await tab.page.wait_for_url("**/pipelines/reader/run*")
        await tab.holds(tab.page.get_by_label("Artifact"), at["note.txt"])


async def test_a_file_in_quarantine_says_why_and_is_let_out(tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    async with product(tmp_path, [maker({"leak.txt": (f"key={secret}".encode(), "text/plain")})]) as it:
        await put(it, "spare", "generic", {"secret": secret})
        _, at = await made(it)
        async with browsing(it) as tab:
            await tab.visit(f"/artifacts/{at['leak.txt']}")
            await tab.sees("Quarantined")
            assert await tab.page.get_by_role("link", name="Download").count() == 0
            assert await tab.violations() == []
            await tab.press("Release…")
            await tab.press("Release the file", within="dialog")
            await tab.page.get_by_role("link", name="Download").wait_for()


async def test_a_pdf_runs_no_script_in_the_viewer(tmp_path: Path) -> None:
    files = {"session.pdf": (hostile_pdf(), "application/pdf")}
    async with product(tmp_path, [maker(files)]) as it, browsing(it) as tab:
        _, at = await made(it)
        asked: list[str] = []

        async def note(dialog: Dialog) -> None:
            asked.append(dialog.message)
            await dialog.dismiss()

        tab.page.on("dialog", note)
        async with tab.page.expect_response(lambda answer: "frame" in answer.url) as answer:
            await tab.visit(f"/artifacts/{at['session.pdf']}")
        assert (await answer.value).ok
        await tab.sees("2 pages")
        await tab.page.get_by_role("link", name="Page 2").click()  # the viewer has begun with the document by then
        await tab.page.wait_for_url("**page=2*")
        assert asked == []


async def test_a_file_that_cannot_be_shown_says_so_and_is_offered_for_download(tmp_path: Path) -> None:
    files = {
        "cut.pdf": (pdf(2)[:200], "application/pdf"),
        "text.pdf": (b"This is no PDF.", "application/pdf"),
        "empty.pdf": (b"", "application/pdf"),
        "empty.txt": (b"", "text/plain"),
        "broken.png": (png(30, 20)[:40], "image/png"),
        "broken.mp4": (b"no film", "video/mp4"),
        "broken.wav": (b"no sound", "audio/wav"),
    }
    async with product(tmp_path, [maker(files)]) as it, browsing(it, expect=("415", "404")) as tab:
        _, at = await made(it)
        for name, artifact in at.items():
            await tab.visit(f"/artifacts/{artifact}")
            said = tab.page.get_by_role("status").filter(has_text=f"{name} cannot be shown")
            await said.wait_for()
            assert (await said.inner_text()).count("cannot be shown") == 1
            link = tab.page.get_by_role("link", name="Download")
            assert "&download" in (await link.get_attribute("href") or "")
            assert await tab.page.locator("iframe, video, audio").count() == 0
        assert await tab.violations() == []
