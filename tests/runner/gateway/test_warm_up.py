"""Making the libraries ready ahead, and the way Anthropic's own models answer: as a stream."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel
from structlog.testing import capture_logs

from runner.gateway.providers import KINDS, ProviderKind

if TYPE_CHECKING:
    from runner.gateway.uses import ModelUse
    from tests.support.model_server import ModelServer

PROMPT = "Heat pumps work below freezing. A study of 550 homes found it."


class Note(BaseModel):
    title: str


@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_can_be_warmed_up(kind: ProviderKind) -> None:
    from runner.gateway.warm_up import warm_up

    with capture_logs() as logs:
        await asyncio.to_thread(warm_up.__wrapped__, kind)
    assert logs == []


async def test_a_warm_up_is_no_use_of_a_model(server: ModelServer) -> None:
    uses: list[ModelUse] = []
    await server.models(uses.append, writer=["good"]).text("writer", PROMPT)
    assert [use.model for use in uses] == ["openai:good"]
    assert len(server.asked) == 1


async def test_a_long_answer_arrives_as_a_stream(server: ModelServer) -> None:
    uses: list[ModelUse] = []
    models = server.models(uses.append, writer=["anthropic:claude-sonnet-5"])
    text = await models.text("writer", PROMPT)
    note = await models.structured("writer", Note, PROMPT)
    assert [asked.body.get("stream") for asked in server.asked] == [True, True]
    assert text.text in PROMPT
    assert note.value.title
    assert all(use.input_tokens and use.output_tokens and use.cost_micros for use in uses)
    assert len(uses) == 2
