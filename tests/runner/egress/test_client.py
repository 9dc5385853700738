from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runner.egress.client import Egress, raise_for_status
from runner.egress.policy import AllowEntry, EgressPolicy, EgressPolicyError, is_public
from runner.failures import FailureCode, PackError, Remedy
from tests.support.loopback_http import Reply, gzipped, loopback_http, slow_drip
from tests.support.waiting import pass_time

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE_URLS = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[::127.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25lo]/",
    "http://[fd00:ec2::254]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://①②⑦.⓪.⓪.①/",
    "http://example.com@127.0.0.1/",
    "http://user:secret@[::1]/",
    "http://93.184.216.34:22/",
    "https://93.184.216.34:6379/",
    "http://93.184.216.34:0/",
    "https://93.184.216.34:65536/",
    "http://93.184.216.34\\@127.0.0.1/",
    "http://0x7f.1/",
    "ftp://93.184.216.34/",
    "file://127.0.0.1/etc/passwd",
    "gopher://127.0.0.1:70/",
    "ws://127.0.0.1/",
]

_attempts: list[tuple[object, ...]] = []
_watching = False


def _audit(event: str, args: tuple[object, ...]) -> None:
    if _watching and event == "socket.connect":
        _attempts.append(args)


sys.addaudithook(_audit)


@pytest.fixture
def attempts():
    """Every address a socket was told to connect to while the test ran."""
    global _watching
    _attempts.clear()
    _watching = True
    yield _attempts
    _watching = False


@pytest.fixture
async def egress():
    made: list[Egress] = []

    def make(allow: str = "", resolve=None) -> Egress:
        made.append(Egress(EgressPolicy.parse(allow), resolve))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


def answers(*rounds: list[str]):
    """A resolver that answers each question with the next list, the last one for ever."""
    left = list(rounds)

    async def resolve(host: str, port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


async def code_of(awaitable) -> FailureCode:
    with pytest.raises(PackError) as raised:
        await awaitable
    return raised.value.failure.code


@pytest.mark.parametrize("url", HOSTILE_URLS)
async def test_hostile_urls_are_refused_without_a_connection(url, egress, attempts):
    code = await code_of(egress().client().get(url))
    assert code in (FailureCode.POLICY_DENIED, FailureCode.INVALID_INPUT, FailureCode.UPSTREAM_UNAVAILABLE)
    assert attempts == []


@pytest.mark.parametrize("url", [u for u in HOSTILE_URLS if "127.0.0.1" in u or "169.254" in u or "::1" in u])
async def test_a_refusal_names_the_host_and_the_setting(url, egress):
    with pytest.raises(PackError) as raised:
        await egress().client().get(url)
    if raised.value.failure.code is FailureCode.POLICY_DENIED and url.startswith("http"):
        assert "PACKLINE_EGRESS_ALLOW" in (raised.value.failure.hint or "")
        assert "secret" not in str(raised.value)


async def test_the_entry_a_refusal_asks_for_is_one_the_setting_takes(egress):
    with pytest.raises(PackError) as raised:
        await egress().client().get("http://[::1]:8080/")
    hint = raised.value.failure.hint or ""
    assert "`[::1]:8080`" in hint
    EgressPolicy.parse(hint.split("`")[1])


async def test_a_name_with_one_private_address_among_public_ones_is_refused(egress, attempts):
    client = egress(resolve=answers(["93.184.216.34", "10.0.0.7"])).client()
    with pytest.raises(PackError) as raised:
        await client.get("http://mixed.test/")
    assert raised.value.failure.code is FailureCode.POLICY_DENIED
    assert "10.0.0.7" not in f"{raised.value}{raised.value.failure.hint}"
    assert attempts == []


async def test_the_checked_address_is_the_one_connected_to(egress, attempts):
    async with loopback_http({"/": Reply(headers={"connection": "close"})}) as server:
        client = egress("127.0.0.1", answers(["127.0.0.1"], ["10.9.9.9"])).client()
        first = await client.get(f"http://evil.test:{server.port}/")
        assert (first.text, server.requests[0].headers["host"]) == ("ok", f"evil.test:{server.port}")
        assert [args[1] for args in attempts] == [("127.0.0.1", server.port)]
        assert await code_of(client.get(f"http://evil.test:{server.port}/")) is FailureCode.POLICY_DENIED
        assert len(attempts) == 1


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest",
        "http://localhost:9/x",
        "//10.0.0.1/",
        "ftp://127.0.0.1/",
        "http://[::1]/",
    ],
)
async def test_every_hop_of_a_redirect_is_checked(target, egress, attempts):
    async with loopback_http({"/": Reply(b"", 302, {"location": target})}) as server:
        client = egress(f"127.0.0.1:{server.port}").client()
        assert await code_of(client.get(server.url())) is FailureCode.POLICY_DENIED
        assert [args[1] for args in attempts] == [("127.0.0.1", server.port)]


