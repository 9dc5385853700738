"""Where the keyboard is: in what has just opened, and back at what opened it when that closes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = BROWSER

FILE = {"type": "object", "properties": {"picture_artifact_id": {"type": "string"}}}


async def test_what_opens_has_the_focus_and_gives_it_back_when_it_closes(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "broken", step("send", "test.switch", text="wrong"))
        await save(it, "files", step("make", "test.artifact", name="tea.txt", content="tea"))
        await save(it, "takes", step("make", "test.echo", text="${{ inputs.picture_artifact_id }}"), inputs=FILE)
        await _dialogs(tab, (await ran(it, "broken"))["id"])
        await _forms(tab)
        await _files(tab, it, await ran(it, "files"))


async def _dialogs(tab: Tab, run: str) -> None:
    await tab.visit(f"/runs/{run}")
    for opener, inside in (("Change input…", "Text"), ("Resume from step 1", ""), ("Run again", "")):
        button = tab.page.get_by_role("button", name=opener, exact=True).first
        await button.focus()
        await tab.page.keyboard.press("Enter")
        dialog = tab.page.get_by_role("dialog")
        await dialog.wait_for()
        if inside:
            await tab.focuses(dialog.get_by_role("textbox", name=inside))
        await tab.page.keyboard.press("Escape")
        await dialog.wait_for(state="detached")
        await tab.focuses(button)


async def _forms(tab: Tab) -> None:
    for page, opener, first in (
        ("/tokens", "Create a token", "Name"),
        ("/credentials", "Add a credential", "Name"),
    ):
        await tab.visit(page)
        button = tab.page.get_by_role("button", name=opener)
        await button.click()
        await tab.focuses(tab.page.get_by_label(first, exact=True).first)
        await tab.press("Cancel")
        await tab.focuses(button)

    await tab.visit("/tokens")
    await tab.press("Create a token")
    await tab.page.keyboard.type("laptop")
    await tab.page.keyboard.press("Enter")
    await tab.focuses(tab.page.get_by_role("region", name="New token"))
    await tab.press("Done")
    await tab.focuses(tab.page.get_by_role("button", name="Create a token"))


async def _files(tab: Tab, it: Product, run: dict[str, object]) -> None:
    await tab.visit("/pipelines/takes/run")
    choose = tab.page.get_by_role("button", name="Choose…")
    await choose.click()
    await tab.focuses(tab.page.get_by_role("searchbox", name="Search files"))
    await tab.page.get_by_role("button", name="tea.txt").click()
    await tab.focuses(choose)

    for page in ("/artifacts", f"/runs/{run['id']}?tab=artifacts"):
        await tab.visit(page)
        link = tab.page.locator("main a[href*='/artifacts/art_']").first
        await link.focus()
        await tab.page.keyboard.press("Enter")
        await tab.page.get_by_role("button", name="Close").wait_for()
        await tab.page.keyboard.press("Escape")
        await tab.page.wait_for_url(it.url(page))
        await tab.focuses(tab.page.locator("main a[href*='/artifacts/art_']").first)
