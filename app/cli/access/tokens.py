"""Commands about bearer tokens and logins."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.base.options import Json, Long, Server, number, whole_ids

tokens = typer.Typer(no_args_is_help=True, help="Create, list and revoke tokens; sign a browser in.")


@tokens.command()
def create(
    name: Annotated[str, typer.Argument(help="What the token is for.", show_default=False)],
    scope: Annotated[
        str, typer.Option(help="Scopes, separated by commas: read, observe, run, write, manage.")
    ] = "read,run",
    subject: Annotated[
        str | None, typer.Option(help="Caller the token acts as; default: you.", show_default=False)
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(
            parser=number(0.001, 36_500, whole=False),
            metavar="NUMBER",
            help="Days until it expires, at most 36,500; default: never.",
        ),
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Create a token; its text is shown only once."""
    from datetime import UTC, datetime, timedelta

    from app.cli.access import token_documents as documents
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    scopes = [word.strip().upper() for word in scope.split(",") if word.strip()]
    known = ("READ", "OBSERVE", "RUN", "WRITE", "MANAGE")
    for word in scopes:
        if word not in known:
            raise CliError(f"`{word.lower()}` is not a scope. The scopes are {', '.join(known).lower()}.")
    expires_at = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat()
    with Client(Target.find(server)) as client:
        given = {
            "name": name,
            "scopes": list(dict.fromkeys(scopes)),
            "subject": subject,
            "expiresAt": expires_at,
        }
        made = accept(client.execute(documents.CREATE_TOKEN, given)["result"], given)
    if output.is_json:
        output.emit({"type": "token", "plaintext": made["plaintext"], **made["token"]})
        return
    output.say(made["plaintext"], "bold")
    output.say("It is shown only now. Use it as PACKLINE_TOKEN, or as `Authorization: Bearer …`.")


@tokens.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Include expired and revoked tokens.")] = False,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List tokens, without their text, which is not stored."""
    from app.cli.access import token_documents as documents
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago, until
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        callers = client.pages(documents.TOKENS, "callers", {}, limit=None, page_size=20)
        found = [token for caller in callers for token in caller["tokens"]["nodes"]]
    shown = [token for token in found if everything or _ended(token) is None]
    if output.is_json:
        for token in shown:
            output.emit(token)
        return
    print_list(
        output,
        [
            Column("token"),
            Column("begins", "wide"),
            Column("name", "cut"),
            Column("caller", "wide"),
            Column("scopes", "cut"),
            Column("used", "wide"),
            Column("until"),
            Column("made by", "wide"),
        ],
        (
            [
                token["id"],
                f"{token['beginning']}…",
                token["name"],
                token["caller"]["subject"],
                "all" if "MANAGE" in token["scopes"] else ", ".join(token["scopes"]).lower(),
                ago(token["lastUsedAt"]),
                _ended(token) or until(token["expiresAt"]),
                "" if token["madeBy"] is None else token["madeBy"]["subject"],
            ]
            for token in shown
        ),
        empty="No tokens. `packline token create NAME` creates one.",
        long=long,
    )


@tokens.command()
def revoke(
    token: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN",
            help="The token's id, tok_…, or a unique prefix of it.",
            show_default=False,
            callback=whole_ids("tok"),
        ),
    ],
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Revoke a token: its requests are refused at once, and its open streams end within 5 seconds."""
    from app.cli.access import token_documents as documents
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        ended = accept(client.execute(documents.REVOKE_TOKEN, {"id": token})["result"])["token"]
    if output.is_json:
        output.emit({"type": "token", **ended})
    else:
        output.say(f"{ended['name']} ({ended['id']}) is revoked.")


@tokens.command("login-link")
def login_link(server: Server = None, as_json: Json = None) -> None:
    """Create a one-time link that signs a browser in."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        answer = client.request("POST", "/login/links")
    if answer.status_code != 201:
        raise CliError(answer.text.strip() or f"The server answered {answer.status_code}.")
    made = answer.json()
    if output.is_json:
        output.emit({"type": "login_link", **made})
        return
    output.say(made["url"], "bold")
    output.say("It works once, for some minutes.")


def _ended(token: dict[str, object]) -> str | None:
    from datetime import UTC, datetime

    from app.cli.base.output import instant

    if token["revokedAt"]:
        return "revoked"
    is_over = token["expiresAt"] and instant(str(token["expiresAt"])) <= datetime.now(UTC)
    return "expired" if is_over else None
