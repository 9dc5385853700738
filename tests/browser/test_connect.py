"""The page that connects an agent: a token in place, the configuration around it, and word of the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser import BROWSER, browsing
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = BROWSER


async def test_an_agent_is_connected_and_its_first_call_seen(tmp_path: Path) -> None:
    async with product(tmp_path) as it, browsing(it) as tab:
        await tab.visit("/connect")
        await tab.press("Codex")
        config = tab.page.locator("figure pre").first
        await config.get_by_text("bearer_token_env_var").wait_for()
        await tab.page.get_by_label("The agent may").select_option("author")
        await tab.press("Make a token")
        await config.get_by_text("Bearer pkl_").wait_for()
        text = await config.inner_text()
        assert f'url = "{it.url("/mcp")}?toolsets=author"' in text
        token = text.partition('"Bearer ')[2].partition('"')[0]
        await tab.page.get_by_text("Waiting for the first call").wait_for()

        viewer = await it.query("{ viewer { subject scopes } }", token=token)
        assert viewer == {"viewer": {"subject": "codex", "scopes": ["READ", "RUN", "WRITE"]}}
        await tab.page.get_by_text("Codex is connected.").wait_for()

        await tab.press("Gemini CLI")
        await tab.page.get_by_text("$PACKLINE_TOKEN").first.wait_for()
        assert token not in await tab.page.locator("main").inner_text(), "each program has a token of its own"
