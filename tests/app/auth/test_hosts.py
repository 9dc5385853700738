import asyncio

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from app.auth.hosts import HostGuard, guard_for
from app.settings.server import Settings
from tests.support.graphql_client import PATIENCE_SECONDS, serve
from tests.support.product import ADMIN_TOKEN, product

WS = "ws://127.0.0.1:8420/ws"


async def answer(request):
    headers = {"content-security-policy": "sandbox"} if request.url.path == "/own" else {}
    return PlainTextResponse("hello", headers=headers)


async def socket(websocket: WebSocket):
    await websocket.accept()
    await websocket.send_text("hello")
    await websocket.close()


def client(host="127.0.0.1:8420", **options):
    inner = Starlette(
        routes=[
            Route("/", answer, methods=["GET", "POST"]),
            Route("/own", answer),
            WebSocketRoute("/ws", socket),
        ]
    )
    return TestClient(HostGuard(inner, **options), base_url=f"http://{host}")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8420", "localhost:1", "LOCALHOST", "[::1]:8420", "pack.example", "Pack.Example:9"]
)
def test_our_names_are_served(host):
    assert client(hosts=["pack.example"]).get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.1", "[::2]:80"])
def test_other_names_are_refused(host):
    answer = client(hosts=["pack.example"]).get("/", headers={"host": host})

    assert answer.status_code == 400
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_refusal_says_what_to_set():
    assert "PACKLINE_ALLOWED_HOSTS" in client().get("/", headers={"host": "rebound.example"}).text


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8420", "https://ops.example", "HTTPS://OPS.example"])
def test_our_pages_and_allowed_ones_may_post(origin):
    answer = client(origins=["https://ops.example/"]).post("/", headers={"origin": origin})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1:8421",
        "http://127.0.0.1",
        "file://",
        "http://[::1",
        "x" * 999,
    ],
)
def test_other_pages_may_not_post_or_open_sockets(origin):
    with client() as http:
        assert http.post("/", headers={"origin": origin}).status_code == 403
        with (
            pytest.raises(WebSocketDenialResponse) as refused,
            http.websocket_connect(WS, headers={"origin": origin}),
        ):
            pass
        assert refused.value.status_code == 403


def test_other_pages_may_read_what_their_browser_will_not_show_them():
    assert client().get("/", headers={"origin": "http://evil.example"}).status_code == 200


def test_a_proxy_that_ends_tls_is_no_other_origin():
    answer = client("pack.example", hosts=["pack.example"]).post("/", headers={"origin": "https://pack.example"})
    assert answer.status_code == 200


def test_sockets_of_our_pages_and_of_programs_open():
    with client() as http:
        for headers in ({"origin": "http://127.0.0.1:8420"}, {}):
            with http.websocket_connect(WS, headers=headers) as websocket:
                assert websocket.receive_text() == "hello"


def test_answers_carry_the_security_headers_unless_they_set_their_own():
    headers = client().get("/").headers
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert client().get("/own").headers.get_list("content-security-policy") == ["sandbox"]


def test_the_public_address_is_ours_and_a_wildcard_is_no_name(tmp_path):
    settings = Settings.load({"data_dir": tmp_path, "host": "0.0.0.0", "public_url": "https://pack.example"})
    http = TestClient(guard_for(Starlette(routes=[Route("/", answer, methods=["GET", "POST"])]), settings))

    assert http.post("/", headers={"host": "pack.example", "origin": "https://pack.example"}).status_code == 200
    assert http.get("/", headers={"host": "0.0.0.0"}).status_code == 400


# -- as bytes, over a real socket --------------------------------------------------------------------------

