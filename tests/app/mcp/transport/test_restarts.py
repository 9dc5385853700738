"""A server that restarts between two calls breaks no client, of either SDK and era; `test_stdio` tries the bridge."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.support.front_door import save, step
from tests.support.mcp_agent import MODES, agent, content_of
from tests.support.mcp_clients import typescript
from tests.support.packs import Workbench
from tests.support.product import product


@pytest.mark.parametrize("sdk", [{"sdk": 1}, {"sdk": 2}, {"sdk": 2, "mode": "auto"}], ids=str)
async def test_typescripts_clients_go_on(tmp_path, sdk):
    packs = Workbench().packs
    async with AsyncExitStack() as clients:
        async with product(tmp_path, packs) as it:
            await save(it, "note", step("write", "test.artifact"))
            wanted: dict[str, Any] = {**sdk, "headers": {"Authorization": f"Bearer {it.token}"}}
            client = await clients.enter_async_context(typescript(**wanted, url=it.url("/mcp")))
            run = await client.call("run_pipeline", pipeline="note", inputs={})
            assert run["state"] == "SUCCEEDED"
        async with product(tmp_path, packs, port=it.served.port):
            assert (await client.call("get_run", run_id=run["run_id"]))["state"] == "SUCCEEDED"
            assert "run_pipeline" in {tool["name"] for tool in (await client.do("tools"))["tools"]}


@pytest.mark.parametrize("mode", MODES)
async def test_pythons_client_goes_on_and_so_does_the_run(tmp_path, mode):
    bench = Workbench()
    async with AsyncExitStack() as clients:
        async with product(tmp_path, bench.packs) as it:
            client = await clients.enter_async_context(agent(it, mode))
            run = content_of(await client.call_tool("run_pack", {"pack": "test.slow", "wait_seconds": 0}))
            await bench.started.wait()
        bench.release.set()
        async with product(tmp_path, bench.packs, port=it.served.port):
            waited = content_of(await client.call_tool("wait_run", {"run_id": run["run_id"], "wait_seconds": 40}))
            assert waited["state"] == "SUCCEEDED"
            await clients.aclose()