async def test_redirects_are_followed_up_to_the_limit(egress):
    loop = {"/": Reply(b"", 302, {"location": "/"}), "/one": Reply(b"", 302, {"location": "/end"}), "/end": Reply()}
    async with loopback_http(loop) as server:
        client = egress("127.0.0.1").client()
        assert (await client.get(server.url("/one"))).text == "ok"
        assert await code_of(client.get(server.url("/"))) is FailureCode.RESOURCE_EXHAUSTED
        assert len(server.requests) == 2 + 6


async def test_a_gzip_bomb_is_cut_after_the_limit(egress):
    bomb = gzipped(b"0" * 30_000_000)
    async with loopback_http({"/": bomb, "/plain": Reply(b"x" * 6_000_000), "/fits": gzipped(b"y" * 900)}) as server:
        client = egress("127.0.0.1").client()
        assert await code_of(client.get(server.url())) is FailureCode.RESOURCE_EXHAUSTED
        assert await code_of(client.get(server.url("/plain"))) is FailureCode.RESOURCE_EXHAUSTED
        assert (await client.get(server.url("/fits"))).content == b"y" * 900
        async with client.stream("GET", server.url()) as response:
            parts = response.aiter_bytes()
            seen = [len(await anext(parts)) for _ in range(5)]
            with pytest.raises(PackError):
                await anext(parts)
        assert sum(seen) == 5 * 1024 * 1024
        wide = await client.get(server.url("/plain"), extensions={"max_bytes": 7_000_000})
        assert len(wide.content) == 6_000_000


async def test_a_slow_drip_is_cut_by_the_total_time(egress):
    arrived = asyncio.Event()

    async def drip(request, writer):
        arrived.set()
        await slow_drip(request, writer)

    async with loopback_http({"/": drip}) as server:
        client = egress("127.0.0.1").client(total_seconds=20)
        getting = asyncio.create_task(code_of(client.get(server.url())))
        await arrived.wait()
        pass_time(20)
        assert await getting is FailureCode.TIMEOUT
        async with client.stream("GET", server.url()) as response:
            pass_time(20)
            assert await code_of(response.aread()) is FailureCode.TIMEOUT


async def test_cancelling_a_request_leaves_the_client_usable(egress):
    arrived = asyncio.Event()

    async def drip(request, writer):
        arrived.set()
        await slow_drip(request, writer)

    async with loopback_http({"/": drip, "/ok": Reply()}) as server:
        client = egress("127.0.0.1").client()
        task = asyncio.create_task(client.get(server.url()))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await client.get(server.url("/ok"))).text == "ok"


async def test_service_origins_may_be_private_and_nothing_else_becomes_so(egress):
    async with loopback_http({"/": Reply()}) as service, loopback_http({"/": Reply()}) as other:
        service.routes["/away"] = Reply(b"", 302, {"location": other.url()})
        way_out = egress()
        trusted = way_out.client([service.url()])
        assert (await trusted.get(service.url())).text == "ok"
        assert await code_of(trusted.get(other.url())) is FailureCode.POLICY_DENIED
        assert await code_of(trusted.get(service.url("/away"))) is FailureCode.POLICY_DENIED
        # The connection to the service is still open, and no use to a client without leave.
        assert await code_of(way_out.client().get(service.url())) is FailureCode.POLICY_DENIED
        assert (service.connections, other.connections) == (1, 0)


