"""Webhooks on the page: one is added, its secret copied, rotated, and what it received is read and replayed."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
import pytest_asyncio

from tests.support.browser import BROWSER, browsing
from tests.support.front_door import save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = BROWSER

PHONE = (390, 844)
SECRET = "It's a Secret to Everybody"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def it(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """A product with the pipeline `tea`, whose input is `text`."""
    async with product(tmp_path_factory.mktemp("webhooks"), Workbench().packs) as it:
        await save(it, "tea", step("say", "test.echo", text="${{ inputs.text }}"))
        yield it


async def hooked(it: Product, name: str) -> tuple[str, str]:
    """Create a webhook over the API; returns its id and its URL."""
    done = await it.mutate(
        """mutation ($name: String!, $secret: String!, $inputs: JSON) {
            createWebhook(pipeline: "tea", name: $name, preset: GITHUB, secret: $secret, inputs: $inputs) {
                ... on WebhookSecretSuccess { trigger { id webhook { url } } } ... on Problem { message } } }""",
        {"name": name, "secret": SECRET, "inputs": {"text": "Tea for ${{ trigger.payload.who }}"}},
    )
    return done["trigger"]["id"], done["trigger"]["webhook"]["url"]


async def deliver(it: Product, url: str, secret: str, payload: object, delivery: str) -> int:
    """Deliver as GitHub does; returns the status of the answer."""
    body = json.dumps(payload).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-hub-signature-256": f"sha256={signature}",
        "x-github-delivery": delivery,
        "x-github-event": "push",
    }
    async with httpx2.AsyncClient() as client:
        return (await client.post(it.url(urlsplit(url).path), content=body, headers=headers)).status_code


async def copied(tab: Tab, what: str) -> str:
    """Press the copy button of something; returns what is on the clipboard."""
    await tab.press(f"Copy {what}", within="main")
    await tab.page.get_by_role("main").get_by_role("button", name=f"Copied {what}").wait_for()
    return str(await tab.page.evaluate("navigator.clipboard.readText()"))


async def test_a_webhook_is_added_and_its_secret_shows_once(it: Product) -> None:
    async with browsing(it) as tab:
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await tab.visit("/pipelines/tea")
        await tab.page.get_by_role("link", name="Add a webhook").click()
        await tab.page.get_by_role("heading", name="Add a webhook to").wait_for()
        await tab.page.get_by_label("Events").fill("push\nrelease")
        await tab.page.get_by_label("Name").fill("Pushes")
        await tab.page.get_by_label("Text").fill("Tea for ${{ trigger.payload.who }}")
        assert await tab.violations_in_both_themes() == []
        await tab.press("Add the webhook")
        await tab.focuses(tab.page.get_by_role("region", name="New secret"))
        assert await tab.violations_in_both_themes() == []
        url, secret = await copied(tab, "URL"), await copied(tab, "secret")
        assert url.startswith(it.url("/hooks/"))
        assert await deliver(it, url, secret, {"who": "Mona"}, "d-1") == 202
        await tab.press("Done")
        await tab.page.get_by_role("heading", name="Pushes", exact=True).wait_for()
        await tab.sees("push, release")
        assert await tab.page.get_by_text(secret).count() == 0
        await tab.visit("/triggers")
        await tab.page.get_by_role("table", name="Triggers").get_by_text("Webhook · GitHub").first.wait_for()


async def test_a_template_that_cannot_be_read_is_refused_at_its_field(it: Product) -> None:
    async with browsing(it) as tab:
        await tab.visit("/triggers/new?pipeline=tea&kind=webhook")
        text = tab.page.get_by_label("Text")
        await text.fill("${{ trigger.sender }}")
        await tab.page.get_by_label("Secret").fill("short")
        await tab.press("Add the webhook")
        await tab.page.get_by_label("Secret").and_(tab.page.locator("[aria-invalid=true]")).wait_for()
        await tab.page.get_by_label("Secret").fill(SECRET)
        await tab.press("Add the webhook")
        await text.and_(tab.page.locator("[aria-invalid=true]")).wait_for()
        assert await tab.violations_in_both_themes() == []


async def test_a_delivery_is_read_and_replayed(it: Product) -> None:
    trigger, url = await hooked(it, "Handbook")
    assert await deliver(it, url, SECRET, {"who": "Mona", "note": SECRET}, "d-2") == 202
    async with browsing(it) as tab:
        await tab.visit(f"/triggers/{trigger}")
        firings = tab.page.get_by_role("table", name="Firings", exact=True)
        await firings.get_by_text("Delivery of push").click()
        payload = firings.get_by_role("region", name="Payload of d-2")
        await payload.get_by_text("Mona").wait_for()
        assert SECRET not in await payload.inner_text()
        assert await tab.violations_in_both_themes() == []
        await tab.press("Replay")
        await tab.page.wait_for_url("**/runs/run_*")
        await tab.state("Succeeded")
        await tab.sees("by the webhook")
        await tab.page.get_by_role("link", name="Handbook").click()
        await firings.get_by_text("Succeeded").nth(1).wait_for()
        assert await firings.get_by_text("Delivery of push").count() == 1


async def test_a_secret_is_rotated_with_an_overlap(it: Product) -> None:
    trigger, url = await hooked(it, "Rotated")
    async with browsing(it) as tab:
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await tab.visit(f"/triggers/{trigger}")
        await tab.press("Rotate…")
        await tab.page.get_by_label("Keep the current secret valid").select_option("1 hour")
        assert await tab.violations_in_both_themes() == []
        await tab.press("Rotate the secret", within="dialog")
        await tab.focuses(tab.page.get_by_role("region", name="New secret"))
        secret = await copied(tab, "secret")
        await tab.sees("The one before it is valid until")
        assert [await deliver(it, url, one, {"who": "Mona"}, one[:9]) for one in (secret, SECRET)] == [202, 202]
        await tab.press("Done")
        assert await tab.page.get_by_text(secret).count() == 0


async def test_a_phone_edits_events_and_inputs(it: Product) -> None:
    trigger, _ = await hooked(it, "Small")
    async with browsing(it, size=PHONE, touch=True) as tab:
        await tab.visit(f"/triggers/{trigger}/edit")
        await tab.holds(tab.page.get_by_label("Text"), "Tea for ${{ trigger.payload.who }}")
        await tab.page.get_by_label("Events").fill("release")
        await tab.page.get_by_label("Text").fill("Tea")
        await tab.press("Save")
        await tab.page.get_by_role("heading", name="Small", exact=True).wait_for()
        await tab.sees("release")
        assert await tab.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert await tab.violations() == []
    found = await it.query(f'{{ trigger(id: "{trigger}") {{ name inputs webhook {{ preset events }} }} }}')
    assert found["trigger"] == {
        "name": "Small",
        "inputs": {"text": "Tea"},
        "webhook": {"preset": "GITHUB", "events": ["release"]},
    }
