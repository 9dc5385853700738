"""Agent clients: the configuration file entries and the commands that connect them to this server.

Pure data and rendering; the command line, the API and the page all show what this module makes. The formats are those
of the programs of October and November 2026: `tests/app/mcp/transport/test_connect_programs.py` runs the real programs
on them, and `test_connect_shapes.py` checks those of Cursor and OpenClaw against the vendors' documentation.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.failures import JSONValue

Transport = Literal["http", "stdio"]
Language = Literal["json", "toml"]
Entry = dict[str, "JSONValue"]

#: The server's name in every client; short, since it is part of the tool names that models see.
NAME = "packline"
#: The environment variable with the token, if the file does not have it.
TOKEN_VARIABLE = "PACKLINE_TOKEN"
#: Time-out to configure in clients. Packline answers within 50 seconds; some clients give up after 60 by default.
CALL_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Reach:
    """How a client reaches the server.

    Attributes:
        url: URL of the MCP endpoint; `?toolsets=author` or `?readonly=1` chooses the tools.
        token: The token to write into the file; None if the client reads it from `TOKEN_VARIABLE`.
        program: The `packline` command for stdio.
    """

    url: str
    token: str | None = None
    program: str = "packline"

    @property
    def server(self) -> str:
        """The server's URL, for `--server`."""
        return self.url.partition("?")[0].removesuffix("/mcp")

    @property
    def arguments(self) -> list[str]:
        """Arguments of `program` that make it an MCP server on stdin and stdout with the same tools."""
        chosen = {"toolsets=author": ["--toolsets", "author"], "readonly=1": ["--read-only"]}
        return ["mcp", "--server", self.server, *chosen.get(self.url.partition("?")[2], [])]


@dataclass(frozen=True, slots=True)
class Setup:
    """How to connect one client over one transport.

    Attributes:
        path: The client's configuration file, from the home folder (`~/…`).
        place: Path of keys to the entry in that file.
        entry: The entry to add.
        text: A whole file with only this entry.
        command: A shell command that adds the entry; None if the client has none.
    """

    transport: Transport
    path: str
    language: Language
    place: tuple[str, ...]
    entry: Entry
    text: str
    command: str | None


@dataclass(frozen=True, slots=True)
class AgentClient:
    """A program that runs agents.

    Attributes:
        key: Its name for `packline connect`.
        name: Its name as its vendor writes it.
        check: A command that shows whether it is connected.
    """

    key: str
    name: str
    path: str
    language: Language
    place: tuple[str, ...]
    check: str
    _http: Callable[[Reach], Entry]
    _stdio: Callable[[Reach], Entry]
    _command: Callable[[Reach, Transport], str | None]

    def setup(self, transport: Transport, reach: Reach) -> Setup:
        """Return how to connect it over a transport."""
        entry = (self._http if transport == "http" else self._stdio)(reach)
        return Setup(
            transport=transport,
            path=self.path,
            language=self.language,
            place=self.place,
            entry=entry,
            text=rendered(self.language, self.place, entry),
            command=self._command(reach, transport),
        )


def rendered(language: Language, place: tuple[str, ...], entry: Mapping[str, JSONValue]) -> str:
    """Render a file with only this entry, at its place."""
    if language == "json":
        document: object = dict(entry)
        for key in reversed(place):
            document = {key: document}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    import tomlkit

    toml = tomlkit.document()
    put_toml(toml, place, entry)
    return tomlkit.dumps(toml)


def put_toml(document: object, place: tuple[str, ...], entry: Mapping[str, JSONValue]) -> None:
    """Put the entry at its place in a `tomlkit` document and leave everything else as written."""
    import tomlkit

    table = document
    for key in place[:-1]:
        if key not in table:  # type: ignore[operator]  # documents and tables are mappings
            table[key] = tomlkit.table(is_super_table=True)  # type: ignore[index]
        table = table[key]  # type: ignore[index]
    added = tomlkit.table()
    for name, value in entry.items():
        if isinstance(value, dict):
            inline = tomlkit.inline_table()
            inline.update(value)
            added.add(name, inline)
        else:
            added.add(name, value)
    table[place[-1]] = added  # type: ignore[index]


