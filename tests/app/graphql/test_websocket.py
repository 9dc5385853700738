"""`/graphql` over websockets, through a real server: graphql-transport-ws and every odd frame."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
import websockets
from structlog.testing import capture_logs
from websockets.asyncio.client import connect

from app.graphql.endpoint import TransportLimits
from tests.support.graphql_app import Visitor, World, build_app
from tests.support.graphql_client import PROTOCOL, GraphQLSocket, OperationFailed, Served, serve, serve_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

#: A client that takes one message and no more. Compression would let far too many through first.
NOT_READING: dict[str, Any] = {"max_queue": 1, "ping_interval": None, "compression": None}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server for tests that need to know nothing of its inside."""
    with serve_in_thread(build_app(World())) as served:
        yield served.ws_url("/graphql")


@pytest.fixture
async def own_url(world: World) -> AsyncIterator[str]:
    """A server in this event loop, over `world`."""
    async with serve(build_app(world)) as served:
        yield served.ws_url("/graphql")


async def test_queries_commands_and_subscriptions_share_a_socket(own_url: str) -> None:
    async with GraphQLSocket.open(own_url, token="all") as socket:
        assert socket.connection.subprotocol == PROTOCOL
        assert await socket.execute("{ hello }") == {"data": {"hello": "world"}}
        assert await socket.execute("mutation { change }") == {"data": {"change": 1}}
        counted = [
            payload async for payload in socket.subscribe("subscription ($to: Int!) { count(to: $to) }", {"to": 3})
        ]
        assert counted == [{"data": {"count": number}} for number in (1, 2, 3)]


async def test_operations_run_side_by_side(own_url: str, world: World) -> None:
    async with GraphQLSocket.open(own_url, token="all") as socket:
        pending = await socket.start("{ pending }")
        assert await socket.execute("{ hello }") == {"data": {"hello": "world"}}
        world.go.set()
        assert await socket.receive() == {"id": pending, "type": "next", "payload": {"data": {"pending": "done"}}}
        assert await socket.receive() == {"id": pending, "type": "complete"}


async def test_completing_stops_an_operation(own_url: str, world: World) -> None:
    async with GraphQLSocket.open(own_url, token="all") as socket:
        operation = await socket.start("subscription { ticks { number } }")
        await socket.receive()
        assert world.open_streams == 1
        await socket.complete(operation)
        await asyncio.wait_for(world.closed_stream.wait(), 60)
        assert world.open_streams == 0
        assert await socket.execute("{ hello }") == {"data": {"hello": "world"}}


async def test_a_vanished_client_leaves_nothing_running(own_url: str, world: World) -> None:
    async with GraphQLSocket.open(own_url, token="all") as socket:
        await socket.start("subscription { ticks { number } }")
        await socket.receive()
        socket.connection.transport.abort()
    await asyncio.wait_for(world.closed_stream.wait(), 60)
    assert world.open_streams == 0


async def test_pings_are_answered(url: str) -> None:
    async with GraphQLSocket.open(url, init=False) as socket:
        await socket.send({"type": "ping"})
        assert await socket.receive() == {"type": "pong"}
        await socket.send({"type": "ping", "payload": {"a": 1}})
        assert (await socket.receive())["type"] == "pong"
        await socket.send({"type": "pong", "payload": None})
        await socket.send({"type": "connection_init", "payload": {"authorization": "bearer all"}})
        assert await socket.receive() == {"type": "connection_ack"}


