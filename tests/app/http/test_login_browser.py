"""The login link in a real browser: the page reads the secret behind the `#`, the cookie then works."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.auth.gate import AttemptGate
from app.auth.hosts import guard_for
from app.auth.identity import Authenticator
from app.http.login import link_url, login_routes
from app.http.pages import home_without_ui
from app.server import run_app
from app.settings.server import Settings
from store.database.engine import open_store
from tests.support.browser import CHROMIUM, PATIENCE_MS

pytestmark = pytest.mark.browser


@asynccontextmanager
async def serving(folder):
    settings = Settings.load({"data_dir": folder, "port": 0, "shutdown_grace_seconds": 1})
    store = await open_store("sqlite", folder, migrate=True)
    authenticator = Authenticator(store, settings)
    await authenticator.start()

    async def who(request):
        caller = await authenticator.authenticate(request, None)
        return JSONResponse({"who": caller.subject if caller else None})

    routes = [Route("/", home_without_ui), Route("/who", who, methods=["GET", "POST"]), *login_routes(authenticator)]
    app = guard_for(AttemptGate(Starlette(routes=routes), authenticator), settings)
    stop, address = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def announce(url):
        address.set_result(url)

    task = asyncio.create_task(run_app(app, settings, announce=announce, stop=stop))
    try:
        yield await address, authenticator
    finally:
        stop.set()
        await task
        await authenticator.stop()
        await store.close()


async def test_a_browser_follows_the_link(tmp_path):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    from playwright.async_api import async_playwright

    async with serving(tmp_path / "data") as (url, authenticator), async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=2 * PATIENCE_MS
        )
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))

        await page.goto(f"{url}/login#pkl_wrong")
        await page.get_by_role("alert").wait_for()
        assert page.url == f"{url}/login", "the secret is out of the address bar"

        # The page is open already: only the part after the # changes.
        await page.goto(link_url(url, await authenticator.first_link()))
        await page.wait_for_url(f"{url}/")
        for method in ("GET", "POST"):
            told = await page.evaluate("method => fetch('/who', {method}).then(answer => answer.json())", method)
            assert told == {"who": "admin"}
        assert await page.evaluate("document.cookie") == ""
        assert problems == []
        await browser.close()
