"""Which attempts may reach the address of a configured service, and what a run without the address is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from packline import PackContext, pack, raise_for_status, service_address
from tests.support.front_door import command
from tests.support.loopback_http import Reply, loopback_http
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.loopback_http import LoopbackHttp
    from tests.support.product import Product


class Place(BaseModel):
    """What to fetch."""

    url: str = Field(default="", description="An address.")


class Page(BaseModel):
    """What was there."""

    text: str = Field(description="The body.")


@pack("test.fetch", version="1.0.0", effects="none", repeatable=True)
async def fetch(ctx: PackContext, given: Place) -> Page:
    """Fetches any address, like a scraper."""
    return Page(text=raise_for_status(await ctx.http.get(given.url)).text)


@pack("test.asks", version="1.0.0", effects="none", repeatable=True)
async def asks(ctx: PackContext, given: Place) -> Page:
    """Asks for the service once its client is made."""
    client = ctx.http
    return Page(text=raise_for_status(await client.get(f"{ctx.service_url('garden')}/beds")).text)


@pack("test.declares", version="1.0.0", effects="none", repeatable=True, services=[service_address("garden")])
async def declares(ctx: PackContext, given: Place) -> Page:
    """Fetches an address, with a declaration."""
    return Page(text=raise_for_status(await ctx.http.get(given.url or f"{ctx.service_url('garden')}/beds")).text)


PACKS = [fetch, asks, declares]


@pytest.fixture
async def garden() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/beds": Reply(b"tomato")}) as served:
        yield served


async def called(it: Product, name: str, url: str = "") -> dict[str, Any]:
    answer = await command(it, "runPack", pack=name, input={"url": url}, waitSeconds=20)
    run: dict[str, Any] = answer["run"]
    return run


async def test_an_address_in_the_input_does_not_reach_a_service(tmp_path: Path, garden: LoopbackHttp) -> None:
    services = {"garden": garden.url("").rstrip("/"), "shed": "http://127.0.0.1:9"}
    async with product(tmp_path, PACKS, service_urls=services) as it:
        run = await called(it, "test.fetch", garden.url("/beds"))
        assert (run["state"], run["failure"]["code"]) == ("FAILED", "POLICY_DENIED")
        assert garden.connections == 0

        for name in ("test.asks", "test.declares"):
            run = await called(it, name)
            assert run["output"]["json"] == {"text": "tomato"}, run["failure"]
        run = await called(it, "test.declares", services["shed"])
        assert run["failure"]["code"] == "POLICY_DENIED", "another service than the declared one stays closed"

        run = await called(it, "test.fetch", garden.url("/beds"))
        assert run["failure"]["code"] == "POLICY_DENIED", "other attempts do not open it"
        assert len(garden.requests) == 2


async def test_a_failing_services_answer_is_quoted_with_its_address(tmp_path: Path, garden: LoopbackHttp) -> None:
    garden.routes["/beds"] = Reply(b"sensor is\nasleep\n", 503, {"content-type": "text/plain; charset=utf-8"})
    garden.routes["/page"] = Reply(b"<h1>asleep</h1>", 503, {"content-type": "text/html"})
    async with product(tmp_path, PACKS, service_urls={"garden": garden.url("").rstrip("/")}) as it:
        failed = (await called(it, "test.declares"))["failure"]
        page = (await called(it, "test.declares", garden.url("/page")))["failure"]
    assert failed["message"] == f"`127.0.0.1:{garden.port}` answered 503 Reply: “sensor is asleep”."
    assert failed["hint"] == "Check the server at that address, then resume."
    assert page["message"] == f"`127.0.0.1:{garden.port}` answered 503 Reply."


async def test_a_declared_service_without_an_address_is_named_before_a_run(tmp_path: Path) -> None:
    async with product(tmp_path, PACKS) as it:
        refused = await command(it, "runPack", pack="test.declares", input={}, waitSeconds=20)
        assert refused["__typename"] == "UnavailableProblem", refused
        (missing,) = refused["missing"]
        assert (missing["kind"], missing["name"]) == ("SERVICE", "garden")
        assert "PACKLINE_SERVICE_GARDEN_URL" in missing["hint"]
        seen = await it.query(
            '{ pack(id: "test.declares") { services availability { usable missing { name } } } runs { totalCount } }'
        )
        assert seen == {
            "pack": {"services": ["garden"], "availability": {"usable": False, "missing": [{"name": "garden"}]}},
            "runs": {"totalCount": 0},
        }
