"""Presets with the real programs from npm: their flags, the prompt on standard input, the sandbox, what they print."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents.profiles import PRESETS
from tests.schema.runs.test_agent_steps import ATTEMPT, CREATE
from tests.support.agent_models import AgentModel, Call, agent_model
from tests.support.front_door import RUN, start
from tests.support.mcp_clients import claude_code, opencode, program
from tests.support.product import product
from tests.support.sandbox import NEEDS_SANDBOX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.support.product import Product

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200), NEEDS_SANDBOX]


@dataclass(frozen=True)
class Case:
    """One preset.

    Attributes:
        program: Where the program is.
        variables: What leads it to a model server.
        write: Its tool that writes a file, and how its arguments are called.
        model: A model the server knows.
        arguments: What leads it there besides.
        agent: What a step has to allow it.
    """

    preset: str
    program: Callable[[], str]
    variables: Callable[[AgentModel], dict[str, str]]
    write: Call
    model: str
    arguments: Callable[[AgentModel], list[str]] = lambda _: []
    agent: dict[str, Any] = field(default_factory=dict)


CLAUDE = Case(
    "claude-edit",
    claude_code,
    lambda model: {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "sk-loopback",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ENABLE_TOOL_SEARCH": "false",
    },
    Call("Write", {"file_path": "/workspace/notes.md", "content": "# Notes\n"}),
    "test-model",
)
GEMINI = Case(
    "gemini-edit",
    lambda: program("gemini"),
    lambda model: {
        "GEMINI_API_KEY": "loopback",
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    },
    Call("write_file", {"file_path": "/workspace/notes.md", "content": "# Notes\n"}),
    "gemini-test",
)

CODEX = Case(
    "codex-edit",
    lambda: program("codex"),
    lambda model: {"LOOPBACK_KEY": "loopback-key"},
    Call("exec_command", {"cmd": "printf '# Notes\\n' > notes.md", "login": False}),
    "test-model",
    lambda model: [
        *("-c", 'model_provider="loopback"', "-c"),
        f'model_providers.loopback={{name="l",base_url="{model.url}/v1",env_key="LOOPBACK_KEY",wire_api="responses"}}',
    ],
    {"commands": {"rules": [{"program": "bash", "allow": True}, {"program": "sh", "allow": True}]}},
)
OPENCODE = Case(
    "opencode",
    opencode,
    lambda model: {
        "OPENCODE_CONFIG_CONTENT": json.dumps(
            {
                "autoupdate": False,
                "share": "disabled",
                "provider": {
                    "loopback": {
                        "npm": "@ai-sdk/openai-compatible",
                        "options": {"baseURL": f"{model.url}/v1", "apiKey": "loopback"},
                        "models": {"test-model": {}},
                    }
                },
            }
        )
    },
    Call("write", {"filePath": "/workspace/notes.md", "content": "# Notes\n"}),
    "loopback/test-model",
)


async def ended(it: Product, run_id: str) -> dict[str, Any]:
    """The run once it has; a program may say nothing for longer than a client waits for one answer."""
    for _ in range(12):
        document = f"query ($id: ID!) {{ waitRun(id: $id, waitSeconds: 10) {{ run {{ {RUN} }} }} }}"
        run: dict[str, Any] = (await it.query(document, {"id": run_id}))["waitRun"]["run"]
        if run["endedAt"] is not None:
            break
    assert run["state"] == "SUCCEEDED", run["failure"]
    return run


@pytest.mark.parametrize("case", [CLAUDE, GEMINI, CODEX, OPENCODE], ids=lambda case: case.preset)
async def test_a_preset_works_with_the_real_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    name = case.preset.partition("-")[0]
    (programs / name).symlink_to(case.program())
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    async def script(results: Sequence[Any]) -> Call | str:
        return "The notes are written." if results else case.write

    async with agent_model(script, mark=case.write.tool) as model:
        given = tmp_path / "gemini.json"
        given.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
        variables = {**case.variables(model), "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(given)}
        profile = {"preset": case.preset, "variables": variables, "model": case.model, "read": [str(given)]}
        if arguments := case.arguments(model):
            profile["command"] = [*PRESETS[case.preset].command, *arguments]
        async with product(tmp_path, agents={"real": profile}) as it:
            agent = {"use": "real", "prompt": "Write the notes.", "outputs": ["notes.md"], **case.agent}
            steps = [{"id": "draft", "agent": agent, "timeout_seconds": 120}]
            created = await it.query(CREATE, {"document": {"name": "Ask", "key": "ask", "steps": steps}})
            assert created["createPipeline"]["__typename"] == "PipelineSuccess", created
            started = await start(it, "ask")
            run = await ended(it, started["run"]["id"])
            attempt = (await it.query(ATTEMPT, {"id": started["run"]["id"]}))["run"]["steps"][0]["attempts"][0]

    output = run["steps"][0]["output"]["json"]
    assert output["text"] == "The notes are written."
    assert [artifact["name"] for artifact in run["steps"][0]["artifacts"]] == ["notes.md"]
    assert attempt["isolation"] == "SANDBOX"
    assert attempt["models"] == [f"real:{case.model}"]
    assert attempt["cost"]["usage"]["input"] > 0
    assert attempt["cost"]["usage"]["output"] > 0
    kinds = [entry["kind"] for entry in attempt["transcript"]["nodes"]]
    assert kinds[0] == "PROMPT"
    wanted = ["TOOL_CALL", "TOOL_RESULT", "MESSAGE", "USAGE"]
    told = [kind for kind, _ in groupby(kind for kind in kinds if kind in wanted)]
    if case is OPENCODE:  # tells what each of its two steps used
        wanted.insert(2, "USAGE")
    assert told == wanted, "a message that comes in parts may be several entries"
    assert "OUTPUT" not in kinds, "every line of the program was understood"
    assert model.said == "The notes are written."
