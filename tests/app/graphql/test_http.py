"""`/graphql` over HTTP, through a real server: the rules of GraphQL over HTTP, and what hostile requests meet."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from structlog.testing import capture_logs

from app.auth.identity import bearer_token
from app.graphql.endpoint import TransportLimits
from app.graphql.wire import Media, decode_json, negotiate
from schema.guard.limits import RequestLimits
from tests.support.graphql_app import Visitor, World, build_app
from tests.support.graphql_client import GRAPHQL_RESPONSE, GraphQLClient, Served, serve, serve_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

JSON = "application/json"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server for tests that need to know nothing of its inside."""
    with serve_in_thread(build_app(World())) as served:
        yield served


@pytest.fixture
async def client(server: Served) -> AsyncIterator[GraphQLClient]:
    async with GraphQLClient(server.url("/graphql"), token="all") as client:
        yield client


@pytest.fixture
async def own_client(world: World) -> AsyncIterator[GraphQLClient]:
    """A client of a server in this event loop, over `world`."""
    async with serve(build_app(world)) as served, GraphQLClient(served.url("/graphql"), token="all") as client:
        yield client


async def test_a_query_is_answered(client: GraphQLClient) -> None:
    answer = await client.execute("query ($n: Int) { items(first: $n) { nodes { id sizeBytes createdAt } } }", {"n": 1})
    assert answer.status == 200
    assert answer.data["items"]["nodes"] == [
        {"id": "item_0", "sizeBytes": 2**40, "createdAt": "2026-11-21T09:30:00.125Z"}
    ]
    assert answer.headers["content-type"] == GRAPHQL_RESPONSE
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (GRAPHQL_RESPONSE, GRAPHQL_RESPONSE),
        (JSON, JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (f"{JSON}, {GRAPHQL_RESPONSE}", JSON),
        (f"{JSON};q=0.5, {GRAPHQL_RESPONSE}", GRAPHQL_RESPONSE),
        (f"{GRAPHQL_RESPONSE}; charset=utf-8, {JSON}; charset=utf-8;q=0.9", GRAPHQL_RESPONSE),
        (f"text/html, {JSON};q=0.1", JSON),
    ],
)
async def test_the_answer_has_the_type_asked_for(client: GraphQLClient, accept: str, media: str) -> None:
    answer = await client.execute("{ hello }", accept=accept)
    assert (answer.status, answer.headers["content-type"]) == (200, media)
    assert answer.data == {"hello": "world"}


@pytest.mark.parametrize("accept", ["text/html", "image/*", f"{JSON};q=0", "application/xml", "", f"{JSON};q=x"])
async def test_what_cannot_be_sent_is_not_acceptable(client: GraphQLClient, accept: str) -> None:
    answer = await client.execute("{ hello }", accept=accept)
    assert (answer.status, answer.codes) == (406, ["NOT_ACCEPTABLE"])


def test_no_accept_header_means_json() -> None:
    assert negotiate("*/*") is Media.JSON
    assert negotiate("text/event-stream") is Media.STREAM
    assert negotiate("text/event-stream;q=0.5, application/json") is Media.JSON


REQUEST_ERRORS = [
    "{ hello",
    "{ unknown }",
    "query ($n: Int) { items(first: $n) { nodes { id } } }",
    "{ dear a: dear b: dear }",
]


@pytest.mark.parametrize("query", REQUEST_ERRORS)
async def test_a_request_error_is_400_without_data_or_200_for_old_clients(client: GraphQLClient, query: str) -> None:
    answer = await client.execute(query, {"n": "one"})
    assert answer.status == 400
    assert answer.errors
    assert "data" not in answer.body
    old = await client.execute(query, {"n": "one"}, accept=JSON)
    assert old.status == 200
    assert old.errors


