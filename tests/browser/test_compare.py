"""Two runs side by side, and the files that they made."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image

from packline import PackContext, pack
from tests.support.browser import BROWSER, browsing
from tests.support.file_packs import Files
from tests.support.front_door import ran, save, step
from tests.support.packs import Text
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER

INPUTS = {"type": "object", "properties": {"colour": {"type": "string"}}}


@pack("test.draw", version="1.0.0", effects="none", repeatable=True)
async def draw(ctx: PackContext, given: Text) -> Files:
    """Makes a text, a table, a picture, and a file that is always the same."""
    picture = io.BytesIO()
    Image.new("RGB", (200, 100), given.text).save(picture, "PNG")
    made = [
        await ctx.save_artifact(f"{given.text}.md", f"# Dot\n\nIt is {given.text}.\n".encode(), "text/markdown"),
        await ctx.save_artifact("dots.csv", f"name,size\n{given.text},3\nall,9\n".encode(), "text/csv"),
        await ctx.save_artifact("dot.png", picture.getvalue(), "image/png"),
        await ctx.save_artifact("same.txt", b"as ever", "text/plain"),
    ]
    return Files(artifacts=[ref.artifact_id for ref in made])


async def test_files_are_compared_as_texts_tables_and_pictures(tmp_path: Path) -> None:
    async with product(tmp_path, [draw]) as it, browsing(it) as tab:
        await save(it, "dots", step("draw", "test.draw", text="${{ inputs.colour }}"), inputs=INPUTS)
        first, second = await ran(it, "dots", {"colour": "red"}), await ran(it, "dots", {"colour": "blue"})
        await tab.visit(f"/runs/compare?a={first['id']}&b={second['id']}")
        text = tab.page.get_by_role("region", name="What differs between red.md of the first run and blue.md")
        await text.get_by_text("red", exact=True).wait_for()
        await text.get_by_text("blue", exact=True).wait_for()
        for of, colour in (("first", "red"), ("second", "blue")):
            table = tab.page.get_by_role("region", name=f"dots.csv of the {of} run")
            await tab.reads(table.locator(".sr-only + *, td:has(.sr-only)"), [f"differs: {colour}"])
            picture = tab.page.get_by_role("img", name=f"What dot.png of the {of} run looks like")
            await picture.wait_for()
            await tab.page.wait_for_function(
                "of => document.querySelector(`img[alt*='${of} run']`)?.naturalWidth > 0", arg=of
            )
        await tab.sees("Both runs made the same file.")
        values = tab.page.get_by_role("table", name="Outputs that differ")
        await tab.reads(values.get_by_role("row", name="artifacts.0").locator("td"), ["red.md", "blue.md"])
        content = await tab.page.locator("main").inner_text()
        assert "art_" not in content
        assert await tab.violations_in_both_themes() == []
        for width, is_stacked in ((1024, False), (360, True)):
            await tab.page.set_viewport_size({"width": width, "height": 740})
            assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            for sides in (
                tab.page.get_by_role("region", name="dots.csv of the"),
                tab.page.get_by_role("img", name="What dot.png of the"),
                values.get_by_role("row", name="artifacts.0").locator("td"),
            ):
                first_box, second_box = [await side.bounding_box() for side in await sides.all()]
                assert first_box is not None
                assert second_box is not None
                assert (first_box["y"] + first_box["height"] <= second_box["y"]) is is_stacked
                assert (first_box["x"] + first_box["width"] <= second_box["x"]) is not is_stacked
        await tab.reads(
            values.get_by_role("row", name="artifacts.0").locator("td"), ["First\nred.md", "Second\nblue.md"]
        )
        await text.get_by_text("+ blue.md of the second run").wait_for()

        again = await ran(it, "dots", {"colour": "red"})
        await tab.visit(f"/runs/compare?a={first['id']}&b={again['id']}")
        heads = tab.page.get_by_role("table", name="The runs")
        await heads.wait_for()
        assert await heads.get_by_role("row", name="Id").locator("td").all_inner_texts() == [first["id"], again["id"]]
