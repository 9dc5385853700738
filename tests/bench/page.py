"""What people wait for in front of the page, in real Chromium: changes, answers to keys, the page, smooth scrolling.

Times are the browser's own: what it says of input and the next paint, and the clock it shares with the server.
"""

from __future__ import annotations

import math
import statistics
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psutil

from app.http.pages import BUILT_PAGE
from store.runs.logs import MAX_LINES
from tests.bench.figures import Figure, MissingError
from tests.bench.history import grow
from tests.bench.server import TOKEN, pipeline_of, save_pipeline, serving, start_run
from tests.support.browser import CHROMIUM, PATIENCE_MS, login_link

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import Browser, BrowserContext, Locator, Page

    from tests.bench.figures import Counts
    from tests.bench.server import Client, Server

#: Notes when each step is first painted in each state, by the clock of the machine: a frame after its row has changed.
_WATCH = """
window.painted = {};
new MutationObserver(() => {
  requestAnimationFrame(() => setTimeout(() => {
    for (const row of document.querySelectorAll('[data-step]')) {
      const at = `${row.dataset.step} ${row.querySelector('.sr-only')?.textContent.trim()}`;
      window.painted[at] ??= Date.now();
    }
  }));
}).observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
"""
#: Notes how long each key and press took until the next paint, in milliseconds, and when the first step was painted.
_NOTE = """
window.inputs = [];
new PerformanceObserver(list => {
  for (const {name, duration} of list.getEntries())
    if (name === 'keydown' || name === 'click') window.inputs.push(duration);
}).observe({type: 'event', durationThreshold: 16, buffered: true});
const rows = new MutationObserver(() => {
  if (document.querySelector('[data-step]') === null) return;
  rows.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.usable = performance.now(); }));
});
rows.observe(document, {subtree: true, childList: true});
"""
#: Notes the milliseconds of tasks over 50 ms, the only ones that a browser reports.
_NOTE_LONG = """
window.long = [];
new PerformanceObserver(list => {
  window.long.push(...list.getEntries().map(({duration}) => duration));
}).observe({type: 'longtask'});
"""
_DRAWN = "new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))"
#: Scrolls the log or page under the pointer back to its start, or says whether it has more.
_TO_START = "(document.querySelector('[role=log]:hover') ?? document.scrollingElement).scrollTop = 0"
_HAS_MORE = """(() => {
  const pane = document.querySelector('[role=log]:hover') ?? document.scrollingElement;
  return pane.scrollHeight - pane.scrollTop - pane.clientHeight > 1;
})()"""
#: The most attempts that a step may have; their logs are together the longest that a step can have.
_ATTEMPTS = 10
_WHEEL_PX = 3000
#: Each is opened and scrolled up to so often, until no task is long: tasks take longer on a busy machine.
_VISITS = 3
_EVENTS = """query ($id: ID!) { run(id: $id) { events(first: 500) { nodes {
    at ... on StepStateChanged { stepState runStep { key } } } } } }"""
_WORDS = {"RUNNING": "Running", "SUCCEEDED": "Succeeded"}


@dataclass
class _Site:
    """A server as `login_link` knows one."""

    server: Server
    token: str = TOKEN

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.server.port}{path}"


async def page(folder: Path, counts: Counts) -> list[Figure]:
    """How quickly the page follows, answers and opens.

    Raises:
        MissingError: there is no Chromium here, or the page is not built.
    """
    if CHROMIUM is None:
        raise MissingError("there is no Chromium here; install the package `chromium`")
    if not (BUILT_PAGE / "index.html").is_file():
        raise MissingError("the page is not built; run `make ui`")
    async with _browser() as browser:
        async with serving(folder / "data", {"PACKLINE_STEPS_MAX": "200"}) as (server, client):
            figures = await _measured(browser, _Site(server), client, counts)
        return figures + await _scrolled(browser, folder / "long", counts)