WELL_FORMED = (
    "127.0.0.1",
    "127.0.0.1:1",
    "127.255.255.254:65535",
    "localhost",
    "LocalHost:8420",
    "[::1]",
    "[::1]:8420",
    "[0:0:0:0:0:0:0:1]:8420",
    "Pack.Example:9",
    "[FD00::1]",
    "  127.0.0.1:8420",
)
MALFORMED = (
    "",
    "x@127.0.0.1:8420",
    "x:y@127.0.0.1:8420",
    "@127.0.0.1",
    "pack.example@evil.test",
    "127.0.0.1:8420.attacker.test",
    "127.0.0.1:8420:8420",
    "127.0.0.1:8420@attacker.test",
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:65536",
    "127.0.0.1:184467440737095516160",
    "127.0.0.1:http",
    "127.0.0.1:+80",
    "127.0.0.1:-80",
    "127.0.0.1:8_0",
    "127.0.0.1:\u0668\u0660",
    "127.0.0.1: 80",
    "127.0.0.1 :80",
    "127.0.0.1 attacker.test",
    "127.0.0.1,attacker.test",
    "127.0.0.1;attacker.test",
    "127.0.0.1/",
    "127.0.0.1/attacker.test",
    "127.0.0.1?attacker.test",
    "127.0.0.1#attacker.test",
    "127.0.0.1\\attacker.test",
    "//127.0.0.1",
    "http://127.0.0.1",
    "::1",
    "::1:8420",
    "[::1",
    "::1]",
    "[[::1]]",
    "[::1]8420",
    "[::1]:8420x",
    "[::1].attacker.test",
    "[::1%lo]",
    "[::1%25lo]",
    "[127.0.0.1]",
    "[localhost]",
    "[]",
    "localhost%2e",
    "%6cocalhost",
    "l\u043ecalhost",
    "\u217focalhost",
    "<script>",
)
FOREIGN = ("localhost.", "127.0.0.1.", "pack.example.", "127.1", "127.999.0.1", "0177.0.0.1", "2130706433", "evil.test")
UPGRADE = (
    "GET /graphql HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n"
)
POST = f"POST /graphql HTTP/1.1\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\nContent-Type: application/json\r\n"
ASKED = '{"query": "{ viewer { id } }"}'


async def said(port, head, *fields, body=""):
    """Status and body of the answer to a request that is written byte by byte."""
    lines = [*fields, f"Content-Length: {len(body)}", "Connection: close"] if "Upgrade" not in head else fields
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            writer.write((head + "".join(f"{line}\r\n" for line in lines) + "\r\n" + body).encode())
            status = int((await reader.readuntil(b"\r\n")).split(b" ")[1])
            fields = await reader.readuntil(b"\r\n\r\n")
            return status, "" if status == 101 else (fields + await reader.read()).decode()
    finally:
        writer.close()


@pytest.fixture
async def port(tmp_path):
    async with product(tmp_path, allowed_hosts=("pack.example", "fd00::1")) as it:
        yield it.served.port


async def test_a_host_is_a_name_or_an_address_with_a_port_or_without(port):
    for host in WELL_FORMED:
        assert (await said(port, POST, f"Host: {host}", body=ASKED))[0] == 200, host
        assert (await said(port, UPGRADE, f"Host: {host}"))[0] == 101, host
    for host in MALFORMED:
        status, text = await said(port, POST, f"Host: {host}", body=ASKED)
        assert (status, "malformed" in text or "no host" in text or "Invalid" in text) == (400, True), (host, text)
        assert (await said(port, UPGRADE, f"Host: {host}"))[0] == 400, host
    for host in FOREIGN:
        status, text = await said(port, POST, f"Host: {host}", body=ASKED)
        assert (status, f"is not called {host}" in text) == (400, True), (host, text)
        assert (await said(port, UPGRADE, f"Host: {host}"))[0] == 400, host


