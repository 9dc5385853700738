"""`/graphql` as server-sent events, through a real server: graphql-sse, distinct connections."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from app.graphql.endpoint import TransportLimits
from tests.app.graphql.test_websocket import full
from tests.support.graphql_app import World, build_app
from tests.support.graphql_client import GraphQLClient, Served, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def server(world: World) -> AsyncIterator[Served]:
    async with serve(build_app(world)) as served:
        yield served


@pytest.fixture
async def client(server: Served) -> AsyncIterator[GraphQLClient]:
    async with GraphQLClient(server.url("/graphql"), token="all") as client:
        yield client


async def test_a_subscription_comes_as_events(client: GraphQLClient) -> None:
    events = [event async for event in client.stream("subscription ($to: Int!) { count(to: $to) }", {"to": 2})]
    assert events == [("next", {"data": {"count": 1}}), ("next", {"data": {"count": 2}}), ("complete", None)]


async def test_the_wire_is_what_the_protocol_says(client: GraphQLClient) -> None:
    headers = {"authorization": "Bearer all", "accept": "text/event-stream"}
    response = await client.http.get(client.url, params={"query": "subscription { count(to: 1) }"}, headers=headers)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "no-transform" in response.headers["cache-control"]
    assert response.text == 'event: next\ndata: {"data":{"count":1}}\n\nevent: complete\ndata:\n\n'


async def test_queries_and_commands_may_be_streamed_too(client: GraphQLClient) -> None:
    assert [event async for event in client.stream("{ hello }")] == [
        ("next", {"data": {"hello": "world"}}),
        ("complete", None),
    ]
    assert [event async for event in client.stream("mutation { change }")] == [
        ("next", {"data": {"change": 1}}),
        ("complete", None),
    ]


@pytest.mark.parametrize(
    "query", ["{ hello", "{ unknown }", "subscription { managed unknown }", "{ dear a: dear b: dear }"]
)
async def test_a_bad_document_is_told_as_an_event(client: GraphQLClient, query: str) -> None:
    (name, body), last = [event async for event in client.stream(query)]
    assert name == "next"
    assert body is not None
    assert body["errors"]
    assert "data" not in body
    assert last == ("complete", None)


async def test_a_missing_scope_ends_the_stream(client: GraphQLClient) -> None:
    client.token = "reader"
    (_, body), last = [event async for event in client.stream("subscription { managed }")]
    assert body is not None
    assert body["errors"][0]["extensions"] == {"code": "FORBIDDEN", "scope": "MANAGE"}
    assert last == ("complete", None)


async def test_what_breaks_is_masked(client: GraphQLClient) -> None:
    with capture_logs() as logs:
        events = [event async for event in client.stream("subscription { breaks }")]
    assert events[0] == ("next", {"data": {"breaks": 1}})
    assert events[1][1] is not None
    assert events[1][1]["errors"][0]["extensions"]["code"] == "INTERNAL"
    assert events[2] == ("complete", None)
    assert "secret" not in json.dumps(events)
    assert len(logs) == 1


async def test_an_idle_stream_is_kept_open_with_comments(world: World) -> None:
    async with (
        serve(build_app(world, transport=TransportLimits(keepalive_seconds=0.02))) as server,
        GraphQLClient(server.url("/graphql"), token="all") as client,
    ):
        stream = client.stream("subscription { ticks { number } }")
        assert (await anext(stream))[0] == "next"
        assert [await anext(stream), await anext(stream)] == [("comment", None)] * 2
        world.go.set()
        while (event := await anext(stream))[0] == "comment":
            pass
        assert event == ("next", {"data": {"ticks": {"number": 1}}})
        await stream.aclose()


async def test_a_vanished_client_leaves_nothing_running(client: GraphQLClient, world: World) -> None:
    stream = client.stream("subscription { ticks { number } }")
    await anext(stream)
    assert world.open_streams == 1
    await stream.aclose()
    await asyncio.wait_for(world.closed_stream.wait(), 60)
    assert world.open_streams == 0


async def test_a_stream_is_not_timed(world: World) -> None:
    async with (
        serve(build_app(world, transport=TransportLimits(request_seconds=0.05))) as server,
        GraphQLClient(server.url("/graphql"), token="all") as client,
    ):
        stream = client.stream("subscription { ticks { number } }")
        await anext(stream)
        await asyncio.sleep(0.1)
        world.go.set()
        assert await anext(stream) == ("next", {"data": {"ticks": {"number": 1}}})
        await stream.aclose()


async def test_it_ends_when_the_caller_may_no_longer_listen(client: GraphQLClient, world: World) -> None:
    stream = client.stream("subscription { ticks { number } }")
    await anext(stream)
    started = asyncio.get_running_loop().time()
    world.visitors["all"].expired.set()
    rest = [event async for event in stream]
    assert asyncio.get_running_loop().time() - started < 5
    assert rest[0][1] is not None
    assert rest[0][1]["errors"][0]["extensions"] == {"code": "FORBIDDEN"}
    assert rest[1:] == [("complete", None)]
    assert world.open_streams == 0


async def test_a_reader_that_stops_reading_is_let_go_when_its_token_expires(server: Served, world: World) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1_024)
    body = b'{"query": "subscription { flood }"}'
    writer.write(
        b"POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer all\r\naccept: text/event-stream\r\n"
        b"content-type: application/json\r\ncontent-length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    )
    assert b" 200 " in await reader.readline()
    await full(world)
    world.visitors["all"].expired.set()
    await asyncio.wait_for(world.closed_stream.wait(), 60)
    writer.transport.abort()


async def test_stopping_ends_open_streams(world: World) -> None:
    app = build_app(world)
    async with serve(app) as server, GraphQLClient(server.url("/graphql"), token="all") as client:
        stream = client.stream("subscription { ticks { number } }")
        await anext(stream)
        app.stop()
        assert [event async for event in stream] == [("complete", None)]
    assert world.open_streams == 0
