"""Commands about webhooks: rotate the secret, replay a delivery, send a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Server, number
from app.cli.triggers.triggers import (
    FromStdin,
    TriggerId,
    located,
    missing_trigger,
    print_secret,
    read_secret,
    triggers,
)

if TYPE_CHECKING:
    from app.cli.base.output import JSON

#: Longest wait for the answer to a sample.
_ANSWER_SECONDS = 30.0


@triggers.command()
def rotate(
    trigger: TriggerId,
    overlap: Annotated[
        int | None,
        typer.Option(
            parser=number(0, 7 * 86_400),
            metavar="SECONDS",
            help="How long the present secret stays valid; a day by default, at most 7 days.",
            show_default=False,
        ),
    ] = None,
    from_stdin: FromStdin = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Give a webhook another secret, shown once; the present one stays valid for a while."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    change: dict[str, object] = {"id": trigger, "secret": read_secret() if from_stdin else None}
    if overlap is not None:
        change["overlapSeconds"] = overlap
    with Client(Target.find(server)) as client:
        made = accept(client.execute(documents.ROTATE_WEBHOOK_SECRET, change)["result"])
    name = made["trigger"]["name"]
    print_secret(output, client, made, f"{name} ({trigger}) has a new secret.", was_made=not from_stdin)


@triggers.command()
def replay(
    firing: Annotated[
        str,
        typer.Argument(
            metavar="FIRING", help="The firing's id, fire_…; `packline trigger firings` lists them.", show_default=False
        ),
    ],
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Start a run for the delivery of an earlier firing, as if it came now."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.triggers import documents
    from app.cli.triggers.triggers import print_fired

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        run = accept(client.execute(documents.REPLAY_FIRING, {"id": firing})["result"])["run"]
    print_fired(output, run)


@triggers.command("test")
def send_sample(
    trigger: TriggerId,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The event; by default the first one the webhook fires for, or a usual one of the sender.",
            show_default=False,
        ),
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A JSON file to deliver instead of the sample.", show_default=False),
    ] = None,
    from_stdin: FromStdin = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Send a signed sample to a webhook, in its sender's form; it starts a run.

    The samples are like those of GitHub, of Stripe (`timestamped`) and of Standard Webhooks. Asks for the webhook's
    secret, which the server does not show again.
    """
    import json
    from datetime import UTC, datetime
    from uuid import uuid4

    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.prompts import ask_secret
    from app.cli.base.target import Target
    from app.cli.pipelines.files import read_file
    from app.cli.triggers import documents
    from runner.triggers.samples import USUAL_EVENTS, sample_payload
    from runner.triggers.webhooks import Preset, check_secret, sign

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = client.execute(documents.TRIGGER, {"id": trigger})["trigger"]
        if found is None:
            raise missing_trigger(client, trigger)
    webhook = located(client, found)["webhook"]
    if webhook is None:
        raise CliError(f"The trigger {found['name']} is not a webhook. `packline trigger fire` starts a run of it.")
    preset = Preset[webhook["preset"]]
    secret = read_secret() if from_stdin else ask_secret("Secret of the webhook")
    if issues := check_secret(preset, secret):
        raise CliError(issues[0].message)
    called = event or next(iter(webhook["events"]), USUAL_EVENTS[preset])
    delivery_id, now = f"test-{uuid4()}", datetime.now(UTC)
    if payload is None:
        body = json.dumps(sample_payload(preset, called, delivery_id=delivery_id, now=now)).encode()
    else:
        body = read_file(payload).encode()
    headers = sign(preset, secret, body, event=called, delivery_id=delivery_id, now=now)
    status, answer = _deliver(webhook["url"], body, headers)
    if output.is_json:
        output.emit({"type": "delivered", "status": status, **answer})
    elif status < 300:
        output.say(_said(answer))
    if status >= 300:
        problem = answer.get("problem", {})
        message = f"The webhook answered with {status}: {problem.get('message', 'no reason was given')}"
        if status == 422:
            message += f" `packline trigger firings {trigger}` has the reason."
            message += "" if payload is not None else " For a payload like the sender's, use --payload FILE."
        raise CliError(message)


def _deliver(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, JSON]:
    """Send a delivery; returns the status and what the answer says."""
    import httpx2

    from app.cli.base.exits import EXIT_UNREACHABLE, CliError

    given = {"content-type": "application/json", **headers}
    try:
        answer = httpx2.post(url, content=body, headers=given, timeout=_ANSWER_SECONDS, trust_env=False)
    except httpx2.TransportError as error:
        reason = str(error) or type(error).__name__
        message = f"{url} cannot be reached from here: {reason}. Behind a proxy, set PACKLINE_PUBLIC_URL on the server."
        raise CliError(message, EXIT_UNREACHABLE) from error
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return answer.status_code, answer.json() if is_json else {}


def _said(answer: JSON) -> str:
    match answer.get("status"):
        case "accepted":
            return f"The run {answer['run']} is started. `packline watch {answer['run']}` shows its steps."
        case "duplicate":
            return "It was delivered before, so no run is started."
        case _:
            return "The webhook does not fire for this event. Use --event NAME for another one."


__all__ = ["triggers"]
