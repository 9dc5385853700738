"""What leads away from a page and back: a login that ends, a missing credential, an input changed in a resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing, login_link
from tests.support.front_door import ran, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import reader

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER


async def test_whose_login_ends_signs_in_and_is_back_where_they_were(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, expect=("401",)) as tab:
        await save(it, "watched", step("wait", "test.slow"))
        run = (await start(it, "watched"))["run"]["id"]
        await tab.visit(f"/runs/{run}?step=wait&tab=log")
        await tab.state("Running")
        await tab.page.evaluate("fetch('/logout', {method: 'POST', redirect: 'manual'})")
        # Nobody did anything: the stream was closed with 4403.
        await tab.page.get_by_role("heading", name="Sign in").wait_for()
        bench.release.set()
        await tab.page.get_by_label("Login link").fill(await login_link(it))
        await tab.press("Sign in")
        await tab.page.wait_for_url(it.url(f"/runs/{run}?step=wait&tab=log"))
        await tab.state("Succeeded")


async def test_a_missing_credential_is_given_and_the_run_goes_on(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, reader(required=False)]) as it, browsing(it) as tab:
        await save(it, "asks", step("make", "test.echo", text="tea"), step("read", "test.reader"))
        run = (await start(it, "asks"))["run"]["id"]
        await tab.visit(f"/runs/{run}")
        await tab.state("Failed")
        await tab.page.get_by_role("link", name="Set the credential key…").click()
        await tab.page.wait_for_url(f"**/credentials?need=key&return=*{run}*")
        await tab.page.get_by_label("Name of field 1").fill("secret")
        await tab.page.get_by_label("Value of field 1").fill("correct-horse-battery")
        await tab.press("Store the credential")
        await tab.page.get_by_role("link", name="go back to the page that needs it").click()
        await tab.page.wait_for_url(f"**/runs/{run}")
        await tab.page.get_by_role("button", name="Resume from step").first.click()
        await tab.page.get_by_role("dialog").get_by_role("button", name="Resume from step").click()
        await tab.state("Succeeded")
        assert bench.calls("test.echo") == 1


async def test_a_resume_changes_an_input_that_nothing_kept_has_read(tmp_path: Path) -> None:
    bench = Workbench()
    inputs = {"type": "object", "properties": {"first": {"type": "string"}, "second": {"type": "string"}}}
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it,
            "two",
            step("make", "test.echo", text="${{ inputs.first }}"),
            step("send", "test.switch", text="${{ inputs.second }}"),
            inputs=inputs,
        )
        run = await ran(it, "two", {"first": "tea", "second": "wrong"})
        bench.failing = False
        await tab.visit(f"/runs/{run['id']}")
        await tab.page.get_by_role("button", name="Resume from step 2").click()
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_text("Change inputs of the run").click()
        assert await dialog.get_by_label("First").count() == 0
        await dialog.get_by_label("Second").fill("right")
        assert await tab.violations() == []
        await tab.press("Resume from step 2 with changed inputs", within="dialog")
        await tab.state("Succeeded")
        assert bench.calls_of("test.switch")[-1].input["text"] == "right"
        assert bench.calls("test.echo") == 1
