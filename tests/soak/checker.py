"""What must hold of the database and the data folder after everything has stopped.

Each promise is a function of what remains and of what callers were answered. It gives the faults it found, in words
that name the run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from store.database.dialects import libpq_url
from store.database.engine import open_store
from store.files.blobs import BlobStore
from store.maintenance.retention import prune_blobs
from store.runs.events import ROW, EventRecord, events_of
from store.states import FINAL_RUN_STATES, RUN_TRANSITIONS, RunState
from tests.soak.pipelines import PIPELINES
from tests.soak.triggers import a_firing_is_one_run, every_instant_has_one_firing
from tests.support.databases import DATABASE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.soak.journal import Journal

Rows = list[dict[str, Any]]
_FINAL = {state.value for state in FINAL_RUN_STATES}
_EVENT_COLUMNS = ROW.split(", ")


@dataclass
class Remains:
    """What is left when everything has stopped.

    Attributes:
        tables: Every row of every table.
        integrity: What the database says of itself; empty when nothing is wrong.
        folder: The data folder.
        logs: What servers wrote, by name.
        executions: How often each at-most-once step was executed, by run and step.
        processes: Command lines of processes of the servers that still run.
    """

    tables: dict[str, Rows]
    folder: Path
    integrity: list[str] = field(default_factory=list)
    logs: Mapping[str, str] = field(default_factory=dict)
    executions: Counter[tuple[str, str]] = field(default_factory=Counter)
    processes: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.runs = {row["id"]: row for row in self.tables["run"]}
        self.steps: dict[str, Rows] = defaultdict(list)
        for row in sorted(self.tables["run_step"], key=lambda row: row["position"]):
            self.steps[row["run_id"]].append(row)
        self.attempts = {row["id"]: row for row in self.tables["attempt"]}
        self.events: dict[str, list[EventRecord]] = defaultdict(list)
        for row in sorted(self.tables["run_event"], key=lambda row: row["sequence"]):
            self.events[row["run_id"]] += events_of(tuple(row[name] for name in _EVENT_COLUMNS))  # type: ignore[arg-type] # as drivers hand rows out
        self.pipelines = {row["id"]: row["key"] for row in self.tables["pipeline"]}


# -- reading -----------------------------------------------------------------------------------------------


async def tidy(url: str, folder: Path) -> None:
    """Removes what killed servers left half done, as a server does an hour later."""
    store = await open_store(url, folder, migrate=False)
    try:
        blobs = BlobStore(folder)
        await prune_blobs(store, blobs, grace_seconds=0)
        blobs.sweep_parts(grace_seconds=0)
    finally:
        await store.close()


def read(url: str, folder: Path, **found: Any) -> Remains:
    """Reads all that remains of a database and its data folder."""
    if url == "sqlite":
        tables, integrity = _read_sqlite(folder / DATABASE)
    else:
        tables, integrity = _read_postgres(url), []
    return Remains(tables, folder, integrity, **found)


def executions(file: Path) -> Counter[tuple[str, str]]:
    """How often each at-most-once step was executed, by run and step, as the steps themselves wrote it."""
    lines = file.read_text().splitlines() if file.exists() else []
    return Counter((line.split()[0], line.split()[1]) for line in lines)


def _read_sqlite(file: Path) -> tuple[dict[str, Rows], list[str]]:
    connection = sqlite3.connect(file)
    try:
        connection.row_factory = sqlite3.Row
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')] for (name,) in names}
        said = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        said += [
            f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is not there"
            for row in connection.execute("PRAGMA foreign_key_check")
        ]
    finally:
        connection.close()
    return tables, said


def _read_postgres(url: str) -> dict[str, Rows]:
    with psycopg.connect(libpq_url(url), row_factory=dict_row) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        return {
            name["tablename"]: connection.execute(
                sql.SQL("SELECT * FROM {}").format(sql.Identifier(name["tablename"]))
            ).fetchall()
            for name in names
        }


# -- promises ----------------------------------------------------------------------------------------------


def every_answered_start_exists(remains: Remains, journal: Journal) -> Iterator[str]:
    """A run whose start was answered is there, unless somebody deleted it."""
    for run in journal.runs.values():
        if run.deleted == "no" and run.id not in remains.runs:
            yield f"{run.id}: its start was answered, and it is not there"
        if run.deleted == "yes" and run.id in remains.runs:
            yield f"{run.id}: its deletion was answered, and it is still there"


def every_run_has_one_final_state(remains: Remains, journal: Journal) -> Iterator[str]:
    """A run is in a final state, and its events led there by legal transitions."""
    for run_id, row in remains.runs.items():
        if row["state"] not in _FINAL:
            yield f"{run_id}: its state is {row['state']}, which is not final"
        before: str | None = None
        for event in remains.events[run_id]:
            if event.type != "run_state":
                continue
            if event.before != before:
                yield f"{run_id}: event {event.sequence} goes on from {event.before}, and it was {before}"
            elif (
                before is not None
                and event.after != before
                and (RunState(str(event.after)) not in RUN_TRANSITIONS[RunState(before)])
            ):
                yield f"{run_id}: event {event.sequence} takes it from {before} to {event.after}, which is not legal"
            before = event.after
        if before != row["state"]:
            yield f"{run_id}: its last event says {before}, its row {row['state']}"


def events_have_no_gap(remains: Remains, journal: Journal) -> Iterator[str]:
    """Events are numbered from 1 to the number before the next one; those of steps and attempts end where they are."""
    for run_id, row in remains.runs.items():
        numbers = [event.sequence for event in remains.events[run_id]]
        if numbers != list(range(1, row["next_seq"])):
            missing = sorted(set(range(1, row["next_seq"])) - set(numbers))
            yield f"{run_id}: events {missing or numbers} are missing or too many before {row['next_seq']}"
        last: dict[str, str | None] = {}
        for event in remains.events[run_id]:
            if event.type == "step_state":
                last[str(event.step_id)] = event.after
        for step in remains.steps[run_id]:
            if last.get(step["id"], "pending") != step["state"]:
                yield f"{run_id}: step {step['key']} is {step['state']}, and its last event says {last.get(step['id'])}"
    for run_id in remains.events.keys() - remains.runs.keys():
        if remains.events[run_id]:
            yield f"{run_id}: it has events and is not there"


def what_was_answered_holds(remains: Remains, journal: Journal) -> Iterator[str]:
    """A run is what its caller was last answered: a cancelled run has not succeeded."""
    for run in journal.runs.values():
        row = remains.runs.get(run.id)
        if row is None:
            continue
        if run.settled is not None and row["state"] != run.settled.lower():
            yield f"{run.id}: it was answered to be {run.settled}, and is {row['state']}"
        if remains.pipelines.get(row["pipeline_id"]) != run.pipeline:
            yield f"{run.id}: it is no run of {run.pipeline}"
    for (_, key), run_id in journal.keys.items():
        row = remains.runs.get(run_id)
        joined = [each for each in remains.tables["joined_key"] if each["run_id"] == run_id]
        if row is not None and key not in (row["idempotency_key"], *(each["idempotency_key"] for each in joined)):
            yield f"{run_id}: it was started under the key {key} and does not have it"


def nobody_holds_anything(remains: Remains, journal: Journal) -> Iterator[str]:
    """No run has an owner or a lease, and no attempt is under way."""
    for run_id, row in remains.runs.items():
        for name in ("owner", "lease_until", "flight", "not_before"):
            if row[name] is not None:
                yield f"{run_id}: its {name} is {row[name]}, and nothing runs"
        if row["admitted"]:
            yield f"{run_id}: it takes a slot of its caller, and nothing runs"
        for step in remains.steps[run_id]:
            if step["state"] in ("running", "waiting"):
                yield f"{run_id}: step {step['key']} is {step['state']}, and nothing runs"
    for attempt in remains.attempts.values():
        if attempt["state"] == "running" or attempt["ended_at"] is None:
            yield f"{attempt['run_id']}: attempt {attempt['number']} ({attempt['id']}) is under way, and nothing runs"


def runs_came_to_what_they_must(remains: Remains, journal: Journal) -> Iterator[str]:
    """Steps of a succeeded run succeeded, outputs are exact, and failures are those that their packs explain."""
    for run_id, row in remains.runs.items():
        pipeline = PIPELINES.get(remains.pipelines.get(row["pipeline_id"], ""))
        if pipeline is None:
            continue
        if row["state"] == "failed":
            failure = json.loads(row["failure"] or "{}")
            if failure.get("code") not in pipeline.failures:
                words = f"{failure.get('code')}: {failure.get('message')}"
                yield f"{run_id}: a run of {pipeline.key} failed with {words}"
        if row["state"] != "succeeded":
            continue
        if not pipeline.may_succeed:
            yield f"{run_id}: a run of {pipeline.key} succeeded, which cannot be"
        output = None
        for step in remains.steps[run_id]:
            attempt = remains.attempts.get(step["attempt_id"])
            if step["state"] != "succeeded":
                yield f"{run_id}: it succeeded, and its step {step['key']} is {step['state']}"
            elif attempt is None or attempt["state"] != "succeeded" or attempt["step_id"] != step["id"]:
                yield f"{run_id}: no succeeded attempt counts for step {step['key']}"
            else:
                output = json.loads(attempt["output"])
        wanted = {"text": json.loads(row["inputs"])["text"] + str(pipeline.ending)}
        if pipeline.ending is not None and output != wanted:
            yield f"{run_id}: its output is {output}, not {wanted}"


def at_most_once_is_once(remains: Remains, journal: Journal) -> Iterator[str]:
    """An at-most-once step ran once at most, and once if it succeeded."""
    for (run_id, key), count in remains.executions.items():
        if count > 1:
            yield f"{run_id}: its at-most-once step {key} was executed {count} times"
    for run_id, steps in remains.steps.items():
        for step in steps:
            attempt = remains.attempts.get(step["attempt_id"], {})
            ran = step["pack"] == "soak.once" and step["state"] == "succeeded" and attempt.get("reused_from") is None
            if ran and remains.executions[run_id, step["key"]] != 1:
                yield f"{run_id}: its at-most-once step {step['key']} succeeded and was not executed"


def files_are_those_of_the_table(remains: Remains, journal: Journal) -> Iterator[str]:
    """Contents are there, exact and no others; nothing temporary and no workspace is left."""
    folder = remains.folder / "blobs"
    runs_of = defaultdict(set)
    for artifact in remains.tables["artifact"]:
        if artifact["erased_at"] is None:
            runs_of[artifact["digest"]].add(artifact["run_id"])
    for preview in remains.tables["preview"]:
        if preview["image_digest"] is not None:
            runs_of[preview["image_digest"]].add("a preview")
    rows = {row["digest"]: row for row in remains.tables["blob"]}
    markers = {row["digest"] for row in remains.tables["blob_marker"]}
    for digest in markers:
        runs_of[digest].add("the marker of the storage")
    there = {
        path.parent.name + path.name: path
        for path in folder.glob("*/*")
        if re.fullmatch(r"[0-9a-f]{64}", path.parent.name + path.name)
    }
    for digest in rows.keys() | runs_of.keys() | there.keys():
        whose = ", ".join(sorted(map(str, runs_of[digest]))) or "no run"
        if digest not in there:
            yield f"{whose}: the content {digest} has no file"
        elif digest not in rows and digest not in markers:
            yield f"{whose}: the file of {digest} has no row"
        elif hashlib.sha256(there[digest].read_bytes()).hexdigest() != digest:
            yield f"{whose}: the file of {digest} holds something else"
        elif not runs_of[digest]:
            yield f"{whose}: the content {digest} belongs to no artifact"
    for path in folder.glob("tmp/*"):
        yield f"blobs: a temporary file is left, {path.name}"
    living = {row["id"]: row["run_id"] for row in remains.tables["session"] if row["ended_at"] is None}
    for session, run_id in living.items():
        yield f"{run_id}: its session {session} has not ended"
    whose_session = {row["id"]: row["run_id"] for row in remains.tables["session"]}
    for path in (remains.folder / "sessions").glob("*"):
        yield f"{whose_session.get(path.name, 'no run')}: the workspace {path.name} is left"


def commands_were_audited(remains: Remains, journal: Journal) -> Iterator[str]:
    """The audit has a row for each answered command."""
    counted: Counter[tuple[str, str, bool]] = Counter()
    run_of = {key: run_id for (_, key), run_id in journal.keys.items()}
    for row in remains.tables["audit"]:
        detail = json.loads(row["detail"] or "{}")
        # A repeat names the key alone where the run was found before anything was written.
        run_id = detail.get("run") or run_of.get(detail.get("idempotency_key"))
        for named in {row["target_id"], run_id}:
            counted[row["action"], str(named), bool(row["accepted"])] += 1
    for (action, run_id, accepted), count in journal.commands.items():
        found = counted[action, run_id, accepted]
        if found < count:
            said = "accepted" if accepted else "refused"
            yield f"{run_id}: {action} was {said} {count} times, and the audit has {found} rows of it"


def no_secret_is_kept(remains: Remains, journal: Journal) -> Iterator[str]:
    """No secret is in a table, a file of the data folder or a log, neither plain nor in base64 or hexadecimal."""
    forms = {form for secret in journal.secrets for form in _forms(secret)}
    if not forms:
        return
    pattern = re.compile("|".join(re.escape(form) for form in forms))
    pattern_bytes = re.compile(pattern.pattern.encode())
    for name, rows in remains.tables.items():
        for row in rows:
            if pattern.search(json.dumps(row, default=str, ensure_ascii=False)):
                yield f"{row.get('run_id') or row.get('id')}: a secret is in a row of {name}"
    for path in remains.folder.rglob("*"):
        if path.is_file() and pattern_bytes.search(path.read_bytes()):
            yield f"data folder: a secret is in {path.relative_to(remains.folder)}"
    for name, text in remains.logs.items():
        for line in text.splitlines():
            if pattern.search(line):
                yield f"server {name}: a secret is in its log"


def the_database_is_whole(remains: Remains, journal: Journal) -> Iterator[str]:
    """The database finds nothing wrong with itself."""
    for words in remains.integrity:
        yield f"database: {words}"


def no_process_is_left(remains: Remains, journal: Journal) -> Iterator[str]:
    """No process of a server outlives it."""
    for words in remains.processes:
        yield f"process: {words} still runs"


#: What is checked, in the order in which it is told.
PROMISES: tuple[Callable[[Remains, Journal], Iterator[str]], ...] = (
    every_answered_start_exists,
    every_run_has_one_final_state,
    events_have_no_gap,
    what_was_answered_holds,
    nobody_holds_anything,
    runs_came_to_what_they_must,
    at_most_once_is_once,
    files_are_those_of_the_table,
    commands_were_audited,
    no_secret_is_kept,
    every_instant_has_one_firing,
    a_firing_is_one_run,
    the_database_is_whole,
    no_process_is_left,
)


def faults_of(remains: Remains, journal: Journal) -> list[str]:
    """Everything that is not as it must be."""
    return [fault for promise in PROMISES for fault in promise(remains, journal)]


def _forms(secret: str) -> Iterator[str]:
    data = secret.encode()
    yield secret
    yield data.hex()
    yield data.hex().upper()
    for shift in range(3):
        # Of the characters at either end, some bits belong to the neighbours.
        text = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        yield text[(0, 2, 3)[shift] : len(text) - (1 if (shift + len(data)) % 3 else 0)]
