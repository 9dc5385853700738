"""Voices of providers: ElevenLabs, and any server that implements OpenAI's `/audio/speech`.

A request is never retried here: the gateway falls back to the next voice, the runner retries the step.
"""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from runner.failures import FailureCode, PackError
from runner.gateway.offline_voice import ESPEAK, offline_voices
from runner.gateway.provider_requests import post_json
from runner.gateway.providers import OFFLINE, Provider
from runner.gateway.uses import ModelUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx2

ELEVENLABS_MODEL = "eleven_multilingual_v2"
OPENAI_SPEECH_MODEL = "gpt-4o-mini-tts"
SAMPLE_RATE = 24_000
#: Ids of the voices that every ElevenLabs account has, by name. The first two are the default speakers.
ELEVENLABS_VOICES = {
    "rachel": "21m00Tcm4TlvDq8ikWAM",
    "domi": "AZnzlk1XvdvUeBnXmlld",
    "bella": "EXAVITQu4vr4xnSDxMaL",
    "antoni": "ErXwobaYiN019PkySvjV",
    "josh": "TxGEqnHWrfWFTfGW9XjX",
    "adam": "pNInz6obpgDQGcFmaJgB",
}
OPENAI_VOICES = ("alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer")
#: Millionths of a US dollar per million characters (OpenAI's price list); other models are not priced by characters.
_MICROS_PER_MILLION_CHARACTERS = {"tts-1": 15_000_000, "tts-1-hd": 30_000_000}
_SECONDS = 180.0
#: Faster than anybody speaks: sound that is shorter than its letters at this rate was cut off.
_LETTERS_PER_SECOND = 40
#: Beginnings that raw sound never has: MP3 with and without a tag, Ogg, JSON.
_NOT_RAW = (b"ID3", b"\xff\xfb", b"\xff\xf3", b"OggS", b'{"')


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice of the list.

    Attributes:
        name: `provider:name`.
        label: Display name.
        language: BCP 47 tag, or `mul` for one of many languages.
    """

    name: str
    label: str
    language: str


def list_voices() -> list[Voice]:
    """List this machine's available voices, then the stock voices of the known providers.

    Providers without a key are listed, too. Other voices of an account can be used by id.
    """
    labels = {"heart": "Heart (offline)", "heart-low": "Heart, lower (offline)", ESPEAK: "eSpeak NG (offline, robotic)"}
    voices = [Voice(f"{OFFLINE}:{name}", labels[name], "en-US") for name in offline_voices()]
    voices += [Voice(f"elevenlabs:{name}", name.capitalize(), "mul") for name in ELEVENLABS_VOICES]
    voices += [Voice(f"openai:{name}", name.capitalize(), "mul") for name in OPENAI_VOICES]
    return voices


def other_voice(voice: str, chain: Sequence[str]) -> str | None:
    """Return another voice of the same provider, for a second speaker; None when none is known.

    Args:
        voice: The first speaker's, `provider:name`.
        chain: The voices of the role, `provider:name`; they come before stock voices.
    """
    model = voice.rpartition("/")[0]  # so that the second speaker has the same quality
    stock = (each.name for each in list_voices())
    of_model = (f"{model}/{each.partition(':')[2]}" if model else each for each in stock if _same(each, voice))
    others = [*(each for each in chain if _same(each, voice)), *of_model]
    return next((each for each in others if _voice_id(each) != _voice_id(voice)), None)


def _same(one: str, other: str) -> bool:
    return one.partition(":")[0] == other.partition(":")[0]


def _voice_id(voice: str) -> str:
    name = voice.partition(":")[2].rpartition("/")[2]
    return ELEVENLABS_VOICES.get(name.lower(), name)


async def speak(
    provider: Provider, key: str | None, client: httpx2.AsyncClient, voice: str, text: str
) -> tuple[bytes, int, ModelUse]:
    """Speak a text at a provider.

    Args:
        provider: Of kind `elevenlabs`, or with OpenAI's protocol.
        key: Its key, if it needs one.
        client: The HTTP client.
        voice: The voice, without the provider. ElevenLabs: a voice id or one of `ELEVENLABS_VOICES`, optionally after a
            model and a slash; OpenAI: a voice, optionally after a model and a slash, such as `tts-1-hd/nova`.
        text: Plain text, at most 5,000 characters.

    Returns:
        Signed 16-bit samples of one channel, the sample rate, and the usage.

    Raises:
        PackError: with the code for the provider's answer; `invalid_output` for an answer that is not sound, or much
            too short for the text; `invalid_input` for a provider without voices.
    """
    if provider.kind == "elevenlabs":
        return await _elevenlabs(provider, key, client, voice, text)
    if provider.kind in ("openai", "ollama"):
        return await _openai(provider, key, client, voice, text)
    raise PackError(
        FailureCode.INVALID_INPUT,
        f"The provider `{provider.name}` ({provider.kind}) has no voices, so `{provider.name}:{voice}` cannot speak.",
        field="voice",
        hint="Use a voice of ElevenLabs, of a server that speaks OpenAI's protocol, or `offline:heart`.",
    )


async def _elevenlabs(
    provider: Provider, key: str | None, client: httpx2.AsyncClient, voice: str, text: str
) -> tuple[bytes, int, ModelUse]:
    model, _, name = voice.rpartition("/")
    voice_id = ELEVENLABS_VOICES.get(name.lower(), name)
    content = await post_json(
        client,
        f"{provider.base_url.rstrip('/')}/v1/text-to-speech/{quote(voice_id, safe='')}",
        {"text": text, "model_id": model or ELEVENLABS_MODEL},
        query={"output_format": f"pcm_{SAMPLE_RATE}"},
        headers={"xi-api-key": key} if key else {},
        provider=provider.name,
        asked_for=f"{provider.name}:{voice}",
        seconds=_SECONDS,
    )
    return _checked(content, SAMPLE_RATE, text, provider, voice), SAMPLE_RATE, ModelUse(f"{provider.name}:{voice}")


async def _openai(
    provider: Provider, key: str | None, client: httpx2.AsyncClient, voice: str, text: str
) -> tuple[bytes, int, ModelUse]:
    model, _, name = voice.rpartition("/")
    model = model or OPENAI_SPEECH_MODEL
    content = await post_json(
        client,
        f"{provider.base_url.rstrip('/')}/audio/speech",
        {"model": model, "voice": name, "input": text, "response_format": "pcm"},
        headers={"authorization": f"Bearer {key}"} if key else {},
        provider=provider.name,
        asked_for=f"{provider.name}:{voice}",
        seconds=_SECONDS,
    )
    rate = SAMPLE_RATE
    if content.startswith(b"RIFF"):  # self-hosted servers often support only WAV
        content, rate = _read_wave(content, provider.name)
    price = _MICROS_PER_MILLION_CHARACTERS.get(model) if provider.name == "openai" else None
    cost = None if price is None else round(len(text) * price / 1_000_000)
    return _checked(content, rate, text, provider, voice), rate, ModelUse(f"{provider.name}:{voice}", cost_micros=cost)


def _read_wave(content: bytes, provider: str) -> tuple[bytes, int]:
    """Read the first channel of a WAV file; the length in the header is ignored, as a streaming server guesses it."""
    start = content.find(b"data", 12)
    try:
        with wave.open(io.BytesIO(content[: start + 4] + bytes(4))) as header:
            rate, channels, width = header.getframerate(), header.getnchannels(), header.getsampwidth()
    except (wave.Error, EOFError) as error:
        raise PackError(
            FailureCode.INVALID_OUTPUT, f"`{provider}` sent a WAV file that cannot be read: {error}."
        ) from error
    if width != 2:
        raise PackError(FailureCode.INVALID_OUTPUT, f"`{provider}` sent sound of {8 * width} bits; 16 are needed.")
    body = content[start + 8 :]
    samples = memoryview(body[: len(body) - len(body) % (2 * channels)]).cast("h")
    return samples[::channels].tobytes(), rate


def _checked(content: bytes, rate: int, text: str, provider: Provider, voice: str) -> bytes:
    """Check that the samples are raw sound and not cut off, that is, not shorter than anybody can speak."""
    name = f"{provider.name}:{voice}"
    if content.startswith(_NOT_RAW):
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The voice `{name}` did not answer with raw sound.",
            hint="Check the provider's address; its server may support neither `pcm` nor `wav`.",
        )
    pcm = content[: len(content) // 2 * 2]
    seconds = len(pcm) / 2 / rate
    letters = sum(character.isalnum() for character in text)
    if seconds < letters / _LETTERS_PER_SECOND:
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The voice `{name}` sent {seconds:.1f} s of sound for {letters} letters: it was cut off.",
            hint="Try again, or use another voice.",
        )
    return pcm
