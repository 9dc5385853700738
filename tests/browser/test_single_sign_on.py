"""Signing in at a real OpenID provider in a real browser, and what the page shows afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing
from tests.support.openid_provider import trusting_product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER


async def test_a_person_signs_in_at_the_provider_and_is_back_where_they_were(tmp_path: Path) -> None:
    people = {"user-1": {"name": "Ada Lovelace", "groups": ["ops"]}}
    async with (
        trusting_product(tmp_path, people) as (it, _),
        browsing(it, signed_in=False, expect=("401", "ERR_NAME_NOT_RESOLVED")) as tab,
    ):
        await tab.visit("/runs?view=attention")
        page = tab.page
        await tab.sees("packline token login-link")
        assert await tab.violations() == []
        await page.get_by_role("link", name="Sign in with Example & Co").click()
        await page.get_by_placeholder("Enter any login").fill("user-1")
        await page.get_by_placeholder("and password").fill("anything")
        await page.get_by_role("button", name="Sign-in").click()
        await page.get_by_role("button", name="Continue").click()
        # The cookie of the login is sent from our own pages alone, and a foreign one has led here.
        await page.wait_for_url(it.url("/runs?view=attention"))
        await tab.sees("Nothing needs your attention.")
        await tab.sees("Ada Lovelace")
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_url(it.url("/login?signed_out"))
        await page.get_by_role("link", name="Sign out of Example & Co").click()
        await page.get_by_role("button", name="Yes, sign me out").click()
        await page.wait_for_url(it.url("/login"))
