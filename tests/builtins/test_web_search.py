"""`web.search` against services on loopback that speak SearXNG's and MediaWiki's protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from packline import PackError
from tests.support.loopback_http import LoopbackHttp, Reply, Request, loopback_http, slow_drip
from tests.support.loopback_sites import json_reply, mediawiki, searxng
from tests.support.pack_harness import Harness, load_module, load_pack
from tests.support.waiting import pass_time

if TYPE_CHECKING:
    from asyncio import StreamWriter
    from collections.abc import AsyncIterator
    from pathlib import Path

search = load_pack("web/search.py")
providers = load_module("_search.py")


@pytest.fixture
async def services() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/search": searxng(), "/w/api.php": mediawiki()}) as running:
        yield running


@pytest.fixture
def harness(tmp_path: Path, services: LoopbackHttp) -> Harness:
    return Harness(tmp_path, services={"searxng": services.url(""), "mediawiki": services.url("")})


async def failure(harness: Harness, **input: Any) -> PackError:
    with pytest.raises(PackError) as caught:
        await harness.call(search, input)
    return caught.value


def asked(services: LoopbackHttp) -> list[str]:
    return [request.path.partition("?")[0] for request in services.requests]


async def test_searxng_is_asked_where_there_is_one(harness: Harness, services: LoopbackHttp) -> None:
    output = await harness.call(search, {"query": "  Fresnel   lens lighthouse "})

    assert output["provider"] == "searxng"
    assert output["coverage"] == "web"
    assert output["query"] == "Fresnel lens lighthouse"
    assert not output["cached"]
    assert [result["url"] for result in output["results"]] == [
        "https://search.example/fresnel",
        "https://search.example/eddystone",
    ]
    assert output["results"][0]["snippet"].startswith("A Fresnel lens is a composite")
    assert output["results"][1]["published"] == "2024-03-01T00:00:00"
    sent = parse_qs(urlsplit(services.requests[0].path).query)
    assert sent["q"] == ["Fresnel lens lighthouse"]
    assert sent["format"] == ["json"]


async def test_wikipedia_is_asked_where_there_is_none(harness: Harness, services: LoopbackHttp) -> None:
    del harness.services["searxng"]

    output = await harness.call(search, {"query": "Eddystone Smeaton Fresnel lighthouse", "limit": 2})

    assert output["provider"] == "wikipedia"
    assert output["coverage"] == "encyclopedic"
    assert [result["title"] for result in output["results"]] == ["Eddystone Lighthouse", "Fresnel lens"]
    assert output["results"][0]["url"] == "https://en.wikipedia.example/wiki/Eddystone_Lighthouse"
    assert services.requests[0].headers["user-agent"].startswith("Packline/")


def test_the_public_wikipedia_is_the_default(tmp_path: Path) -> None:
    context = Harness(tmp_path).context(http=None)

    assert providers._endpoint(context, "wikipedia") == "https://en.wikipedia.org/w/api.php"


async def test_a_provider_can_be_chosen(harness: Harness, services: LoopbackHttp) -> None:
    output = await harness.call(search, {"query": "Fresnel", "provider": "wikipedia"})

    assert output["provider"] == "wikipedia"
    assert asked(services) == ["/w/api.php"]


async def test_a_provider_that_is_not_set_up_is_refused_with_the_setting(harness: Harness) -> None:
    del harness.services["searxng"]

    error = await failure(harness, query="Fresnel", provider="searxng")

    assert error.failure.code == "invalid_input"
    assert "PACKLINE_SERVICE_SEARXNG_URL" in (error.failure.hint or "")


async def test_json_switched_off_in_searxng_is_explained(harness: Harness, services: LoopbackHttp) -> None:
    services.routes["/search"] = searxng(formats=("html",))

    error = await failure(harness, query="Fresnel")

    assert error.failure.code == "credential_invalid"
    assert "formats: [html, json]" in (error.failure.hint or "")
    assert asked(services) == ["/search"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=503),
        Reply(status=429, headers={"retry-after": "60"}),
        Reply(b"<html>Welcome</html>"),
        json_reply({"results": [], "unresponsive_engines": [["google", "timeout"]]}),
    ],
)
async def test_a_failing_searxng_is_passed_over_and_that_is_told(
    harness: Harness, services: LoopbackHttp, reply: Reply
) -> None:
    services.routes["/search"] = reply

    output = await harness.call(search, {"query": "Fresnel"})

    assert output["provider"] == "wikipedia"
    assert len(harness.warnings) == 1
    assert harness.warnings[0].endswith("Wikipedia was asked instead.")


async def test_a_slow_searxng_is_passed_over(harness: Harness, services: LoopbackHttp) -> None:
    async def too_slow(request: Request, writer: StreamWriter) -> None:
        pass_time(providers.TIMEOUT_SECONDS)
        await slow_drip(request, writer)

    services.routes["/search"] = too_slow

    assert (await harness.call(search, {"query": "Fresnel"}))["provider"] == "wikipedia"


async def test_when_nobody_answers_the_first_failure_is_told(harness: Harness, services: LoopbackHttp) -> None:
    services.routes["/search"] = Reply(status=429, headers={"retry-after": "60"})
    services.routes["/w/api.php"] = Reply(status=500)

    error = await failure(harness, query="Fresnel")

    assert error.failure.code == "rate_limited"
    assert error.failure.retry_after_seconds == 60


async def test_a_chosen_provider_is_not_replaced(harness: Harness, services: LoopbackHttp) -> None:
    services.routes["/search"] = Reply(status=503)

    assert (await failure(harness, query="Fresnel", provider="searxng")).failure.code == "upstream_unavailable"
    assert asked(services) == ["/search"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("maxlag", "rate_limited"),
        ("readonly", "upstream_unavailable"),
        ("cirrussearch-query-too-long", "invalid_input"),
    ],
)
async def test_errors_that_mediawiki_sends_with_status_200(
    harness: Harness, services: LoopbackHttp, code: str, expected: str
) -> None:
    services.routes["/w/api.php"] = json_reply({"error": {"code": code, "info": "Something."}})

    assert (await failure(harness, query="Fresnel", provider="wikipedia")).failure.code == expected


async def test_answers_are_kept(harness: Harness, services: LoopbackHttp) -> None:
    first = await harness.call(search, {"query": "Fresnel lens"})
    second = await harness.call(search, {"query": "Fresnel  lens"})
    other = await harness.call(search, {"query": "Fresnel lens", "limit": 1})

    assert (first["cached"], second["cached"], other["cached"]) == (False, True, False)
    assert second["results"] == first["results"]
    assert len(services.requests) == 2


async def test_failures_are_not_kept(harness: Harness, services: LoopbackHttp) -> None:
    working = services.routes["/search"]
    services.routes["/search"] = Reply(status=503)
    await harness.call(search, {"query": "Fresnel"})
    services.routes["/search"] = working

    assert (await harness.call(search, {"query": "Fresnel"}))["provider"] == "searxng"


async def test_finding_nothing_is_an_answer(harness: Harness) -> None:
    output = await harness.call(search, {"query": "zzzz"})

    assert output["results"] == []
    assert harness.warnings == ["Nothing was found for `zzzz`."]


async def test_only_distinct_web_addresses_come_back_and_as_plain_text(
    harness: Harness, services: LoopbackHttp
) -> None:
    rows = [
        {"url": "https://a.example/", "title": "A <b>light</b>", "content": "one\n two"},
        {"url": "https://a.example", "title": "Again", "content": ""},
        {"url": "javascript:alert(1)", "title": "Bad", "content": ""},
        {"url": "https://[::1", "title": "Broken", "content": ""},
        {"url": "https://a.example:99999", "title": "Broken", "content": ""},
        {"url": "https://a.example:0/", "title": "Broken", "content": ""},
        {"url": "https://ada:secret@a.example/", "title": "Broken", "content": ""},
        {"url": "https://M\u00fcnchen.example/am See", "title": "Town", "content": ""},
        {"url": "https://xn--mnchen-3ya.example/am%20See", "title": "Again", "content": ""},
        {"url": None, "title": 7},
        "rubbish",
    ]
    services.routes["/search"] = json_reply({"results": rows})

    output = await harness.call(search, {"query": "light"})

    assert output["results"] == [
        {"url": "https://a.example/", "title": "A light", "snippet": "one two", "published": None},
        {"url": "https://xn--mnchen-3ya.example/am%20See", "title": "Town", "snippet": "", "published": None},
    ]


@pytest.mark.parametrize("input", [{"query": ""}, {"query": "   "}, {"query": "x", "limit": 21}, {"query": "x" * 401}])
async def test_bad_input(harness: Harness, input: dict[str, Any]) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(search, input)

    assert caught.value.failure.code == "invalid_input"


async def test_only_the_configured_service_may_be_private(harness: Harness, services: LoopbackHttp) -> None:
    harness.allow = ""

    assert (await harness.call(search, {"query": "Fresnel"}))["provider"] == "searxng"
