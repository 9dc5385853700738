"""`packline connect`: connect an agent's program to this server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from resolvers.agents.agent_clients import AgentClient, Setup

#: The scopes to find, run, resume and cancel; --author adds the one to write pipelines.
SCOPES = ("READ", "RUN")


def connect(
    client: Annotated[
        str | None,
        typer.Argument(
            help="claude-code, codex, cursor, gemini, opencode or openclaw; default: list all.",
            show_default=False,
        ),
    ] = None,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Let the client start `packline mcp` instead of calling over HTTP.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(help="Use this token; default: the client reads PACKLINE_TOKEN.", show_default=False),
    ] = None,
    make_token: Annotated[bool, typer.Option("--make-token", help="Create a token for the client and use it.")] = False,
    author: Annotated[bool, typer.Option("--author", help="Also let the agent write pipelines.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Let the agent only read.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Change the client's configuration file, and keep a backup.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Configuration file; default: the client's usual one.", show_default=False),
    ] = None,
    skill: Annotated[
        bool, typer.Option("--skill", help="Print the skill file, which explains Packline to an agent.")
    ] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Connect an agent's program to this server: print its configuration, or write it."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from resolvers.agents.agent_clients import CLIENT_KEYS, Reach, find_client

    output = Output(as_json)
    with Client(Target.find(server)) as http:
        if skill:
            typer.echo(_skill(http), nl=False)
            return
        if client is None:
            _list_clients(output)
            return
        found = find_client(client)
        if found is None:
            raise CliError(f"`{client}` is not a known client. The clients are {', '.join(CLIENT_KEYS)}.")
        if token is not None and make_token:
            raise CliError("--token and --make-token cannot be combined.")
        if author and read_only:
            raise CliError("--author and --read-only cannot be combined.")
        if make_token:
            token = _make_token(http, found, author=author, read_only=read_only)
        query = "?toolsets=author" if author else "?readonly=1" if read_only else ""
        reach = Reach(f"{http.target.url}/mcp{query}", token, _program() if stdio else "packline")
        setup = found.setup("stdio" if stdio else "http", reach)
        if write:
            _write(output, found, setup, file or Path(setup.path).expanduser(), token)
        else:
            _print(output, found, setup, file, token)


def _list_clients(output: Output) -> None:
    from resolvers.agents.agent_clients import CLIENTS

    if output.is_json:
        for client in CLIENTS:
            output.emit({"type": "client", "key": client.key, "name": client.name, "path": client.path})
        return
    output.table(
        ["client", "name", "configuration"],
        ([client.key, client.name, client.path] for client in CLIENTS),
        empty="",
    )
    output.say("`packline connect CLIENT --make-token --write` connects one.")


def _print(output: Output, client: AgentClient, setup: Setup, file: Path | None, token: str | None) -> None:
    path = str(file or setup.path)
    if output.is_json:
        output.emit(
            {
                "type": "connection",
                "client": client.key,
                "transport": setup.transport,
                "path": path,
                "language": setup.language,
                "text": setup.text,
                "command": setup.command,
                "check": client.check,
            }
        )
        return
    output.say(f"# {path}", "bold")
    typer.echo(setup.text)
    if setup.command is not None:
        output.say("# or, in a shell", "bold")
        typer.echo(setup.command)
    if token is None:
        from resolvers.agents.agent_clients import TOKEN_VARIABLE

        output.say(f"The client reads the token from {TOKEN_VARIABLE}; --make-token creates one and writes it in.")
    output.say(f"To check the connection: {client.check}")


def _write(output: Output, client: AgentClient, setup: Setup, path: Path, token: str | None) -> None:
    from app.cli.server.client_files import change_for

    change = change_for(setup, path)
    if change.before == change.after:
        if output.is_json:
            output.emit(
                {"type": "connection", "client": client.key, "path": str(path), "changed": False, "backup": None}
            )
        else:
            output.say(f"{path} has this entry already.")
        return
    if not output.is_json:
        typer.echo(change.diff(token))
    backup = change.write()
    if output.is_json:
        kept = None if backup is None else str(backup)
        output.emit({"type": "connection", "client": client.key, "path": str(path), "changed": True, "backup": kept})
        return
    output.say(f"{path} is written" + ("." if backup is None else f"; the backup is {backup}."))
    output.say(f"Restart {client.name}, then check the connection: {client.check}")


def _make_token(http: Client, client: AgentClient, *, author: bool, read_only: bool) -> str:
    from app.cli.access.token_documents import CREATE_TOKEN
    from app.cli.base.output import accept

    scopes = ["READ"] if read_only else [*SCOPES, *(("WRITE",) if author else ())]
    made = accept(
        http.execute(
            CREATE_TOKEN,
            {"name": client.name, "scopes": scopes, "subject": client.key, "expiresAt": None},
        )["result"]
    )
    return str(made["plaintext"])


def _skill(http: Client) -> str:
    from app.cli.base.exits import CliError

    answer = http.request("GET", "/skill.md")
    if answer.status_code != 200:
        raise CliError(answer.text.strip() or f"The server answered {answer.status_code}.")
    return answer.text


def _program() -> str:
    """The command's absolute path, for clients without this shell's PATH."""
    import shutil

    found = shutil.which("packline")
    return found or "packline"
