"""Commands that pause admission and end the pause."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.base.fragments import PROBLEM_PARTS
from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations

SET_ADMISSION = (
    PROBLEM_PARTS
    + """
mutation CliSetAdmission($paused: Boolean!, $reason: String) {
  result: setAdmission(paused: $paused, reason: $reason) {
    __typename
    ... on SetAdmissionSuccess { server { admissionPause { at by reason } queuedRuns runningRuns } }
    ...ProblemParts
  }
}
"""
)


def pause(
    reason: Annotated[
        str | None, typer.Option(help="Why; shown to everyone who asks about the server.", show_default=False)
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Pause admission for maintenance: no new run starts, and runs in progress continue."""
    _set(server, as_json, paused=True, reason=reason)


def unpause(server: Server = None, as_json: Json = None) -> None:
    """Admit runs again."""
    _set(server, as_json, paused=False, reason=None)


def _set(server: Server, as_json: Json, *, paused: bool, reason: str | None) -> None:
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        answer = accept(client.execute(SET_ADMISSION, {"paused": paused, "reason": reason})["result"])["server"]
    if output.is_json:
        output.emit({"type": "admission", **answer})
        return
    counts = f"{answer['queuedRuns']} queued, {answer['runningRuns']} in progress"
    output.say(f"Admission is paused: {counts}." if paused else f"Runs are admitted: {counts}.")