@pytest.mark.parametrize("accept", [JSON, GRAPHQL_RESPONSE, "text/event-stream"])
@pytest.mark.parametrize(
    ("query", "name", "told"),
    [
        ("", None, "`query` is empty; it must be the text of a GraphQL document."),
        ("   ", None, "`query` is empty; it must be the text of a GraphQL document."),
        (
            "query A { hello } query B { hello }",
            None,
            "The document holds several operations; name one in `operationName`.",
        ),
        ("fragment F on Item { id }", None, "The document holds no operation."),
        ("query A { hello }", "Z", "The document holds no operation named `Z`."),
    ],
)
async def test_no_such_operation_is_told_alike_on_every_way(
    client: GraphQLClient, accept: str, query: str, name: str | None, told: str
) -> None:
    answer = await client.http.post(
        client.url,
        json={"query": query, "operationName": name},
        headers={"authorization": "Bearer all", "accept": accept},
    )
    text = answer.text.partition("data: ")[2].partition("\n")[0] if accept == "text/event-stream" else answer.text
    assert answer.status_code == (400 if accept == GRAPHQL_RESPONSE else 200)
    assert json.loads(text) == {"errors": [{"message": told, "extensions": {"code": "BAD_REQUEST"}}]}


async def test_an_error_inside_the_data_is_200(client: GraphQLClient) -> None:
    with capture_logs() as logs:
        answer = await client.execute("{ hello broken refused }")
    assert answer.status == 200
    assert answer.body["data"] == {"hello": "world", "broken": None, "refused": None}
    assert answer.codes == ["INTERNAL", "NOT_FOUND"]
    assert "secret" not in json.dumps(answer.body)
    assert len(logs) == 1


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
async def test_other_methods_are_refused(client: GraphQLClient, method: str) -> None:
    response = await client.http.request(method, client.url, headers={"authorization": "Bearer all"})
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"
    assert "access-control-allow-origin" not in response.headers


async def test_queries_may_use_get_but_commands_may_not(own_client: GraphQLClient, world: World) -> None:
    answer = await own_client.get(
        query="query A($n: Int) { items(first: $n) { nodes { id } } }", variables='{"n": 1}', operationName="A"
    )
    assert answer.data["items"]["nodes"] == [{"id": "item_0"}]
    for accept in (GRAPHQL_RESPONSE, JSON, "text/event-stream"):
        refused = await own_client.get(accept, query="mutation { change }")
        assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert world.changes == 0
    assert (await own_client.execute("mutation { change }")).data == {"change": 1}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"query": ""},
        {"query": "{ hello }", "variables": "{"},
        {"query": "{ hello }", "variables": "[1]"},
        {"query": "{ hello }", "extensions": "1"},
    ],
)
async def test_a_bad_query_string_is_400(client: GraphQLClient, params: dict[str, str]) -> None:
    answer = await client.get(**params)
    assert answer.status == 400
    assert answer.errors


async def test_a_subscription_needs_a_stream(client: GraphQLClient) -> None:
    answer = await client.execute("subscription { count }")
    assert (answer.status, answer.codes) == (406, ["NOT_ACCEPTABLE"])
    assert "text/event-stream" in answer.errors[0]["message"]


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "",
        "application/json; charset=utf-16",
    ],
)
async def test_only_json_is_taken_so_that_no_form_can_send_commands(client: GraphQLClient, content_type: str) -> None:
    answer = await client.post(b'{"query": "mutation { change }"}', content_type=content_type)
    assert (answer.status, answer.codes) == (415, ["UNSUPPORTED_MEDIA_TYPE"])


async def test_content_types_may_name_utf_8(client: GraphQLClient) -> None:
    assert (await client.post(b'{"query": "{ hello }"}', content_type='Application/JSON; Charset="UTF-8"')).data


