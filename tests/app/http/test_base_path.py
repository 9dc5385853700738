"""Everything works below a path, whether the proxy passes the path on or takes it off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from httpx2 import AsyncClient

from app.settings.server import Settings, SettingsError
from tests.support.front_door import ran, save, step
from tests.support.graphql_client import GraphQLClient, GraphQLSocket
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

BASE = "/tools/pipes"


@pytest.mark.parametrize("given", [BASE, f"{BASE}/"])
async def test_api_sockets_artifacts_and_login_work_below_a_path(tmp_path: Path, given: str) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, base_path=given) as it, AsyncClient(trust_env=False, timeout=60) as http:
        below = GraphQLClient(it.url(f"{BASE}/graphql"), token=it.token)
        assert (await below.execute("{ viewer { subject } }")).data["viewer"]["subject"] == "admin"
        await below.http.aclose()
        async with GraphQLSocket.open(it.served.ws_url(f"{BASE}/graphql"), token=it.token) as socket:
            async for answer in socket.subscribe("subscription { runChanges { more } }"):
                assert "errors" not in answer
                break

        await save(it, "file", step("make", "test.artifact", content="tea"))
        artifact = (await ran(it, "file"))["steps"][0]["artifacts"][0]["id"]
        found = await it.query(
            "query ($id: ID!) { server { uploadUrl } node(id: $id) { ... on Artifact { downloadUrl } } }",
            {"id": artifact},
        )
        assert found["server"]["uploadUrl"] == f"{BASE}/artifacts"
        address = found["node"]["downloadUrl"]
        assert address.startswith(f"{BASE}/artifacts/{artifact}?")
        assert (await http.get(it.url(address))).text == "tea"
        # The proxy has taken the path off.
        assert (await http.get(it.url(address.removeprefix(BASE)))).text == "tea"
        assert (await http.get(it.url(f"{BASE}/healthz"))).status_code == 200
        assert (await http.get(it.url("/tools/pipesque/healthz"))).status_code == 404

        made = await http.post(it.url("/login/links"), headers={"authorization": f"Bearer {it.token}"})
        link, _, secret = made.json()["url"].partition("#")
        assert link == it.url(f"{BASE}/login")
        signed = await http.post(link, data={"token": secret}, follow_redirects=False)
        assert (signed.status_code, signed.headers["location"]) == (303, f"{BASE}/")


def test_the_public_address_brings_its_path_along(tmp_path: Path) -> None:
    def loaded(**given: object) -> tuple[str, str]:
        settings = Settings.load({"data_dir": tmp_path, **given})
        return settings.base, settings.outward

    assert loaded() == ("", "")
    assert loaded(base_path="/a") == ("/a", "/a")
    assert loaded(public_url="https://h.example/a/b/") == ("/a/b", "https://h.example/a/b")
    assert loaded(public_url="https://h.example", base_path="/a") == ("/a", "https://h.example/a")
    assert loaded(public_url="https://h.example/a", base_path="/a") == ("/a", "https://h.example/a")
    for wrong in ("a", "//a", '/a"b', "/../a", "/a b"):
        with pytest.raises(SettingsError, match="/tools/pipes"):
            loaded(base_path=wrong)
