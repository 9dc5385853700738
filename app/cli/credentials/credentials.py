"""Commands that store, share, test and delete credentials; none shows a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Long, Server, number, whole_ids

if TYPE_CHECKING:
    from app.cli.base.output import JSON, Output

credentials = typer.Typer(no_args_is_help=True, help="Store secrets, and share them with packs, pipelines and callers.")

Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY",
        help="Key of the credential, as packs use it.",
        show_default=False,
    ),
]
Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET...",
        help="Packs, pipelines or callers, by name, key, subject or id.",
        callback=whole_ids("pipe", "call"),
    ),
]


@credentials.command("list")
def list_(long: Long = False, server: Server = None, as_json: Json = None) -> None:
    """List credentials, without their values."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago
    from app.cli.base.target import Target
    from app.cli.credentials.calls import stored_credentials

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = list(stored_credentials(client))
    if output.is_json:
        for each in found:
            output.emit(each)
        return
    print_list(
        output,
        [
            Column("key"),
            Column("kind"),
            Column("fields", "wide"),
            Column("granted to", "cut"),
            Column("used", "wide"),
            Column("tested", "wide"),
            Column("until"),
        ],
        (
            [
                each["key"],
                each["kind"],
                ", ".join(each["fieldsSet"]),
                ", ".join(_shown(grant) for grant in each["grants"]) or "nobody",
                ago(each["lastUsedAt"]),
                _test_of(each),
                _until(each),
            ]
            for each in found
        ),
        empty="No credentials. `packline credential set KEY --kind KIND` stores one.",
        long=long,
    )


@credentials.command("kinds")
def kinds(as_json: Json = None) -> None:
    """List the kinds of credentials, with their fields."""
    from app.cli.base.output import Output
    from runner.secrets.credential_kinds import KINDS

    output = Output(as_json)
    if output.is_json:
        for kind in KINDS.values():
            fields = [
                {"name": field.name, "secret": field.secret, "required": field.required, "help": field.description}
                for field in kind.fields
            ]
            output.emit(
                {
                    "type": "credential_kind",
                    "name": kind.name,
                    "description": kind.description,
                    "fields": fields,
                    "freeFields": kind.is_free,
                    "testable": kind.test is not None,
                }
            )
        return
    output.table(
        ["kind", "fields", "what it is for"],
        (
            [
                kind.name,
                ", ".join(field.name if field.required else f"[{field.name}]" for field in kind.fields) or "any",
                kind.description,
            ]
            for kind in KINDS.values()
        ),
        empty="",
    )


