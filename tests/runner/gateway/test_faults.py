"""Every way a provider fails, and what becomes of it: by status and type, never by text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, Field

from packline import PackError
from tests.support.model_server import FAULTS

if TYPE_CHECKING:
    from runner.gateway.uses import ModelUse
    from tests.support.model_server import ModelServer

PROMPT = "Heat pumps work below freezing. A study of 550 homes found it. Prices fell by 18 per cent."

#: Fault to code, seconds to wait, and how many answers were paid for.
TEXT = {
    "limited": ("rate_limited", 7.0, 0),
    "limited-plain": ("rate_limited", None, 0),
    "flaky": ("rate_limited", 0.0, 0),
    "down": ("upstream_unavailable", None, 0),
    "overloaded": ("upstream_unavailable", None, 0),
    "slow": ("timeout", None, 0),
    "dropped": ("upstream_unavailable", None, 0),
    "garbled": ("upstream_unavailable", None, 0),
    "cut": ("invalid_output", None, 1),
    "filtered": ("policy_denied", None, 1),
    "empty": ("invalid_output", None, 1),
    "unknown": ("invalid_input", None, 0),
    "refused": ("credential_invalid", None, 0),
    "forbidden": ("credential_invalid", None, 0),
    "bad-request": ("invalid_input", None, 0),
    "unpaid": ("quota_exceeded", None, 0),
}
STRUCTURED = {
    "misfit": ("invalid_output", None, 2),
    "cut": ("invalid_output", None, 1),
    "limited": ("rate_limited", 7.0, 0),
}
PROVIDERS = ("openai", "anthropic", "google", "own")


class Claim(BaseModel):
    text: str = Field(max_length=200)
    query: str


class Claims(BaseModel):
    claims: list[Claim] = Field(min_length=1, max_length=5)
    confident: bool
    rank: int = Field(ge=1, le=10)
    note: str | None = None


async def failing(server: ModelServer, model: str, uses: list[ModelUse], *, structured: bool = False) -> PackError:
    server.late_seconds = 20
    models = server.models(uses.append, call_seconds=20, writer=[model])
    call = models.structured("writer", Claims, PROMPT) if structured else models.text("writer", PROMPT)
    with pytest.raises(PackError) as caught:
        await call
    return caught.value


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", TEXT)
async def test_a_fault_has_its_code(server: ModelServer, provider: str, fault: str) -> None:
    uses: list[ModelUse] = []
    failure = (await failing(server, f"{provider}:{fault}", uses)).failure
    code, wait, paid = TEXT[fault]
    assert (failure.code, failure.retry_after_seconds, len(uses)) == (code, wait, paid), failure
    assert fault in failure.message
    assert failure.hint
    if code == "credential_invalid":
        assert isinstance(failure.detail, dict)
        assert failure.detail["credential"] == provider
    assert len(server.http.requests) == 1, "nobody but the runner repeats"


async def test_a_used_up_account_is_not_a_passing_limit(server: ModelServer) -> None:
    failure = (await failing(server, "openai:over-quota", [])).failure
    assert failure.code == "quota_exceeded"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", STRUCTURED)
async def test_a_structured_fault_has_its_code(server: ModelServer, provider: str, fault: str) -> None:
    uses: list[ModelUse] = []
    failure = (await failing(server, f"{provider}:{fault}", uses, structured=True)).failure
    code, wait, paid = STRUCTURED[fault]
    assert (failure.code, failure.retry_after_seconds, len(uses)) == (code, wait, paid), failure
    assert len(server.http.requests) == max(paid, 1)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_structured_answer_fits(server: ModelServer, provider: str) -> None:
    answer = await server.models(writer=[f"{provider}:good"]).structured("writer", Claims, PROMPT)
    assert isinstance(answer.value, Claims)
    assert all(claim.text in PROMPT for claim in answer.value.claims)
    assert len(server.asked) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", ["misfit-once", "broken-once"])
async def test_what_does_not_fit_is_sent_back_once(server: ModelServer, provider: str, fault: str) -> None:
    uses: list[ModelUse] = []
    answer = await server.models(uses.append, writer=[f"{provider}:{fault}"]).structured("writer", Claims, PROMPT)
    assert isinstance(answer.value, Claims)
    assert len(server.asked) == len(uses) == 2


def test_every_fault_of_the_double_is_covered() -> None:
    assert set(FAULTS) == {*TEXT, *STRUCTURED, "misfit-once", "broken-once", "over-quota", "uncounted"}