async def test_a_target_that_is_an_address_names_the_same_host(port):
    """RFC 9112 section 3.2.2: what such a target names counts; here it must not differ from the field Host."""

    def to(address):
        return POST.replace("/graphql", address)

    same = (
        ("http://127.0.0.1:1/graphql", "127.0.0.1:1"),
        ("HTTP://Pack.Example/graphql?a=http://evil.test", "pack.example"),
    )
    for target, host in same:
        assert (await said(port, to(target), f"Host: {host}", body=ASKED))[0] == 200, target
    others = (
        *("http://evil.test/graphql", "https://evil.test:443/graphql", "http://localhost/graphql"),
        *("http://127.0.0.1@evil.test/graphql", "http://evil.test@127.0.0.1/graphql", "http://127.0.0.1:2/graphql"),
    )
    for target in others:
        status, text = await said(port, to(target), "Host: 127.0.0.1", body=ASKED)
        assert (status, "names its host more than once" in text) == (400, True), (target, text)
    upgrade = UPGRADE.replace("/graphql", "http://evil.test/graphql")
    assert (await said(port, upgrade, "Host: 127.0.0.1"))[0] == 400
    assert (await said(port, to("http://127.0.0.1/graphql"), body=ASKED))[0] == 400, "the field is needed all the same"
    # What is no address is a path, and names nothing.
    assert (await said(port, to("/graphql?a=http://evil.test"), "Host: 127.0.0.1", body=ASKED))[0] == 200


async def test_a_request_names_its_host_once(port):
    for hosts in (("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "evil.test"), ("evil.test", "127.0.0.1"), ()):
        for head in (POST, UPGRADE):
            status, text = await said(port, head, *(f"Host: {host}" for host in hosts), body=ASKED)
            assert status == 400, (hosts, text)


async def test_other_origins_by_any_spelling_change_nothing(port):
    host = f"127.0.0.1:{port}"
    ours = f"http://{host}"
    for head, accepted in ((POST, 200), (UPGRADE, 101)):
        for origin in (ours, ours.upper(), f"https://{host}"):
            assert (await said(port, head, f"Host: {host}", f"Origin: {origin}", body=ASKED))[0] == accepted, origin
        for origin in (
            "",
            "null",
            host,
            "http://127.0.0.1",
            f"http://localhost:{port}",
            f"http://x@{host}",
            f"http://x:y@{host}",
            f"http://{host}.attacker.test",
            f"http://{host}@attacker.test",
            f"http://{host}/",
            f"http://{host}/attacker.test",
            f"http://{host}?attacker.test",
            f"http://{host}#attacker.test",
            f"http://{host} http://attacker.test",
            f"http://attacker.test http://{host}",
            f"http://{host},http://attacker.test",
            f"http:{host}",
            f"//{host}",
            f"file://{host}",
            f"ws://{host}",
            f"chrome-extension://{host}",
        ):
            status, text = await said(port, head, f"Host: {host}", f"Origin: {origin}", body=ASKED)
            assert status == 403, (origin, text)
        for origins in ((ours, ours), (ours, "http://attacker.test"), ("http://attacker.test", ours)):
            fields = (f"Origin: {origin}" for origin in origins)
            status, text = await said(port, head, f"Host: {host}", *fields, body=ASKED)
            assert status == (403 if head is POST else 400), (origins, text)  # of a socket, by what reads the handshake


async def test_the_host_that_counts_is_the_header_s(port):
    """Links are made of it; what a proxy might say does not change it."""
    metadata = "/.well-known/oauth-protected-resource"
    for target in (metadata, f"http://localhost:7{metadata}"):
        head = f"GET {target} HTTP/1.1\r\n"
        proxied = ("X-Forwarded-Host: evil.test", "Forwarded: host=evil.test")
        status, text = await said(port, head, "Host: localhost:7", *proxied)
        assert (status, '"resource":"http://localhost:7/mcp"' in text) == (200, True), (target, text)
        assert "evil" not in text, target
        assert (await said(port, head, "Host: attacker.test", "X-Forwarded-Host: localhost"))[0] == 400, target


async def test_a_host_that_was_refused_stays_refused():
    async with serve(HostGuard(Starlette(routes=[Route("/", answer)]))) as served:
        for _ in range(2):
            assert (await said(served.port, "GET / HTTP/1.1\r\n", "Host: x@127.0.0.1"))[0] == 400
            assert (await said(served.port, "GET / HTTP/1.1\r\n", "Host: 127.0.0.1"))[0] == 200