async def test_clients_share_connections_and_outlive_each_other(egress):
    async with loopback_http({"/": Reply()}) as server:
        way_out = egress("127.0.0.1")
        for _ in range(3):
            async with way_out.client() as client:
                await client.get(server.url())
        assert server.connections == 1


async def test_proxies_of_the_environment_are_ignored(egress, monkeypatch):
    async with loopback_http({"/": Reply()}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url())
        monkeypatch.setenv("ALL_PROXY", proxy.url())
        assert await code_of(egress().client().get("http://10.0.0.1/")) is FailureCode.POLICY_DENIED
        assert proxy.connections == 0


async def test_failures_blame_the_other_side(egress):
    async def reset(request, writer):
        writer.transport.abort()

    async def nonsense(request, writer):
        writer.write(b"this is not HTTP\r\n\r\n")
        await writer.drain()

    async with loopback_http({"/reset": reset, "/nonsense": nonsense}) as server:
        client = egress("127.0.0.1").client()
        assert await code_of(client.get(server.url("/reset"))) is FailureCode.UPSTREAM_UNAVAILABLE
        assert await code_of(client.get(server.url("/nonsense"))) is FailureCode.UPSTREAM_UNAVAILABLE
    with pytest.raises(PackError, match="refuses connections"):
        await client.get(server.url())
    for bad in ("http://example.test:99999999/", "http://example.test:abc/", "/relative", "", "http:///x"):
        assert await code_of(client.get(bad)) is FailureCode.INVALID_INPUT

    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    async def silent(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    for resolve, remedy, cause in (
        (unknown, Remedy.CHANGE_INPUT, "DNS has no such name"),
        (silent, Remedy.RESUME, "The DNS that this server uses does not answer"),
    ):
        with pytest.raises(PackError) as caught:
            await egress(resolve=resolve).client().get("http://nowhere.test/")
        failure = caught.value.failure
        assert (failure.code, failure.first_remedy) == (FailureCode.UPSTREAM_UNAVAILABLE, remedy)
        assert failure.likely_cause.startswith(cause)
    service = egress(resolve=unknown).client(extra_allowed_origins=["http://nowhere.test:80"])
    with pytest.raises(PackError) as caught:
        await service.get("http://nowhere.test/")
    assert caught.value.failure.first_remedy is Remedy.ASK_OPERATOR, "its address is a setting"


def self_signed(name: str, folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "both.pem").write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context


async def test_tls_is_verified_against_the_name(egress, tmp_path, monkeypatch):
    asked_for: list[str | None] = []
    context = self_signed("tls.test", tmp_path)
    context.sni_callback = lambda _socket, name, _context: asked_for.append(name)
    async with loopback_http({"/": Reply()}, tls=context) as server:
        url = f"https://tls.test:{server.port}/"
        with pytest.raises(PackError, match="certificate was not accepted"):
            await egress("tls.test", answers(["127.0.0.1"])).client().get(url)
        trusting = ssl.create_default_context(cafile=str(tmp_path / "both.pem"))
        monkeypatch.setattr("runner.egress.transport.tls_context", lambda: trusting)
        client = egress("tls.test,other.test", answers(["127.0.0.1"])).client()
        assert (await client.get(url)).text == "ok"
        with pytest.raises(PackError, match="certificate was not accepted"):
            await client.get(f"https://other.test:{server.port}/")
    assert asked_for == ["tls.test", "tls.test", "other.test"]


async def test_the_next_address_is_tried_when_one_refuses(egress):
    async with loopback_http({"/": Reply()}) as server:
        client = egress("127.0.0.0/8", answers(["127.0.0.9", "127.0.0.1"])).client()
        assert (await client.get(f"http://two.test:{server.port}/")).text == "ok"


async def test_check_gives_the_addresses_without_connecting(egress, attempts):
    way_out = egress(resolve=answers(["93.184.216.34"]))
    assert await way_out.check("https://example.test/repo.git") == ("93.184.216.34",)
    assert await code_of(way_out.check("ssh://example.test/")) is FailureCode.POLICY_DENIED
    assert await code_of(egress(resolve=answers(["10.0.0.1"])).check("https://in.test/")) is FailureCode.POLICY_DENIED
    assert attempts == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "invalid_input"),
        (401, "credential_invalid"),
        (403, "credential_invalid"),
        (404, "not_found"),
        (408, "timeout"),
        (409, "schema_mismatch"),
        (429, "rate_limited"),
        (500, "upstream_unavailable"),
        (504, "timeout"),
    ],
)
async def test_statuses_become_failures(status, code, egress):
    async with loopback_http({"/": Reply(b'{"error":"why"}', status)}) as server:
        response = await egress("127.0.0.1").client().get(server.url())
    with pytest.raises(PackError) as raised:
        raise_for_status(response)
    assert raised.value.failure.code == code
    assert raised.value.failure.detail == {"status": status, "body": '{"error":"why"}'}
    assert str(raised.value) == f'`127.0.0.1:{server.port}` answered {status} Reply: “{{"error":"why"}}”.'


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (lambda: "7", 7, 7),
        (lambda: format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), 3500, 3600),
        (lambda: "Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
    ],
    ids=["seconds", "in an hour", "long ago"],
)
async def test_retry_after_is_honoured(header, least, most, egress):
    routes = {"/": Reply(b"", 429, {"retry-after": header()}), "/odd": Reply(b"", 503, {"retry-after": "soon"})}
    async with loopback_http(routes) as server:
        client = egress("127.0.0.1").client()
        limited, odd = await client.get(server.url()), await client.get(server.url("/odd"))
    with pytest.raises(PackError) as raised:
        raise_for_status(limited)
    assert raised.value.failure.retry_after_seconds is not None
    assert least <= raised.value.failure.retry_after_seconds <= most
    with pytest.raises(PackError) as raised:
        raise_for_status(odd)
    assert raised.value.failure.retry_after_seconds is None