@credentials.command("set")
def set_(
    key: Key,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind; default: that of the stored credential. `packline credential kinds` lists them.",
            show_default=False,
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=@FILE",
            help="A field from a file; NAME= removes it; NAME=VALUE sets a field that is not secret. Repeatable.",
            show_default=False,
        ),
    ] = None,
    from_stdin: Annotated[
        bool, typer.Option("--from-stdin", help="Read the secret, or a JSON object of fields, from standard input.")
    ] = False,
    grant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Grant it as well; see `credential grant`. Repeatable.",
            show_default=False,
            callback=whole_ids("pipe", "call"),
        ),
    ] = None,
    description: Annotated[str | None, typer.Option(help="What the credential is for.", show_default=False)] = None,
    days: Annotated[
        float | None,
        typer.Option(
            parser=number(0.001, 36_500, whole=False),
            metavar="NUMBER",
            help="Days until it expires, at most 36,500.",
            show_default=False,
        ),
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Store a credential, or replace fields of one; prompts for missing fields.

    Secrets cannot be given on the command line, where every user of the machine can read them.
    """
    from dataclasses import asdict
    from datetime import UTC, datetime, timedelta

    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, problem_lines
    from app.cli.base.target import Target
    from app.cli.credentials.calls import put_credential, stored_credentials
    from app.cli.credentials.values import read_values
    from runner.secrets.credential_kinds import KINDS, kind_issues

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        before = next((each for each in stored_credentials(client) if each["key"] == key), None)
        name = kind or (before["kind"] if before else None)
        if name is None:
            raise CliError(
                f"There is no credential `{key}` yet. To create it, add `--kind`; `packline credential kinds` lists "
                "the kinds."
            )
        if issues := kind_issues(name):
            parts = asdict(issues[0].hint) if issues[0].hint else None
            raise CliError("\n".join(problem_lines({"message": issues[0].message, "hintParts": parts})))
        is_new = before is None or before["kind"] != name
        keeps_values = not is_new and any((grant, description is not None, days is not None))
        given = read_values(
            KINDS[name],
            field or [],
            from_stdin=from_stdin,
            ask=is_new or not (field or from_stdin or keeps_values),
            output=output.note,
        )
        change: dict[str, object] = {"key": key, "kind": name}
        if given is not None:
            change["fields"] = given
        if grant:
            change["addGrants"] = grant
        if description is not None:
            change["description"] = description
        if days is not None:
            change["expiresAt"] = (datetime.now(UTC) + timedelta(days=days)).isoformat()
        stored = put_credential(client, change)
    _print(output, stored, f"{key} is stored and granted to {_granted(stored)}.")


@credentials.command()
def grant(key: Key, targets: Targets, server: Server = None, as_json: Json = None) -> None:
    """Share a credential with packs, pipelines or callers.

    One grant suffices: a granted pack may use it in every run; a granted pipeline or caller, with every pack that
    declares it.
    """
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.credentials.calls import get_credential, put_credential

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        before = get_credential(client, key)
        stored = put_credential(client, {"key": key, "kind": before["kind"], "addGrants": targets})
    _print(output, stored, f"{key} is granted to {_granted(stored)}.")


@credentials.command()
def revoke(key: Key, targets: Targets, server: Server = None, as_json: Json = None) -> None:
    """Revoke grants; runs in progress do not get the credential again."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.credentials.calls import get_credential, put_credential

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        before = get_credential(client, key)
        revoked = []
        for target in targets:
            named = [str(grant["id"]) for grant in before["grants"] if target in _names(grant)]
            if not named:
                raise CliError(f"{key} is not granted to `{target}`; it is granted to {_granted(before)}.")
            revoked += named
        stored = put_credential(client, {"key": key, "kind": before["kind"], "removeGrants": revoked})
    _print(output, stored, f"{key} is granted to {_granted(stored)}.")


@credentials.command("test")
def try_(key: Key, server: Server = None, as_json: Json = None) -> None:
    """Test whether the service accepts a credential; exit status 1 if it does not."""
    from app.cli.base.client import Client
    from app.cli.base.exits import EXIT_FAILED
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.credentials.calls import get_credential
    from app.cli.credentials.documents import TEST_CREDENTIAL

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        stored = get_credential(client, key)
        answer = accept(client.execute(TEST_CREDENTIAL, {"id": stored["id"]})["result"])["credential"]
    _print(output, answer, str(answer["lastTest"]["message"]))
    if not answer["lastTest"]["accepted"]:
        raise typer.Exit(EXIT_FAILED)


@credentials.command()
def delete(key: Key, server: Server = None, as_json: Json = None) -> None:
    """Delete a credential and its grants; this cannot be undone."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.credentials.calls import get_credential
    from app.cli.credentials.documents import DELETE_CREDENTIAL

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        stored = get_credential(client, key)
        accept(client.execute(DELETE_CREDENTIAL, {"id": stored["id"]})["result"])
    if output.is_json:
        output.emit({"type": "deleted", "id": stored["id"], "key": key})
    else:
        output.say(f"{key} is deleted.")


def _print(output: Output, stored: JSON, sentence: str) -> None:
    if output.is_json:
        output.emit({"type": "credential", **stored})
    else:
        output.say(sentence)


def _names(grant: JSON) -> set[str]:
    return {str(grant[name]) for name in ("id", "key", "subject") if grant.get(name)}


def _shown(grant: JSON) -> str:
    return str(grant.get("key") or grant.get("subject") or grant["id"])


def _granted(stored: JSON) -> str:
    return ", ".join(_shown(grant) for grant in stored["grants"]) or "nobody"


def _until(credential: JSON) -> str:
    from app.cli.base.output import until

    if not credential["readable"]:
        return "locked"
    return until(credential["expiresAt"])


def _test_of(stored: JSON) -> str:
    if stored["lastTest"] is None:
        return "never"
    return "accepted" if stored["lastTest"]["accepted"] else "refused"