@pytest.mark.parametrize(
    "frame",
    [
        b"\x00\x01",
        "",
        "{",
        "[]",
        "42",
        "null",
        '"x"',
        "{}",
        '{"type": 1}',
        '{"type": {}}',
        '{"type": "unknown"}',
        '{"type": "start", "id": "1", "payload": {"query": "{hello}"}}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "payload": {"query": "{hello}"}}',
        '{"type": "subscribe", "id": {}, "payload": {"query": "{hello}"}}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{hello}"}}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{hello}"}}',
        '{"type": "subscribe", "id": "' + "x" * 200 + '", "payload": {"query": "{hello}"}}',
        '{"type": "subscribe", "id": "1", "payload": "x"}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{hello}", "variables": []}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{hello}", "operationName": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{hello}", "extensions": 1}}',
        '{"type": "complete"}',
        '{"type": "complete", "id": []}',
        '{"type": "ping", "payload": 1}',
        '{"type": "connection_init", "payload": []}',
        '{"type": "ping", "payload": {"a": NaN}}',
        '{"type": "ping", "payload": {"a": "\\ud800"}}',
        '{"type": "ping", "payload": {"a": "\\u0000"}}',
        "[" * 50_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        "1" * 50_000,
    ],
)
async def test_an_odd_frame_closes_4400(url: str, frame: str | bytes) -> None:
    async with GraphQLSocket.open(url, token="all") as socket:
        await socket.send_raw(frame)
        assert await socket.close_code() == 4400


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ("[]", "A frame must be a JSON object with a string `type`"),
        ('{"type": "unknown"}', "There is no frame type `unknown`"),
        ('{"type": "subscribe"}', "The `id` of `subscribe` must be a string of 1 to 128 characters"),
        ('{"type": "subscribe", "id": "1"}', "The payload of `subscribe` must be an object with a string `query`"),
        (
            '{"type": "subscribe", "id": "1", "payload": {"query": "{hello}", "variables": []}}',
            "`variables` must be an object or null",
        ),
        ('{"type": "ping", "payload": 1}', "The payload of `ping` must be an object or null"),
        (
            '{"type": "ping", "payload": {"a": "\\u0000"}}',
            "The frame cannot be read as JSON: it contains the character U+0000, which is not allowed",
        ),
    ],
)
async def test_an_odd_frame_is_told_what_is_wrong_with_it(url: str, frame: str, reason: str) -> None:
    async with GraphQLSocket.open(url, token="all") as socket:
        await socket.send_raw(frame)
        assert await socket.close_code() == 4400
        assert socket.connection.close_reason == reason


async def test_signing_in_is_asked_for_once_and_first(url: str) -> None:
    async with GraphQLSocket.open(url, init=False) as socket:
        await socket.start("{ hello }")
        assert await socket.close_code() == 4401
    async with GraphQLSocket.open(url, token="all") as socket:
        await socket.send({"type": "connection_init"})
        assert await socket.close_code() == 4429


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        {"Authorization": "Bearer stolen"},
        {"Authorization": "all"},
        {"Authorization": 7},
        {"Authorization": ""},
        {"token": "all"},
    ],
)
async def test_nobody_is_closed_with_4403(url: str, payload: dict[str, Any] | None) -> None:
    async with GraphQLSocket.open(url, init=False) as socket:
        await socket.send({"type": "connection_init", "payload": payload})
        assert await socket.close_code() == 4403


async def test_the_handshake_may_carry_the_session_or_the_token(url: str) -> None:
    for headers in ({"cookie": "session=reader"}, {"authorization": "Bearer reader"}):
        async with GraphQLSocket.open(url, headers=headers) as socket:
            assert await socket.execute("{ hello }") == {"data": {"hello": "world"}}
            with pytest.raises(OperationFailed, match="MANAGE"):
                await anext(socket.subscribe("subscription { managed }"))


async def test_silence_is_closed_with_4408(world: World) -> None:
    async with (
        serve(build_app(world, transport=TransportLimits(init_seconds=0.05))) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), init=False) as socket,
    ):
        assert await socket.close_code() == 4408


async def test_the_legacy_protocol_and_none_at_all_are_not_spoken(url: str) -> None:
    for protocols in (["graphql-ws"], None):
        async with connect(url, subprotocols=protocols, proxy=None) as connection:  # type: ignore[arg-type]
            with pytest.raises(websockets.ConnectionClosed):
                await asyncio.wait_for(connection.recv(), 60)
            assert connection.close_code == 4406


async def test_pages_of_other_origins_cannot_open_a_socket(url: str) -> None:
    for origin in ("https://evil.example", "null"):
        with pytest.raises(websockets.InvalidStatus):
            await connect(url, subprotocols=[PROTOCOL], additional_headers={"origin": origin}, proxy=None)  # type: ignore[list-item]
    own = url.replace("ws://", "http://").removesuffix("/graphql")
    async with GraphQLSocket.open(url, token="all", headers={"origin": own}) as socket:
        assert await socket.execute("{ hello }")


