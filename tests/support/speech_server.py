"""ElevenLabs' text-to-speech and OpenAI's `/audio/speech` and `/images/generations` on loopback.

What it says is a tone as long as the text takes to read, what it draws a plain picture of the size asked for; faults
are scripted by voice or model, so that a client that asks for another one gets an answer.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import io
import json
import math
import struct
import wave
import zlib
from array import array
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.loopback_http import Request

KEY = "test-key-that-is-right"
_JSON = {"content-type": "application/json"}
_RATE = 24_000


def tone(text: str, hertz: float = 220.0, rate: int = _RATE) -> bytes:
    """16-bit samples for a text: a tone for each word (0.2 s), a pause between them, a longer one after sentences."""
    word_sound = _tone(hertz, rate)
    return b"".join(word_sound + bytes(2 * int(rate * (0.3 if word[-1] in ".!?" else 0.05))) for word in text.split())


@functools.lru_cache
def _tone(hertz: float, rate: int) -> bytes:
    count = int(rate * 0.2)
    return array(
        "h",
        (
            int(9000 * math.sin(2 * math.pi * hertz * n / rate) * min(1, n / 200, (count - n) / 200))
            for n in range(count)
        ),
    ).tobytes()


def png(width: int, height: int, grey: int = 128) -> bytes:
    """A plain picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([grey]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@dataclass
class SpeechServer:
    """The running doubles.

    Attributes:
        http: The server; `http.requests` holds everything it was asked.
        faults: By voice id or model name what goes wrong: `401`, `429`, `429-bare`, `500`, `quota`, `policy`,
            `missing`, `short`, `mp3`, `hang`, `json`.
        spoken: (voice, text) in order.
    """

    http: LoopbackHttp
    faults: dict[str, str] = field(default_factory=dict)
    spoken: list[tuple[str, str]] = field(default_factory=list)
    drawn: list[dict[str, object]] = field(default_factory=list)

    @property
    def elevenlabs_url(self) -> str:
        """What `https://api.elevenlabs.io` stands for."""
        return self.http.url("").rstrip("/")

    @property
    def openai_url(self) -> str:
        """What `https://api.openai.com/v1` stands for."""
        return self.http.url("/v1")

    async def elevenlabs(self, request: Request) -> Reply:
        voice = request.path.partition("?")[0].rpartition("/")[2]
        if request.headers.get("xi-api-key") != KEY:
            return _elevenlabs_error(401, "invalid_api_key", "Invalid API key")
        fault = self.faults.get(voice)
        if fault == "quota":
            return _elevenlabs_error(401, "quota_exceeded", "This request exceeds your quota.")
        if fault == "missing":
            return _elevenlabs_error(404, "voice_not_found", f"A voice with the voice_id {voice} was not found.")
        body = json.loads(request.body)
        if "output_format=pcm_24000" not in request.path or not body.get("model_id"):
            return _elevenlabs_error(422, "unprocessable", "output_format and model_id are needed here")
        if fault is not None:
            return await _general_fault(fault)
        self.spoken.append((voice, body["text"]))
        return Reply(tone(body["text"]), headers={"content-type": "audio/pcm"})

    async def speech(self, request: Request) -> Reply:
        body = json.loads(request.body)
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _openai_error(401, "invalid_api_key", "Incorrect API key provided.")
        fault = self.faults.get(body["voice"]) or self.faults.get(body["model"])
        if fault == "quota":
            return _openai_error(429, "insufficient_quota", "You exceeded your current quota.")
        if fault == "missing":
            return _openai_error(404, "model_not_found", f"The model `{body['model']}` does not exist.")
        if fault == "wav":
            made = io.BytesIO()
            with wave.open(made, "wb") as file:
                file.setnchannels(2)
                file.setsampwidth(2)
                file.setframerate(22_050)
                mono = array("h", tone(body["input"], rate=22_050))
                file.writeframes(array("h", [sample for each in mono for sample in (each, -each)]).tobytes())
            return Reply(made.getvalue(), headers={"content-type": "audio/wav"})
        if fault is not None:
            return await _general_fault(fault)
        assert body["response_format"] == "pcm"
        self.spoken.append((body["voice"], body["input"]))
        return Reply(tone(body["input"], 330.0), headers={"content-type": "audio/pcm"})

    async def images(self, request: Request) -> Reply:
        body = json.loads(request.body)
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _openai_error(401, "invalid_api_key", "Incorrect API key provided.")
        fault = self.faults.get(body["model"])
        if body["model"].startswith("gpt-image") and "response_format" in body:
            return _openai_error(400, "unknown_parameter", "Unknown parameter: 'response_format'.")
        if fault == "policy":
            return _openai_error(400, "content_policy_violation", "Your request was rejected by the safety system.")
        if fault == "missing":
            return _openai_error(404, "model_not_found", f"The model `{body['model']}` does not exist.")
        if fault in ("empty", "text"):
            data = [] if fault == "empty" else [{"b64_json": base64.b64encode(b"not a picture").decode()}]
            return Reply(json.dumps({"data": data}).encode(), headers=_JSON)
        if fault == "url":
            return Reply(json.dumps({"data": [{"url": self.http.url("/made.png")}]}).encode(), headers=_JSON)
        if fault is not None:
            return await _general_fault(fault)
        self.drawn.append(body)
        width, height = (int(side) for side in body["size"].split("x"))
        made = {"data": [{"b64_json": base64.b64encode(png(width, height)).decode()}]}
        usage = {"input_tokens": 12, "output_tokens": 1056, "total_tokens": 1068}
        return Reply(json.dumps({**made, "usage": usage}).encode(), headers=_JSON)


@asynccontextmanager
async def speech_server() -> AsyncIterator[SpeechServer]:
    """Serves while the block runs."""
    async with loopback_http({}) as http:
        server = SpeechServer(http)
        http.routes.update(
            {
                "/v1/audio/speech": lambda request, _: server.speech(request),
                "/v1/images/generations": lambda request, _: server.images(request),
                "/made.png": Reply(png(64, 48), headers={"content-type": "image/png"}),
            }
        )
        http.routes = _Voices(http.routes, server)
        yield server


class _Voices(dict):  # type: ignore[type-arg]
    """Routes by path; every path below ElevenLabs' text-to-speech is a voice."""

    def __init__(self, routes: dict[str, object], server: SpeechServer) -> None:
        super().__init__(routes)
        self._server = server

    def get(self, path: str, default: object = None) -> object:
        if path.startswith("/v1/text-to-speech/"):
            return lambda request, _: self._server.elevenlabs(request)
        return super().get(path, default)


async def _general_fault(fault: str) -> Reply:
    match fault:
        case "401":
            return Reply(b"{}", 401, _JSON)
        case "429":
            return Reply(b"{}", 429, {**_JSON, "retry-after": "7"})
        case "429-bare":
            return Reply(b"{}", 429, _JSON)
        case "500":
            return Reply(b"broken", 500)
        case "short":
            return Reply(tone("cut"), headers={"content-type": "audio/pcm"})
        case "mp3":
            return Reply(b"ID3" + bytes(50_000), headers={"content-type": "audio/mpeg"})
        case "json":
            return Reply(b'{"audio": null}', headers=_JSON)
        case "hang":
            await asyncio.Event().wait()
    raise AssertionError(f"no such fault: {fault}")


def _elevenlabs_error(status: int, word: str, message: str) -> Reply:
    return Reply(json.dumps({"detail": {"status": word, "message": message}}).encode(), status, _JSON)


def _openai_error(status: int, code: str, message: str) -> Reply:
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
    return Reply(json.dumps(body).encode(), status, _JSON)
