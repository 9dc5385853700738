"""`web.scrape` reads a body by what it is, whatever the server calls it, and finds pages at addresses as pasted."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError
from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.loopback_sites import html_reply, robots_reply
from tests.support.office_files import docx, paragraph, scanned_pdf, xlsx, zipped
from tests.support.pack_harness import Harness, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

scrape = load_pack("web/scrape.py")
parse = load_pack("doc/parse.py")

RANDOM = random.Random(20).randbytes
#: A frame of zstd with one raw block, as RFC 8878 has it.
ZSTD = (
    bytes.fromhex("28b52ffd2058c10200")
    + b"<html><body><p>Not a page, though it holds one.</p></body></html>"
    + b"." * 23
)
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489") + RANDOM(300)
STORY = "The keeper climbed the stairs and lit the lamp. " * 12


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo("page.html")
        entry.size = len(STORY)
        archive.addfile(entry, io.BytesIO(STORY.encode()))
    return file.getvalue()


BODIES = {
    "zstd": (ZSTD, "zstd data", "page"),
    "png": (PNG, "a PNG picture", "page"),
    "jpeg": (b"\xff\xd8\xff\xe0" + RANDOM(300), "a JPEG picture", "page"),
    "zip": (zipped({"a.txt": STORY}), "a ZIP archive", "doc.parse"),
    "docx": (docx(paragraph("A light.")), "an Office document", "doc.parse"),
    "xlsx": (xlsx({"One": [["a", 1]]}), "an Office document", "doc.parse"),
    "pdf": (b"\n" + scanned_pdf(), "a PDF", "doc.parse"),
    "gzip": (gzip.compress(STORY.encode()), "gzip data", "page"),
    "bzip2": (bz2.compress(STORY.encode()), "bzip2 data", "page"),
    "xz": (lzma.compress(STORY.encode()), "xz data", "page"),
    "tar": (tarred(), "a tar archive", "page"),
    "random": (RANDOM(5_000), "no text", "browser"),
    "zeros": (bytes(5_000), "no text", "browser"),
    "encrypted page": (b"<html>" + RANDOM(5_000), "no text", "browser"),
    "random after utf-16 mark": (b"\xff\xfe" + RANDOM(5_000), "no text", "browser"),
}


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


@pytest.fixture
async def site() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({}) as running:
        yield running


async def failure(harness: Harness, **input: Any) -> PackError:
    with pytest.raises(PackError) as caught:
        await harness.call(scrape, input)
    return caught.value


@pytest.mark.parametrize(
    "announced",
    [
        "text/html",
        "text/html; charset=utf-8",
        "text/html; charset=koi8-r",
        "text/html; charset=utf-16",
        "text/plain",
        "",
    ],
)
@pytest.mark.parametrize("body", BODIES)
async def test_what_is_no_page_is_named(harness: Harness, site: LoopbackHttp, body: str, announced: str) -> None:
    content, what, hint = BODIES[body]
    site.routes["/page"] = Reply(content, headers={"content-type": announced} if announced else {})

    failed = (await failure(harness, url=site.url("/page"))).failure

    assert (failed.code, failed.field, failed.retryable) == ("invalid_input", "url", False)
    media_type = announced.partition(";")[0]
    said = f"is announced as `{media_type}`" if media_type else "comes without a type"
    assert failed.message == f"{site.url('/page')} {said}, but its content is {what}."
    assert hint in (failed.hint or "")


@pytest.mark.parametrize("announced", ["text/html", "text/html; charset=windows-1252", "text/html; charset=gb18030"])
async def test_random_bytes_are_never_a_page(harness: Harness, site: LoopbackHttp, announced: str) -> None:
    for size in (500, 1_000, 70_000):
        site.routes["/page"] = Reply(RANDOM(size), headers={"content-type": announced})
        assert (await failure(harness, url=site.url("/page"))).failure.code == "invalid_input"


@pytest.mark.parametrize("coding", ["zstd", "br", "gzip, x-compress", "aes128gcm"])
@pytest.mark.parametrize(("pack", "field"), [(scrape, "url"), (parse, "source_url")])
async def test_an_encoding_nobody_asked_for_is_refused(
    harness: Harness, site: LoopbackHttp, coding: str, pack: Any, field: str
) -> None:
    site.routes["/page"] = Reply(ZSTD, headers={"content-type": "text/html", "content-encoding": coding})

    with pytest.raises(PackError) as caught:
        await harness.call(pack, {field: site.url("/page")})

    failed = caught.value.failure
    assert (failed.code, failed.field, failed.retryable) == ("invalid_input", field, False)
    assert f"`{coding.rpartition(' ')[2]}`" in failed.message
    assert "127.0.0.1" in failed.message


@pytest.mark.parametrize("label", ["none", "UTF-8", "binary", "identity", ""])
async def test_what_names_no_compression_is_read_as_it_is(harness: Harness, site: LoopbackHttp, label: str) -> None:
    page = f"<article><p>{STORY}</p></article>".encode()
    site.routes["/page"] = Reply(page, headers={"content-type": "text/html", "content-encoding": label})
    assert "lit the lamp" in (await harness.call(scrape, {"url": site.url("/page")}))["markdown"]


async def test_encodings_that_were_asked_for_are_read(harness: Harness, site: LoopbackHttp) -> None:
    page = gzip.compress(f"<article><p>{STORY}</p></article>".encode())
    for coding in ("gzip", "GZIP", "identity, gzip"):
        site.routes["/page"] = Reply(page, headers={"content-type": "text/html", "content-encoding": coding})
        assert "lit the lamp" in (await harness.call(scrape, {"url": site.url("/page")}))["markdown"]


@pytest.mark.parametrize(
    ("text", "encode_as"),
    [
        (
            "\u65e5\u672c\u8a9e\u306e\u30da\u30fc\u30b8\u3067\u3059\u3002\u706f\u53f0\u306f\u5cac\u306b\u7acb\u3064\u3002",
            name,
        )
        for name in ("shift_jis", "euc_jp", "iso2022_jp", "utf-8", "utf-16", "utf-16-le", "utf-16-be")
    ]
    + [
        ("\u706f\u5854\u7ad9\u5728\u6d77\u89d2\u4e0a\uff0c\u7167\u4eae\u8239\u53ea\u3002", "gb18030"),
        ("\ub4f1\ub300\ub294 \uacf6\uc5d0 \uc11c\uc11c \ubc30\ub97c \ube44\ucd98\ub2e4.", "euc_kr"),
        ("Das Caf\u00e9 \u2013 \u201esch\u00f6n\u201c und gr\u00f6\u00dfer.", "windows-1252"),
        (
            "\u041c\u0430\u044f\u043a \u0441\u0442\u043e\u0438\u0442 \u043d\u0430 \u0441\u043a\u0430\u043b\u0435.",
            "koi8-r",
        ),
    ],
)
@pytest.mark.parametrize("declared", ["header", "page"])
async def test_text_in_any_charset_is_a_page(
    harness: Harness, site: LoopbackHttp, text: str, encode_as: str, declared: str
) -> None:
    in_page = declared == "page" and not encode_as.startswith("utf-16")
    head = f'<meta charset="{encode_as}">' if in_page else ""
    page = f"<html><head>{head}<title>x</title></head><body><article><p>{text * 20}</p></article></body></html>"
    site.routes["/page"] = html_reply(page, charset=None if declared == "page" else encode_as, encode_as=encode_as)

    assert text in (await harness.call(scrape, {"url": site.url("/page")}))["markdown"]


@pytest.mark.parametrize("charset", [None, "utf-8"])
async def test_a_few_bad_bytes_spoil_neither_the_page_nor_its_letters(
    harness: Harness, site: LoopbackHttp, charset: str | None
) -> None:
    text = "\u041c\u0430\u044f\u043a \u0441\u0442\u043e\u0438\u0442 \u043d\u0430 \u0441\u043a\u0430\u043b\u0435. "
    body = f"<html><body><article><p>{text * 30}</p></article></body></html>".encode()
    body = body[:300] + b"\x00\xff\x01" + body[300:600] + body[601:]
    site.routes["/page"] = Reply(
        body, headers={"content-type": f"text/html; charset={charset}" if charset else "text/html"}
    )

    assert text in (await harness.call(scrape, {"url": site.url("/page")}))["markdown"]


@pytest.mark.parametrize("announced", ["text/html", "text/plain", ""])
async def test_a_page_may_speak_of_formats(harness: Harness, site: LoopbackHttp, announced: str) -> None:
    text = "BZh is how bzip2 begins, %PDF- a PDF, PK a ZIP archive, GIF89a a picture and Rar! an archive. " * 5
    site.routes["/page"] = Reply(text.encode(), headers={"content-type": announced} if announced else {})

    assert "GIF89a" in (await harness.call(scrape, {"url": site.url("/page")}))["markdown"]


async def test_plain_text_without_a_type_keeps_its_lines(harness: Harness, site: LoopbackHttp) -> None:
    site.routes["/page"] = Reply(b"# A light\n\n- one\n- two < three\n", headers={})

    output = await harness.call(scrape, {"url": site.url("/page")})

    assert (output["markdown"], output["extractor"]) == ("# A light\n\n- one\n- two < three", "none")


class TestAddresses:
    async def test_paths_and_queries_are_escaped_once(self, harness: Harness, site: LoopbackHttp) -> None:
        site.routes["/robots.txt"] = robots_reply("User-agent: *", "Disallow: /M%C3%BCnchen/geheim")
        site.routes["/M%C3%BCnchen/am%20Abend"] = html_reply(f"<article><p>{STORY}</p></article>")
        wanted = site.url("/M%C3%BCnchen/am%20Abend?q=%C3%A4%7C%22")

        for path in (
            '/M\u00fcnchen/am Abend?q=\u00e4|"',
            "/M%C3%BCnchen/./x/../am%20Abend?q=%C3%A4%7C%22#part",
            "/M\u00fcnchen/am%20Abend?q=\u00e4%7C%22",
        ):
            assert (await harness.call(scrape, {"url": f" <{site.url(path)}>\n"}))["url"] == wanted

        assert {request.path for request in site.requests[1:]} == {wanted.removeprefix(site.url(""))}
        for path in ("/M\u00fcnchen/geheim", "/x/../M\u00fcnchen/geheim"):
            assert (await failure(harness, url=site.url(path))).failure.code == "policy_denied"

    async def test_redirects_may_be_unescaped_or_lead_to_hosts_in_any_script(
        self, harness: Harness, site: LoopbackHttp
    ) -> None:
        site.routes["/M%C3%BCnchen"] = html_reply(f"<article><p>{STORY}</p></article>")
        raw = "/M\u00fcnchen".encode().decode("latin-1")
        for location in (raw, f"//\uff4cocalhost:{site.port}/M\u00fcnchen".encode().decode("latin-1")):
            site.routes["/old"] = Reply(status=302, headers={"location": location})
            output = await harness.call(scrape, {"url": site.url("/old")})
            assert output["url"] in (site.url("/M%C3%BCnchen"), site.url("/M%C3%BCnchen", host="localhost"))

    async def test_hosts_are_found_and_permitted_in_any_script(self, tmp_path: Path, site: LoopbackHttp) -> None:
        asked: list[str] = []

        async def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"]

        site.routes["/"] = html_reply(f"<article><p>{STORY}</p></article>")
        egress = Egress(EgressPolicy.parse(f"M\u00fcnchen.example:{site.port}"), resolve)
        async with egress.client() as client:
            harness = Harness(tmp_path, http=client)
            outputs = [
                await harness.call(scrape, {"url": f"http://{host}:{site.port}/"})
                for host in ("m\u00fcnchen.example", "xn--mnchen-3ya.example", "M%C3%9CNCHEN.example.")
            ]
        await egress.aclose()

        assert {output["url"] for output in outputs} == {f"http://xn--mnchen-3ya.example:{site.port}/"}
        assert set(asked) == {"xn--mnchen-3ya.example"}
        assert {request.headers["host"] for request in site.requests} == {f"xn--mnchen-3ya.example:{site.port}"}

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("http://127.0.0.1:0/", "port 0"),
            ("http://127.0.0.1:70000/", "port 70000"),
            ("http://ada:secret@127.0.0.1/", "user name or password"),
            ("http:///page", "has no host"),
            ("ftp://127.0.0.1/page", "`ftp`"),
            ("127.0.0.1/page", "`127.0.0.1/page`"),
            ("http://127.1/", "`127.1`"),
            ("http://a\\b/", "`a\\b`"),
        ],
    )
    async def test_what_leads_nowhere_is_refused_before_anything_is_asked(
        self, harness: Harness, url: str, said: str
    ) -> None:
        failed = (await failure(harness, url=url)).failure

        assert (failed.code, failed.field, failed.retryable) == ("invalid_input", "url", False)
        assert said in failed.message
        assert failed.hint
        assert "secret" not in failed.message

    @pytest.mark.parametrize("location", ["http://127.0.0.1:0/", "http://ada:secret@127.0.0.1/", "ftp://127.0.0.1/x"])
    async def test_a_redirect_to_nowhere_is_refused(self, harness: Harness, site: LoopbackHttp, location: str) -> None:
        site.routes["/old"] = Reply(status=302, headers={"location": location})

        failed = (await failure(harness, url=site.url("/old"))).failure

        assert (failed.code, failed.field) == ("invalid_input", "url")
        assert "secret" not in failed.message


@pytest.mark.parametrize("extractor", ["trafilatura", "rules"])
async def test_links_are_written_so_that_they_lead_there(
    harness: Harness, site: LoopbackHttp, monkeypatch: pytest.MonkeyPatch, extractor: str
) -> None:
    if extractor == "rules":
        monkeypatch.setitem(sys.modules, "trafilatura", None)
    links = (
        '<a href="a b/\u00fc?q=|#sec tion">one</a>',
        '<a href="http://m\u00fcnchen.example/x">two</a>',
        '<a href="javascript:x()">three</a>',
        '<a href="http://h:0/">four</a>',
    )
    inside = "".join(f"<p>See {link} of this story. {STORY}</p>" for link in links)
    site.routes["/d/page"] = html_reply(f"<html><body><article><h1>A light</h1>{inside}</article></body></html>")

    output = await harness.call(scrape, {"url": site.url("/d/page")})

    assert output["extractor"] == extractor
    assert f"See [one]({site.url('/d/a%20b/%C3%BC')}?q=%7C#sec%20tion) of this" in output["markdown"]
    assert "See [two](http://xn--mnchen-3ya.example/x) of this" in output["markdown"]
    assert "See three of this" in output["markdown"]
    assert "See four of this" in output["markdown"]
    assert output["links"] == 2
