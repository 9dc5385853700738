"""`web.scrape` against real pages, redirects, charsets and robots.txt rules on loopback."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from packline import PackError
from runner.failures import code_for_status
from tests.support.loopback_http import LoopbackHttp, Reply, gzipped, loopback_http
from tests.support.loopback_sites import html_reply, robots_reply
from tests.support.pack_harness import SAMPLES, Harness, load_module, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

scrape = load_pack("web/scrape.py")
extract = load_module("web/_extract.py")

ARTICLE = (SAMPLES / "fresnel-lens.html").read_text()
STORY = "<p>" + "The keeper climbed the stairs and lit the lamp. " * 12 + "</p>"


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


@pytest.fixture
async def site() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/": html_reply(ARTICLE)}) as running:
        yield running


async def failure(harness: Harness, **input: Any) -> PackError:
    with pytest.raises(PackError) as caught:
        await harness.call(scrape, input)
    return caught.value


def div_soup(html: str) -> str:
    """The same page as many are written: no element says what it is for."""
    html = re.sub(r"<(/?)(header|nav|main|article|footer|aside)\b", r"<\1div", html)
    return re.sub(r"<h1>(.*?)</h1>", r'<div class="t1">\1</div>', html)


async def test_keeps_the_article_and_leaves_everything_around_it(harness: Harness, site: LoopbackHttp) -> None:
    output = await harness.call(scrape, {"url": site.url()})

    markdown = output["markdown"]
    assert output["title"] == "How a Fresnel lens works"
    assert output["byline"] == "The Packline authors"
    assert output["published"] == "2026-11-02T08:00:00+00:00"
    assert output["extractor"] == "trafilatura"
    assert output["confidence"] > 0.9
    assert output["links"] == 1
    assert markdown.count("# How a Fresnel lens works") == 1
    assert "| Third | 500 mm | Coasts, bays, the Great Lakes of North America |" in markdown
    assert "\n4. 1823: the first full lens is lit at Cordouan" in markdown
    assert "```\npanels = 8\nseconds_per_turn = 40\n" in markdown
    for around in ("cookies", "Plan a visit", "newsletter", "Imprint", "Mercury baths and what"):
        assert around not in markdown
    assert harness.warnings == []


async def test_lines_of_the_source_are_not_lines_of_the_text(harness: Harness, site: LoopbackHttp) -> None:
    markdown = (await harness.call(scrape, {"url": site.url()}))["markdown"]

    assert "yet does no bending. [The Comte de Buffon](https://en.wikipedia.org/" in markdown
    assert "Such an element is called *dioptric*." in markdown


async def test_structure_that_one_extractor_loses_is_taken_from_the_other(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/"] = html_reply(div_soup(ARTICLE))

    output = await harness.call(scrape, {"url": site.url()})

    assert output["extractor"] == "rules"
    assert output["markdown"].startswith("# How a Fresnel lens works\n\n")
    assert "\n## Sizes\n" in output["markdown"]
    assert "- Camera flashes and stage spotlights" in output["markdown"]
    assert "newsletter" not in output["markdown"]
    assert "We use cookies" not in output["markdown"]


async def test_works_without_the_extra_library(
    harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)

    output = await harness.call(scrape, {"url": site.url()})

    assert output["extractor"] == "rules"
    assert output["confidence"] == 0.7
    assert "\n## From trial to standard\n" in output["markdown"]
    assert "newsletter" not in output["markdown"]


async def test_the_rules_leave_out_what_is_named_as_decoration(
    harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    inside = '<div class="share-buttons">Tell a friend</div><div id="newsletter">Sign up</div>'
    whole = f'<div class="content sidebar"><h1>A light</h1>{inside}{STORY}</div>'
    site.routes["/"] = html_reply(f"<body><nav>Home</nav>{whole}</body>")

    output = await harness.call(scrape, {"url": site.url()})

    assert output["markdown"].startswith("# A light\n\nThe keeper climbed")
    assert output["confidence"] == 0.4
    assert "confidence 40%" in harness.warnings[0]


@pytest.mark.parametrize(
    ("charset", "encode_as", "meta"),
    [
        ("windows-1251", "windows-1251", ""),
        (None, "windows-1251", "<meta charset=windows-1251>"),
        (None, "utf-8", ""),
        ("utf-8", "windows-1251", "<meta charset=windows-1251>"),
        (None, "utf-16", ""),
        ("no-such-charset", "utf-8", ""),
    ],
)
async def test_charsets(harness: Harness, site: LoopbackHttp, charset: str | None, encode_as: str, meta: str) -> None:
    text = "Маяк стоит на скале и светит кораблям. " * 10
    page = f"<html><head>{meta}<title>Маяк</title></head><body><article><p>{text}</p></article></body></html>"
    site.routes["/"] = html_reply(page, charset=charset, encode_as=encode_as)

    output = await harness.call(scrape, {"url": site.url()})

    assert output["title"] == "Маяк"
    assert "Маяк стоит на скале" in output["markdown"]


async def test_redirects_are_followed_and_links_made_absolute(harness: Harness, site: LoopbackHttp) -> None:
    link = '<p>See <a href="../b?x=1">the other one</a> for more of this story.</p>'
    page = f"<article><h1>A light</h1>{STORY}{link}</article>"
    site.routes["/old"] = Reply(status=301, headers={"location": "/new/a"})
    site.routes["/new/a"] = html_reply(page)

    output = await harness.call(scrape, {"url": site.url("/old")})

    assert output["url"] == site.url("/new/a")
    assert f"[the other one]({site.url('/b')}?x=1)" in output["markdown"]


async def test_an_endless_redirect_ends(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/loop"] = Reply(status=302, headers={"location": "/loop"})

    error = await failure(harness, url=site.url("/loop"))

    assert error.failure.code == "invalid_input"
    assert len([request for request in site.requests if request.path == "/loop"]) == 6


@pytest.mark.parametrize("location", ["http://[", "//[::1", "http://there.example:99999/"])
async def test_a_redirect_to_no_address_is_named(harness: Harness, site: LoopbackHttp, location: str) -> None:
    site.routes["/moved"] = Reply(status=302, headers={"location": location})

    error = await failure(harness, url=site.url("/moved"))

    assert (error.failure.code, error.failure.field) == ("invalid_input", "url")
    assert location in error.failure.message


async def test_a_redirect_into_a_private_network_is_refused(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/out"] = Reply(status=302, headers={"location": "http://169.254.169.254/latest/meta-data"})

    assert (await failure(harness, url=site.url("/out"))).failure.code == "policy_denied"


class TestRobots:
    async def test_a_forbidden_page_is_not_even_asked_for(self, harness: Harness, site: LoopbackHttp) -> None:
        site.routes["/robots.txt"] = robots_reply("User-agent: *", "Disallow: /private")
        site.routes["/private/page"] = html_reply(ARTICLE)

        error = await failure(harness, url=site.url("/private/page"))

        assert error.failure.code == "policy_denied"
        assert error.failure.field == "url"
        assert [request.path for request in site.requests] == ["/robots.txt"]

    async def test_rules_for_us_by_name_win(self, harness: Harness, site: LoopbackHttp) -> None:
        site.routes["/robots.txt"] = robots_reply(
            "User-agent: *", "Disallow: /", "", "User-agent: packline", "Allow: /"
        )

        assert (await harness.call(scrape, {"url": site.url()}))["title"]

    async def test_the_rules_can_be_set_aside_and_that_is_logged(self, harness: Harness, site: LoopbackHttp) -> None:
        site.routes["/robots.txt"] = robots_reply("User-agent: *", "Disallow: /")

        await harness.call(scrape, {"url": site.url(), "respect_robots": False})

        assert [request.path for request in site.requests] == ["/"]
        assert harness.logs == [("warning", f"robots.txt is not asked before reading {site.url()}, as the input says.")]

    async def test_rules_are_kept_for_an_hour(self, harness: Harness, site: LoopbackHttp) -> None:
        for _ in range(2):
            await harness.call(scrape, {"url": site.url()})

        assert [request.path for request in site.requests] == ["/robots.txt", "/", "/"]

    async def test_a_redirect_to_another_site_asks_that_site_too(self, harness: Harness, site: LoopbackHttp) -> None:
        async with loopback_http({"/robots.txt": robots_reply("User-agent: *", "Disallow: /")}) as other:
            site.routes["/out"] = Reply(status=302, headers={"location": other.url("/page")})

            error = await failure(harness, url=site.url("/out"))

            assert error.failure.code == "policy_denied"
            assert [request.path for request in other.requests] == ["/robots.txt"]

    async def test_a_site_that_cannot_tell_is_tried_later(self, harness: Harness, site: LoopbackHttp) -> None:
        site.routes["/robots.txt"] = Reply(status=503)

        assert (await failure(harness, url=site.url())).failure.code == "upstream_unavailable"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "credential_invalid"),
        (404, "not_found"),
        (410, "not_found"),
        (429, "rate_limited"),
        (500, "upstream_unavailable"),
        (504, "timeout"),
    ],
)
async def test_errors_blame_the_right_side(harness: Harness, site: LoopbackHttp, status: int, code: str) -> None:
    site.routes["/page"] = Reply(status=status, headers={"retry-after": "7"})

    error = await failure(harness, url=site.url("/page"))

    assert error.failure.code == code
    assert error.failure.field == "url"
    assert error.failure.retry_after_seconds == 7


def test_statuses_mean_what_the_runner_says_they_mean() -> None:
    http = load_module("_http.py")
    request = httpx2.Request("GET", "https://example.org/page")

    for status in range(400, 600):
        failure = http.failure_for_answer(httpx2.Response(status, request=request), field="url").failure
        assert failure.code == code_for_status(status), status
        assert "example.org" in failure.message
        assert str(status) in failure.message


async def test_nobody_there(harness: Harness, site: LoopbackHttp) -> None:
    url = site.url().replace(str(site.port), "1")

    assert (await failure(harness, url=url, respect_robots=False)).failure.code == "upstream_unavailable"


@pytest.mark.parametrize(
    ("media_type", "hint"),
    [("application/pdf", "doc.parse"), ("application/vnd.ms-excel", "doc.parse"), ("image/png", "Give a web page")],
)
async def test_other_files_are_refused_before_they_are_downloaded(
    harness: Harness, site: LoopbackHttp, media_type: str, hint: str
) -> None:
    site.routes["/file"] = Reply(b"x" * 100, headers={"content-type": media_type})

    error = await failure(harness, url=site.url("/file"))

    assert error.failure.code == "invalid_input"
    assert hint in (error.failure.hint or "")


async def test_a_pdf_that_calls_itself_a_page_is_sent_to_the_right_pack(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/file"] = Reply(b"%PDF-1.7 ...", headers={"content-type": "text/html"})

    assert "doc.parse" in ((await failure(harness, url=site.url("/file"))).failure.hint or "")


async def test_a_page_built_to_be_slow_is_not_tried_again(
    harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module("web/scrape.py"), "EXTRACT_SECONDS", 0.3)
    site.routes["/"] = Reply(b"<p>A <b>bold</b> word.</p>" * 100_000, headers={"content-type": "text/html"})
    with pytest.raises(PackError) as caught:
        await harness.call(scrape, {"url": site.url()})
    assert (caught.value.failure.code, caught.value.failure.field) == ("resource_exhausted", "url")
    assert not caught.value.failure.retryable


async def test_a_compressed_flood_is_cut_off(
    harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module("web/scrape.py"), "MAX_BYTES", 500_000)
    site.routes["/"] = gzipped(b" " * 2_000_000)

    assert (await failure(harness, url=site.url())).failure.code == "resource_exhausted"


async def test_plain_text_and_markdown_pass_as_they_are(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/a.md"] = Reply("# Hä?\n\n- [x](http://a)\n".encode(), headers={"content-type": "text/markdown"})

    output = await harness.call(scrape, {"url": site.url("/a.md")})

    assert output["markdown"] == "# Hä?\n\n- [x](http://a)"
    assert output["title"] == "Hä?"
    assert output["extractor"] == "none"
    assert output["confidence"] == 1.0


async def test_a_page_built_by_javascript_says_so(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/"] = html_reply("<html><body><div id=root></div><script>draw()</script></body></html>")

    error = await failure(harness, url=site.url())

    assert error.failure.code == "invalid_input"
    assert "JavaScript" in error.failure.message


async def test_hostile_nesting_is_survived(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/"] = html_reply("<html><body>" + "<div>x" * 30_000)

    try:
        output = await harness.call(scrape, {"url": site.url()})
    except PackError as error:
        refused = error
    else:
        assert output["markdown"]
        return
    assert refused.failure.code == "invalid_input"


async def test_a_long_page_is_cut_at_a_paragraph(harness: Harness, site: LoopbackHttp) -> None:
    output = await harness.call(scrape, {"url": site.url(), "max_chars": 2_000})

    assert 1_000 < len(output["markdown"]) <= 2_000
    assert output["markdown"].endswith(".")
    assert len(harness.warnings) == 1


def test_a_title_is_not_said_twice() -> None:
    assert extract._titled("A light\n\nText", "A light") == "# A light\n\nText"
    assert extract._titled("## A light | Site\n\nText", "A light") == "## A light | Site\n\nText"
    assert extract._titled("Text", "A light") == "# A light\n\nText"
