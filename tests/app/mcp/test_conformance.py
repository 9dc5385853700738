"""The protocol's public conformance suites against a real server: every scenario that needs no fixtures of the suite's.

The suites send no token, so a front before the server adds one.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.graphql_client import serve
from tests.support.mcp_agent import agent
from tests.support.mcp_clients import module, node24, run_program
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

#: Scenarios by suite and revision. Left out are those that call tools, prompts and resources with names of the suite's.
OLDER = ("server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection")
NEWER = (
    "server-stateless",
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
)
SCENARIOS = (
    *(("conformance", None, name) for name in OLDER),
    *(("conformance-next", "2025-11-25", name) for name in OLDER),
    *(("conformance-next", "2026-07-28", name) for name in NEWER),
)
#: Checks within these scenarios that ask for tools of the suite's, or for prompts, of which there are none here.
FIXTURES = ("test_missing_capability", "test_streaming_elicitation", "test_logging_tool", "prompts-list-caching")


class SignedIn:
    """Passes requests on with a token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {self._token}".encode())]}
        await self._app(scope, receive, send)


async def failures_of(suite: str, version: str | None, scenario: str, url: str, folder: Path) -> list[str]:
    """What a scenario has against the server at an address."""
    command = [node24(), module(suite, "dist/index.js"), "server", "--url", url, "--scenario", scenario]
    command += ["-o", str(folder / "out"), *(["--spec-version", version] if version else [])]
    ended = await run_program(command, {"HOME": str(folder)}, folder)
    files = [*(folder / "out").rglob("checks.json")]
    if len(files) != 1:
        return [f"it told nothing: {ended.out[-500:]} {ended.err[-500:]}"]
    checks = json.loads(files[0].read_text())
    if not any(check["status"] == "SUCCESS" for check in checks):
        return ["nothing was found well", *map(json.dumps, checks)]
    return [
        f"{check['id']}: {check.get('errorMessage')}"
        for check in checks
        if check["status"] == "FAILURE" and not any(name in json.dumps(check) for name in FIXTURES)
    ]


@pytest.mark.timeout(400)
async def test_every_general_scenario_holds(tmp_path):
    async with product(tmp_path, Workbench().packs) as it:
        async with agent(it) as client:
            await client.list_tools()
        async with serve(SignedIn(it.application, it.token), lifespan="off") as front:
            turn = asyncio.Semaphore(3)
            for number in range(len(SCENARIOS)):
                (tmp_path / str(number)).mkdir()

            async def tried(number: int, suite: str, version: str | None, scenario: str) -> list[str]:
                async with turn:
                    return await failures_of(suite, version, scenario, front.url("/mcp"), tmp_path / str(number))

            found = await asyncio.gather(*(tried(number, *each) for number, each in enumerate(SCENARIOS)))
    assert {each: failures for each, failures in zip(SCENARIOS, found, strict=True) if failures} == {}
