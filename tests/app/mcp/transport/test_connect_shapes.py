"""What `packline connect` makes for programs that cannot be run here, held against what their makers document.

Cursor: https://cursor.com/docs/mcp (read in October 2026): the fields of an entry, and `${env:NAME}` in `command`,
`args`, `env`, `url` and `headers`. OpenClaw: https://docs.openclaw.ai/cli/mcp and its `src/config/zod-schema.mcp.ts`
(read in September 2026), and `${NAME}` in any text of its configuration.

An entry is read as documented, and then used: the address and headers, or the command, lead a client of the protocol to
the server. Whether the programs do the same is not shown by this; see docs/agents.md.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from resolvers.agents.agent_clients import TOKEN_VARIABLE, Reach, find_client
from tests.support.mcp_agent import stdio_environment
from tests.support.mcp_clients import typescript
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.agents.agent_clients import Setup

_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_LIST = {"type": "array", "items": {"type": "string"}}
_SECONDS = {"type": "number", "exclusiveMinimum": 0}


def _entry(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@dataclass(frozen=True)
class Documented:
    """What a program's makers say of its configuration.

    Attributes:
        path: The file.
        place: Keys that lead to the entries of servers.
        http: JSON Schema of the entry of a server that is called.
        stdio: JSON Schema of the entry of a server that is started.
        variable: How a value names a variable of the environment; the name is the group.
    """

    path: str
    place: tuple[str, ...]
    http: dict[str, Any]
    stdio: dict[str, Any]
    variable: re.Pattern[str]

    def resolved(self, value: Any, environment: Mapping[str, str]) -> Any:
        """A value with its variables filled in, as the program reads it."""
        match value:
            case str():
                return self.variable.sub(lambda found: environment[found[1]], value)
            case list():
                return [self.resolved(item, environment) for item in value]
            case dict():
                return {name: self.resolved(item, environment) for name, item in value.items()}
            case _:
                return value


DOCUMENTED = {
    "cursor": Documented(
        path="~/.cursor/mcp.json",
        place=("mcpServers",),
        http=_entry(["url"], url={"type": "string", "pattern": "^https?://"}, headers=_TEXTS, auth={"type": "object"}),
        stdio=_entry(
            ["type", "command"],
            type={"const": "stdio"},
            command={"type": "string"},
            args=_LIST,
            env=_TEXTS,
            envFile={"type": "string"},
        ),
        variable=re.compile(r"\$\{env:(\w+)\}"),
    ),
    "openclaw": Documented(
        path="~/.openclaw/openclaw.json",
        place=("mcp", "servers"),
        http=_entry(
            ["url", "transport"],
            url={"type": "string", "pattern": "^https?://"},
            # Left out, it means server-sent events, which this server does not speak.
            transport={"const": "streamable-http"},
            headers=_TEXTS,
            requestTimeoutMs=_SECONDS,
            connectionTimeoutMs=_SECONDS,
            timeout=_SECONDS,
            connectTimeout=_SECONDS,
        ),
        stdio=_entry(
            ["command"],
            command={"type": "string", "minLength": 1},
            args=_LIST,
            env=_TEXTS,
            cwd={"type": "string"},
            requestTimeoutMs=_SECONDS,
            timeout=_SECONDS,
        ),
        variable=re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}"),
    ),
}


def setup_of(key: str, transport: Any, reach: Reach) -> Setup:
    client = find_client(key)
    assert client is not None
    return client.setup(transport, reach)


@pytest.mark.parametrize("key", DOCUMENTED)
@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("token", ["pkl_written", None])
@pytest.mark.parametrize("query", ["", "?toolsets=author", "?readonly=1"])
def test_an_entry_is_as_its_makers_document(key, transport, token, query):
    documented = DOCUMENTED[key]
    setup = setup_of(key, transport, Reach(f"http://127.0.0.1:8420/mcp{query}", token))
    assert (setup.path, setup.place) == (documented.path, (*documented.place, "packline"))
    found = json.loads(setup.text)
    for step in setup.place:
        found = found[step]
    jsonschema.validate(found, getattr(documented, transport))
    if token is None:
        assert "pkl_" not in setup.text
        assert documented.variable.findall(setup.text) == [TOKEN_VARIABLE]
    if setup.command is not None:
        assert json.loads(shlex.split(setup.command)[-1]) == found
        assert shlex.split(setup.command)[:-1] == ["openclaw", "mcp", "set", "packline"]


@pytest.mark.parametrize("key", DOCUMENTED)
@pytest.mark.parametrize("token", ["written", "variable"])
async def test_an_entry_read_as_documented_leads_to_the_server(tmp_path, key, token):
    documented = DOCUMENTED[key]
    program = tmp_path / "packline"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from app.cli import main; main()" "$@"\n')
    program.chmod(0o755)
    async with product(tmp_path, Workbench().packs) as it:
        reach = Reach(it.url("/mcp"), it.token if token == "written" else None, str(program))
        environment = {TOKEN_VARIABLE: it.token}
        called = documented.resolved(setup_of(key, "http", reach).entry, environment)
        async with typescript(sdk=1, url=called["url"], headers=called["headers"]) as client:
            assert (await client.call("run_pack", pack="test.echo", input={"text": "tea"}))["state"] == "SUCCEEDED"
        started = documented.resolved(setup_of(key, "stdio", reach).entry, environment)
        env = stdio_environment(tmp_path, **started["env"])
        async with typescript(sdk=1, command=[started["command"], *started["args"]], env=env) as client:
            assert (await client.call("run_pack", pack="test.echo", input={"text": "tea"}))["state"] == "SUCCEEDED"
