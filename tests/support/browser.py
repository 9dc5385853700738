"""A real browser on a running product, signed in, that remembers what it complained about.

async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
    await tab.visit("/runs")
    await tab.page.get_by_role("button", name="Resume").click()

No address is open before the first visit. All tests of a process share one Chromium (`tests/browser/conftest.py`);
each has a context of its own in it, which shares no cookie, storage or cache with another's.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import httpx2
import pytest

from app.http.pages import BUILT_PAGE
from scripts import tools_check

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from re import Pattern

    from playwright.async_api import Browser, Frame, Locator, Page, Request


CHROMIUM = next(filter(None, map(shutil.which, tools_check.CHROMIUM)), None)
AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
#: What of axe's own looks at colours.
COLOUR_RULES = ("color-contrast", "link-in-text-block")
#: Long enough for a loaded machine; a test that waits so long has failed.
PATIENCE_MS = 60_000

#: Marks every test of a file that needs a browser.
NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; install the package `chromium`"),
    pytest.mark.skipif(not (BUILT_PAGE / "index.html").is_file(), reason="the page is not built; run make ui"),
]
#: Marks every test of a file that drives the shared browser: in the one event loop that the browser lives in.
BROWSER = [*NEEDS_BROWSER, pytest.mark.asyncio(loop_scope="session")]
#: The one that runs, if any.
_shared: list[Browser] = []
#: A page that is busy all the time: of what waits until it is idle, only what sets itself a time limit is done.
NEVER_IDLE = """(idle => {
    window.requestIdleCallback = (work, limit) => limit?.timeout === undefined ? 0 : idle(work, limit);
})(window.requestIdleCallback.bind(window))"""
#: Whether the middle of an element is inside the window and inside every pane around it.
SEEN = """selector => {
    const one = document.querySelector(selector);
    if (one === null) return false;
    const {left, top, width, height} = one.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    for (let pane = one.closest('[data-pane]'); pane !== null; pane = pane.parentElement.closest('[data-pane]')) {
        const box = pane.getBoundingClientRect();
        // A pane that is only its content, as on a phone, has no box.
        if (box.height > 0 && (y < box.top || y > box.bottom)) return false;
    }
    return x >= 0 && x <= innerWidth && y >= 0 && y <= innerHeight;
}"""


class Site(Protocol):
    """A running product, in this process or one of its own.

    Attributes:
        token: The administrator's.
    """

    token: str

    def url(self, path: str = "/") -> str:
        """An address on it."""


@dataclass
class Tab:
    """A page of the browser.

    Attributes:
        page: Playwright's.
        complaints: Errors of scripts, of the content policy, of anything the console calls an error.
    """

    page: Page
    it: Site
    complaints: list[str] = field(default_factory=list)
    _open: set[Request] = field(default_factory=set)
    _leaving: bool = False
    _closed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Listens to the page."""
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("request", self._ask)
        self.page.on("framenavigated", self._arrive)
        self.page.on("requestfinished", self._close)
        self.page.on("requestfailed", self._close)

    def _ask(self, request: Request) -> None:
        self._open.add(request)
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self._leaving = True

    def _arrive(self, frame: Frame) -> None:
        # The document before asks for parts of other pages until it is gone, and nothing reports those as failed.
        if self._leaving and frame == self.page.main_frame:
            self._leaving = False
            self._open.clear()

    def _close(self, request: Request) -> None:
        self._open.discard(request)
        self._closed.set()

    async def visit(self, path: str) -> None:
        """Goes to an address of the product."""
        await self.page.goto(self.it.url(path))

    async def settles(self) -> None:
        """Waits until the page has what it asked for, has drawn it and asks for no more."""
        while True:
            while self._open:
                self._closed.clear()
                try:
                    await asyncio.wait_for(self._closed.wait(), PATIENCE_MS / 1000)
                except TimeoutError:
                    raise AssertionError(f"not answered: {[request.url for request in self._open]}") from None
            # What came is worked off before the next frame is drawn; what that asks for is known before this answers.
            await self.page.evaluate(
                "() => new Promise(done => requestAnimationFrame(() => requestIdleCallback(done, {timeout: 60000})))"
            )
            if not self._open:
                return

    async def sees(self, text: str, *, exact: bool = False) -> None:
        """Waits until a text shows."""
        await self.page.get_by_text(text, exact=exact).first.wait_for()

    async def reads(self, place: Locator, text: str | Sequence[str]) -> None:
        """Waits until a place reads so and no more, or places one after another."""
        from playwright.async_api import expect

        await expect(place).to_have_text(text, use_inner_text=True, timeout=PATIENCE_MS)

    async def holds(self, field: Locator, value: str | Pattern[str]) -> None:
        """Waits until a field holds a value, or one like it."""
        from playwright.async_api import expect

        await expect(field).to_have_value(value, timeout=PATIENCE_MS)

    async def focuses(self, place: Locator) -> None:
        """Waits until the keyboard is at a place."""
        from playwright.async_api import expect

        await expect(place).to_be_focused(timeout=PATIENCE_MS)

    async def press(self, name: str, *, within: str | None = None) -> None:
        """Presses a button by its name; `within` is a role, such as `dialog`."""
        place: Any = self.page if within is None else self.page.get_by_role(within)  # type: ignore[arg-type]
        await place.get_by_role("button", name=name).click()

    async def state(self, word: str) -> None:
        """Waits until the run that is shown is in a state, by the word in the title of the tab."""
        await self.page.wait_for_function("word => document.title.startsWith(word + ':')", arg=word)

    async def violations(self, *rules: str) -> list[str]:
        """What axe has against the page as it is now, by these rules or by all of them."""
        if await self.page.evaluate("typeof axe") == "undefined":
            # Not as a script element, which the page's own policy refuses.
            await self.page.evaluate(_axe())
        found = await self.page.evaluate(
            "options => axe.run(document, options).then(({violations}) => violations)",
            {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})},
        )
        return [f"{violation['id']}: {node['html'][:160]}" for violation in found for node in violation["nodes"]]

    async def violations_in_both_themes(self) -> list[str]:
        """What axe has against a light page, and would have were it dark: themes differ in colours alone."""
        found = []
        themes: tuple[tuple[Literal["dark", "light"], tuple[str, ...]], ...] = (("dark", COLOUR_RULES), ("light", ()))
        for theme, rules in themes:
            await self.page.emulate_media(color_scheme=theme)
            await self.page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
            found += [f"{theme}, {violation}" for violation in await self.violations(*rules)]
        return found


