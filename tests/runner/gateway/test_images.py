"""Pictures over a loopback server that speaks OpenAI's protocol, faults included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packline import PackError
from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from runner.failures import FailureCode
from runner.gateway.images import make_image, media_type_of, nearest_size
from runner.gateway.providers import Provider
from tests.support.speech_server import KEY, SpeechServer, png, speech_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2


@pytest.fixture
async def server() -> AsyncIterator[SpeechServer]:
    async with speech_server() as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    egress = Egress(EgressPolicy.parse("127.0.0.0/8"))
    async with egress.client() as made:
        yield made
    await egress.aclose()


def provider(server: SpeechServer) -> Provider:
    return Provider("openai", "openai", server.openai_url, "openai")


async def test_a_picture_with_its_size_tokens_and_price(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    content, media_type, use = await make_image(provider(server), KEY, client, "gpt-image-1", "A lamp", 1600, 900)
    assert content == png(1536, 1024)
    assert media_type == "image/png"
    assert (use.model, use.input_tokens, use.output_tokens) == ("openai:gpt-image-1", 12, 1056)
    assert use.cost_micros is not None
    assert 20_000 < use.cost_micros < 100_000  # about four cents
    assert server.drawn[0]["prompt"] == "A lamp"


async def test_other_models_are_asked_for_the_size_itself(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    content, _, use = await make_image(provider(server), KEY, client, "own-model", "A lamp", 320, 200)
    assert content == png(320, 200)
    assert server.drawn[0]["response_format"] == "b64_json"
    assert use.cost_micros is None


async def test_a_picture_at_an_address_is_fetched(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    server.faults["own-model"] = "url"
    content, media_type, _ = await make_image(provider(server), KEY, client, "own-model", "A lamp", 64, 48)
    assert (content, media_type) == (png(64, 48), "image/png")
    fetched = server.http.requests[-1]
    assert fetched.path == "/made.png"
    assert "authorization" not in fetched.headers  # the key is for the provider alone


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("401", FailureCode.CREDENTIAL_INVALID),
        ("429", FailureCode.RATE_LIMITED),
        ("500", FailureCode.UPSTREAM_UNAVAILABLE),
        ("policy", FailureCode.POLICY_DENIED),
        ("missing", FailureCode.INVALID_INPUT),
        ("empty", FailureCode.INVALID_OUTPUT),
        ("text", FailureCode.INVALID_OUTPUT),
        ("json", FailureCode.INVALID_OUTPUT),
    ],
)
async def test_faults(server: SpeechServer, client: httpx2.AsyncClient, fault: str, code: FailureCode) -> None:
    server.faults["own-model"] = fault
    with pytest.raises(PackError) as raised:
        await make_image(provider(server), KEY, client, "own-model", "A lamp", 64, 48)
    assert raised.value.failure.code is code


async def test_a_provider_that_draws_none(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    other = Provider("anthropic", "anthropic", server.http.url(), "anthropic")
    with pytest.raises(PackError, match="no pictures") as raised:
        await make_image(other, KEY, client, "any", "A lamp", 64, 48)
    assert raised.value.failure.code is FailureCode.INVALID_INPUT


@pytest.mark.parametrize(
    ("model", "asked", "drawn"),
    [
        ("gpt-image-1", (1600, 900), (1536, 1024)),
        ("gpt-image-1", (900, 1600), (1024, 1536)),
        ("gpt-image-1-mini", (500, 480), (1024, 1024)),
        ("dall-e-3", (1920, 1080), (1792, 1024)),
        ("dall-e-2", (300, 300), (256, 256)),
        ("own", (123, 456), (123, 456)),
    ],
)
def test_the_nearest_shape_is_asked_for(model: str, asked: tuple[int, int], drawn: tuple[int, int]) -> None:
    assert nearest_size(model, *asked) == drawn


def test_formats_are_told_by_their_first_bytes() -> None:
    assert media_type_of(png(1, 1)) == "image/png"
    assert media_type_of(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert media_type_of(b"RIFF\0\0\0\0WEBPVP8 ") == "image/webp"
    assert media_type_of(b"<svg>") is None
