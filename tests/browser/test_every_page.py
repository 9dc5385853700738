"""Every address of the page in both themes: nothing axe objects to, nothing the console complains of."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app.http.pages import PAGE_PATHS
from tests.support.browser import AXE, BROWSER, browsing
from tests.support.front_door import command, ran, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Route

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = [*BROWSER, pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed; run make ui")]

HOSTILE = "<img src=x onerror=alert(1)> \u202eright to left\u202c 🫖 " + "long" * 300


_PROGRAM = Path(__file__).parents[1] / "support" / "agent_program.py"
#: An agent that reads a file, calls a tool it is denied, and answers.
AGENTS = {
    "claude": {
        "command": [sys.executable, "-I", str(_PROGRAM), "claude", "Bash"],
        "read": [str(_PROGRAM.parent)],
        "stream": "claude",
    }
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def furnished(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Product, dict[str, str]]]:
    """A product with one of everything, for tests that only look; the addresses of `furnish`."""
    bench = Workbench()
    async with product(tmp_path_factory.mktemp("furnished"), bench.packs, agents=AGENTS) as it:
        yield it, await furnish(it, bench)
        bench.release.set()


async def furnish(it: Product, bench: Workbench) -> dict[str, str]:
    """One of everything; the addresses of what was made, by what they show."""
    await save(it, "fine", step("say", "test.echo", text="tea"), step("keep", "test.artifact", content=HOSTILE))
    before = await ran(it, "fine")
    await save(it, "fine", step("say", "test.echo", text=HOSTILE), step("keep", "test.artifact", content=HOSTILE))
    await save(it, "broken", step("say", "test.echo", text="tea"), step("fail", "test.fail", message=HOSTILE))
    await save(it, "slow", step("tell", "test.progress"), step("wait", "test.slow"))
    fine, broken = await ran(it, "fine"), await ran(it, "broken")
    await save(it, "ask", {"id": "draft", "agent": {"use": "claude", "prompt": "Do it.", "stdout_to": "answer.jsonl"}})
    asked = await ran(it, "ask")
    slow = (await start(it, "slow"))["run"]
    await until_state(it, slow["id"], "RUNNING")
    await bench.started.wait()
    for persona in ("engineer", "executive", "executive"):
        await command(it, "runPack", pack="test.style", input={"persona": persona, "text": "tea"}, waitSeconds=20)
    trigger = await it.mutate(
        """mutation { createTrigger(pipeline: "fine", name: "Nightly", schedule: {cron: "0 2 * * *"}) {
            __typename ... on TriggerSuccess { trigger { id } } ... on Problem { message } } }"""
    )
    assert "trigger" in trigger, trigger
    webhook = await it.mutate(
        """mutation { createWebhook(pipeline: "fine", name: "Pushes", preset: GITHUB, events: ["push"]) {
            __typename ... on WebhookSecretSuccess { trigger { id } } ... on Problem { message } } }"""
    )
    assert "trigger" in webhook, webhook
    credential = await put(it, "key", "generic", {"secret": "correct-horse-battery"})
    artifact = fine["steps"][1]["artifacts"][0]["id"]
    return {
        "failed run": f"/runs/{broken['id']}",
        "running run": f"/runs/{slow['id']}",
        "log": f"/runs/{slow['id']}?step=tell&tab=log",
        "output": f"/runs/{fine['id']}?step=say&tab=output",
        "artifacts": f"/runs/{fine['id']}?step=keep",
        "two runs": f"/runs/compare?a={before['id']}&b={fine['id']}",
        "no two runs": "/runs/compare",
        "filtered runs": "/runs?status=FAILED",
        "file": f"/artifacts/{artifact}",
        "pipeline": "/pipelines/fine",
        "editor": "/pipelines/fine/edit?step=say",
        "editor as YAML": "/pipelines/fine/edit?view=yaml",
        "proposed pipeline": f"/pipelines/new?run={fine['id']}",
        "transcript": f"/runs/{asked['id']}",
        "log of an agent": f"/runs/{asked['id']}?step=draft&tab=log",
        "versions": "/pipelines/fine/versions",
        "two versions": "/pipelines/fine/versions?a=1&b=2",
        "form": "/pipelines/slow/run",
        "pack": "/catalog/test.echo",
        "credential": f"/credentials/{credential['id']}",
        "trigger": f"/triggers/{trigger['trigger']['id']}",
        "trigger to edit": f"/triggers/{trigger['trigger']['id']}/edit",
        "new trigger": "/triggers/new?pipeline=fine",
        "webhook": f"/triggers/{webhook['trigger']['id']}",
        "webhook to edit": f"/triggers/{webhook['trigger']['id']}/edit",
        "new webhook": "/triggers/new?pipeline=fine&kind=webhook",
        "new run-ended trigger": "/triggers/new?pipeline=fine&kind=run-ended",
        "nothing": "/runs/run_nothing",
        **{path: path for path in PAGE_PATHS if "{" not in path},
    }


#: Pages with a run, a form, an editor, a list and a file.
SOME = ("failed run", "form", "editor", "/runs", "file")
#: `make test` looks at some pages, `make sweeps` at every one.
PAGES = pytest.mark.parametrize("chosen", [SOME, pytest.param(None, marks=pytest.mark.sweep)], ids=["some", "every"])


def among(at: dict[str, str], chosen: tuple[str, ...] | None) -> dict[str, str]:
    """The addresses of the chosen pages; of all when none are named."""
    return at if chosen is None else {name: at[name] for name in chosen}


#: What opens over a page, the page, and the button or key that opens it.
OPENED = (
    ("palette", "/runs", "Control+k"),
    ("keys", "failed run", "?"),
    ("resume", "failed run", "Resume from step 2"),
    ("run again", "failed run", "Run again"),
    ("change the input", "failed run", "Change input…"),
    ("cancel", "running run", "Cancel"),
    ("import", "/pipelines", "Import YAML…"),
    ("delete a pipeline", "pipeline", "Delete…"),
    ("add a step", "editor", "Add a step"),
    ("test a step", "editor", "Test this step…"),
    ("delete a credential", "credential", "Delete…"),
    ("delete a trigger", "trigger", "Delete…"),
    ("rotate a secret", "webhook", "Rotate…"),
    ("save what is proposed", "proposed pipeline", "Save…"),
    ("save a view", "filtered runs", "Save view…"),
    ("use a file", "file", "Use in…"),
    ("forget everything", "/memory", "Forget everything…"),
)


def opening(chosen: tuple[str, ...] | None) -> list[tuple[str, str, str]]:
    """What opens over the chosen pages, one of each; all of it when none are named."""
    if chosen is None:
        return [*OPENED]
    first = {path: (name, path, by) for name, path, by in reversed(OPENED) if path in chosen}
    return [*first.values()]


#: What is to be pressed and is less than 44 pixels high; the text editor and words of a sentence are left out.
SMALL = """() => [...document.querySelectorAll(
    'button, select, summary, nav a, [role=tab], input:not([type=checkbox]):not([type=radio])')]
  .filter(one => one.checkVisibility() && one.closest('.cm-editor, p, .sr-only') === null)
  .filter(one => { const {width, height} = one.getBoundingClientRect(); return width > 1 && height < 43.5; })
  .map(one => one.outerHTML.slice(0, 120))"""


async def settled(tab: Tab) -> None:
    """Waits until the page has shown what it was asked for."""
    await tab.page.locator("main h1").first.wait_for()
    await tab.settles()
    await tab.page.wait_for_function("() => !document.body.innerText.includes('Loading…')")


async def opened(tab: Tab, by: str) -> None:
    """Opens a dialog by a button's name or a key, and waits until it shows what it has to say."""
    if len(by) == 1 or "+" in by:
        await tab.page.keyboard.press(by)
    else:
        await tab.page.get_by_role("button", name=by).first.click()
    await tab.page.get_by_role("dialog").wait_for()
    await tab.settles()
    await tab.page.wait_for_function("() => !document.body.innerText.includes('Loading…')")


