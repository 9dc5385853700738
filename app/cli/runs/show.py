"""The output of `packline show`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app.cli.base.output import ago, duration, took
from app.cli.runs.view import RunView, reused_from, spans_of, worked
from app.cli.runs.watch import print_artifacts, print_end, print_remedy

if TYPE_CHECKING:
    from app.cli.base.output import JSON, Output


def show_run(output: Output, run: JSON) -> None:
    """Print a run: its origin, inputs, steps, artifacts, output and failure."""
    version = f" version {run['version']['number']}" if run["version"] else ""
    name = run["pipeline"]["key"] if run["pipeline"] else run["pack"]["id"] if run["pack"] else "a deleted pipeline"
    output.say(f"{run['id']}  {name}{version}, started by {run['caller']['name']} {ago(run['createdAt'])}", "dim")
    if run["rerunOf"]:
        output.say(f"A re-run of {run['rerunOf']['id']}.", "dim")
    if run["resumeCount"]:
        output.say(f"Resumed {run['resumeCount']} times." if run["resumeCount"] > 1 else "Resumed once.", "dim")
    if run["worker"]:
        output.say(f"Worker {run['worker']} executes it.", "dim")
    for takeover in run["takeovers"]:
        output.say(_takeover(takeover), "dim")
    _value(output, "inputs", run["inputs"])
    output.say()
    print_end(output, RunView.of(run))
    _cost(output, run["cost"], [name for step in run["steps"] for one in step["attempts"] for name in one["models"]])
    _payload(output, "output", run["output"])


def show_step(output: Output, step: JSON) -> None:
    """Print a step: its attempts, the traceback of the last one, input, output and log."""
    pack = (step.get("step") or {}).get("packName") or ""
    version = f" {step['packVersion']}" if step["packVersion"] else ""
    output.console.print(output.state(step["state"]), end=" ")
    source = reused_from(step["attempts"])
    spans = spans_of(step["attempts"])
    time = f"Reused from {source}" if source is not None else duration(worked(spans.values())) if spans else ""
    output.say(f" {step['key']}  {pack}{version}  {time}")
    output.table(
        ["attempt", "state", "took", "what happened"],
        (
            [
                one["number"],
                output.state(one["state"]),
                "" if one.get("reuse") else took(one["startedAt"], one["endedAt"]),
                _happened(one),
            ]
            for one in step["attempts"]
        ),
        empty="No attempts.",
    )
    if step["failure"]:
        print_remedy(output, step["failure"])
    for warning in step["warnings"]:
        output.say(f"warning: {warning}", "yellow")
    for note in step["attempts"][-1]["notes"] if step["attempts"] else []:
        output.say(f"note: {note}", "dim")
    if step["attempts"] and (exception := step["attempts"][-1]["exception"]):
        output.say("\ntraceback", "bold")
        output.say("\n".join(exception["foldedTraceback"]))
    _cost(output, step["cost"], [name for one in step["attempts"] for name in one["models"]])
    if step.get("artifacts"):
        output.say()
        print_artifacts(output, step["artifacts"])
    _payload(output, "input", step["input"])
    _payload(output, "output", step["output"])
    lines = step["attempts"][-1]["log"]["nodes"] if step["attempts"] else []
    if lines:
        output.say("\nlog", "bold")
        for line in lines:
            output.say(f"{line['at'][11:23]}  {line['level'].lower():7}  {line['text']}")


def _takeover(takeover: JSON) -> str:
    worker, previous = takeover["worker"], takeover["previousWorker"]
    if takeover["lost"]:
        return f"{worker} took over from {previous}, which was lost, {ago(takeover['at'])}."
    return f"Moved from {previous} to {worker} {ago(takeover['at'])}."


def _happened(attempt: JSON) -> str:
    source = reused_from([attempt])
    if source is not None:
        return f"Reused from {source}"
    return attempt["failure"]["message"] if attempt["failure"] else ""


def _cost(output: Output, cost: JSON, models: list[str]) -> None:
    """Print the models' tokens and price, if any model was used."""
    if not models:
        return
    used = cost["usage"]
    tokens = f"{used['input']:,} tokens read, {used['output']:,} written" if used else "tokens unknown"
    money = "price unknown" if cost["amountUsd"] is None else f"${cost['amountUsd']:.4f}"
    output.say(f"\n{', '.join(dict.fromkeys(models))}: {tokens}, {money}")


def _payload(output: Output, name: str, payload: JSON | None) -> None:
    if payload is None:
        return
    if payload["text"] is not None:
        output.say(f"\n{name} (beginning of {payload['sizeBytes']} bytes)", "bold")
        output.say(payload["text"])
    else:
        _value(output, name, payload["json"])


def _value(output: Output, name: str, value: object) -> None:
    output.say(f"\n{name}", "bold")
    output.say(json.dumps(value, ensure_ascii=False, indent=2))
