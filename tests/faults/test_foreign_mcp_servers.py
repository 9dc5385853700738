"""Servers by others, mounted and used through the front door: everything, filesystem, memory, time, git."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.schema.packs.test_mcp_servers import MADE, connected
from tests.support.foreign_mcp_servers import node_server, python_server
from tests.support.front_door import command, look
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

pytestmark = pytest.mark.slow


def mounted(command: list[str], **more: Any) -> dict[str, Any]:
    return {
        "mcp_commands": (sys.executable, str(shutil.which("node"))),
        "mcp_servers": {"tools": {"command": command, "start_seconds": 60, **more}},
    }


async def call(it: Product, tool: str, **input: Any) -> dict[str, Any]:
    started = await command(it, "runPack", pack=f"mcp.tools.{tool}", input=input, waitSeconds=40)
    assert started["__typename"] == "StartRunSuccess", started
    run = await look(it, started["run"]["id"], select=MADE)
    assert run["state"] == "SUCCEEDED", run["failure"]
    return dict(run)


async def test_everything(tmp_path: Path) -> None:
    async with product(tmp_path, **mounted(node_server("everything"))) as it:
        packs = {pack["id"] for pack in (await connected(it))["packs"]}
        assert len(packs) >= 10
        assert "tea" in (await call(it, "echo", message="tea"))["output"]["json"]["text"]
        assert "3" in (await call(it, "get_sum", a=1, b=2))["output"]["json"]["text"]
        weather = await call(it, "get_structured_content", location="New York")
        assert set(weather["output"]["json"]) == {"temperature", "conditions", "humidity"}
        drawn = await call(it, "get_tiny_image")
        assert drawn["artifacts"]["nodes"][0]["mediaType"] == "image/png"
        assert (await call(it, "get_resource_links", count=2))["output"]["json"]["links"]
        assert "ADMIN" not in str(await call(it, "get_env"))


async def test_filesystem(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "secret.txt").write_text("not yours")
    async with product(tmp_path, **mounted(node_server("filesystem", str(allowed)))) as it:
        await connected(it)
        await call(it, "write_file", path=str(allowed / "a.txt"), content="tea")
        assert (allowed / "a.txt").read_text() == "tea"
        read = await call(it, "read_text_file", path=str(allowed / "a.txt"))
        assert read["output"]["json"] == {"content": "tea"}
        started = await command(
            it, "runPack", pack="mcp.tools.read_text_file", input={"path": str(tmp_path / "secret.txt")}, waitSeconds=40
        )
        refused = await look(it, started["run"]["id"])
        assert (refused["state"], refused["failure"]["code"]) == ("FAILED", "HANDLER_FAILED")


async def test_memory(tmp_path: Path) -> None:
    more = {"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}}
    async with product(tmp_path, **mounted(node_server("memory"), **more)) as it:
        await connected(it)
        ada = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}
        await call(it, "create_entities", entities=[ada])
        found = await call(it, "search_nodes", query="Ada")
        assert found["output"]["json"]["entities"] == [ada]


async def test_time(tmp_path: Path) -> None:
    async with product(
        tmp_path, **mounted(python_server("mcp_server_time"), effects={"get_current_time": "none"})
    ) as it:
        await connected(it)
        told = await call(it, "get_current_time", timezone="Europe/Berlin")
        assert "Europe/Berlin" in str(told["output"]["json"])


async def test_git(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", repository], check=True)  # noqa: ASYNC221
    (repository / "a.txt").write_text("a")
    async with product(tmp_path, **mounted(python_server("mcp_server_git", "-r", str(repository)))) as it:
        await connected(it)
        told = await call(it, "git_status", repo_path=str(repository))
        assert "a.txt" in str(told["output"]["json"])
