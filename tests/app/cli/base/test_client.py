"""How commands reach a server."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

from tests.app.mcp.transport.test_stdio import ask
from tests.runner.egress.test_client import self_signed
from tests.support.forks import async_fork
from tests.support.loopback_http import Reply, loopback_http
from tests.support.machine import run_packline

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_server_whose_certificate_nobody_vouches_for_gets_no_token(tmp_path: Path) -> None:
    async with loopback_http({"/graphql": Reply(), "/mcp": Reply()}, tls=self_signed("localhost", tmp_path)) as server:
        for scheme in ("https", "HTTPS"):
            url = f"{scheme}://localhost:{server.port}"
            environment = {**os.environ, "PACKLINE_SERVER": url, "PACKLINE_TOKEN": "pkl_secret"}
            done = await asyncio.to_thread(run_packline, ["runs"], environment)
            assert (done.returncode, done.stdout) == (4, "")
            assert "certificate" in done.stderr.lower()
        bridge = await async_fork(["mcp"], environment, stdin=PIPE, stderr=PIPE)
        said, _ = await asyncio.wait_for(bridge.communicate(ask(("tools/list", {}))), 60)
    assert b"error" in said
    assert server.requests == []