async def too_wide(tab: Tab, width: int) -> list[str]:
    """What is wrong with how the page fits: it scrolls sideways, or a row runs into the next."""
    found = await tab.page.evaluate(
        """([...document.querySelectorAll('tbody tr')]
            .filter(row => row.scrollHeight > row.clientHeight + 1)).map(row => row.innerText.slice(0, 80))"""
    )
    wide = await tab.page.evaluate("document.documentElement.scrollWidth")
    wrong = [f"runs into the next: {text}" for text in found]
    return [*wrong, f"{wide} pixels wide"] if wide > width else wrong


@PAGES
async def test_every_page_is_accessible_and_quiet(
    furnished: tuple[Product, dict[str, str]], chosen: tuple[str, ...] | None
) -> None:
    it, at = furnished
    found: dict[str, list[str]] = {}
    async with browsing(it, ahead=chosen is None) as tab:
        for name, path in among(at, chosen).items():
            await tab.visit(path)
            await settled(tab)
            found[name] = [*await tab.violations_in_both_themes(), *await too_wide(tab, 1280)]
    assert {name: violations for name, violations in found.items() if violations} == {}


async def _refuse(route: Route) -> None:
    await route.fulfill(json={"errors": [{"message": "The database is full."}]})


@PAGES
async def test_a_page_whose_query_fails_has_a_heading(
    furnished: tuple[Product, dict[str, str]], chosen: tuple[str, ...] | None
) -> None:
    it, at = furnished
    async with browsing(it) as tab:
        await tab.page.route("**/graphql", _refuse)
        for path in among(at, chosen and (*chosen, "pipeline", "pack", "trigger", "versions")).values():
            await tab.visit(path)
            await tab.settles()
            # On a busy machine the part of a page may have come and not have begun.
            await tab.page.get_by_role("heading", level=1).wait_for()  # fails if there are two


