"""The API explorer: what is served, and that a real browser can use it without leaving this server."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from httpx2 import AsyncClient
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from app.graphiql import BUILT_FILES, graphiql_routes
from tests.support.browser import CHROMIUM, PATIENCE_MS
from tests.support.graphql_app import World, build_app
from tests.support.graphql_client import serve

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Page, Request


def build(files: Path | None = None) -> Starlette:
    graphql = build_app(World())
    pages = graphiql_routes() if files is None else graphiql_routes(files)
    return Starlette(routes=[Route("/graphql", graphql), WebSocketRoute("/graphql", graphql), *pages])


async def test_without_a_build_the_page_says_what_to_run(tmp_path: Path) -> None:
    async with serve(build(tmp_path)) as server, AsyncClient(trust_env=False, timeout=60) as http:
        for path in ("/graphiql", "/graphiql/"):
            answer = await http.get(server.url(path))
            assert answer.status_code == 404
            assert "npm ci" in answer.text
            assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_files_are_served_with_a_policy_that_keeps_everything_here(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<p>page")
    (tmp_path / "assets" / "main-abc.js").write_text("1")
    (tmp_path.parent / "secret.txt").write_text("secret")
    async with serve(build(tmp_path)) as server, AsyncClient(trust_env=False, timeout=60) as http:
        moved = await http.get(server.url("/graphiql?a=1"))
        assert (moved.status_code, moved.headers["location"]) == (307, "graphiql/?a=1")
        page = await http.get(server.url("/graphiql/"))
        assert page.text == "<p>page"
        assert page.headers["cache-control"] == "no-cache"
        policy = page.headers["content-security-policy"]
        assert "http" not in policy
        assert "unsafe-eval" not in policy
        assert "script-src 'self';" in policy
        asset = await http.get(server.url("/graphiql/assets/main-abc.js"))
        assert "immutable" in asset.headers["cache-control"]
        assert asset.headers["content-security-policy"] == policy
        assert asset.headers["x-content-type-options"] == "nosniff"
        for path in ("/graphiql/../secret.txt", "/graphiql/%2e%2e/secret.txt", "/graphiql/nothing.js"):
            assert (await http.get(server.url(path))).status_code == 404


async def run(page: Page, query: str, expected: str) -> None:
    """Type an operation, run it, wait for what its answer must contain."""
    await page.locator(".graphiql-query-editor .monaco-editor").first.click()
    await page.keyboard.press("Control+A")
    await page.keyboard.insert_text(query)
    await page.keyboard.press("Control+Shift+End")  # the brackets that the editor has closed by itself
    await page.keyboard.press("Delete")
    await page.get_by_role("button", name="Execute query").click()
    await page.wait_for_function(
        "text => document.querySelector('.graphiql-response')?.innerText.replaceAll('\\u00a0', ' ').includes(text)",
        arg=expected,
        timeout=PATIENCE_MS,
    )


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; install the package `chromium`")
@pytest.mark.skipif(
    not (BUILT_FILES / "index.html").is_file(), reason="the explorer is not built; run npm ci && npm run build"
)
async def test_a_browser_runs_queries_and_subscriptions_without_leaving_this_server() -> None:
    from playwright.async_api import async_playwright

    addresses: list[str] = []
    complaints: list[str] = []

    def asked(request: Request) -> None:
        addresses.append(request.url)

    async with serve(build()) as server, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=2 * PATIENCE_MS
        )
        context = await browser.new_context()
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        context.on("request", asked)
        page.on("websocket", lambda socket: addresses.append(socket.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        await page.goto(server.url("/graphiql"))

        await page.get_by_label("Token").fill("wrong")
        await page.get_by_role("button", name="Go on").click()
        await page.get_by_text("does not take this token").wait_for(timeout=PATIENCE_MS)
        await page.get_by_label("Token").fill("all")
        await page.get_by_role("button", name="Go on").click()
        await page.get_by_text("whole API").first.wait_for(timeout=PATIENCE_MS)
        await page.get_by_role("button", name="Show Documentation Explorer").click()
        await page.get_by_text("subscription:").first.wait_for(timeout=PATIENCE_MS)

        await run(page, "{ hello }", '"hello": "world"')
        await run(page, "subscription { count(to: 3) }", '"count": 3')
        await browser.close()

    here = f"127.0.0.1:{server.port}"
    outside = [address for address in addresses if urlsplit(address).scheme not in ("blob", "data")]
    assert {urlsplit(address).netloc for address in outside} == {here}
    assert any(address.startswith("ws://") for address in addresses)
    # Refusals that belong to signing in are told to the console by the browser itself.
    assert [complaint for complaint in complaints if "401" not in complaint] == []
