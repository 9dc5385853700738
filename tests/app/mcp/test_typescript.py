"""The TypeScript SDKs' clients and a server that restarts; `test_every_tool` has them call every tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.front_door import save, step
from tests.support.mcp_clients import typescript
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from tests.support.mcp_clients import TypeScriptClient


async def first_run(client: TypeScriptClient) -> dict[str, str]:
    run = await client.call("run_pipeline", pipeline="note", inputs={})
    assert run["state"] == "SUCCEEDED"
    return {"RUN": run["run_id"], "ARTIFACT": run["artifacts"][0]["id"]}


@pytest.mark.parametrize("sdk", [{"sdk": 1}, {"sdk": 2}, {"sdk": 2, "mode": "auto"}], ids=str)
async def test_a_restart_between_two_calls_breaks_no_client(tmp_path, sdk):
    packs = Workbench().packs
    async with product(tmp_path, packs) as it:
        port = it.served.port
        await save(it, "note", step("write", "test.artifact"))
        client_context = typescript(**sdk, url=it.url("/mcp"), headers={"Authorization": f"Bearer {it.token}"})
        client = await client_context.__aenter__()
        known = await first_run(client)
    async with product(tmp_path, packs, port=port):
        assert (await client.call("get_run", run_id=known["RUN"]))["state"] == "SUCCEEDED"
        await client_context.__aexit__(None, None, None)
