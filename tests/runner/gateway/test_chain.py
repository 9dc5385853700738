"""Roles, the order models are asked in, and what is said when none answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from packline import PackError
from runner.egress.client import Egress
from runner.gateway.gateway import Gateway
from runner.gateway.keys import KeyChain, StaticKeys
from runner.gateway.providers import BUILTIN_PROVIDERS, ModelRef

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.model_server import ModelServer

PROMPT = "Heat pumps work below freezing. A study of 550 homes found it."


def gateway(keys: Mapping[str, str], **roles: str) -> Gateway:
    chains = {role: [ModelRef.parse(text) for text in chain.split(",")] for role, chain in roles.items()}
    return Gateway(BUILTIN_PROVIDERS, chains, StaticKeys(keys), Egress())


@pytest.mark.parametrize("first", ["limited", "down", "slow", "dropped", "garbled", "refused", "unknown", "unpaid"])
async def test_the_next_model_answers_for_one_that_cannot(server: ModelServer, first: str) -> None:
    warnings: list[str] = []
    server.late_seconds = 20
    models = server.models(warn=warnings.append, call_seconds=20, writer=[first, "good"])
    answer = await models.text("writer", PROMPT)
    assert answer.model == "openai:good"
    assert [asked.model for asked in server.asked] == [first, "good"]
    assert len(warnings) == (first in ("refused", "unknown", "unpaid")), warnings


@pytest.mark.parametrize("first", ["cut", "filtered", "empty"])
async def test_an_answer_of_no_use_is_final(server: ModelServer, first: str) -> None:
    with pytest.raises(PackError):
        await server.models(writer=[first, "good"]).text("writer", PROMPT)
    assert [asked.model for asked in server.asked] == [first]


@pytest.mark.parametrize(
    ("chain", "code", "wait"),
    [
        (["refused", "limited"], "rate_limited", 7.0),
        (["limited", "refused"], "rate_limited", 7.0),
        (["limited", "down"], "upstream_unavailable", None),
        (["limited", "flaky"], "rate_limited", 0.0),
        (["refused", "unknown"], "invalid_input", None),
    ],
)
async def test_the_most_useful_reason_is_given(
    server: ModelServer, chain: list[str], code: str, wait: float | None
) -> None:
    with pytest.raises(PackError) as caught:
        await server.models(writer=chain).text("writer", PROMPT)
    failure = caught.value.failure
    assert (failure.code, failure.retry_after_seconds) == (code, wait)
    assert all(model in failure.message for model in chain), failure.message


async def test_a_model_may_be_asked_for_by_name(server: ModelServer) -> None:
    models = server.models(writer=["good"])
    assert (await models.text("writer", PROMPT, model="own:special")).model == "own:special"
    assert (await models.text("writer", PROMPT, model="own:down")).model == "openai:good"
    for wrong in ("nobody:x", "x"):
        with pytest.raises(PackError) as caught:
            await models.text("writer", PROMPT, model=wrong)
        assert caught.value.failure.code == "invalid_input"


async def test_roles_fall_back_to_the_writer_but_those_it_cannot_play(server: ModelServer) -> None:
    models = server.models(writer=["good"])
    assert (await models.text("router", PROMPT)).model == "openai:good"
    assert models.missing("critic") is None
    for role in ("vision", "image"):
        missing = models.missing(role)
        assert missing is not None
        assert f"PACKLINE_MODEL_{role.upper()}" in missing.hint
    with pytest.raises(PackError) as caught:
        await models.text("vision", PROMPT)
    assert caught.value.failure.code == "not_found"


async def test_a_key_is_looked_for_at_each_call() -> None:
    held: dict[str, str] = {}
    keys = StaticKeys({})
    keys._keys = held
    it = Gateway(BUILTIN_PROVIDERS, {"writer": [ModelRef.parse("openai:gpt-5-mini")]}, KeyChain([keys]), Egress())
    missing = it.missing("writer")
    assert missing is not None
    assert "OPENAI_API_KEY" in missing.hint
    with pytest.raises(PackError) as caught:
        await it.attempt().text("writer", PROMPT)
    assert caught.value.failure.code == "credential_invalid"
    assert caught.value.failure.detail == {"credential": "openai"}
    held["openai"] = "sk-something"
    assert it.missing("writer") is None


def test_a_chain_is_usable_when_one_of_it_is() -> None:
    assert (
        gateway({"anthropic": "key-of-anthropic"}, writer="openai:gpt-5-mini,anthropic:claude").missing("writer")
        is None
    )
    assert gateway({}, writer="ollama:llama3").missing("writer") is None
    assert gateway({}, writer="openai:gpt-5-mini").missing("writer") is not None


def test_keys_come_from_the_first_source_that_has_them() -> None:
    keys = KeyChain([StaticKeys({"a": "first"}), StaticKeys({"a": "second", "b": "third"})])
    assert [keys.find(name) for name in "abc"] == [{"api_key": "first"}, {"api_key": "third"}, None]
    assert [keys.has(name) for name in "abc"] == [True, True, False]


async def test_many_calls_at_once_import_once_and_all_are_answered(server: ModelServer) -> None:
    models = server.models(writer=["good"])
    answers = await asyncio.gather(*(models.text("writer", f"{PROMPT} Number {n}.") for n in range(20)))
    assert len({answer.text for answer in answers} & {PROMPT}) <= 1
    assert len(server.asked) == 20


async def test_a_redirect_does_not_carry_the_key_away(server: ModelServer) -> None:
    from tests.support.loopback_http import Reply

    server.http.routes["/v1/messages"] = Reply(b"", 307, {"location": server.http.url("/elsewhere")})
    with pytest.raises(PackError):
        await server.models(writer=["anthropic:good"]).text("writer", PROMPT)
    assert [request.path for request in server.http.requests] == ["/v1/messages"]
