"""Triggers on the page: a schedule is added, paused, fired, changed and deleted, by keyboard, mouse and finger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = BROWSER

PHONE = (390, 844)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def it(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """A product with the pipeline `tea`, whose input is `text`."""
    async with product(tmp_path_factory.mktemp("triggers"), Workbench().packs) as it:
        await save(it, "tea", step("say", "test.echo", text="${{ inputs.text }}"))
        await save(it, "coffee", step("say", "test.echo", text="coffee"))
        yield it


async def scheduled(it: Product, pipeline: str, name: str, cron: str = "0 9 * * MON-FRI") -> str:
    """Create a trigger over the API; returns its id."""
    done = await it.mutate(
        """mutation ($pipeline: ID!, $name: String!, $schedule: ScheduleInput!, $inputs: JSON) {
            createTrigger(pipeline: $pipeline, name: $name, schedule: $schedule, inputs: $inputs) {
                ... on TriggerSuccess { trigger { id } } ... on Problem { message } } }""",
        {
            "pipeline": pipeline,
            "name": name,
            "schedule": {"cron": cron, "timeZone": "Asia/Tokyo"},
            "inputs": {"text": "green"} if pipeline == "tea" else {},
        },
    )
    return str(done["trigger"]["id"])


async def tab_to(tab: Tab, what: str) -> None:
    """Press Tab until the element whose text or label begins so has the focus."""
    for _ in range(60):
        found = await tab.page.evaluate(
            "() => (document.activeElement.labels?.[0] ?? document.activeElement).innerText?.trim()"
        )
        if found is not None and found.startswith(what):
            return
        await tab.page.keyboard.press("Tab")
    pytest.fail(f"Tab never reaches {what}")


async def test_a_keyboard_alone_adds_a_schedule(it: Product) -> None:
    async with browsing(it) as tab:
        await tab.visit("/pipelines/tea")
        await tab.page.get_by_role("heading", name="Triggers").wait_for()
        keys = tab.page.keyboard
        await tab_to(tab, "Add a schedule")
        await keys.press("Enter")
        await tab.page.get_by_role("heading", name="Add a schedule to").wait_for()
        await tab_to(tab, "Cron expression")
        await keys.press("Control+a")
        await keys.type("30 6 * * MON-FRI")
        await tab_to(tab, "Time zone")
        await keys.type("Europe/Berlin")
        await tab.sees("Every weekday at 06:30, Europe/Berlin time.")
        await tab.page.get_by_role("table", name="Next firings").get_by_text("06:30").first.wait_for()
        await tab_to(tab, "Text")
        await keys.type("Tea of ${{ trigger.scheduled_at }}")
        await tab_to(tab, "Add the schedule")
        assert await tab.violations_in_both_themes() == []
        await keys.press("Enter")
        await tab.page.get_by_role("heading", name="Every weekday at 06:30").wait_for()
        firings = tab.page.get_by_role("table", name="Next firings")
        assert await firings.get_by_role("row").count() == 6
        await firings.get_by_text("06:30").first.wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.visit("/pipelines/tea")
        await tab.page.get_by_role("table", name="Triggers").get_by_text("Every weekday at 06:30").first.wait_for()


async def test_a_trigger_is_paused_resumed_fired_and_deleted(it: Product) -> None:
    trigger = await scheduled(it, "tea", "Morning tea")
    async with browsing(it) as tab:
        await tab.visit(f"/triggers/{trigger}")
        await tab.page.get_by_text("Asia/Tokyo").first.wait_for()
        await tab.press("Pause")
        await tab.sees("Paused", exact=True)
        await tab.sees("It is paused.")
        await tab.press("Resume")
        await tab.sees("Enabled", exact=True)
        await tab.press("Fire now")
        await tab.page.wait_for_url("**/runs/run_*")
        await tab.state("Succeeded")
        await tab.page.get_by_role("link", name="Morning tea").click()
        firings = tab.page.get_by_role("table", name="Firings", exact=True)
        await firings.get_by_text("on request").wait_for()
        await firings.get_by_text("Succeeded").wait_for()
        assert await tab.violations_in_both_themes() == []
        await tab.press("Delete…")
        assert await tab.violations() == []
        await tab.press("Delete the trigger", within="dialog")
        await tab.page.wait_for_url("**/triggers")
        await tab.page.get_by_role("heading", name="Triggers").wait_for()
        await tab.page.get_by_role("link", name="Morning tea").wait_for(state="detached")
    assert (await it.query(f'{{ trigger(id: "{trigger}") {{ id }} }}'))["trigger"] is None


async def test_what_is_wrong_shows_at_its_field_and_an_edit_is_saved(it: Product) -> None:
    trigger = await scheduled(it, "tea", "Noon tea")
    async with browsing(it) as tab:
        await tab.visit(f"/triggers/{trigger}/edit")
        cron = tab.page.get_by_label("Cron expression")
        await tab.holds(cron, "0 9 * * MON-FRI")
        await tab.holds(tab.page.get_by_label("Text"), "green")
        await cron.fill("0 9 31 2 *")
        await tab.page.get_by_role("status").get_by_text("never fires").wait_for()
        await cron.fill("0 9 * * FUNDAY")
        await tab.press("Save")
        await tab.page.locator("[role=alert]", has_text="is not a cron expression").first.wait_for()
        assert await cron.get_attribute("aria-invalid") == "true"
        assert await tab.violations_in_both_themes() == []
        await tab.page.get_by_label("At an interval").check()
        await tab.page.get_by_label("Every", exact=True).fill("90")
        await tab.page.get_by_label("Unit").select_option("minutes")
        await tab.press("Save")
        await tab.page.get_by_role("heading", name="Noon tea", exact=True).wait_for()
        await tab.sees("Every 1 h 30 min")
    found = await it.query(f'{{ trigger(id: "{trigger}") {{ inputs schedule {{ cron intervalSeconds }} }} }}')
    assert found["trigger"] == {"inputs": {"text": "green"}, "schedule": {"cron": None, "intervalSeconds": 5400}}


async def test_the_list_is_filtered_by_its_address_and_fits_a_phone(it: Product) -> None:
    await scheduled(it, "tea", "Evening tea")
    async with browsing(it, size=PHONE, touch=True) as tab:
        await tab.visit("/triggers?pipeline=coffee")
        await tab.sees("This pipeline has no triggers.")
        await tab.page.get_by_label("Pipeline").select_option("tea")
        await tab.page.wait_for_url("**pipeline=tea*")
        await tab.page.get_by_role("link", name="Evening tea").wait_for()
        for path in (tab.page.url, "/triggers/new?pipeline=tea"):
            await tab.page.goto(it.url(path) if path.startswith("/") else path)
            await tab.page.locator("main h1").wait_for()
            await tab.settles()
            assert await tab.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
            assert await tab.violations() == []
        await tab.visit("/triggers?state=attention")
        await tab.sees("No trigger needs attention.")