def test_the_allow_list_reads_names_addresses_and_networks():
    text = "docs.Internal, localhost:8931,10.1.2.3, 10.0.0.0/8:8080, ::1, [fd00::/8]:443, 192.168.0.0/16,"
    assert EgressPolicy.parse(text).allow == (
        AllowEntry("docs.internal", None, None),
        AllowEntry("localhost", None, 8931),
        AllowEntry(None, ipaddress.ip_network("10.1.2.3/32"), None),
        AllowEntry(None, ipaddress.ip_network("10.0.0.0/8"), 8080),
        AllowEntry(None, ipaddress.ip_network("::1/128"), None),
        AllowEntry(None, ipaddress.ip_network("fd00::/8"), 443),
        AllowEntry(None, ipaddress.ip_network("192.168.0.0/16"), None),
    )


@pytest.mark.parametrize(
    "entry",
    ["http://a.test/", "10.0.0.0/99", "1.2.3", "a.test:0", "a.test:99999", "[::1", "[name]:80", "a b", "*", "-a"],
)
def test_a_bad_entry_is_named(entry):
    with pytest.raises(EgressPolicyError) as raised:
        EgressPolicy.parse(f"localhost,{entry}")
    assert f"`{entry}`" in str(raised.value)


def test_entries_cover_exactly_what_they_say():
    policy = EgressPolicy.parse("docs.internal:8080,10.0.0.0/8")
    private, mapped = ipaddress.ip_address("192.168.0.1"), ipaddress.ip_address("::ffff:10.0.0.1")
    assert policy.permits("docs.internal", private, 8080)
    assert not policy.permits("docs.internal", private, 80)
    assert not policy.permits("other.docs.internal", private, 8080)
    assert policy.permits("any.test", mapped, 9000)
    assert not policy.permits("any.test", ipaddress.ip_address("93.184.216.34"), 9000)


@pytest.mark.parametrize(
    "text", ["64:ff9b:1::1", "2002:7f00:1::", "64:ff9b::a00:1", "100::1", "2001:db8::1", "5f00::1"]
)
def test_addresses_the_standard_library_misjudges_are_not_public(text):
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(text):
    assert is_public(ipaddress.ip_address(text))
