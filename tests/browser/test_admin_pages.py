"""The administration pages: credentials, tokens and the audit, used as an administrator does."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from store.states import Scope
from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import put, reader

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER

SECRET = "correct-horse-battery"


async def test_a_missing_credential_is_given_and_leads_back_to_where_it_was_missing(tmp_path: Path) -> None:
    async with product(tmp_path, [reader()]) as it, browsing(it) as tab:
        await save(it, "asks", step("read", "test.reader"))
        await tab.visit("/credentials?need=key&return=%2Fpipelines%2Fasks")
        await tab.page.get_by_role("heading", name="Add the credential “key”").wait_for()
        await tab.holds(tab.page.get_by_label("Name", exact=True), "key")
        await tab.holds(tab.page.get_by_label("Kind"), "generic")
        await tab.page.get_by_label("Name of field 1").fill("secret")
        await tab.page.get_by_label("Value of field 1").fill("short")
        await tab.press("Store the credential")
        await tab.page.get_by_role("alert").first.wait_for()
        assert await tab.violations() == []
        await tab.page.get_by_label("Value of field 1").fill(SECRET)
        await tab.press("Store the credential")

        await tab.page.get_by_role("heading", name="key", exact=True).wait_for()
        await tab.page.get_by_role("button", name="Stop sharing with test.reader").wait_for()
        assert SECRET not in await tab.page.content()
        assert await tab.violations() == []
        assert (await ran(it, "asks"))["state"] == "SUCCEEDED"
        await tab.page.get_by_role("link", name="go back to the page that needs it").click()
        await tab.page.wait_for_url("**/pipelines/asks")


async def test_a_credential_is_shared_replaced_and_deleted(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, [*bench.packs, reader()]) as it, browsing(it) as tab:
        first = (await put(it, "key", "generic", {"secret": SECRET}))["fingerprint"]
        await tab.visit("/credentials")
        row = tab.page.get_by_role("row", name="key")
        await row.get_by_text("test.reader").wait_for()
        await row.get_by_text("never used").wait_for()
        assert await tab.violations() == []
        await tab.page.get_by_role("link", name="key", exact=True).click()
        await tab.press("Share it with it")
        await tab.press("Stop sharing with test.reader")
        await tab.sees("Nobody may use it.")
        await tab.page.get_by_label("Share it with").select_option("test.echo")
        await tab.page.get_by_role("button", name="Share", exact=True).click()
        await tab.page.get_by_role("button", name="Stop sharing with test.echo").wait_for()

        await tab.page.get_by_label("Name of field 1").fill("secret")
        await tab.page.get_by_label("Value of field 1").fill("another-secret-value")
        await tab.press("Replace")
        await tab.sees("Replaced.")
        await tab.page.wait_for_function("old => !document.body.innerText.includes(old)", arg=first)

        await tab.press("Delete…")
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_text("test.reader").wait_for()
        assert await tab.violations() == []
        await tab.press("Cancel", within="dialog")
        await tab.press("Delete…")
        await tab.press("Delete permanently", within="dialog")
        await tab.sees("There are no credentials.")
        assert (await it.query("{ credentials { nodes { id } } }"))["credentials"]["nodes"] == []


async def test_after_the_vault_key_changed_a_credential_says_so_and_how_to_repair_it(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        await put(it, "key", "generic", {"secret": SECRET})
    other = b64encode(bytes(range(32))).decode()
    async with product(tmp_path, vault_key=other) as it, browsing(it) as tab:
        await tab.visit("/credentials")
        await tab.sees("Not readable: vault key changed")
        await tab.page.get_by_role("link", name="key", exact=True).click()
        await tab.sees("PACKLINE_VAULT_KEY")
        assert await tab.violations() == []


async def test_a_token_is_made_shown_once_used_and_revoked(tmp_path: Path) -> None:
    async with product(tmp_path) as it, browsing(it) as tab:
        await tab.visit("/tokens")
        await tab.press("Create a token")
        await tab.page.get_by_label("Name", exact=True).fill("deploy script")
        await tab.page.get_by_label("Caller · optional").fill("deployer")
        await tab.page.get_by_label("write").check()
        assert await tab.violations() == []
        await tab.press("Create the token")
        shown = tab.page.get_by_role("region", name="New token")
        text = await shown.locator("code").inner_text()
        assert (await it.query("{ viewer { subject } }", token=text))["viewer"]["subject"] == "deployer"
        assert await tab.violations() == []
        await tab.press("Done")
        assert text not in await tab.page.content()

        await tab.press("Revoke deploy script")
        await tab.press("Revoke it", within="dialog")
        await tab.page.get_by_role("table", name="Tokens of deployer").get_by_text("revoked").wait_for()
        answer = await it.answer("{ viewer { subject } }", token=text)
        assert answer.status == 401


async def test_the_audit_is_filtered_by_its_address(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "tea", step("say", "test.echo", text="tea"))
        await ran(it, "tea")
        await it.mutate('mutation { cancelRun(id: "run_nothing") { __typename } }')
        await tab.visit("/audit")
        table = tab.page.get_by_role("table", name="Audit")
        await table.get_by_role("row", name="Accepted Run pipeline").wait_for()
        await table.get_by_role("row", name="Refused Cancel run").wait_for()
        await table.get_by_role("button", name="Detail of Run pipeline").click()
        await table.get_by_text("run_").first.wait_for()
        assert await tab.violations() == []
        await tab.page.get_by_label("Action").select_option("cancel_run")
        await tab.page.wait_for_url("**action=cancel_run*")
        await table.get_by_role("row", name="Accepted Run pipeline").wait_for(state="detached")
        await tab.page.reload()
        await table.get_by_role("row", name="Refused Cancel run").wait_for()
        assert await table.get_by_role("row").count() == 2


async def test_whoever_may_not_manage_is_told_so(tmp_path: Path) -> None:
    async with product(tmp_path) as it, browsing(it, signed_in=False) as tab:
        token = await it.token_for("reader", "READ")
        caller = (await it.query("{ viewer { id } }", token=token))["viewer"]["id"]
        authenticator = it.application.authenticator
        assert authenticator is not None
        link = await authenticator.make_link(caller, frozenset({Scope.READ}))
        await tab.visit(f"/login#{link.plaintext}")
        await tab.page.wait_for_url(it.url("/"))
        for path in ("/credentials", "/tokens", "/audit"):
            await tab.visit(path)
            await tab.sees("Only users who may manage the server see")
            assert await tab.violations() == []


async def test_a_worker_is_drained_and_takes_runs_again(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await tab.visit("/settings")
        await tab.page.get_by_role("button", name="Drain ").click()
        await tab.sees("drained")
        assert await tab.violations() == []
        again = tab.page.get_by_role("button", name="take runs")
        await again.click()
        await tab.page.get_by_role("button", name="Drain ").wait_for()
        assert (await it.query("{ workers { draining } }"))["workers"] == [{"draining": False}]
