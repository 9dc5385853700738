"""What is served at `/` and the page's other addresses, with and without a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from httpx2 import AsyncClient
from starlette.applications import Starlette

from app.http.pages import BUILT_POLICY, PAGE_PATHS, nothing_here, page_routes
from tests.support.graphql_client import serve

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>built</title>")
    (tmp_path / "theme.js").write_text("1")
    (tmp_path / "assets" / "index-abc.js").write_text("2")
    (tmp_path.parent / "secret.txt").write_text("secret")
    return tmp_path


async def test_without_a_build_the_page_says_what_to_run(tmp_path: Path) -> None:
    async with (
        serve(Starlette(routes=page_routes(tmp_path))) as server,
        AsyncClient(trust_env=False, timeout=60) as http,
    ):
        answer = await http.get(server.url("/"))
        assert answer.status_code == 200
        assert "make ui" in answer.text
        assert (await http.get(server.url("/runs"))).status_code == 404


async def test_every_address_of_the_page_shows_the_page(built: Path) -> None:
    async with serve(Starlette(routes=page_routes(built))) as server, AsyncClient(trust_env=False, timeout=60) as http:
        for path in PAGE_PATHS:
            answer = await http.get(server.url(path.replace("{id}", "slides.render")))
            assert (answer.status_code, answer.text) == (200, "<title>built</title>"), path
            assert answer.headers["cache-control"] == "no-cache"
            assert answer.headers["content-security-policy"] == BUILT_POLICY
        assert (await http.get(server.url("/nothing"))).status_code == 404
        assert (await http.post(server.url("/runs"))).status_code == 405


async def test_an_address_that_leads_nowhere_shows_the_page_to_browsers(built: Path) -> None:
    app = Starlette(routes=page_routes(built), exception_handlers={404: nothing_here(built)})
    async with serve(app) as server, AsyncClient(trust_env=False, timeout=60) as http:
        shown = await http.get(server.url("/nowhere/at/all"), headers={"accept": "text/html,*/*;q=0.8"})
        assert (shown.status_code, shown.text) == (404, "<title>built</title>")
        assert shown.headers["content-security-policy"] == BUILT_POLICY
        told = await http.get(server.url("/nowhere"), headers={"accept": "application/json"})
        assert (told.status_code, told.text) == (404, "There is nothing at /nowhere.\n")
        assert (await http.post(server.url("/nowhere"), headers={"accept": "text/html"})).text.startswith("There is")


@pytest.mark.parametrize(
    ("asked", "led"),
    [
        ("/packs", "/catalog?kind=PACK"),
        ("/packs/web.scrape", "/catalog/web.scrape"),
        ("/packs/a%3Fb", "/catalog/a%3Fb"),
    ],
)
async def test_packs_are_found_in_the_catalog(built: Path, asked: str, led: str) -> None:
    async with (
        serve(Starlette(routes=page_routes(built, base="/tools"))) as server,
        AsyncClient(trust_env=False, timeout=60) as http,
    ):
        answer = await http.get(server.url(asked))
    assert (answer.status_code, answer.headers["location"]) == (308, f"/tools{led}")


async def test_files_with_a_digest_in_their_name_are_kept_and_others_are_not(built: Path) -> None:
    async with serve(Starlette(routes=page_routes(built))) as server, AsyncClient(trust_env=False, timeout=60) as http:
        asset = await http.get(server.url("/assets/index-abc.js"))
        assert "immutable" in asset.headers["cache-control"]
        assert (await http.get(server.url("/theme.js"))).headers["cache-control"] == "no-cache"
        for path in ("/assets/none.js", "/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"):
            missing = await http.get(server.url(path))
            assert missing.status_code == 404
            assert "immutable" not in missing.headers.get("cache-control", "")


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    assert "unsafe" not in BUILT_POLICY
    assert "http" not in BUILT_POLICY
    assert "frame-ancestors 'none'" in BUILT_POLICY


async def test_the_page_is_told_what_it_lies_below(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<meta name="packline-base" content="" /><script src="./assets/a.js"></script>'
    )
    (tmp_path / "assets").mkdir()
    async with AsyncClient(trust_env=False, timeout=60) as http:
        async with serve(Starlette(routes=page_routes(tmp_path))) as server:
            at_root = (await http.get(server.url("/runs/1"))).text
        async with serve(Starlette(routes=page_routes(tmp_path, base="/tools/pipes"))) as server:
            below = (await http.get(server.url("/runs/1"))).text
    assert at_root == '<meta name="packline-base" content="" /><script src="/assets/a.js"></script>'
    assert (
        below == '<meta name="packline-base" content="/tools/pipes" /><script src="/tools/pipes/assets/a.js"></script>'
    )


@pytest.mark.parametrize(
    ("accepted", "smaller"),
    [("br", True), ("gzip, br;q=0.5", True), ("gzip", False), ("br;q=0, gzip", False), ("", False)],
)
async def test_whoever_understands_it_is_sent_the_smaller_file(built: Path, accepted: str, smaller: bool) -> None:
    (built / "assets" / "index-abc.js.br").write_bytes(b"small")
    async with serve(Starlette(routes=page_routes(built))) as server, AsyncClient(trust_env=False, timeout=60) as http:
        request = http.build_request("GET", server.url("/assets/index-abc.js"), headers={"accept-encoding": accepted})
        answer = await http.send(request, stream=True)
        raw = b"".join([piece async for piece in answer.aiter_raw()])
        await answer.aclose()
    assert answer.status_code == 200
    assert answer.headers.get("content-encoding") == ("br" if smaller else None)
    assert raw == (b"small" if smaller else b"2")
    assert "javascript" in answer.headers["content-type"]
    assert answer.headers["vary"] == "accept-encoding"
    assert "immutable" in answer.headers["cache-control"]


async def test_the_page_is_sent_compressed_where_that_is_understood(built: Path) -> None:
    text = "<title>built</title>" * 100
    (built / "index.html").write_text(text)
    async with serve(Starlette(routes=page_routes(built))) as server, AsyncClient(trust_env=False, timeout=60) as http:
        for accepted, coding in (("gzip", "gzip"), ("identity", None)):
            answer = await http.get(server.url("/runs/1"), headers={"accept-encoding": accepted})
            assert (answer.text, answer.headers.get("content-encoding")) == (text, coding)
            assert answer.headers["vary"].lower() == "accept-encoding"
