"""The page of a run, and the form that starts one: changed inputs, re-runs, copied calls, and what a bad line does."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, SEEN, browsing
from tests.support.front_door import command, ended, look, ran, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Request, Route, WebSocketRoute

pytestmark = BROWSER

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


async def test_a_run_goes_again_from_a_step_with_the_current_definition(tmp_path: Path) -> None:
    bench = Workbench()
    bench.failing = False
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it, "twice", step("make", "test.echo", text="${{ inputs.text }}"), step("send", "test.switch"), inputs=TEXT
        )
        first = await ran(it, "twice", {"text": "tea"})
        await save(
            it,
            "twice",
            step("make", "test.echo", text="${{ inputs.text }}"),
            step("send", "test.switch", text="new"),
            inputs=TEXT,
        )
        await tab.visit(f"/runs/{first['id']}")
        await tab.sees("definition v1 (current v2)")
        await tab.press("Run again")
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_role("combobox", name="From").select_option("send")
        await dialog.get_by_label("Use the current definition, v2").check()
        await dialog.get_by_text("1 step: Make").wait_for()
        await tab.press("Run again from step 2", within="dialog")
        await tab.page.wait_for_url(lambda url: "/runs/" in url and first["id"] not in url)
        await tab.state("Succeeded")
        await tab.sees("definition v2")
        assert bench.calls("test.echo") == 1
        assert bench.calls_of("test.switch")[-1].input["text"] == "new"

        await tab.page.get_by_role("link", name="compare").click()
        steps = tab.page.get_by_role("table", name="Steps side by side")
        await steps.get_by_role("row", name="Send").wait_for()
        await tab.sees("Their inputs are the same.")
        await tab.page.get_by_role("table", name="Outputs that differ").get_by_text("new").wait_for()
        assert await tab.violations() == []


async def test_a_resume_warns_that_the_agent_is_not_what_it_was(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("raise SystemExit(3)")
    agents = {"writer": {"command": [sys.executable, "-I", str(script)]}}
    bench = Workbench()
    async with product(tmp_path, bench.packs, agents=agents) as it, browsing(it) as tab:
        await save(it, "note", {"id": "draft", "agent": {"use": "writer", "prompt": "Write."}})
        run = await ran(it, "note")
        script.write_text("print('fine')")
        await tab.visit(f"/runs/{run['id']}")
        await tab.press("Resume from step 1")
        dialog = tab.page.get_by_role("dialog")
        note = dialog.get_by_role("listitem").filter(has_text="has changed since the last attempt of step draft")
        await note.get_by_text("Warning:").wait_for()
        assert "`" not in await note.inner_text()
        assert await note.locator("code").inner_text() == "writer"
        # The repeated external change is mentioned once.
        assert await dialog.get_by_text("may repeat that change").count() == 1
        assert await dialog.get_by_text("may happen a second time").count() == 0, "an issue of the plan says the same"
        assert await tab.violations() == []
        await note.get_by_role("link", name="See the agents").click()
        await tab.page.wait_for_url("**/settings#agents")
        await tab.page.locator("#agents").get_by_text("writer").wait_for()


async def test_a_reused_step_leads_to_its_run_and_its_files(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it, "two", step("make", "test.artifact", name="tea.txt", content="tea"), step("say", "test.echo", text="so")
        )
        first = await ran(it, "two")
        again = (await command(it, "rerunRun", id=first["id"], fromStep="say", waitSeconds=20))["run"]
        await tab.visit(f"/runs/{again['id']}")
        row = tab.page.get_by_role("button", name=re.compile("1 Make Succeeded"))
        await row.get_by_text("reused · 1 file").wait_for()
        assert " ms" not in await row.inner_text()
        await row.click()
        await tab.page.get_by_role("link", name="tea.txt").first.wait_for()
        await tab.page.get_by_text("Reused from").get_by_role("link").click()
        await tab.page.wait_for_url(f"**/runs/{first['id']}?step=make*")
        await tab.page.get_by_role("link", name="tea.txt").first.wait_for()


async def test_each_attempt_is_looked_at_by_itself_and_stands_in_the_address(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it,
            "flaky",
            step("make", "test.echo", text="tea"),
            step(
                "try", "test.flaky", text="${{ steps.make.output.text }}", retry={"initial_seconds": 0.05, "jitter": 0}
            ),
        )
        run = await ran(it, "flaky")
        await tab.visit(f"/runs/{run['id']}?step=try&tab=input")
        await tab.sees("from step 1, Make")
        await tab.page.get_by_role("cell", name="tea", exact=True).wait_for()
        await tab.page.get_by_role("button", name=re.compile("^1 Failed")).click()
        await tab.page.wait_for_url("**attempt=1*")
        await tab.page.get_by_role("tab", name="Output").click()
        await tab.sees("Of attempt 1")
        await tab.sees("No output.")
        await tab.page.keyboard.press("]")
        await tab.page.wait_for_url("**attempt=2*")
        await tab.page.reload()
        await (
            tab.page.get_by_role("button", name=re.compile("^2 Succeeded"))
            .and_(tab.page.locator("[aria-pressed=true]"))
            .wait_for()
        )


async def test_with_neither_socket_nor_events_the_page_asks_again_and_again(tmp_path: Path) -> None:
    bench = Workbench()

    async def refuse_socket(socket: WebSocketRoute) -> None:
        await socket.close(code=1011)

    async def refuse_events(route: Route, request: Request) -> None:
        if request.headers.get("accept") == "text/event-stream":
            await route.abort()
        else:
            await route.continue_()

    async with product(tmp_path, bench.packs) as it, browsing(it, expect=("ERR_FAILED",)) as tab:
        await tab.page.route_web_socket("**/graphql", refuse_socket)
        await tab.page.route("**/graphql", refuse_events)
        await save(it, "asked", step("wait", "test.slow"))
        run = (await start(it, "asked"))["run"]
        await tab.visit(f"/runs/{run['id']}")
        await tab.sees("No live connection: refreshing every few seconds.")
        bench.release.set()
        await tab.state("Succeeded")


async def test_two_browsers_on_one_run_see_the_same(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab, browsing(it) as other:
        await save(it, "seen", step("wait", "test.slow"))
        run = (await start(it, "seen"))["run"]
        await until_state(it, run["id"], "RUNNING")
        await tab.visit(f"/runs/{run['id']}")
        await other.visit(f"/runs/{run['id']}")
        await tab.state("Running")
        await other.state("Running")
        bench.release.set()
        await tab.state("Succeeded")
        await other.state("Succeeded")


async def test_two_hundred_steps_and_ten_megabytes_stay_usable(tmp_path: Path) -> None:
    bench = Workbench()
    settings = {"steps_max": 201, "step_output_bytes": 12 << 20}
    async with product(tmp_path, bench.packs, **settings) as it, browsing(it) as tab:
        steps = [step(f"step_{number}", "test.echo", text=str(number)) for number in range(1, 199)]
        await save(
            it,
            "long",
            *steps,
            step("last", "test.echo", text="last"),
            step("huge", "test.huge", size_bytes=10_000_000),
        )
        run = (await start(it, "long"))["run"]
        await ended(it, run["id"])
        await tab.visit(f"/runs/{run['id']}?step=step_1")
        await tab.state("Succeeded")
        await tab.page.wait_for_function("document.querySelectorAll('[data-step]').length === 200")
        await tab.page.locator("[data-step=step_1]").focus()
        for number in range(2, 12):
            await tab.page.keyboard.press("ArrowDown")
            await tab.page.wait_for_url(f"**step=step_{number}*")
        await tab.visit(f"/runs/{run['id']}?step=huge&tab=output")
        await tab.sees("The first part of 10.0 MB.")
        await tab.sees("It is longer than the 1.0 MB that can be read at once.")
        assert await tab.page.get_by_role("button", name="Download as JSON").count() == 0
        assert len(await tab.page.content()) < 2_000_000


async def test_each_sort_of_failure_has_its_words_and_one_first_thing_to_do(tmp_path: Path) -> None:
    bench = Workbench()
    dns = {"cause": "DNS has no such name.", "hint": "Correct the address.", "remedy": "change_input"}
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        for code, given, said, primary in (
            ("not_found", dns, "DNS has no such name.", "Change input…"),
            ("quota_exceeded", {}, "The account has used up what its plan", "Use another account…"),
            ("policy_denied", {}, "A policy of this server forbids it", "Copy for the operator"),
            ("credential_invalid", {}, "The provider refuses the credential", "See the credentials…"),
            ("invalid_output", {}, "The pack's output does not fit its declaration", "Copy report"),
            ("artifact_failed", {}, "An artifact cannot be read", "Resume from step 1"),
        ):
            run = (await command(it, "runPack", pack="test.fail", input={"code": code, **given}, waitSeconds=20))["run"]
            await tab.visit(f"/runs/{run['id']}")
            panel = tab.page.get_by_role("region", name="What went wrong")
            await panel.get_by_text(said).wait_for()
            await tab.reads(tab.page.locator("main .bg-accent[class*='font-medium']"), re.compile(f"^{primary}"))
            assert await tab.violations_in_both_themes() == []
        raised = (await command(it, "runPack", pack="test.raises", input={}, waitSeconds=20))["run"]
        await tab.visit(f"/runs/{raised['id']}")
        await tab.page.get_by_role("region", name="Traceback").get_by_text("tests/support/packs.py").wait_for()
        await tab.page.get_by_role("button", name="Copy report").wait_for()
        assert await tab.violations_in_both_themes() == []


async def test_a_hidden_tab_draws_nothing_but_its_title(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "hidden", step("wait", "test.slow"))
        run = (await start(it, "hidden"))["run"]
        await tab.visit(f"/runs/{run['id']}")
        await tab.page.get_by_role("button", name="Wait Running").wait_for()
        hide = (
            "hidden => { Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});"
            " document.dispatchEvent(new Event('visibilitychange')); }"
        )
        await tab.page.evaluate(hide, True)
        bench.release.set()
        await tab.state("Succeeded")
        assert await tab.page.get_by_role("button", name="Wait Running").count() == 1
        await tab.page.evaluate(hide, False)
        await tab.page.get_by_role("button", name="Wait Succeeded").wait_for()
        assert (await look(it, run["id"]))["state"] == "SUCCEEDED"


async def test_hands_that_never_leave_the_keyboard_resume_a_run(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit("/")
        await save(it, "typed", step("make", "test.echo", text="tea"), step("send", "test.switch"))
        run = await ran(it, "typed")
        keys = tab.page.keyboard
        await tab.sees("Needs attention")
        await keys.press("g")
        await keys.press("r")
        await tab.page.wait_for_url("**/runs")
        await tab.page.get_by_role("table", name="Runs", exact=True).get_by_role("link", name="Typed").wait_for()
        await keys.press("j")
        await tab.page.wait_for_function("() => document.activeElement.closest('tr[data-run]') !== null")
        await keys.press("Enter")
        await tab.page.wait_for_url(f"**/runs/{run['id']}")
        await tab.state("Failed")
        bench.failing = False
        await keys.press("r")
        await tab.page.wait_for_function("() => document.activeElement.matches('dialog button[data-autofocus]')")
        await keys.press("Enter")
        await tab.state("Succeeded")
        await tab.page.get_by_role("dialog").wait_for(state="detached")
        await keys.press("Control+k")
        await tab.page.get_by_placeholder("Search or run a command…").wait_for()
        await keys.type("catalog")
        await keys.press("Enter")
        await tab.page.wait_for_url("**/catalog")


async def test_two_presses_resume_a_failed_run_from_home_or_the_list(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "pressed", step("make", "test.echo", text="tea"), step("send", "test.switch"))
        for path in ("/", "/runs"):
            bench.failing = True
            run = await ran(it, "pressed")
            assert run["state"] == "FAILED"
            bench.failing = False
            await tab.visit(path)
            await tab.page.locator(f"[data-run={run['id']}]").get_by_role("link", name="Resume…").click()
            await tab.press("Resume from step 2", within="dialog")
            await tab.page.wait_for_url(f"**/runs/{run['id']}")
            await tab.state("Succeeded")
            await tab.page.get_by_role("dialog").wait_for(state="detached")


async def test_sixty_steps_stay_beside_the_one_that_is_looked_at(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, steps_max=61) as it:
        steps = [step(f"step_{number}", "test.echo", text=str(number)) for number in range(1, 56)]
        await save(
            it,
            "sixty",
            *steps,
            step("send", "test.switch"),
            *[step(f"after_{number}", "test.echo", text="x") for number in range(1, 5)],
        )
        run = await ran(it, "sixty")
        async with browsing(it, size=(1024, 768)) as tab:
            await tab.visit(f"/runs/{run['id']}")
            await tab.state("Failed")
            # What succeeded is one row; the failure is seen at once, with its step.
            fold = tab.page.get_by_role("button", name="55 steps succeeded")
            await fold.wait_for()
            assert await tab.page.evaluate(SEEN, "[data-step=send]")
            assert await tab.page.evaluate(SEEN, "[aria-label='What went wrong'] h2")
            assert await tab.violations() == []

            await fold.focus()
            await tab.page.keyboard.press("Enter")
            await tab.focuses(tab.page.locator("[data-step=step_1]"))
            await tab.page.locator("[data-step=step_30]").click()
            await tab.page.get_by_role("heading", name="Step 30").wait_for()
            assert await tab.page.evaluate(SEEN, "[data-step=step_30]")
            assert await tab.page.evaluate(SEEN, "[role=tablist]")
            assert await tab.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
            assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            await tab.visit(f"/runs/{run['id']}?step=step_50&fold=off")
            await tab.page.get_by_role("heading", name="Step 50").wait_for()
            await tab.page.wait_for_function(SEEN, arg="[data-step=step_50]")

            separator = tab.page.get_by_role("separator", name="Width of the steps")
            width = "() => document.querySelector('[data-pane=steps]').getBoundingClientRect().width"
            before = await tab.page.evaluate(width)
            await separator.focus()
            for _ in range(5):
                await tab.page.keyboard.press("ArrowLeft")
            narrow = await tab.page.evaluate(width)
            assert narrow < before - 50
            await tab.page.reload()
            await tab.page.get_by_role("heading", name="Step 50").wait_for()
            assert abs(await tab.page.evaluate(width) - narrow) < 2
        async with browsing(it, size=(360, 640), touch=True) as tab:
            await tab.visit(f"/runs/{run['id']}?step=step_50&fold=off")
            await tab.page.get_by_role("heading", name="Step 50").wait_for()
            for place in ("[data-step=step_50]", "[data-pane=inspector] h2", "[role=tablist]"):
                await tab.page.wait_for_function(SEEN, arg=place)
            await tab.page.locator("[data-step=step_48]").tap()
            await tab.page.get_by_role("heading", name="Step 48").wait_for()
            await tab.page.wait_for_function(SEEN, arg="[data-pane=inspector] h2")
            assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_the_timeline_is_read_and_zoomed_by_pointer_and_by_keyboard(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(
            it,
            "timed",
            step("make", "test.artifact", name="tea.txt", content="tea"),
            step("try", "test.flaky", text="so", retry={"initial_seconds": 0.5, "jitter": 0}),
        )
        run = await ran(it, "timed")
        await tab.visit(f"/runs/{run['id']}")
        # The result comes first.
        result = tab.page.get_by_role("region", name="Result")
        await result.get_by_role("link", name="Open").wait_for()
        async with tab.page.expect_download() as download:
            await result.get_by_role("link", name="Download").click()
        assert (await download.value).suggested_filename == "tea.txt"

        row = tab.page.locator("[data-step=try]")
        await row.get_by_text("2 attempts").wait_for()
        box = await row.bounding_box()
        assert box is not None
        # The duration takes the last 80 pixels of a row; the lane ends there.
        right, y = box["x"] + box["width"] - 90, box["y"] + box["height"] / 2
        await tab.page.mouse.move(right, y)
        await tab.page.locator("[data-readout]").get_by_text(" s · ").wait_for()
        await tab.page.mouse.down()
        await tab.page.mouse.move(right - 60, y, steps=4)
        await tab.page.mouse.up()
        await tab.page.wait_for_url("**zoom=*")
        assert "step=" not in tab.page.url, "a drag is no click"
        await tab.page.reload()
        await tab.press("Reset zoom")
        await tab.page.wait_for_url(lambda url: "zoom=" not in url)
        await row.click()
        await tab.page.keyboard.press("z")
        await tab.page.wait_for_url("**zoom=*")
        for key in ("+", "-"):
            before = tab.page.url
            await tab.page.keyboard.press(key)
            await tab.page.wait_for_url(lambda url, before=before: url != before)
        assert await tab.violations() == []
        await tab.page.keyboard.press("0")
        await tab.page.wait_for_url(lambda url: "zoom=" not in url)
        await tab.press("Zoom to step")
        await tab.page.wait_for_url("**zoom=*")
        # A link to a step shows it among the steps and with its details, also under a result on a phone held sideways.
        async with browsing(it, size=(640, 360), touch=True) as phone:
            await phone.visit(f"/runs/{run['id']}?step=try")
            for place in ("[data-step=try]", "[data-pane=inspector] h2", "[role=tablist]"):
                await phone.page.wait_for_function(SEEN, arg=place)
