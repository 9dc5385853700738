"""`packline workers`: the processes that execute runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.base.options import Json, Long, Server  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from app.cli.base.output import JSON

WORKERS = """
query CliWorkers {
  workers { name machine release startedAt lastSeenAt alive offers lanes running draining }
  server { queuedRuns oldestQueuedAt }
  queue { needs runs oldestQueuedAt workers missing }
}
"""


def workers(long: Long = False, server: Server = None, as_json: Json = None) -> None:
    """List the processes that execute runs, and how many runs wait for one."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago, took
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        answer = client.execute(WORKERS)
    queued, oldest = answer["server"]["queuedRuns"], answer["server"]["oldestQueuedAt"]
    if output.is_json:
        for worker in answer["workers"]:
            output.emit({"type": "worker", **worker})
        output.emit({"type": "queue", "queuedRuns": queued, "oldestQueuedAt": oldest, "byNeed": answer["queue"]})
        return
    print_list(
        output,
        [
            Column("worker", "cut"),
            Column("state"),
            Column("runs"),
            Column("release"),
            Column("seen"),
            Column("started", "wide"),
            Column("machine", "long"),
            Column("offers", "long"),
        ],
        (
            [
                worker["name"],
                _state(worker),
                f"{worker['running']} of {worker['lanes']}",
                worker["release"],
                ago(worker["lastSeenAt"]),
                ago(worker["startedAt"]),
                worker["machine"],
                ", ".join(offer for offer in worker["offers"] if not offer.startswith(("@", "pack:"))),
            ]
            for worker in answer["workers"]
        ),
        empty="No workers.",
        long=long,
    )
    if queued:
        runs = "1 run is" if queued == 1 else f"{queued:,} runs are"
        output.say(f"{runs} queued, the oldest for {took(oldest, None)}.")
    else:
        output.say("No run is queued.", "dim")
    for waiting in answer["queue"]:
        if waiting["needs"]:
            output.say(_waiting(waiting))


def _state(worker: JSON) -> str:
    if not worker["alive"]:
        return "not seen"
    if not worker["draining"]:
        return "alive"
    return "draining" if worker["running"] else "drained"


def _waiting(waiting: JSON) -> str:
    runs = "1 run needs" if waiting["runs"] == 1 else f"{waiting['runs']:,} runs need"
    if waiting["missing"]:
        served = f"no living worker offers {', '.join(waiting['missing'])}"
    else:
        served = "served by " + ", ".join(waiting["workers"])
    return f"  {runs} {', '.join(waiting['needs'])}: {served}."
