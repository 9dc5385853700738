"""`http.post`: what is sent where, and what the answers mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError, read_web_address
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

post = load_pack("http/post.py")
message_for = load_module("http/_chat.py").message_for
TOKEN = "Bearer a-long-secret"


@pytest.fixture
async def server() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http(
        {
            "/hook": Reply(b"ok", headers={"content-type": "text/plain"}),
            "/json": Reply(b'{"id": 7}', status=201, headers={"content-type": "application/json"}),
            "/moved": Reply(b"", status=302, headers={"location": "/hook"}),
            "/busy": Reply(b"later", status=503, headers={"retry-after": "7"}),
            "/gone": Reply(b"no_service", status=404, headers={"content-type": "text/plain"}),
        }
    ) as server:
        yield server


def harness(tmp_path: Path, **credential: str) -> Harness:
    return Harness(tmp_path, credentials={"http": credential} if credential else {})


async def failure(it: Harness, **given: Any) -> Any:
    with pytest.raises(PackError) as caught:
        await it.call(post, given)
    found = caught.value.failure
    if found.code == "credential_invalid":
        assert isinstance(found.detail, dict)
        assert found.detail["credential"] == "http"
    return found


async def test_json_goes_to_the_address_of_the_credential_with_its_headers(
    tmp_path: Path, server: LoopbackHttp
) -> None:
    it = harness(tmp_path, url=server.url("/json"), authorization=TOKEN, x_team="lights")
    output = await it.call(post, {"body": {"text": "Lämpchen"}})
    assert (output["status"], output["host"], output["body"]) == (201, "127.0.0.1", {"id": 7})
    (request,) = server.requests
    assert (request.method, json.loads(request.body)) == ("POST", {"text": "Lämpchen"})
    assert request.headers["content-type"] == "application/json"
    assert (request.headers["authorization"], request.headers["x-team"]) == (TOKEN, "lights")


async def test_another_origin_gets_no_header_of_the_credential(tmp_path: Path, server: LoopbackHttp) -> None:
    it = harness(tmp_path, url="https://api.example/", authorization=TOKEN)
    await it.call(post, {"url": server.url("/hook"), "text": "hello"})
    (request,) = server.requests
    assert "authorization" not in request.headers
    assert (request.headers["content-type"], request.body) == ("text/plain; charset=utf-8", b"hello")


async def test_a_repeat_has_the_same_idempotency_key(tmp_path: Path, server: LoopbackHttp) -> None:
    it = harness(tmp_path)
    for _ in range(2):
        await it.call(post, {"url": server.url("/hook"), "body": [1]})
    one, two = (request.headers["idempotency-key"] for request in server.requests)
    assert one == two


@pytest.mark.parametrize(
    ("path", "code"), [("/moved", "invalid_input"), ("/busy", "upstream_unavailable"), ("/gone", "not_found")]
)
async def test_an_answer_that_is_no_success_fails_the_step(
    tmp_path: Path, server: LoopbackHttp, path: str, code: str
) -> None:
    failed = await failure(harness(tmp_path), url=server.url(path), body={})
    assert failed.code == code
    assert len(server.requests) == 1


@pytest.mark.parametrize("given", [{}, {"body": {}, "text": "both"}])
async def test_there_is_exactly_one_body(tmp_path: Path, server: LoopbackHttp, given: dict[str, Any]) -> None:
    assert (await failure(harness(tmp_path), url=server.url("/hook"), **given)).code == "invalid_input"
    assert server.requests == []


async def test_without_an_address_the_credential_is_asked_for(tmp_path: Path) -> None:
    assert (await failure(harness(tmp_path), text="hello")).code == "credential_invalid"


async def test_a_header_that_the_request_sets_is_refused(tmp_path: Path, server: LoopbackHttp) -> None:
    it = harness(tmp_path, url=server.url("/hook"), content_length="a-long-value")
    assert (await failure(it, text="hello")).code == "credential_invalid"


async def test_the_address_of_a_channel_is_not_in_messages(tmp_path: Path, server: LoopbackHttp) -> None:
    failed = await failure(harness(tmp_path, url=server.url("/gone")), text="hello")
    assert "/gone" not in failed.message


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://hooks.slack.com/services/T/B/x", {"text": "*a &lt;b&gt; failed*\nwhy\nhttps://p.example/runs/1"}),
        (
            "https://discord.com/api/webhooks/1/x",
            {
                "content": "**a <b> failed**\nwhy\nhttps://p.example/runs/1",
                "allowed_mentions": {"parse": []},
            },
        ),
        ("https://other.example/x", {"title": "a <b> failed", "text": "why", "link": "https://p.example/runs/1"}),
    ],
)
def test_a_message_has_the_form_of_its_service(url: str, expected: dict[str, Any]) -> None:
    assert message_for(read_web_address(url), "auto", "a <b> failed", "why", "https://p.example/runs/1") == expected


def test_a_form_can_be_chosen_for_a_host_of_ones_own() -> None:
    chat = read_web_address("https://chat.example/hooks/1")
    assert message_for(chat, "slack", "title", "why", "") == {"text": "*title*\nwhy"}
    slack = read_web_address("https://hooks.slack.com/services/T/B/x")
    assert message_for(slack, "plain", "title", "why", "") == {"title": "title", "text": "why", "link": ""}


def test_a_message_for_teams_is_a_card() -> None:
    body = message_for(read_web_address("https://x.webhook.office.com/webhookb2/1"), "auto", "title", "why\n", "")
    card = body["attachments"][0]["content"]
    assert [block["text"] for block in card["body"]] == ["title", "why"]
