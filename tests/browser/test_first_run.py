"""What a newcomer does in the first minute: sign in, run the sample, resume it, open the PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing, login_link
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER


async def test_the_sample_fails_is_resumed_and_its_deck_opens(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it, browsing(it) as tab:
        await tab.visit("/")
        await tab.page.get_by_role("term").first.wait_for()
        assert await tab.page.get_by_role("term").all_inner_texts() == ["Pack", "Pipeline", "Run"]
        assert await tab.violations() == []
        examples = tab.page.get_by_role("list", name="Examples that need no key").get_by_role("link")
        answers = ("Document to deck", "Document to blog", "web.scrape")
        for example, leads_to in zip(await examples.all(), answers, strict=True):
            await example.click()
            answer = tab.page.get_by_role("region", name="Answers").get_by_role("listitem").first
            await answer.get_by_text(leads_to).first.wait_for()
            await answer.get_by_role("button", name="Run", exact=True).wait_for()
        await tab.press("Run the sample")
        await tab.state("Failed")
        await tab.sees("Practice failure")
        await tab.sees("at step 3 of 4")
        await tab.sees("Yes: repeating the step causes no second external change.")

        await tab.press("Resume from step 3")
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_text("2 steps: Read, Outline").wait_for()
        await dialog.get_by_text("2 steps: Review, Render").wait_for()
        await tab.press("Resume from step 3", within="dialog")
        await tab.state("Succeeded")
        await tab.sees("resumed once")

        await tab.page.get_by_role("link", name="one-run-seen-from-close-by.pdf", exact=True).click()
        await tab.sees("10 pages")
        await tab.page.get_by_title("one-run-seen-from-close-by.pdf").wait_for()
        await tab.page.keyboard.press("Escape")
        await tab.state("Succeeded")

        await tab.page.get_by_role("link", name="Home").click()
        await tab.sees("Nothing needs your attention.")


async def test_whoever_is_not_signed_in_is_told_how_and_comes_back(tmp_path: Path) -> None:
    async with product(tmp_path) as it, browsing(it, signed_in=False, expect=("401",)) as tab:
        await tab.visit("/runs?view=attention")
        await tab.sees("packline token login-link")
        assert await tab.violations() == []
        await tab.page.get_by_label("Login link").fill(await login_link(it))
        await tab.press("Sign in")
        await tab.page.wait_for_url(it.url("/runs?view=attention"))
        await tab.sees("Nothing needs your attention.")