async def _measured(browser: Browser, site: _Site, client: Client, counts: Counts) -> list[Figure]:
    steps = counts.of(200, 30)
    long = await pipeline_of(client, "long", steps)
    steady = await pipeline_of(client, "steady", counts.of(40, 15), "bench.steady")
    run = (await start_run(client, long, "tea", wait=50))["id"]
    opened = [await _opening(browser, site, run) for _ in range(counts.of(7))]
    async with _signed_in(browser, site) as context:
        inputs, cpu = await _answers(await context.new_page(), site.url(f"/runs/{run}"), counts)
        followed = await _follows(await context.new_page(), site, client, steady)
    if len(followed) < counts.of(20, 5):
        raise RuntimeError(f"only {len(followed)} transitions were seen")
    name = f"run of {steps} steps"
    return [
        Figure("page", f"{name}: first visit to its steps painted, p50", _middle(opened, 0), "ms", 1000),
        Figure("page", f"{name}: first visit, CPU of the browser", _middle(opened, 1), "ms"),
        Figure("page", f"{name}: key or press to paint, p95", _share(inputs, 0.95), "ms", 100),
        Figure("page", f"{name}: key or press to paint, longest", max(inputs), "ms"),
        Figure("page", f"{name}: key or press, CPU of the browser", cpu, "ms"),
        Figure("page", "transition on the server to painted, p50", _share(followed, 0.5), "ms"),
        Figure("page", "transition on the server to painted, p95", _share(followed, 0.95), "ms", 100),
    ]