async def test_compressed_bodies_are_refused(client: GraphQLClient) -> None:
    answer = await client.post(gzip.compress(b'{"query": "{ hello }"}'), content_encoding="gzip")
    assert answer.status == 415


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"42",
        b'"{ hello }"',
        b"null",
        b"[]",
        b'[{"query": "{ hello }"}]',
        b"{}",
        b'{"query": null}',
        b'{"query": ""}',
        b'{"query": 7}',
        b'{"query": "{ hello }", "variables": []}',
        b'{"query": "{ hello }", "variables": "{}"}',
        b'{"query": "{ hello }", "operationName": 1}',
        b'{"query": "{ hello }", "operationName": {}}',
        b'{"query": "{ hello }", "extensions": 1}',
        b'{"query": "{ hello }"',
        b'{"query": "{ hello }", "variables": {"a": NaN}}',
        b'{"query": "{ hello }", "variables": {"a": 1e999}}',
        b'{"query": "{ hello }", "variables": {"a": "\\ud800"}}',
        b'{"query": "{ hello }", "variables": {"a": "x\\u0000"}}',
        b'{"query": "{ hello }", "variables": {"a": ' + b"1" * 100_000 + b"}}",
        b"[" * 100_000,
        b'{"query": "{ hello }", "variables": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
        b"\xff\xfe",
        b'{"query": "\xff"}',
        b'\xef\xbb\xbf{"query": "{ hello }"}',
    ],
)
async def test_an_odd_body_is_400_and_never_500(client: GraphQLClient, body: bytes) -> None:
    with capture_logs() as logs:
        answer = await client.post(body)
    assert answer.status == 400, answer.body
    assert answer.codes == ["BAD_REQUEST"]
    assert logs == []


async def test_whole_numbers_are_kept_exactly_or_refused(client: GraphQLClient) -> None:
    query = "query ($a: JSON) { echo(json: $a) }"
    assert (await client.execute(query, {"a": 2**64 - 1})).data["echo"]["json"] == 2**64 - 1
    answer = await client.execute(query, {"a": {"deep": [2**70]}})
    assert answer.status == 400
    assert "64 bits" in answer.errors[0]["message"]
    assert decode_json(b'{"digits": "00000000000000000000000000", "n": 12345678901234567890}') == {
        "digits": "0" * 26,
        "n": 12345678901234567890,
    }
    assert decode_json(rb'"a literal \\u0000 is fine"') == r"a literal \u0000 is fine"
    assert decode_json('{"n": 18446744073709551616}') == {"n": 2**64}
    assert decode_json(b"[" + b"1234567890," * 9 + b"1]") == [*[1234567890] * 9, 1]
    for nul in (rb'"\u0000"', rb'"a\\\u0000"', rb'{"\u0000": 12345678901234567890}'):
        for data in (nul, nul.decode()):
            with pytest.raises(json.JSONDecodeError, match="U\\+0000"):
                decode_json(data)


async def test_a_body_may_come_in_pieces(client: GraphQLClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b'{"query": ', b"", b'"{ hello }', b'"}'):
            yield piece

    headers = {"authorization": "Bearer all", "content-type": JSON}
    response = await client.http.post(client.url, content=pieces(), headers=headers)
    assert response.json() == {"data": {"hello": "world"}}


async def test_a_large_body_is_refused_and_told(client: GraphQLClient) -> None:
    for size in (1_048_577, 3_000_000):
        answer = await client.post(b" " * size)
        assert (answer.status, answer.codes) == (413, ["BODY_TOO_LARGE"])

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    headers = {"authorization": "Bearer all", "content-type": JSON}
    response = await client.http.post(client.url, content=chunks(), headers=headers)
    assert response.status_code == 413
    fits = json.dumps({"query": "query ($a: JSON) { echo(json: $a) }", "variables": {"a": "x" * 1_000_000}}).encode()
    assert (await client.post(fits)).status == 200


async def test_an_endless_body_is_cut_off(client: GraphQLClient) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 200_000_000:
            sent += 262_144
            yield b" " * 262_144

    headers = {"authorization": "Bearer all", "content-type": JSON}
    try:
        response = await client.http.post(client.url, content=endless(), headers=headers)
        assert response.status_code == 413
    except httpx2.TransportError:
        pass  # the server hung up
    assert sent < 50_000_000


