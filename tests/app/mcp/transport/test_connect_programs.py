"""What `packline connect` writes and prints, read by the programs themselves: each says that it is connected.

Cursor has no program on npm; OpenClaw's takes longer to install than all others together, and was tried by hand:
`openclaw mcp doctor packline --probe` says `ok` for both transports. `test_connect_shapes.py` holds the configuration
of both against what their makers document.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest

from app.cli.server.client_files import change_for
from resolvers.agents.agent_clients import CLIENT_KEYS, TOKEN_VARIABLE, Reach, find_client
from tests.app.mcp.transport.test_connect_shapes import DOCUMENTED
from tests.support.mcp_agent import agent
from tests.support.mcp_clients import Ended, claude_code, opencode, program, run_program
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from resolvers.agents.agent_clients import Setup, Transport
    from tests.support.product import Product

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

#: By the name each program is called by in a shell, as in the commands that are printed.
PROGRAMS = {
    "claude-code": ("claude", claude_code),
    "codex": ("codex", lambda: program("codex")),
    "gemini": ("gemini", lambda: program("gemini")),
    "opencode": ("opencode", opencode),
}
#: Clients whose programs are not run here.
UNTRIED = DOCUMENTED.keys()


@dataclass(frozen=True)
class Form:
    """One way to configure a client.

    Attributes:
        by: Writing its file, or running the command that is printed.
        token: Where the token stands: in the configuration, or in the variable it names.
    """

    by: Literal["file", "command"]
    transport: Transport
    token: Literal["written", "variable"]


FORMS = (
    Form("file", "http", "written"),
    Form("file", "stdio", "variable"),
    Form("command", "http", "variable"),
    Form("command", "stdio", "written"),
)


class Desk:
    """A home folder, and programs as a shell finds them."""

    def __init__(self, folder: Path, it: Product, key: str) -> None:
        self.key = key
        self.home, self.work, self.bin = folder / "home", folder / "work", folder / "bin"
        for made in (self.home, self.work, self.bin):
            made.mkdir(parents=True)
        name, find = PROGRAMS[key]
        self.name = name
        self._program("packline", f'exec {sys.executable} -c "from app.cli import main; main()" "$@"')
        self._program(name, f'exec {shlex.quote(find())} "$@"')
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PYTHONPATH": os.getcwd(),
            "PACKLINE_DATA_DIR": str(folder / "elsewhere"),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        self._it = it

    def _program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    async def configure(self, form: Form) -> Setup | None:
        """Does what `packline connect` says; None when the client has no command for it."""
        client = find_client(self.key)
        assert client is not None
        reach = Reach(self._it.url("/mcp"), self._it.token if form.token == "written" else None, "packline")
        setup = client.setup(form.transport, reach)
        if form.token == "variable":
            self.env[TOKEN_VARIABLE] = self._it.token
        if form.by == "file":
            change_for(setup, self.home / setup.path.removeprefix("~/")).write()
        elif setup.command is None:
            return None
        else:
            done = await self.run("sh", "-c", setup.command)
            assert done.status == 0, (setup.command, done)
        return setup

    async def run(self, *command: str) -> Ended:
        return await run_program(command, self.env, self.work, timeout_seconds=100)


def listed(key: str, ended: Ended) -> bool:
    """Whether a program says that it reaches the server; Codex tells its configuration alone."""
    line = next((line for line in (ended.out + ended.err).splitlines() if "packline" in line.split("/mcp")[0]), "")
    return ended.status == 0 and ("enabled" if key == "codex" else "onnected") in line


@pytest.mark.parametrize(
    "key",
    [pytest.param(key, marks=pytest.mark.sweep) if key in ("gemini", "opencode") else key for key in PROGRAMS],
)
async def test_the_program_itself_says_that_it_is_connected(tmp_path, key):
    client = find_client(key)
    assert client is not None
    async with product(tmp_path, Workbench().packs) as it:
        async with agent(it) as first:
            await first.list_tools()  # the server has warmed up
        for number, form in enumerate(FORMS):
            desk = Desk(tmp_path / str(number), it, key)
            setup = await desk.configure(form)
            if setup is None:
                assert form.by == "command"
                continue
            assert client.check.startswith(f"{desk.name} mcp list")
            ended = await desk.run(*shlex.split(client.check))
            assert listed(key, ended), (form, setup, ended)
            if key == "codex":
                found = json.loads((await desk.run("codex", "mcp", "get", "packline", "--json")).out)["transport"]
                if form.transport == "http":
                    assert found["url"] == it.url("/mcp")
                    told = found["http_headers"] or found["bearer_token_env_var"]
                    assert told in ({"Authorization": f"Bearer {it.token}"}, TOKEN_VARIABLE)
                else:
                    assert (found["command"], found["args"]) == (setup.entry["command"], setup.entry["args"])
                    written = {TOKEN_VARIABLE: it.token} if form.token == "written" else None
                    assert found["env"] == written
                    assert form.token == "written" or TOKEN_VARIABLE in str(found["env_vars"])


def test_every_client_is_tried_or_said_not_to_be():
    assert set(CLIENT_KEYS) == PROGRAMS.keys() | UNTRIED
