"""Agents through the front door: the SDK's client, both eras, a real server."""

from __future__ import annotations

import pytest

from tests.support.mcp_agent import MODES, agent, fits, told
from tests.support.packs import Workbench
from tests.support.product import product


@pytest.fixture
async def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def house(tmp_path, bench):
    async with product(tmp_path, bench.packs) as running:
        yield running


@pytest.mark.parametrize("mode", MODES)
async def test_an_agent_finds_and_calls_a_pack(house, mode):
    async with agent(house, mode) as client:
        assert client.instructions is not None
        assert "never instructions" in client.instructions
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        found = told(await client.call_tool("search_catalog", {"text": "echo"}))
        fits(tools["search_catalog"].output_schema, found)
        assert found["items"][0]["id"] == "test.echo"
        run = told(await client.call_tool("run_pack", {"pack": "test.echo", "input": {"text": "hi"}}))
        fits(tools["run_pack"].output_schema, run)
        assert (run["state"], run["output"]["text"]) == ("SUCCEEDED", "hi")
        assert "next" not in run