async def test_a_frame_too_large_is_refused(world: World) -> None:
    async with (
        serve(build_app(world)) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), token="all") as socket,
    ):
        await socket.send_raw(json.dumps({"type": "ping", "payload": {"a": "x" * 300_000}}))
        assert await socket.close_code() == 1009
    # Also when the server in front was not told the limit.
    async with (
        serve(build_app(world, transport=TransportLimits(frame_bytes=1_000)), ws_max_size=10**7) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), token="all") as socket,
    ):
        await socket.send_raw(json.dumps({"type": "ping", "payload": {"a": "x" * 2_000}}))
        assert await socket.close_code() == 1009


async def test_sockets_that_do_not_sign_in_are_few(world: World) -> None:
    async with serve(build_app(world, transport=TransportLimits(unauthenticated_sockets=2))) as server:
        url = server.ws_url("/graphql")
        async with GraphQLSocket.open(url, token="all"), GraphQLSocket.open(url, init=False):
            async with GraphQLSocket.open(url, init=False):
                with pytest.raises(websockets.InvalidStatus):
                    await connect(url, subprotocols=[PROTOCOL], proxy=None)  # type: ignore[list-item]
            async with asyncio.timeout(60):
                while True:
                    try:
                        async with GraphQLSocket.open(url, token="all") as socket:
                            assert await socket.execute("{ hello }")
                            break
                    except websockets.InvalidStatus:
                        await asyncio.sleep(0.01)


async def test_operations_in_flight_are_bounded(world: World) -> None:
    async with (
        serve(build_app(world, transport=TransportLimits(operations_per_socket=2))) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), token="all") as socket,
    ):
        await socket.start("{ pending }")
        await socket.start("{ pending }")
        with pytest.raises(OperationFailed) as refused:
            await socket.execute("{ hello }")
    (error,) = refused.value.errors
    assert error["message"] == "A socket may run at most 2 operations at a time."
    assert error["extensions"] == {
        "code": "LIMITED",
        "limit": "operations_per_socket",
        "maximum": 2,
        "retryable": True,
        "hint": "Complete one of them first, or open another socket.",
    }


async def test_an_id_in_use_is_4409(url: str) -> None:
    async with GraphQLSocket.open(url, token="all") as socket:
        message = {"id": "1", "type": "subscribe", "payload": {"query": "{ pending }"}}
        await socket.send(message)
        await socket.send(message)
        assert await socket.close_code() == 4409


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("{ hello", {}),
        ("{ unknown }", {}),
        ("{ dear a: dear b: dear }", {}),
        ("query ($n: Int) { items(first: $n) { nodes { id } } }", {"n": "one"}),
        ("subscription { managed unknown }", {}),
        ("", {}),
        ("query A { hello } query B { hello }", {}),
    ],
)
async def test_a_bad_document_fails_alone(url: str, query: str, variables: dict[str, Any]) -> None:
    async with GraphQLSocket.open(url, token="all") as socket:
        with pytest.raises(OperationFailed):
            await socket.execute(query, variables)
        assert await socket.execute("{ hello }") == {"data": {"hello": "world"}}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "`query` is empty; it must be the text of a GraphQL document."),
        (" \n", "`query` is empty; it must be the text of a GraphQL document."),
        ("fragment F on Item { id }", "The document holds no operation."),
    ],
)
async def test_what_holds_no_operation_is_the_callers_mistake(url: str, query: str, told: str) -> None:
    async with GraphQLSocket.open(url, token="all") as socket:
        with pytest.raises(OperationFailed) as failed:
            await socket.execute(query)
    assert failed.value.errors == [{"message": told, "extensions": {"code": "BAD_REQUEST"}}]


async def test_what_breaks_is_masked(own_url: str) -> None:
    async with GraphQLSocket.open(own_url, token="all") as socket:
        with capture_logs() as logs:
            answer = await socket.execute("{ broken }")
            stream = socket.subscribe("subscription { breaks }")
            assert await anext(stream) == {"data": {"breaks": 1}}
            with pytest.raises(OperationFailed, match="INTERNAL") as failed:
                await anext(stream)
        assert answer["errors"][0]["extensions"]["code"] == "INTERNAL"
        assert "secret" not in json.dumps([answer, failed.value.errors])
        assert len(logs) == 2


