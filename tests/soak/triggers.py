"""The triggers of a soak: schedules of each second, and a webhook of each caller; and what must hold of them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from store.database.dialects import some_instant
from store.triggers.firings import FIRINGS_KEPT, FiringOutcome
from tests.soak.journal import SoakSchedule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.soak.checker import Remains, Rows
    from tests.soak.journal import Journal

#: The pipeline of each overlap rule; runs of the slow one outlast the second.
_PIPELINES = {"SKIP": "soak-quick", "QUEUE": "soak-slow", "CANCEL_PREVIOUS": "soak-slow"}
_SECOND = timedelta(seconds=1)
_CREATE = """mutation ($pipeline: ID!, $name: String!, $overlap: OverlapPolicy!, $inputs: JSON) {
    createTrigger(pipeline: $pipeline, name: $name, inputs: $inputs,
        schedule: {intervalSeconds: 1, overlap: $overlap, catchUp: ALL}) { __typename
        ... on TriggerSuccess { trigger { id nextAt } } ... on Problem { message } } }"""
_NEXT = "query ($id: ID!) { trigger(id: $id) { nextAt attention } }"
_PAUSE = "mutation ($id: ID!) { pauseTrigger(id: $id) { __typename ... on Problem { message } } }"


class Administrator(Protocol):
    """Asks a server as its administrator; see `tests.support.servers.RealServer`."""

    async def ask(self, query: str, /, **variables: object) -> dict[str, Any]: ...
    async def command(self, query: str, /, **variables: object) -> dict[str, Any]: ...


async def begin_schedules(server: Administrator, journal: Journal) -> None:
    """Creates a schedule of each second for each overlap rule."""
    for overlap, pipeline in _PIPELINES.items():
        inputs: dict[str, Any] = {"text": "${{ trigger.scheduled_at }}"}
        if pipeline == "soak-slow":
            inputs["seconds"] = 1
        answer = await server.command(_CREATE, pipeline=pipeline, name=overlap, overlap=overlap, inputs=inputs)
        assert answer["__typename"] == "TriggerSuccess", answer
        first = datetime.fromisoformat(answer["trigger"]["nextAt"])
        journal.schedules[answer["trigger"]["id"]] = SoakSchedule(first)


async def end_schedules(server: Administrator, journal: Journal, patience_seconds: float) -> None:
    """Pauses the schedules once they have dealt with every instant until now."""
    now = datetime.now(UTC)
    for trigger_id, schedule in journal.schedules.items():
        schedule.until = now
        async with asyncio.timeout(patience_seconds):
            while True:
                found = (await server.ask(_NEXT, id=trigger_id))["trigger"]
                if found["nextAt"] is None:
                    journal.faults.append(f"{trigger_id}: it was paused: {found['attention']}")
                    break
                if datetime.fromisoformat(found["nextAt"]) > now:
                    break
                await asyncio.sleep(0.1)
    for trigger_id in journal.schedules:
        await server.command(_PAUSE, id=trigger_id)


def every_instant_has_one_firing(remains: Remains, journal: Journal) -> Iterator[str]:
    """Each instant of a schedule fired, or has the reason why not."""
    firings = _by_trigger(remains.tables["firing"])
    for trigger_id, schedule in journal.schedules.items():
        if schedule.until is None:
            continue
        found = Counter(some_instant(row["scheduled_at"]) for row in firings[trigger_id])
        instant = schedule.first if found.total() < FIRINGS_KEPT else min(found)
        while instant <= schedule.until:
            if found[instant] != 1:
                yield f"{trigger_id}: the instant {instant.isoformat()} has {found[instant]} firings"
            instant += _SECOND
        for row in firings[trigger_id]:
            if row["outcome"] != FiringOutcome.FIRED and not row["reason"]:
                yield f"{row['id']}: it was {row['outcome']}, and no reason is given"


def a_firing_is_one_run(remains: Remains, journal: Journal) -> Iterator[str]:
    """A firing that started a run has one, that of its instant, and each run of a trigger is that of one firing."""
    runs_of: defaultdict[str, list[str]] = defaultdict(list)
    audited: Counter[str] = Counter()
    for row in remains.tables["audit"]:
        if row["action"] == "trigger_fired":
            audited[str(json.loads(row["detail"])["run"])] += 1
    for trigger_id, rows in _by_trigger(remains.tables["firing"]).items():
        for row in rows:
            if (row["outcome"] == FiringOutcome.FIRED) != (row["run_id"] is not None):
                yield f"{row['id']}: it was {row['outcome']}, and its run is {row['run_id']}"
            if row["run_id"] is None:
                continue
            runs_of[trigger_id].append(row["run_id"])
            run = remains.runs.get(row["run_id"])
            if run is None:
                if trigger_id in journal.schedules:
                    yield f"{row['id']}: its run {row['run_id']} is not there"
                continue
            if run["trigger_id"] != trigger_id:
                yield f"{row['id']}: its run {run['id']} is one of {run['trigger_id']}"
            if audited[run["id"]] != 1:
                yield f"{row['id']}: the audit has {audited[run['id']]} rows of it"
            if row["scheduled_at"] is not None:
                given = datetime.fromisoformat(json.loads(run["inputs"])["text"])
                if given != some_instant(row["scheduled_at"]):
                    yield f"{row['id']}: it was due at {row['scheduled_at']}, and its run {run['id']} has {given}"
    for run in remains.runs.values():
        of_trigger = runs_of[run["trigger_id"]] if run["trigger_id"] else [run["id"]]
        if of_trigger.count(run["id"]) != 1 and len(of_trigger) < FIRINGS_KEPT:
            yield f"{run['id']}: its trigger has {of_trigger.count(run['id'])} firings of it"


def _by_trigger(rows: Rows) -> defaultdict[str, Rows]:
    found: defaultdict[str, Rows] = defaultdict(list)
    for row in rows:
        found[row["trigger_id"]].append(row)
    return found


def outcomes(firings: Sequence[dict[str, Any]]) -> Counter[str]:
    """How many firings had which outcome."""
    return Counter(f"firings: {row['outcome']}" for row in firings)
