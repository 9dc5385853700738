"""`packline callers`: lists the people, agents and scripts that use the server; disables and enables them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.fragments import PROBLEM_PARTS
from app.cli.base.options import Json, Limit, Long, Server, whole_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.cli.base.output import JSON

_CALLER = """
fragment CallerParts on Caller { id name subject scopes fromProvider lastSeenAt disabledAt }
"""
CALLERS = (
    _CALLER
    + """
query CliCallers($first: Int, $after: Cursor, $disabled: Boolean) {
  callers(filter: {disabled: $disabled}, first: $first, after: $after) {
    nodes { ...CallerParts }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)
DISABLE_CALLER = (
    _CALLER
    + PROBLEM_PARTS
    + """
mutation CliDisableCaller($caller: String!) {
  result: disableCaller(caller: $caller) {
    __typename
    ... on DisableCallerSuccess {
      caller { ...CallerParts }
      pausedTriggers
      cancelledRuns
      tokensForOthers { id name caller { subject } }
    }
    ...ProblemParts
  }
}
"""
)
ENABLE_CALLER = (
    _CALLER
    + PROBLEM_PARTS
    + """
mutation CliEnableCaller($caller: String!) {
  result: enableCaller(caller: $caller) {
    __typename
    ... on EnableCallerSuccess { caller { ...CallerParts } resumedTriggers }
    ...ProblemParts
  }
}
"""
)

callers = typer.Typer(
    invoke_without_command=True,
    help="List the people, agents and scripts that use the server; disable and enable them.",
)

Disabled = Annotated[bool, typer.Option("--disabled", help="Only disabled callers.")]
Named = Annotated[
    str,
    typer.Argument(
        metavar="CALLER",
        help="The caller's subject, or its id, call_…, or a unique prefix of the id.",
        show_default=False,
        callback=whole_ids("call"),
    ),
]


@callers.callback()
def first(
    context: typer.Context,
    disabled: Disabled = False,
    limit: Limit = 100,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List callers, unless a command follows."""
    if context.invoked_subcommand is None:
        list_(disabled, limit, long, server, as_json)


@callers.command("list")
def list_(
    disabled: Disabled = False,
    limit: Limit = 100,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List callers, the newest first, with when each last made a request."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = list(client.pages(CALLERS, "callers", {"disabled": disabled or None}, limit=limit))
    if output.is_json:
        for caller in found:
            output.emit({"type": "caller", **caller})
        return
    print_list(
        output,
        [
            Column("caller", "cut"),
            Column("name", "cut"),
            Column("last seen"),
            Column("state"),
            Column("scopes", "wide"),
            Column("id", "long"),
        ],
        (
            [
                caller["subject"],
                caller["name"],
                ago(caller["lastSeenAt"]),
                f"disabled {ago(caller['disabledAt'])}" if caller["disabledAt"] else "enabled",
                _scopes(caller),
                caller["id"],
            ]
            for caller in found
        ),
        empty="No disabled callers." if disabled else "No callers.",
        long=long,
    )


@callers.command()
def disable(caller: Named, server: Server = None, as_json: Json = None) -> None:
    """Disable a caller at once: nothing it has works any more, and nothing runs in its name."""
    _change(
        DISABLE_CALLER,
        caller,
        server,
        as_json,
        lambda made: (
            f"{made['caller']['subject']} is disabled: {_count(made['pausedTriggers'], 'trigger')} paused, "
            f"{_count(made['cancelledRuns'], 'run')} cancelled.{_left(made['tokensForOthers'])}"
        ),
    )


@callers.command()
def enable(caller: Named, server: Server = None, as_json: Json = None) -> None:
    """Enable a disabled caller: its tokens work again, its triggers fire, and its queued runs start."""
    _change(
        ENABLE_CALLER,
        caller,
        server,
        as_json,
        lambda made: f"{made['caller']['subject']} is enabled: {_count(made['resumedTriggers'], 'trigger')} resumed.",
    )


def _change(
    document: str, caller: str, server: str | None, as_json: bool | None, describe: Callable[[JSON], str]
) -> None:
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        changed = accept(client.execute(document, {"caller": caller})["result"])
    if output.is_json:
        output.emit({"type": "caller", **{name: value for name, value in changed.items() if name != "__typename"}})
    else:
        output.say(describe(changed))


def _scopes(caller: JSON) -> str:
    """Name what a caller may do by what the server keeps of it; the provider decides the rest at each sign-in."""
    if "MANAGE" in caller["scopes"]:
        return "all"
    return ", ".join([*caller["scopes"], *(["by the provider"] if caller["fromProvider"] else [])]).lower()


def _left(tokens: list[JSON]) -> str:
    """List the tokens that a disabled caller made for others."""
    from resolvers.access.callers import TOKENS_LISTED

    if not tokens:
        return ""
    lines = [f"  {token['id']}  {token['name']}, for {token['caller']['subject']}" for token in tokens]
    if len(tokens) == TOKENS_LISTED:
        lines.append(f"  These are the {TOKENS_LISTED} newest; there may be more.")
    return "\n".join(["\nTokens that it made for others still work. `packline token revoke ID` ends one:", *lines])


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
