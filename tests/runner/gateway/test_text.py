"""Text from models: what is sent, what comes back, and what is told about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packline import Picture
from tests.support.model_server import KEY

if TYPE_CHECKING:
    from runner.gateway.uses import ModelUse
    from tests.support.model_server import ModelServer

PROMPT = "Heat pumps work below freezing. A study of 550 homes found it. Prices fell by 18 per cent."
PROVIDERS = ("openai", "anthropic", "google", "ollama", "own")


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


async def test_a_known_model_has_a_price(server: ModelServer) -> None:
    uses: list[ModelUse] = []
    await server.models(uses.append, writer=["openai:gpt-4o-mini"]).text("writer", PROMPT)
    [use] = uses
    assert use.input_tokens
    assert use.output_tokens
    # 0.15 and 0.60 US dollars for a million tokens, by the list of the installed genai-prices.
    assert use.cost_micros == round(use.input_tokens * 0.15 + use.output_tokens * 0.6)


async def test_a_provider_of_ones_own_has_no_price(server: ModelServer) -> None:
    uses: list[ModelUse] = []
    await server.models(uses.append, writer=["own:gpt-4o-mini"]).text("writer", PROMPT)
    assert uses[0].cost_micros is None


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_tokens_nobody_told_are_unknown(server: ModelServer, provider: str) -> None:
    uses: list[ModelUse] = []
    await server.models(uses.append, writer=[f"{provider}:uncounted"]).text("writer", PROMPT)
    [use] = uses
    assert (use.input_tokens, use.output_tokens, use.cost_micros) == (None, None, None)


async def test_the_environment_says_nothing(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    for provider in PROVIDERS:
        await server.models(writer=[f"{provider}:good"]).text("writer", PROMPT)
    assert len(server.http.requests) == len(PROVIDERS)
    assert not [
        name for request in server.http.requests for name, value in request.headers.items() if "from-the" in value
    ]