def _bearer(reach: Reach, variable: str) -> str:
    return f"Bearer {variable if reach.token is None else reach.token}"


def _environment(reach: Reach, variable: str) -> Entry:
    return {TOKEN_VARIABLE: variable if reach.token is None else reach.token}


def _shell_command(*words: str) -> str:
    # Double quotes let the shell expand a reference to the variable.
    return " ".join(f'"{word}"' if f"${{{TOKEN_VARIABLE}}}" in word else shlex.quote(word) for word in words)


def _token_word(reach: Reach) -> str:
    return f"${{{TOKEN_VARIABLE}}}" if reach.token is None else reach.token


def _claude_command(reach: Reach, transport: Transport) -> str:
    begin = ("claude", "mcp", "add", "--scope", "user")
    if transport == "http":
        header = f"Authorization: Bearer {_token_word(reach)}"
        return _shell_command(*begin, "--transport", "http", NAME, reach.url, "--header", header)
    variable = f"{TOKEN_VARIABLE}={_token_word(reach)}"
    return _shell_command(*begin, NAME, "--env", variable, "--", reach.program, *reach.arguments)


def _codex_http(reach: Reach) -> Entry:
    if reach.token is None:
        return {"url": reach.url, "bearer_token_env_var": TOKEN_VARIABLE, "tool_timeout_sec": CALL_SECONDS}
    return {
        "url": reach.url,
        "http_headers": {"Authorization": f"Bearer {reach.token}"},
        "tool_timeout_sec": CALL_SECONDS,
    }


def _codex_stdio(reach: Reach) -> Entry:
    entry: Entry = {"command": reach.program, "args": [*reach.arguments], "tool_timeout_sec": CALL_SECONDS}
    if reach.token is None:
        # Codex passes on only the variables that are listed.
        return {**entry, "env_vars": [TOKEN_VARIABLE]}
    return {**entry, "env": _environment(reach, "")}


def _codex_command(reach: Reach, transport: Transport) -> str | None:
    if transport == "http":
        # The command takes only the name of a variable, never the token.
        if reach.token is not None:
            return None
        return _shell_command("codex", "mcp", "add", NAME, "--url", reach.url, "--bearer-token-env-var", TOKEN_VARIABLE)
    variable = f"{TOKEN_VARIABLE}={_token_word(reach)}"
    return _shell_command("codex", "mcp", "add", NAME, "--env", variable, "--", reach.program, *reach.arguments)


def _gemini_command(reach: Reach, transport: Transport) -> str | None:
    begin = ("gemini", "mcp", "add", "--scope", "user")
    if transport == "http":
        header = f"Authorization: Bearer {_token_word(reach)}"
        # The name and the URL come first: the client takes words after --header for further headers.
        return _shell_command(
            "gemini", "mcp", "add", NAME, reach.url, "--scope", "user", "-t", "http", "--header", header
        )
    variable = f"{TOKEN_VARIABLE}={_token_word(reach)}"
    return _shell_command(*begin, "--env", variable, NAME, reach.program, "--", *reach.arguments)


def _openclaw_http(reach: Reach) -> Entry:
    return {
        "url": reach.url,
        "transport": "streamable-http",
        "headers": {"Authorization": _bearer(reach, f"${{{TOKEN_VARIABLE}}}")},
        "requestTimeoutMs": CALL_SECONDS * 1000,
    }


def _openclaw_stdio(reach: Reach) -> Entry:
    return {
        "command": reach.program,
        "args": [*reach.arguments],
        "env": _environment(reach, f"${{{TOKEN_VARIABLE}}}"),
        "requestTimeoutMs": CALL_SECONDS * 1000,
    }


