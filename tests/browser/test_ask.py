"""The box that answers "what should I run for this?", over what ships and with a keyboard."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import command
from tests.support.model_server import model_server
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.routing_answers import podcast_on_tides

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_server import Asked
    from tests.support.product import Product

pytestmark = BROWSER

NOTES = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Tea\n\nTea is a drink made from leaves.\n"}
GAP = "book a flight to Lisbon"


async def runs(it: Product) -> int:
    data: dict[str, Any] = await it.query("{ runs { totalCount } }")
    return int(data["runs"]["totalCount"])


async def test_a_request_with_a_file_is_answered_filled_in_and_run_when_told(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it, browsing(it) as tab:
        await tab.visit("/")
        await tab.page.locator("input[type=file]").set_input_files(NOTES)
        await tab.page.get_by_role("list", name="Files").get_by_text("notes.md").wait_for()
        box = tab.page.get_by_label("Ask what to run")
        await box.fill("convert this document")
        answers = tab.page.get_by_role("region", name="Answers")
        opened = answers.get_by_role("button", name="doc.parse", expanded=True)
        await opened.wait_for()
        await answers.get_by_text("from your files").wait_for()
        await tab.holds(answers.get_by_label("Artifact"), re.compile("^art_"))
        await answers.get_by_text("Matched by keywords only", exact=True).wait_for()
        await tab.page.wait_for_url("**/?ask=convert*")
        assert await tab.violations() == []

        await box.press("ArrowDown")
        await answers.get_by_role("button", name="doc.parse", expanded=False).wait_for()
        assert await answers.get_by_role("button", expanded=True).count() == 1
        await box.press("ArrowUp")
        await opened.wait_for()
        assert await runs(it) == 0
        await box.press("Control+Enter")
        await tab.page.wait_for_url("**/runs/run_*")
        await tab.state("Succeeded")
        assert await runs(it) == 1


async def test_what_cannot_run_here_says_what_to_set_up_and_shows_its_steps(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it, browsing(it, theme="dark", size=(360, 740)) as tab:
        await tab.visit("/?ask=turn+my+notes+into+a+blog+post+for+executives")
        answers = tab.page.get_by_role("region", name="Answers")
        await answers.get_by_text("Cannot run here yet.").wait_for()
        await answers.get_by_text("No model is configured for the role", exact=False).first.wait_for()
        await answers.get_by_text("from your request").first.wait_for()
        assert await tab.violations() == []
        assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 360
        await answers.get_by_role("link", name="View steps").click()
        await tab.page.wait_for_url("**/pipelines/*")


async def test_what_is_missing_is_proposed_kept_copied_and_ready_to_be_filed(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it, browsing(it) as tab:
        await tab.visit("/")
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await tab.page.get_by_label("Ask what to run").wait_for()
        await tab.page.keyboard.press("Control+k")
        await tab.page.get_by_placeholder("Search or run a command…").fill(GAP)
        await tab.page.get_by_role("option", name="Ask what to run for").click()
        card = tab.page.get_by_role("region", name="What is missing")
        await card.get_by_text("Details").click()
        await card.get_by_text("text (string)").wait_for()
        assert await tab.page.get_by_role("button", name="Run", exact=True).count() == 0
        assert await tab.violations() == []
        await card.get_by_role("button", name="Save proposal").click()
        await card.get_by_text("Saved among the").wait_for()
        await card.get_by_role("button", name="Copy as issue").click()
        await card.get_by_text("Copied.").wait_for()
        assert GAP in await tab.page.evaluate("navigator.clipboard.readText()")

        await card.get_by_role("link", name="proposals").click()
        kept = tab.page.get_by_role("listitem", name="Proposal custom.book")
        await kept.wait_for()
        assert await kept.count() == 1, "copying kept it a second time"
        assert await tab.violations() == []
        await kept.get_by_role("link", name="File as a GitHub issue").click()
        await tab.page.wait_for_url("**/catalog/github.create_issue?*")
        await tab.holds(tab.page.get_by_label("Title"), re.compile(GAP))
        await tab.holds(tab.page.get_by_label("Body"), re.compile(GAP))

        await tab.page.go_back()
        await kept.get_by_role("button", name="Delete…").click()
        await tab.press("Delete the proposal", within="dialog")
        await tab.sees("There are no proposals.")
        await tab.visit(f"/?ask={GAP.replace(' ', '+')}")
        await card.get_by_role("link", name="Draft a pipeline with it").click()
        await tab.page.wait_for_url("**/pipelines/new*")
        await tab.page.get_by_text("custom.book").first.wait_for()


async def test_each_missing_capability_has_a_card_with_its_proposal(tmp_path: Path) -> None:
    asked = "/?ask=make+slides+from+report.pdf,+translate+them+into+French+and+water+my+plants"
    async with product(tmp_path, builtins=True) as it:
        async with browsing(it) as tab:
            await tab.visit(asked)
            answers = tab.page.get_by_role("region", name="Answers")
            await answers.get_by_role("button", name="Document to deck", expanded=True).wait_for()
            missing = answers.get_by_role("region", name="What is missing")
            await missing.get_by_text("Missing here: 2 capabilities").wait_for()
            cards = missing.get_by_role("listitem")
            assert await cards.count() == 2
            for place, (named, why, proposed) in enumerate(
                (
                    ("translate them into French", "knows", "custom.translate"),
                    ("water my plants", "No pack or pipeline here", "custom.water"),
                )
            ):
                card = cards.nth(place)
                await card.get_by_role("heading", name=named).wait_for()
                await card.get_by_text(why).wait_for()
                await card.get_by_text(proposed, exact=True).wait_for()
            assert await tab.violations() == []
            await cards.nth(1).get_by_role("button", name="Save proposal").click()
            await cards.nth(1).get_by_text("Saved among the").wait_for()
            assert await cards.nth(0).get_by_role("button", name="Save proposal").is_enabled()
            await cards.nth(1).get_by_role("link", name="proposals").click()
            await tab.page.get_by_role("listitem", name="Proposal custom.water").wait_for()
            await tab.page.get_by_role("heading", name="water my plants").wait_for()
            assert await tab.page.get_by_role("listitem", name="Proposal custom.translate").count() == 0

            await tab.visit("/pipelines/new?name=parse-and-post&packs=doc.parse,http.post,http.post")
            await tab.holds(tab.page.get_by_label("Name", exact=True), "parse-and-post")
            parts = tab.page.get_by_role("navigation", name="Parts of the pipeline")
            for step in ("Parse", "Post", "Post 2"):
                await parts.get_by_text(step, exact=True).wait_for()
        async with browsing(it, theme="dark", size=(360, 740)) as tab:
            await tab.visit(asked)
            missing = tab.page.get_by_role("region", name="What is missing")
            await missing.get_by_role("heading", name="water my plants").wait_for()
            for folded in await missing.get_by_text("Details").all():
                await folded.click()
            assert await tab.violations() == []
            assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 360


async def test_what_somebody_usually_chooses_is_filled_in_with_a_mark(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        for number in range(3):
            given = {"persona": "executive", "text": f"tea {number}"}
            await command(it, "runPack", pack="test.style", input=given, waitSeconds=20)
        await tab.visit("/?ask=same+as+last+time")
        answers = tab.page.get_by_role("region", name="Answers")
        await answers.get_by_role("button", name="test.style", expanded=True).wait_for()
        await answers.get_by_text("from your last 3 runs").wait_for()
        await tab.holds(answers.get_by_role("textbox", name="Persona"), "executive")
        await answers.get_by_role("textbox", name="Persona").fill("engineer")
        await answers.get_by_text("from your last 3 runs").wait_for(state="detached")
        await tab.page.get_by_label("Ask what to run").press("Escape")
        await answers.wait_for(state="detached")
        await tab.page.wait_for_url(it.url("/"))


async def test_with_a_routing_model_enter_asks_it_and_what_it_cannot_decide_words_do(tmp_path: Path) -> None:
    chosen = podcast_on_tides()
    asked: list[Asked] = []
    async with (
        model_server() as models,
        product(tmp_path, builtins=True, **models.settings(router=["good"])) as it,
        browsing(it) as tab,
    ):

        def answer(question: Asked) -> str:
            asked.append(question)
            return json.dumps(chosen)

        models.answer = answer
        await tab.visit("/")
        await (
            tab.page.get_by_text("Nothing runs until you confirm")
            .and_(tab.page.get_by_text("Press Enter to ask"))
            .wait_for()
        )
        box = tab.page.get_by_label("Ask what to run")
        await box.press_sequentially("something spoken on tides")
        await tab.settles()
        assert asked == [], "a model costs: typing alone asks nobody"
        await box.press("Enter")
        answers = tab.page.get_by_role("region", name="Answers")
        await answers.get_by_role("button", name="Question to podcast", expanded=True).wait_for()
        await answers.get_by_role("button", name="research.deep", expanded=False).wait_for()
        await tab.holds(answers.get_by_label("Query"), "tides")
        await answers.get_by_text("Chosen by openai:good").wait_for()
        assert len(asked) == 1
        assert await tab.violations() == []
        assert await runs(it) == 0

        chosen["id"] = "os.system"
        await box.fill("make slides of https://example.org/a")
        await box.press("Enter")
        await answers.get_by_role("button", name="Web page to deck", expanded=True).wait_for()
        await answers.get_by_text("Matched by keywords only", exact=True).click()
        await answers.get_by_text("could not be used", exact=False).wait_for()


async def test_a_long_request_is_kept_whole_and_out_of_the_address(tmp_path: Path) -> None:
    long = "Save a web page as Markdown. " * 170
    async with product(tmp_path, builtins=True) as it, browsing(it) as tab:
        await tab.visit("/?ask=tea")
        box = tab.page.get_by_role("searchbox", name="Ask what to run")
        await box.fill(long)
        await tab.page.wait_for_url(lambda url: "ask=" not in url)
        await tab.page.reload()
        await tab.holds(box, long.strip())
        assert await tab.page.evaluate("location.href.length") < 200
