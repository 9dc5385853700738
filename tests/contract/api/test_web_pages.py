"""Pages of the web through the API: addresses as they are pasted, bodies as what they are."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.loopback_sites import html_reply
from tests.support.surfaces import states

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")

INPUTS = {"type": "object", "required": ["page"], "properties": {"page": {"type": "string", "format": "uri"}}}
STORY = "The keeper climbed the stairs and lit the lamp. " * 12
BODIES = {
    "zstd data": bytes.fromhex("28b52ffd2058c10200") + STORY.encode(),
    "a PNG picture": b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(500),
    "a ZIP archive": b"PK\x03\x04" + random.Random(2).randbytes(500),
    "no text": random.Random(3).randbytes(5_000),
}


def settings(_folder: Path) -> dict[str, Any]:
    return {"builtins": True, "egress_allow": ("127.0.0.1", "LOCALHOST.")}


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/M%C3%BCnchen%20am%20See": html_reply(f"<article><p>{STORY}</p></article>")}) as running:
        yield running


async def read(api: Api, url: str) -> dict[str, Any]:
    run: dict[str, Any] = (await api.me.call("run_pack", pack="web.scrape", input={"url": url}, waitSeconds=30))["run"]
    return run


@states("run_pack")
@pytest.mark.parametrize(
    "path", ["/M\u00fcnchen am See", "/M%C3%BCnchen%20am%20See", "/x/../M\u00fcnchen%20am See#part"]
)
@pytest.mark.parametrize("host", ["127.0.0.1", "\uff4cocalhost", "\uff11\uff12\uff17.0.0.1"])
async def test_an_address_is_read_as_it_is_pasted(api: Api, site: LoopbackHttp, host: str, path: str) -> None:
    run = await read(api, f" {site.url(path, host=host)}\n")

    assert run["state"] == "SUCCEEDED", run["failure"]
    read_host = "localhost" if host.endswith("host") else "127.0.0.1"
    assert run["output"]["json"]["url"] == site.url("/M%C3%BCnchen%20am%20See", host=read_host)
    assert "lit the lamp" in run["output"]["json"]["markdown"]


@states("create_pipeline", "run_pipeline")
async def test_pipelines_take_the_addresses_that_their_packs_take(api: Api, site: LoopbackHttp) -> None:
    await api.save({"id": "read", "pack": "web.scrape", "input": {"url": "${{ inputs.page }}"}}, inputs=INPUTS)

    started = await api.me.call(
        "run_pipeline", pipeline=api.key, inputs={"page": site.url("/M\u00fcnchen am See")}, waitSeconds=30
    )

    assert started["run"]["state"] == "SUCCEEDED", started["run"]["failure"]
    for page in ("http://127.0.0.1:0/", "http://a b/", "www.example.org"):
        refused = await api.refusal("run_pipeline", pipeline=api.key, inputs={"page": page})
        assert refused.code == "INVALID"


@states("run_pack")
@pytest.mark.parametrize("what", BODIES)
async def test_a_body_that_is_no_page_fails_the_step_for_good(api: Api, site: LoopbackHttp, what: str) -> None:
    site.routes["/page"] = Reply(BODIES[what], headers={"content-type": "text/html"})

    run = await read(api, site.url("/page"))

    assert (run["state"], run["failure"]["code"]) == ("FAILED", "INVALID_INPUT")
    assert run["failure"]["class"] == "CALLER_FIXABLE"
    said = f"{site.url('/page')} is announced as `text/html`, but its content is {what}."
    assert said in run["failure"]["message"]
    assert [len(step["attempts"]) for step in run["steps"]] == [1]
