import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from app.hosts import HostGuard, guard_for
from app.settings import Settings

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


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "pack.example@evil", "[::1", "10.0.0.1", "a b"],
)
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