def _openclaw_command(reach: Reach, transport: Transport) -> str:
    entry = (_openclaw_http if transport == "http" else _openclaw_stdio)(reach)
    return f"openclaw mcp set {NAME} {shlex.quote(json.dumps(entry))}"


#: In the order in which the page lists them.
CLIENTS: tuple[AgentClient, ...] = (
    AgentClient(
        key="claude-code",
        name="Claude Code",
        path="~/.claude.json",
        language="json",
        place=("mcpServers", NAME),
        check="claude mcp list",
        _http=lambda reach: {
            "type": "http",
            "url": reach.url,
            "headers": {"Authorization": _bearer(reach, f"${{{TOKEN_VARIABLE}}}")},
        },
        _stdio=lambda reach: {
            "type": "stdio",
            "command": reach.program,
            "args": [*reach.arguments],
            "env": _environment(reach, f"${{{TOKEN_VARIABLE}}}"),
        },
        _command=_claude_command,
    ),
    AgentClient(
        key="codex",
        name="Codex",
        path="~/.codex/config.toml",
        language="toml",
        place=("mcp_servers", NAME),
        check="codex mcp list",
        _http=_codex_http,
        _stdio=_codex_stdio,
        _command=_codex_command,
    ),
    AgentClient(
        key="cursor",
        name="Cursor",
        path="~/.cursor/mcp.json",
        language="json",
        place=("mcpServers", NAME),
        check="cursor-agent mcp list",
        _http=lambda reach: {
            "url": reach.url,
            "headers": {"Authorization": _bearer(reach, f"${{env:{TOKEN_VARIABLE}}}")},
        },
        # Its documentation requires `type` for stdio, although its examples leave it out.
        _stdio=lambda reach: {
            "type": "stdio",
            "command": reach.program,
            "args": [*reach.arguments],
            "env": _environment(reach, f"${{env:{TOKEN_VARIABLE}}}"),
        },
        _command=lambda _reach, _transport: None,
    ),
    AgentClient(
        key="gemini",
        name="Gemini CLI",
        path="~/.gemini/settings.json",
        language="json",
        place=("mcpServers", NAME),
        check="gemini mcp list",
        _http=lambda reach: {
            "httpUrl": reach.url,
            "headers": {"Authorization": _bearer(reach, f"${TOKEN_VARIABLE}")},
            "timeout": CALL_SECONDS * 1000,
        },
        _stdio=lambda reach: {
            "command": reach.program,
            "args": [*reach.arguments],
            "env": _environment(reach, f"${TOKEN_VARIABLE}"),
            "timeout": CALL_SECONDS * 1000,
        },
        _command=_gemini_command,
    ),
    AgentClient(
        key="opencode",
        name="opencode",
        path="~/.config/opencode/opencode.json",
        language="json",
        place=("mcp", NAME),
        check="opencode mcp list",
        _http=lambda reach: {
            "type": "remote",
            "url": reach.url,
            "headers": {"Authorization": _bearer(reach, f"{{env:{TOKEN_VARIABLE}}}")},
            "oauth": False,
            "timeout": CALL_SECONDS * 1000,
        },
        _stdio=lambda reach: {
            "type": "local",
            "command": [reach.program, *reach.arguments],
            "environment": _environment(reach, f"{{env:{TOKEN_VARIABLE}}}"),
            "timeout": CALL_SECONDS * 1000,
        },
        _command=lambda _reach, _transport: None,
    ),
    AgentClient(
        key="openclaw",
        name="OpenClaw",
        path="~/.openclaw/openclaw.json",
        language="json",
        place=("mcp", "servers", NAME),
        check=f"openclaw mcp doctor {NAME} --probe",
        _http=_openclaw_http,
        _stdio=_openclaw_stdio,
        _command=_openclaw_command,
    ),
)
CLIENT_KEYS = tuple(client.key for client in CLIENTS)


def find_client(key: str) -> AgentClient | None:
    return next((client for client in CLIENTS if client.key == key), None)
