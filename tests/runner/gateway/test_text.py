"""Text from models: what is sent, what comes back, and what is told about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packline import Picture
from tests.support.model_server import KEY, ModelServer, model_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runner.gateway.uses import ModelUse

PROMPT = "Heat pumps work below freezing. A study of 550 homes found it. Prices fell by 18 per cent."
PROVIDERS = ("openai", "anthropic", "google", "ollama", "own")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_each_kind_of_provider_writes(server: ModelServer, provider: str) -> None:
    uses: list[ModelUse] = []
    models = server.models(uses.append, writer=[f"{provider}:good"])
    answer = await models.text("writer", PROMPT, instructions="Be short.", max_tokens=500, temperature=0.3)
    [asked] = server.asked
    assert answer.text
    assert answer.text in PROMPT or all(part in PROMPT for part in answer.text.split(". "))
    assert answer.model == f"{provider}:good"
    assert (asked.instructions, asked.prompt) == ("Be short.", PROMPT)
    assert (asked.max_tokens, asked.temperature) == (500, 0.3)
    assert asked.key == (KEY if provider in ("openai", "anthropic", "google") else "none")
    [use] = uses
    assert (use.role, use.model, use.cost_micros) == ("writer", f"{provider}:good", None)
    assert use.input_tokens
    assert use.output_tokens
    assert use.elapsed_seconds > 0


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_pictures_are_shown(server: ModelServer, provider: str) -> None:
    models = server.models(vision=[f"{provider}:good"])
    await models.text("vision", "What is this?", pictures=[Picture(b"\x89PNG\r\n\x1a\n", "image/png")])
    assert server.asked[0].pictures == 1