async def test_nobody_is_answered_with_401(client: GraphQLClient, server: Served) -> None:
    async with GraphQLClient(server.url("/graphql")) as stranger:
        for answer in (
            await stranger.execute("{ hello }"),
            await stranger.get(query="{ hello }"),
            await stranger.post(b" " * 900_000, content_type="text/plain"),
            await stranger.execute("{ hello }", accept="text/event-stream"),
        ):
            assert (answer.status, answer.codes) == (401, ["UNAUTHENTICATED"])
            assert answer.headers["www-authenticate"] == 'Bearer realm="packline"'
            assert answer.headers["content-type"] == JSON
        stranger.token = "stolen"
        refused = await stranger.execute("{ hello }")
        assert 'error="invalid_token", error_description="' in refused.headers["www-authenticate"]
        stranger.token = None
        stranger.headers = {"cookie": "session=reader"}
        assert (await stranger.execute("{ hello }")).data == {"hello": "world"}
        assert (await stranger.execute("{ managed }")).codes == ["FORBIDDEN"]


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("BEARER abc", "abc"),
        ("Bearer ", None),
        ("Bearer", None),
        ("Basic abc", None),
        ("", None),
        (None, None),
    ],
)
def test_bearer_headers(header: str | None, token: str | None) -> None:
    assert bearer_token(header) == token


async def test_each_request_has_a_context_of_its_own(own_client: GraphQLClient, world: World) -> None:
    for _ in range(3):
        await own_client.execute("{ items(first: 1) { nodes { owner } } }")
    assert world.made_contexts == 3
    assert world.batches == [[0], [0], [0]]


async def test_a_request_that_takes_too_long_is_504(world: World) -> None:
    async with (
        serve(build_app(world, transport=TransportLimits(request_seconds=0.05))) as server,
        GraphQLClient(server.url("/graphql"), token="all") as client,
    ):
        answer = await client.execute("{ pending }")
        assert (answer.status, answer.codes) == (504, ["TIMEOUT"])
        assert "check before you repeat" in answer.errors[0]["message"]


async def test_a_body_that_never_comes_is_given_up(world: World) -> None:
    async with serve(build_app(world, transport=TransportLimits(request_seconds=0.05))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer all\r\ncontent-type: application/json\r\n"
            b"content-length: 100\r\n\r\n{"
        )
        async with asyncio.timeout(60):
            assert b" 504 " in await reader.readline()
        writer.close()


async def test_what_breaks_outside_resolvers_is_masked_too(world: World) -> None:
    async def broken(_connection: Any, _token: str | None) -> Visitor | None:
        raise RuntimeError("secret database")

    async with (
        serve(build_app(world, authenticate=broken)) as server,
        GraphQLClient(server.url("/graphql"), token="all") as client,
    ):
        with capture_logs() as logs:
            answer = await client.execute("{ hello }")
    assert (answer.status, answer.codes) == (500, ["INTERNAL"])
    assert "secret" not in json.dumps(answer.body)
    assert logs[0]["error_id"] == answer.errors[0]["extensions"]["id"]


async def test_the_limits_are_settings(world: World) -> None:
    async with (
        serve(build_app(world, limits=RequestLimits(depth=2, body_bytes=200))) as server,
        GraphQLClient(server.url("/graphql"), token="all") as client,
    ):
        assert (await client.execute("{ items { nodes { id } } }")).codes == ["QUERY_TOO_COMPLEX"]
        assert (await client.post(b" " * 201)).status == 413


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            b'{"query": "{ hello }", "variables": {"a": "x\\u0000"}}',
            "The body cannot be read as JSON: it contains the character U+0000, which is not allowed.",
        ),
        (b'{"query": "\xff"}', "The body cannot be read as JSON: it is not valid UTF-8."),
    ],
)
async def test_a_body_that_is_not_kept_is_told_why(client: GraphQLClient, body: bytes, told: str) -> None:
    answer = await client.post(body)
    assert (answer.status, answer.errors[0]["message"]) == (400, told)