async def test_every_operation_and_event_has_a_context_of_its_own(own_url: str, world: World) -> None:
    async with GraphQLSocket.open(own_url, token="all") as socket:
        for _ in range(2):
            await socket.execute("{ items(first: 1) { nodes { owner } } }")
        assert world.batches == [[0], [0]]
        world.owner = "Grace"
        assert "Grace 0" in json.dumps(await socket.execute("{ items(first: 1) { nodes { owner } } }"))
        ticks = socket.subscribe("subscription { ticks(step: 7) { owner } }")
        assert (await anext(ticks))["data"]["ticks"]["owner"] == "Grace 0"
        world.owner = "Ada"
        world.go.set()
        assert (await anext(ticks))["data"]["ticks"]["owner"] == "Ada 0"


async def test_a_query_over_a_socket_is_timed_but_a_subscription_is_not(world: World) -> None:
    async with (
        serve(build_app(world, transport=TransportLimits(request_seconds=0.1))) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), token="all") as socket,
    ):
        ticks = await socket.start("subscription { ticks { number } }")
        assert (await socket.receive())["id"] == ticks
        with pytest.raises(OperationFailed, match="TIMEOUT"):
            await socket.execute("{ pending }")
        world.go.set()
        message = await socket.receive()
        assert (message["id"], message["payload"]) == (ticks, {"data": {"ticks": {"number": 1}}})


async def test_a_caller_who_may_no_longer_listen_is_closed_with_4403(own_url: str, world: World) -> None:
    async with GraphQLSocket.open(own_url, token="reader") as socket, GraphQLSocket.open(own_url, token="all") as other:
        await socket.start("subscription { ticks { number } }")
        await socket.receive()
        started = asyncio.get_running_loop().time()
        world.visitors["reader"].expired.set()
        assert await socket.close_code() == 4403
        assert asyncio.get_running_loop().time() - started < 5
        await asyncio.wait_for(world.closed_stream.wait(), 60)
        assert world.open_streams == 0
        assert await other.execute("{ hello }")


async def test_expiry_also_frees_a_socket_whose_client_does_not_read(own_url: str, world: World) -> None:
    async with GraphQLSocket.open(own_url, token="reader", **NOT_READING) as socket:
        await socket.start("subscription { flood }")
        await full(world)
        world.visitors["reader"].expired.set()
        # Less than the 40 s after which uvicorn gives up a client that answers no ping.
        await asyncio.wait_for(world.closed_stream.wait(), 30)
        socket.connection.transport.abort()


async def full(world: World) -> None:
    """Wait until a flood has stopped for want of a reader.

    A time alone would not do: a process that was held up finds it over before anything else has gone on.
    """
    before, same = 0, 0
    while before < 2 or same < 20:
        await asyncio.sleep(0.005)
        before, same = world.flooded, same + 1 if world.flooded == before else 0


async def test_a_slow_reader_costs_bounded_memory_and_holds_nobody_up(own_url: str, world: World) -> None:
    async with (
        GraphQLSocket.open(own_url, token="all", **NOT_READING) as slow,
        GraphQLSocket.open(own_url, token="reader") as quick,
    ):
        await slow.start("subscription { flood }")
        await full(world)
        flooded = world.flooded
        for _ in range(5):
            assert await quick.execute("{ hello }")
        assert world.flooded == flooded, "results are made although nobody takes them"
        slow.connection.transport.abort()
        await asyncio.wait_for(world.closed_stream.wait(), 60)


async def test_a_sign_in_that_breaks_is_masked(world: World) -> None:
    async def broken(_connection: Any, _token: str | None) -> Visitor | None:
        raise RuntimeError("secret database")

    async with (
        serve(build_app(world, authenticate=broken)) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), init=False) as socket,
    ):
        with capture_logs() as logs:
            await socket.send({"type": "connection_init", "payload": {"Authorization": "Bearer all"}})
            assert await socket.close_code() == 1011
        reason = socket.connection.close_reason or ""
        assert "secret" not in reason
        assert reason.startswith("Internal server error. ")
        assert reason.endswith(f"in the server log under {logs[0]['error_id']}.")


async def test_the_server_stops_with_sockets_open(world: World) -> None:
    server: Served
    async with (
        serve(build_app(world)) as server,
        GraphQLSocket.open(server.ws_url("/graphql"), token="all") as socket,
    ):
        await socket.start("subscription { ticks { number } }")
        await socket.receive()
        server.server.should_exit = True
        assert await socket.close_code() == 1012
    assert world.open_streams == 0
