"""Every tool there is, called well and badly, by the SDKs' own clients on every wire; `tests.support.mcp_sweep`."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.support.databases import prepare_sqlite
from tests.support.mcp_agent import MODES, agent, stdio_agent, stdio_environment
from tests.support.mcp_clients import typescript
from tests.support.mcp_sweep import FOLDER, PACK, PythonSwept, TypeScriptSwept, sweep
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.mcp_sweep import Swept
    from tests.support.product import Product

pytestmark = pytest.mark.slow

PACKLINE = [sys.executable, "-c", "from app.cli import main; main()", "mcp", "--toolsets", "author", "--packs", PACK]
QUERY = f"?toolsets=author&packs={PACK}"


@dataclass(frozen=True)
class Wire:
    """A client and how it gets there.

    Attributes:
        client: Of which SDK; TypeScript's older one speaks no protocol of 2026.
        era: The protocol it is to speak.
        way: Over HTTP, or through `packline mcp` attached to that server, or embedded.
    """

    client: Literal["python", "typescript 1", "typescript 2"]
    era: Literal["2025", "2026"]
    way: Literal["http", "attached", "embedded"]

    def __str__(self) -> str:
        return f"{self.client}, {self.era}, {self.way}"


#: Each client, each era and each way at least once; the other wires are for `make sweeps`.
SAMPLE = [
    Wire("python", "2026", "http"),
    Wire("python", "2025", "embedded"),
    Wire("typescript 1", "2025", "http"),
    Wire("typescript 2", "2026", "attached"),
]
WIRES = [
    Wire(client, era, way)
    for client in ("python", "typescript 1", "typescript 2")
    for era in ("2025", "2026")
    for way in ("http", "attached", "embedded")
    if (client, era) != ("typescript 1", "2026")
]


async def connected(stack: AsyncExitStack, wire: Wire, it: Product | None, folder: Path) -> tuple[Swept, str]:
    """A client of a wire, and the version of the protocol it has agreed on."""
    env = stdio_environment(folder)
    prepare_sqlite(folder / "own", starters=True)
    command = [*PACKLINE, "--data-dir", str(folder / "own")]
    if it is not None:
        command = [*PACKLINE, "--server", it.url("").rstrip("/")]
        env["PACKLINE_TOKEN"] = it.token
    env["PACKLINE_PACK_PATH"] = str(FOLDER)
    if wire.client == "python":
        mode = "auto" if wire.era == "2026" else "legacy"
        if wire.way == "http":
            assert it is not None
            client = await stack.enter_async_context(agent(it, mode, query=QUERY))
        else:
            client = await stack.enter_async_context(stdio_agent(command, env, mode))
        return PythonSwept(client), client.session.protocol_version or ""
    wanted: dict[str, Any] = {"sdk": int(wire.client[-1]), "mode": "auto" if wire.era == "2026" else "legacy"}
    if wire.way == "http":
        assert it is not None
        wanted |= {"url": it.url(f"/mcp{QUERY}"), "headers": {"Authorization": f"Bearer {it.token}"}}
    else:
        wanted |= {"command": command, "env": env}
    driven = await stack.enter_async_context(typescript(**wanted))
    return TypeScriptSwept(driven), (await driven.do("about")).get("version") or ""


@pytest.mark.parametrize(
    "wire", [wire if wire in SAMPLE else pytest.param(wire, marks=pytest.mark.sweep) for wire in WIRES], ids=str
)
async def test_every_tool_answers_and_refuses(tmp_path, wire):
    async with AsyncExitStack() as stack:
        it = None
        if wire.way != "embedded":
            it = await stack.enter_async_context(product(tmp_path, pack_path=(FOLDER,)))
        client, version = await connected(stack, wire, it, tmp_path)
        if wire.client != "typescript 1" or wire.way == "http":  # elsewhere it does not tell
            assert version == {"2026": "2026-07-28", "2025": "2025-11-25"}[wire.era]
        await sweep(client)


@pytest.mark.parametrize("mode", MODES)
async def test_whatever_an_address_shows_is_among_what_was_swept(tmp_path, mode):
    async with product(tmp_path, pack_path=(FOLDER,)) as it:

        async def shown(query: str) -> dict[str, dict[str, Any]]:
            async with agent(it, mode, query=query) as client:
                return {tool["name"]: tool for tool in await PythonSwept(client).tools()}

        swept = await shown(QUERY)
        for query, least in (("", "run_pipeline"), ("?toolsets=author", "get_pack"), (f"?packs={PACK}", "sweep_write")):
            tools = await shown(query)
            assert least in tools
            assert tools == {name: swept[name] for name in tools}
