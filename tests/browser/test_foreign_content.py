"""What runs, packs and people wrote, at its worst: it shows or says that it cannot, and the page around it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from packline import PackContext, pack
from tests.support.browser import BROWSER, browsing
from tests.support.file_packs import Nothing, maker
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = BROWSER

FULL = 199_000
HOSTILE_MARKDOWN = {
    "quotes.md": "> " * 20_000 + "the end",
    "lists.md": "- " * 20_000 + "the end",
    "stars.md": "*" * (FULL // 2) + "a" + "*" * (FULL // 2 - 1),
    "brackets.md": "[" * (FULL // 2) + "]" * (FULL // 2),
    "table.md": "|" + "a|" * 40_000 + "\n|" + "-|" * 40_000 + "\n" + "|\n" * 19_000,
    "links.md": "[a]: " + "x" * 50_000 + "\n\n" + "[a] " * 30_000,
    "repeated.md": "".join(f'<b title="{number}">x\n\n' for number in range(5_000)),
    "nested.md": "<div>x" * 20_000,
    "megabyte.md": "> " * 500_000,
}
#: The longest a page may not answer, in milliseconds; seven times what was measured on two cores with other work.
FROZEN_MS = 5_000
WATCH = """window.longest = 0; new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
}).observe({ type: "longtask", buffered: true })"""


async def made(it: Product) -> dict[str, str]:
    """Runs the pack that makes the files; their ids by name."""
    await save(it, "files", step("make", "test.files"))
    run = await ran(it, "files")
    assert run["state"] == "SUCCEEDED", run["failure"]
    return {file["name"]: file["id"] for file in run["steps"][0]["artifacts"]}


async def alive(tab: Tab) -> None:
    """The page still answers: its title is there, and a button of its own works."""
    await tab.page.get_by_role("link", name="Source").click()
    await tab.page.get_by_role("link", name="Source", exact=True).and_(tab.page.locator("[aria-current]")).wait_for()


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("quotes.md",), id="sample"),
        pytest.param(tuple(HOSTILE_MARKDOWN), marks=pytest.mark.sweep, id="every"),
    ],
)
async def test_markdown_that_is_too_much_is_shown_as_it_is_written(tmp_path: Path, names: tuple[str, ...]) -> None:
    files = {name: (HOSTILE_MARKDOWN[name].encode(), "text/markdown") for name in names}
    async with product(tmp_path, [maker(files)]) as it, browsing(it) as tab:
        at = await made(it)
        await tab.page.add_init_script(WATCH)
        for name in files:
            await tab.visit(f"/artifacts/{at[name]}")
            await tab.page.get_by_role("heading", name=name).wait_for()
            await tab.page.locator(".prose-page, main pre").first.wait_for()
            await alive(tab)
            assert await tab.page.evaluate("window.longest") < FROZEN_MS, name
        await tab.visit(f"/artifacts/{at['quotes.md']}")
        await tab.sees("Shown as source, because it nests quotes or lists too deeply.")
        await tab.page.get_by_role("region", name="quotes.md").wait_for()
        assert await tab.violations_in_both_themes() == []


async def test_what_cannot_be_shown_leaves_the_page_around_it(tmp_path: Path) -> None:
    lost = ("Failed to fetch", "net::ERR_FAILED", "Failed to load resource")
    files = {"tea.md": (b"# Tea\n\nIt is **hot**.", "text/markdown")}
    async with product(tmp_path, [maker(files)]) as it, browsing(it, expect=lost) as tab:
        at = await made(it)
        # The part of the page that sets Markdown out does not come: the connection broke, or the server has another.
        await tab.page.route("**/assets/Markdown-*.js", lambda route: route.abort())
        await tab.visit(f"/artifacts/{at['tea.md']}")
        await tab.sees("tea.md cannot be shown.")
        await tab.page.get_by_role("heading", name="tea.md").wait_for()
        await tab.page.get_by_role("link", name="Download", exact=True).wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.press("Show as text")
        await tab.reads(tab.page.get_by_role("region", name="tea.md, as text"), "# Tea\n\nIt is **hot**.")
        async with tab.page.expect_download() as downloading:
            await tab.press("Download as text")
        assert (await downloading.value).suggested_filename == "tea.md.txt"
        assert await tab.violations_in_both_themes() == []

        await tab.page.unroute("**/assets/Markdown-*.js")
        await tab.page.reload()
        await tab.page.get_by_role("heading", name="Tea", exact=True).wait_for()


async def test_a_part_that_does_not_load_leaves_the_way_to_other_pages(tmp_path: Path) -> None:
    lost = ("Failed to fetch", "net::ERR_FAILED", "Failed to load resource")
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, expect=lost) as tab:
        await save(it, "tea", step("say", "test.echo", text="hot"))
        run = await ran(it, "tea")
        await tab.page.route("**/assets/dialogs-*.js", lambda route: route.abort())
        await tab.page.route("**/assets/CatalogPage-*.js", lambda route: route.abort())
        await tab.visit(f"/runs/{run['id']}")
        await tab.press("Run again")
        await tab.sees("The dialog cannot be shown.")
        await tab.page.get_by_role("button", name="Say Succeeded").wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.press("Close")
        await tab.page.get_by_text("The dialog cannot be shown.").wait_for(state="detached")

        await tab.page.get_by_role("link", name="Catalog", exact=True).click()
        await tab.page.get_by_role("heading", name="This page cannot be shown").wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.page.get_by_role("link", name="Runs", exact=True).click()
        await tab.page.get_by_role("heading", name="Runs", exact=True).wait_for()
        await tab.visit("/runs/%E0%A4%A")
        await tab.page.get_by_role("heading", name="There is no such page").wait_for()


class Odd(BaseModel):
    """A value of any shape."""

    value: Any = Field(description="Whatever it is.")


def nested(depth: int) -> Any:
    value: Any = "the end"
    for level in range(depth):
        value = {"in": value} if level % 2 else [value]
    return value


WIDE = {"constructor": "one", "__proto__": "two", "": "three", "toString": "four", "a.b": {"c": nested(150)}} | {
    f"column {number}": 2**60 + number for number in range(1_000)
}


@pack("test.odd", version="1.0.0", effects="none", repeatable=True)
async def odd(ctx: PackContext, given: Nothing) -> Odd:
    """Gives and says what nobody expects."""
    ctx.log("long " * 100_000)
    ctx.log("\x1b[31mred\x1b[0m \u202e turned \u0000", "warning")
    return Odd(value=WIDE)


async def test_what_a_run_was_given_and_gave_may_be_of_any_shape(tmp_path: Path) -> None:
    files = {"deep.json": (("[" * 90_000 + "]" * 90_000).encode(), "application/json")}
    bench = Workbench()
    strange = {name: {"type": "string"} for name in ("constructor", "toString", "valueOf")}
    inputs = {
        "type": "object",
        "required": list(strange),
        "properties": {
            **strange,
            **{f"field_{number}": {"type": "string"} for number in range(300)},
        },
    }
    circular = {
        "type": "object",
        "properties": {"round": {"$ref": "#/$defs/one"}},
        "$defs": {"one": {"$ref": "#/$defs/other"}, "other": {"$ref": "#/$defs/one", "description": "Round."}},
    }
    packs = [*bench.packs, maker(files), odd]
    async with product(tmp_path, packs) as it, browsing(it) as tab:
        await save(
            it,
            "odd",
            step("say", "test.echo", text="${{ inputs.constructor }}"),
            step("odd", "test.odd"),
            step("make", "test.files"),
            inputs=inputs,
        )
        await save(it, "circular", step("odd", "test.odd"), inputs=circular)
        await tab.visit("/pipelines/circular/run")
        await tab.page.get_by_label("Round").fill("1")
        await tab.visit("/pipelines/odd/run")
        for name in ("Constructor", "ToString", "ValueOf"):
            field = tab.page.get_by_label(name)
            await tab.holds(field, "")
            await field.fill("tea")
        await tab.page.get_by_text("More (300)").click()
        await tab.page.get_by_role("button", name="Show 100 more of 200").click()
        await tab.page.get_by_label("Field 199").wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.press("Run")
        await tab.state("Succeeded")

        await tab.page.get_by_role("button", name="Say Succeeded").click()
        await tab.page.get_by_role("tab", name="Input").click()
        await tab.sees("from the run's input constructor")
        await tab.page.get_by_role("button", name="Odd Succeeded").click()
        await tab.page.get_by_role("tab", name="Output").click()
        await tab.sees("__proto__")
        await tab.page.get_by_role("button", name="Show 50 more of").first.click()
        assert await tab.violations_in_both_themes() == []
        await tab.page.get_by_role("tab", name="Log").click()
        await tab.press("show all 500,000 characters")
        await tab.page.get_by_role("button", name="Make Succeeded").click()
        await tab.page.get_by_role("link", name="deep.json", exact=True).click()
        await tab.page.get_by_role("heading", name="deep.json").wait_for()
        await tab.page.get_by_role("button", name="0 · 1").click()
        assert await tab.violations_in_both_themes() == []