@PAGES
async def test_whatever_opens_is_accessible_and_closes_with_escape(
    furnished: tuple[Product, dict[str, str]], chosen: tuple[str, ...] | None
) -> None:
    it, at = furnished
    found: dict[str, list[str]] = {}
    async with browsing(it) as tab:
        for name, path, by in opening(chosen):
            await tab.visit(at[path])
            await settled(tab)
            await opened(tab, by)
            found[name] = await tab.violations_in_both_themes()
            await tab.page.keyboard.press("Escape")
            await tab.page.get_by_role("dialog").wait_for(state="detached")
    assert {name: violations for name, violations in found.items() if violations} == {}


@PAGES
async def test_a_phone_cuts_nothing_off_and_a_finger_meets_what_it_aims_at(
    furnished: tuple[Product, dict[str, str]], chosen: tuple[str, ...] | None
) -> None:
    it, at = furnished
    found: dict[str, list[str]] = {}
    async with browsing(it, size=(360, 740), touch=True) as tab:
        for name, path in among(at, chosen).items():
            await tab.visit(path)
            await settled(tab)
            found[name] = [*await too_wide(tab, 360), *await tab.page.evaluate(SMALL)]
        for name, path, by in opening(chosen):
            await tab.visit(at[path])
            await settled(tab)
            await opened(tab, by)
            found[name] = await too_wide(tab, 360)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


async def test_a_keyboard_alone_walks_a_run(furnished: tuple[Product, dict[str, str]]) -> None:
    it, at = furnished
    async with browsing(it) as tab:
        await tab.visit(at["failed run"])
        await tab.state("Failed")
        first = tab.page.locator("[data-step=say]")
        await first.focus()
        await tab.page.keyboard.press("ArrowDown")
        await tab.page.wait_for_function("document.activeElement.dataset.step === 'fail'")
        await tab.page.keyboard.press("ArrowUp")
        await tab.page.wait_for_url("**step=say*")
        await tab.page.get_by_role("tab", name="Output").focus()
        await tab.page.keyboard.press("ArrowRight")
        await tab.page.wait_for_url("**tab=log*")
