"""Whatever an address does not take it refuses, and tells what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from tests.support.product import ADMIN_TOKEN, product

if TYPE_CHECKING:
    from pathlib import Path

READ = {"GET", "HEAD"}
ADDRESSES = {
    "/": READ,
    "/healthz": READ,
    "/skill.md": READ,
    "/llms.txt": READ,
    "/.well-known/oauth-protected-resource": READ,
    "/.well-known/oauth-protected-resource/mcp": READ,
    "/graphql": {"GET", "POST"},
    "/mcp": {"GET", "POST"},
    "/artifacts/art_0": READ,
    "/login": {*READ, "POST"},
    "/logout": {"POST"},
}
#: Read by programs that look whether it is there.
HEADS = [path for path, methods in ADDRESSES.items() if methods >= READ and path != "/artifacts/art_0"]


async def test_a_wrong_method_is_told_the_right_ones(tmp_path: Path) -> None:
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    async with product(tmp_path) as it, httpx2.AsyncClient(headers=headers, verify=False) as http:
        for path, methods in ADDRESSES.items():
            for method in {"OPTIONS", "PUT", "DELETE", "POST", "TRACE", "HEAD"} - methods:
                answer = await http.request(method, it.url(path))
                assert answer.status_code == 405, (method, path)
                assert set(answer.headers["allow"].split(", ")) == methods, (method, path)
                assert method == "HEAD" or answer.text, (method, path)
        artifacts = await http.request("PUT", it.url("/artifacts"))
        assert "POST" in artifacts.headers["allow"]
        for path in HEADS:
            shown, head = await http.get(it.url(path)), await http.head(it.url(path))
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-type"] == shown.headers["content-type"]
            assert head.headers["content-length"] == shown.headers["content-length"], path