@asynccontextmanager
async def _browser() -> AsyncIterator[Browser]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@asynccontextmanager
async def _signed_in(browser: Browser, site: _Site) -> AsyncIterator[BrowserContext]:
    """A browser nobody has used before, with an empty cache, signed in."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    secret = (await login_link(site)).partition("#")[2]
    # As the page of the link does it, but without loading the page, whose files are to be new to this browser.
    answer = await context.request.post(site.url("/login"), form={"token": secret})
    if not answer.ok:
        raise RuntimeError(f"signing in was answered with {answer.status}: {await answer.text()}")
    yield context
    await context.close()


async def _opening(browser: Browser, site: _Site, run: str) -> tuple[float, float]:
    """Milliseconds from the address to the first step painted, and of CPU for that."""
    async with _signed_in(browser, site) as context:
        shown = await context.new_page()
        await shown.add_init_script(_NOTE)
        cpu = _renderer_seconds()
        await shown.goto(site.url(f"/runs/{run}"))
        await shown.wait_for_function("() => window.usable !== undefined")
        return float(await shown.evaluate("window.usable")), (_renderer_seconds() - cpu) * 1e3


async def _answers(shown: Page, address: str, counts: Counts) -> tuple[list[float], float]:
    """Milliseconds from a key or a press to the next paint, those under 16 as 16; CPU milliseconds of each."""
    await shown.add_init_script(_NOTE)
    await shown.goto(address)
    await shown.locator("[data-step=s0]").click()
    await shown.get_by_role("button", name="Download as JSON").wait_for()  # under the output of the step
    await shown.evaluate("window.inputs.length = 0")
    keys, presses, cpu = counts.of(40), counts.of(20), _renderer_seconds()
    for number in range(1, keys + 1):
        await shown.keyboard.press("ArrowDown")
        await shown.wait_for_url(f"**step=s{number}*")
    for number in range(keys + 20, keys + 20 + 2 * presses, 2):
        await shown.locator(f"[data-step=s{number}]").click()
        await shown.wait_for_url(f"**step=s{number}*")
    await shown.wait_for_timeout(500)
    cpu = _renderer_seconds() - cpu
    measured = [float(took) for took in await shown.evaluate("window.inputs")]
    return measured + [16.0] * max(0, keys + presses - len(measured)), cpu / (keys + presses) * 1e3


async def _scrolled(browser: Browser, data: Path, counts: Counts) -> list[Figure]:
    """The longest tasks while the longest lists are scrolled by wheel."""
    runs, lines = counts.of(5000, 100), counts.of(MAX_LINES, 200)
    async with serving(data) as (_, client):
        retry = {"initial_seconds": 0, "jitter": 0, "max_attempts": _ATTEMPTS}
        chatty = {"lines": lines, "attempts": _ATTEMPTS}
        step: dict[str, object] = {"id": "chat", "pack": "bench.chatty", "input": chatty, "retry": retry}
        logged = (await start_run(client, await save_pipeline(client, "chatty", [step]), "", wait=50))["id"]
        await start_run(client, await pipeline_of(client, "short", 1), "tea", wait=20)
    grow(data / "packline.db", runs)
    async with serving(data) as (server, _), _signed_in(browser, site := _Site(server)) as context:
        shown = await context.new_page()
        await shown.add_init_script(_NOTE_LONG)
        log = await _scroll_logs(shown, site.url(f"/runs/{logged}?step=chat&tab=log"))
        listed = await _scroll_runs(shown, site.url("/runs"), runs)
    reads = "longest task over 50 ms, or 0"
    return [
        Figure("page", f"{lines * _ATTEMPTS:,} log lines scrolled: {reads}", log, "ms", 50),
        Figure("page", f"{runs:,} runs scrolled: {reads}", listed, "ms", 50),
    ]


async def _scroll_logs(shown: Page, address: str) -> float:
    """The longest task while the logs of all attempts of a step are scrolled."""
    longest = 0.0
    for attempt in range(1, _ATTEMPTS + 1):
        await shown.goto(f"{address}&attempt={attempt}")
        longest = max(longest, await _wheel(shown, shown.get_by_role("log")))
    return longest


async def _scroll_runs(shown: Page, address: str, runs: int) -> float:
    """The longest task while so many runs are scrolled, page by page."""
    await shown.goto(address)
    longest = 0.0
    for _ in range(0, runs, 50):
        rows = shown.locator("tr[data-run]")
        await rows.nth(49).wait_for()
        longest = max(longest, await _wheel(shown, rows.first))
        last = await rows.nth(49).get_attribute("data-run")
        await shown.get_by_role("link", name="Next →").click()
        await shown.locator(f"[data-run={last}]").wait_for(state="detached")
    return longest


async def _wheel(shown: Page, pane: Locator) -> float:
    """The longest task while an opened list is scrolled by wheel from its start to its end, in the smoothest visit.

    Each visit fetches and draws the list for the first time. The wheel turns over `pane`.
    """
    smoothest, address = math.inf, shown.url
    for visit in range(_VISITS):
        if visit > 0:
            # A reload would restore how far the last visit has scrolled.
            await shown.goto("about:blank")
            await shown.goto(address)
        await pane.hover()
        await shown.evaluate(_TO_START)
        await shown.evaluate(_DRAWN)
        await shown.evaluate("window.long.length = 0")
        while await shown.evaluate(_HAS_MORE):
            await shown.mouse.wheel(0, _WHEEL_PX)
            await shown.evaluate(_DRAWN)
        smoothest = min(smoothest, max(await shown.evaluate("window.long"), default=0))
        if smoothest == 0:
            break
    return smoothest


def _renderer_seconds() -> float:
    """CPU time of the processes that run and draw pages: what is left to compare by on a busy machine."""
    found = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "--type=renderer" in process.cmdline():
                times = process.cpu_times()
                found += times.user + times.system
    return found


async def _follows(shown: Page, site: _Site, client: Client, pipeline: str) -> list[float]:
    """Milliseconds from the instant a transition carries until its row is painted; the first second is left out."""
    run = (await start_run(client, pipeline, ""))["id"]
    await shown.add_init_script(_WATCH)
    await shown.goto(site.url(f"/runs/{run}"))
    await shown.wait_for_function("() => document.title.startsWith('Succeeded')", timeout=60_000)
    await shown.wait_for_timeout(300)
    painted: dict[str, float] = await shown.evaluate("window.painted")
    events: list[dict[str, Any]] = (await client.ask(_EVENTS, id=run))["run"]["events"]["nodes"]
    first = min(painted.values())
    delays = []
    for event in events:
        if "runStep" not in event:
            continue
        at = datetime.fromisoformat(event["at"]).timestamp() * 1e3
        seen = painted.get(f"{event['runStep']['key']} {_WORDS.get(event['stepState'])}")
        if seen is not None and at > first + 1000:
            delays.append(seen - at)
    return delays


def _middle(pairs: list[tuple[float, float]], part: int) -> float:
    return statistics.median(pair[part] for pair in pairs)


def _share(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