@cache
def _axe() -> str:
    return AXE.read_text("utf-8")


async def login_link(it: Site) -> str:
    """An address that signs a browser in, once."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60, verify=False) as http:
        answer = await http.post(it.url("/login/links"), headers={"authorization": f"Bearer {it.token}"})
        return str(answer.json()["url"])


@asynccontextmanager
async def shared_browser() -> AsyncIterator[Browser]:
    """Starts the browser that `browsing` opens its pages in, and ends it."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=2 * PATIENCE_MS
        )
        _shared.append(browser)
        try:
            yield browser
        finally:
            _shared.remove(browser)
            await browser.close()


@asynccontextmanager
async def browsing(
    it: Site,
    *,
    theme: Literal["light", "dark"] = "light",
    size: tuple[int, int] = (1280, 800),
    touch: bool = False,
    signed_in: bool = True,
    ahead: bool = False,
    expect: tuple[str, ...] = (),
) -> AsyncIterator[Tab]:
    """An empty page of its own in the shared browser; fails the test at the end if the page complained of anything.

    Args:
        it: The product.
        theme: What the system prefers.
        size: Width and height in pixels.
        touch: Whether it is used with a finger.
        signed_in: Whether it has the administrator's cookie.
        ahead: Whether the page gets idle, and then loads the parts of all others, which costs as much as the page.
        expect: Parts of complaints that belong to the test.
    """
    assert _shared, "there is no browser: the fixture of tests/browser/conftest.py starts it"
    context = await _shared[-1].new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        reduced_motion="reduce",
        has_touch=touch,
        is_mobile=touch,
    )
    try:
        if not ahead:
            await context.add_init_script(NEVER_IDLE)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        tab = Tab(page, it)
        if signed_in:
            _, _, secret = (await login_link(it)).partition("#")
            answer = await context.request.post(it.url("/login"), form={"token": secret}, max_redirects=0)
            assert answer.status == 303, await answer.text()
        yield tab
    finally:
        await context.close()
    unexpected = [text for text in tab.complaints if not any(part in text for part in expect)]
    assert unexpected == []
