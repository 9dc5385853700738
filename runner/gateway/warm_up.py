"""Warms up the libraries that call text models: imports them and triggers what they build at first use.

Importing takes 1 to 3 s of CPU, and the first answer of each protocol another 0.2 to 0.5 s: price list, TLS context,
pydantic's schemas of requests and answers. All of it would block the event loop, so a thread sends one request of each
form to a mock server in memory.
"""

from __future__ import annotations

import asyncio
import functools
import json
from typing import TYPE_CHECKING, Any, assert_never

import httpx2
import structlog
from pydantic import BaseModel

from runner.egress.transport import tls_context
from runner.failures import PackError
from runner.gateway import text_models
from runner.gateway.providers import DEFAULT_URLS, ModelRef, Provider

if TYPE_CHECKING:
    from runner.gateway.providers import ProviderKind

log = structlog.get_logger(__name__)
_MODEL = "warm-up"
_SECONDS = 30.0


class _Form(BaseModel):
    word: str


@functools.cache
def warm_up(kind: ProviderKind) -> None:
    """Make the first request to a provider of this kind as fast as later ones; to be called in a thread."""
    if kind == "elevenlabs":
        return  # it has voices only
    tls_context()
    try:
        asyncio.run(_ask_once(kind))
    except PackError as error:  # another release of a library: only the first request takes longer
        log.warning("models of a kind could not be warmed up", kind=kind, error=error.failure.message)


async def _ignore(_: object = None) -> None:
    pass


async def _ask_once(kind: ProviderKind) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=_answer(kind, json.loads(request.content)))

    provider = Provider(_MODEL, kind, DEFAULT_URLS[kind], _MODEL)
    request = text_models.ModelRequest("?", instructions="?")
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        connection = text_models.ModelConnection(
            provider, _MODEL, ModelRef(_MODEL, _MODEL), client, _SECONDS, _ignore, _ignore
        )
        await text_models.ask_text(connection, request)
        await text_models.ask_structured(connection, request, _Form)


def _answer(kind: ProviderKind, body: dict[str, Any]) -> dict[str, Any]:
    """Return the shortest answer of a protocol: a tool call if a tool is offered, else a text that fits `_Form`."""
    form = {"word": "."}
    match kind:
        case "openai" | "ollama":
            message = {"role": "assistant", "content": json.dumps(form)}
            return {
                "id": _MODEL,
                "object": "chat.completion",
                "created": 0,
                "model": _MODEL,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        case "anthropic":
            is_tool = bool(body.get("tools"))
            called = {"type": "tool_use", "id": _MODEL, "name": "answer", "input": form}
            return {
                "id": _MODEL,
                "type": "message",
                "role": "assistant",
                "model": _MODEL,
                "content": [called if is_tool else {"type": "text", "text": "."}],
                "stop_reason": "tool_use" if is_tool else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        case "google":
            part = {"functionCall": {"name": "answer", "args": form}} if body.get("tools") else {"text": "."}
            return {
                "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            }
        case "elevenlabs":
            return {}
        case _:
            assert_never(kind)
