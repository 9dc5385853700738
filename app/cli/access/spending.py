"""`packline spending`: what models cost each caller in a month, and the budgets."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.base.options import Json, Limit, Long, Server  # noqa: TC001 - typer reads the annotations

SPENDING = """
query CliSpending($month: String, $first: Int, $after: Cursor) {
  spending(month: $month, first: $first, after: $after) {
    nodes { month tokens amountUsd unpricedCalls caller { id subject name } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
BUDGETS = (
    "query CliBudgets { budgets { setting ofCaller limitUsd spentUsd limitTokens spentTokens nearlySpent message } }"
)


def spending(
    month: Annotated[
        str | None,
        typer.Option(metavar="MONTH", help="A month in UTC, such as 2026-11; default: this one.", show_default=False),
    ] = None,
    limit: Limit = 100,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Show what models cost each caller in a month, and the budgets of this month."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = list(client.pages(SPENDING, "spending", {"month": month}, limit=limit))
        budgets = client.execute(BUDGETS)["budgets"] if month is None else []
    if output.is_json:
        for spent in found:
            output.emit({"type": "spending", **spent})
        for budget in budgets:
            output.emit({"type": "budget", **budget})
        return
    print_list(
        output,
        [Column("caller", "cut"), Column("cost"), Column("tokens"), Column("month", "wide"), Column("unpriced calls")],
        (
            [
                spent["caller"]["subject"],
                f"${spent['amountUsd']:,.4f}",
                f"{spent['tokens']:,}",
                spent["month"],
                f"{spent['unpricedCalls']:,}",
            ]
            for spent in found
        ),
        empty="Nobody called a model.",
        long=long,
    )
    for budget in budgets:
        whose = "Your budget" if budget["ofCaller"] else "The budget of all callers"
        warning = " It is nearly spent." if budget["nearlySpent"] else ""
        output.say(f"{whose} this month: {budget['message']} ({budget['setting']}).{warning}")
