"""Voices of providers over loopback servers that speak their protocols, faults included."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import httpx2
import pytest

from packline import PackError
from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from runner.failures import FailureCode
from runner.gateway.providers import Provider
from runner.gateway.speech import ELEVENLABS_VOICES, list_voices, other_voice, speak
from tests.support.speech_server import KEY, SpeechServer, speech_server, tone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TEXT = "The lamp was lit at dusk. It burned until morning."


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


def elevenlabs(server: SpeechServer) -> Provider:
    return Provider("elevenlabs", "elevenlabs", server.elevenlabs_url, "elevenlabs")


def openai(server: SpeechServer, name: str = "openai") -> Provider:
    return Provider(name, "openai", server.openai_url, name)


async def test_elevenlabs_speaks_with_a_voice_by_name_or_id(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    for voice in ("rachel", ELEVENLABS_VOICES["rachel"]):
        pcm, rate, use = await speak(elevenlabs(server), KEY, client, voice, TEXT)
        assert (pcm, rate) == (tone(TEXT), 24_000)
        assert (use.model, use.cost_micros) == (f"elevenlabs:{voice}", None)
    assert server.spoken == [(ELEVENLABS_VOICES["rachel"], TEXT)] * 2
    assert b"eleven_multilingual_v2" in server.http.requests[0].body


async def test_a_model_may_stand_before_the_voice(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    await speak(elevenlabs(server), KEY, client, "eleven_flash_v2_5/domi", TEXT)
    assert b"eleven_flash_v2_5" in server.http.requests[0].body
    _, _, use = await speak(openai(server), KEY, client, "tts-1-hd/nova", TEXT)
    assert use.cost_micros == 30 * len(TEXT)
    assert server.spoken[-1] == ("nova", TEXT)


async def test_prices_are_those_of_the_vendor_only(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    _, _, use = await speak(openai(server, "own"), KEY, client, "tts-1/nova", TEXT)
    assert use.cost_micros is None


async def test_sound_as_wav_is_read_one_channel_at_its_own_rate(
    server: SpeechServer, client: httpx2.AsyncClient
) -> None:
    server.faults["alloy"] = "wav"
    pcm, rate, _ = await speak(openai(server), KEY, client, "alloy", TEXT)
    assert rate == 22_050
    assert array("h", pcm) == array("h", tone(TEXT, rate=22_050))


@pytest.mark.parametrize(
    ("fault", "code", "waits"),
    [
        ("401", FailureCode.CREDENTIAL_INVALID, None),
        ("429", FailureCode.RATE_LIMITED, 7.0),
        ("429-bare", FailureCode.RATE_LIMITED, None),
        ("500", FailureCode.UPSTREAM_UNAVAILABLE, None),
        ("quota", FailureCode.QUOTA_EXCEEDED, None),
        ("missing", FailureCode.INVALID_INPUT, None),
        ("short", FailureCode.INVALID_OUTPUT, None),
        ("mp3", FailureCode.INVALID_OUTPUT, None),
        ("json", FailureCode.INVALID_OUTPUT, None),
    ],
)
@pytest.mark.parametrize("kind", ["elevenlabs", "openai"])
async def test_faults_are_blamed_on_the_right_side(
    server: SpeechServer, client: httpx2.AsyncClient, kind: str, fault: str, code: FailureCode, waits: float | None
) -> None:
    provider = elevenlabs(server) if kind == "elevenlabs" else openai(server)
    server.faults["strange"] = fault
    with pytest.raises(PackError) as raised:
        await speak(provider, KEY, client, "strange", TEXT)
    assert raised.value.failure.code is code
    assert raised.value.failure.retry_after_seconds == waits
    assert f"{provider.name}" in raised.value.failure.message
    assert KEY not in str(raised.value.failure.to_json())
    assert len(server.http.requests) == 1  # repeating is somebody else's business


async def test_a_wrong_key_is_refused(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    for provider in (elevenlabs(server), openai(server)):
        with pytest.raises(PackError) as raised:
            await speak(provider, "wrong", client, "rachel", TEXT)
        assert raised.value.failure.code is FailureCode.CREDENTIAL_INVALID


async def test_a_server_that_is_not_there(client: httpx2.AsyncClient) -> None:
    provider = Provider("own", "openai", "http://127.0.0.1:9", "own")
    with pytest.raises(PackError) as raised:
        await speak(provider, None, client, "alloy", TEXT)
    assert raised.value.failure.code is FailureCode.UPSTREAM_UNAVAILABLE
    async with httpx2.AsyncClient(trust_env=False, verify=False) as plain:
        with pytest.raises(PackError) as raised:
            await speak(provider, None, plain, "alloy", TEXT)
    assert raised.value.failure.code is FailureCode.UPSTREAM_UNAVAILABLE


async def test_a_provider_without_voices_is_named(server: SpeechServer, client: httpx2.AsyncClient) -> None:
    provider = Provider("anthropic", "anthropic", server.http.url(), "anthropic")
    with pytest.raises(PackError, match="no voices") as raised:
        await speak(provider, KEY, client, "alloy", TEXT)
    assert raised.value.failure.code is FailureCode.INVALID_INPUT
    assert server.http.requests == []


def test_voices_are_listed_those_of_this_machine_first() -> None:
    names = [voice.name for voice in list_voices()]
    assert names[:2] == ["offline:heart", "offline:heart-low"]
    assert "elevenlabs:rachel" in names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("voice", "chain", "other"),
    [
        ("offline:heart", (), "offline:heart-low"),
        ("offline:heart-low", (), "offline:heart"),
        ("elevenlabs:rachel", (), "elevenlabs:domi"),
        (f"elevenlabs:{ELEVENLABS_VOICES['domi']}", (), "elevenlabs:rachel"),
        ("elevenlabs:rachel", ("elevenlabs:rachel", "elevenlabs:my-own"), "elevenlabs:my-own"),
        ("openai:tts-1-hd/alloy", (), "openai:tts-1-hd/ash"),
        ("own:kokoro/one", (), None),
        ("own:kokoro/one", ("own:kokoro/one", "own:kokoro/two"), "own:kokoro/two"),
    ],
)
def test_a_second_speaker_has_another_voice_of_the_same_provider(
    voice: str, chain: tuple[str, ...], other: str | None
) -> None:
    assert other_voice(voice, chain) == other
