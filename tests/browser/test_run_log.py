"""The longest logs on the page of a run: read where they are looked at, searched on the server, never felt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packline import PackContext, PackError, pack
from store.runs.logs import MAX_LINES
from tests.support.browser import BROWSER, SEEN, browsing
from tests.support.file_packs import Nothing
from tests.support.front_door import ran, save, step
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from packline import Pack
    from tests.support.browser import Tab

pytestmark = BROWSER

#: Longest a task of the page may take while somebody scrolls, in milliseconds; browsers report longer ones.
TASK_MS = 50
#: The most that a step may have.
ATTEMPTS = 10
#: On a busy machine a task takes longer than its work; one pass without a long task shows that the work is short.
PASSES = 10
WATCH = """window.long = []; new PerformanceObserver(list => {
    window.long.push(...list.getEntries().map(({ duration }) => duration));
}).observe({ type: "longtask" })"""
GO_TO = """part => {
    const log = document.querySelector('[role=log]');
    log.scrollTop = part * log.scrollHeight;
}"""
MIDDLE_IS_DRAWN = """() => {
    const {left, top, width, height} = document.querySelector('[role=log]').getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2)?.closest('[data-index]') != null;
}"""
ROWS = "document.querySelectorAll('[role=log] [data-index]').length"


def chatty() -> Pack:
    """A pack `test.chatty` that succeeds at its last attempt, and logs more than fits each time."""
    calls = 0

    @pack("test.chatty", version="1.0.0", effects="none", repeatable=True)
    async def chat(ctx: PackContext, given: Nothing) -> Nothing:
        """Logs a lot."""
        nonlocal calls
        calls += 1
        for number in range(1, MAX_LINES + 10):
            text = f"call {calls}, line {number}".ljust(100, ".")
            ctx.log(text, level="warning" if number % 1000 == 0 else "info")
        if calls < ATTEMPTS:
            raise PackError("upstream_unavailable", "Not yet.")
        return Nothing()

    return chat


async def test_the_longest_logs_are_searched_on_the_server_and_scroll_smoothly(tmp_path: Path) -> None:
    retry = {"initial_seconds": 0, "jitter": 0, "max_attempts": ATTEMPTS}
    async with product(tmp_path, [chatty()]) as it, browsing(it) as tab:
        await save(it, "long", step("chat", "test.chatty", retry=retry))
        run = await ran(it, "long")
        log = tab.page.get_by_role("log")
        await tab.visit(f"/runs/{run['id']}?step=chat&tab=log")
        await log.get_by_text("The log was cut here").wait_for()
        await tab.sees("10,001 lines")
        await tab.press("Start")
        await log.get_by_text(f"call {ATTEMPTS}, line 1.").wait_for()
        await scrolls_smoothly(tab)

        # Found by the server: hardly any of these lines was read.
        await tab.page.get_by_label("Search the log").fill("LINE 444")
        await tab.sees("11 lines of 10,001")
        await tab.page.get_by_label("Level").select_option("Warnings and errors")
        await tab.sees("0 lines of 10,001")
        await tab.page.get_by_label("Level").select_option("All levels")
        await log.get_by_role("link", name="Line 4445").click()
        await tab.page.wait_for_url("**line=4445*")
        assert "find=LINE" in tab.page.url
        assert await tab.violations_in_both_themes() == []

        # The address has the search, and the line among what was found.
        await tab.page.reload()
        await tab.sees("11 lines of 10,001")
        await tab.holds(tab.page.get_by_label("Search the log"), "LINE 444")
        await tab.page.wait_for_function(SEEN, arg="[aria-current=location]")
        await tab.page.get_by_label("Search the log").fill("")
        await tab.sees("10,001 lines")
        await log.get_by_text("line 4446.").wait_for()
        await tab.page.wait_for_function(SEEN, arg="[aria-current=location]")
        await tab.page.wait_for_url(lambda url: "find=" not in url)

        await tab.visit(f"/runs/{run['id']}?step=chat&tab=log&attempt=1&level=warning")
        await tab.sees("11 lines of 10,001")
        await log.get_by_text("call 1, line 3000.").wait_for()
        async with tab.page.expect_download() as download:
            await tab.press("Download")
        file = await (await download.value).path()
        assert len(file.read_text("utf-8").splitlines()) == MAX_LINES + 1


async def scrolls_smoothly(tab: Tab) -> None:
    """Scrolls from the start of the log to its end, by wheel, and back by its bar, until no task is long."""
    await tab.page.evaluate(WATCH)
    await tab.page.get_by_role("log").hover()
    for _ in range(PASSES):
        await tab.press("Start")
        await tab.page.get_by_role("log").get_by_role("link", name="Line 1", exact=True).wait_for()
        await tab.page.evaluate("window.long.length = 0")
        for _ in range(30):
            await tab.page.mouse.wheel(0, 1500)
            await tab.page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))")
        for part in (0.9, 0.5, 0.25, 0.75, 1):
            await tab.page.evaluate(GO_TO, part)
            await tab.page.wait_for_function(MIDDLE_IS_DRAWN)
            assert await tab.page.evaluate(ROWS) < 600
        long: list[float] = await tab.page.evaluate("window.long")
        if max(long, default=0) <= TASK_MS:
            return
    raise AssertionError(f"Tasks took {long} ms.")
