"""The checker finds nothing wrong with what a few real runs leave, and names each damage done to it."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections import Counter
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from store.database.dialects import Sql
from tests.soak import checker
from tests.soak.callers import Caller
from tests.soak.journal import Journal
from tests.soak.pipelines import PACKS, PIPELINES
from tests.soak.triggers import begin_schedules, end_schedules
from tests.support.databases import DATABASE, ready_database
from tests.support.graphql_client import PATIENCE_SECONDS
from tests.support.product import product
from tests.support.vaults import put
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "a horse battery of 7 staples"
_SAVE = "mutation ($document: JSON!) { createPipeline(definition: {document: $document}) { __typename } }"
_IN_USE = Sql(
    "SELECT (SELECT count(*) FROM run WHERE ended_at IS NULL), (SELECT count(*) FROM session WHERE ended_at IS NULL)"
)


async def do_a_few_runs(folder: Path, database_url: str) -> Journal:
    """A run of each pipeline, a cancel, a resume, a re-run, a repeat, a deletion and triggers, until all is at rest."""
    journal = Journal(secrets=[SECRET])
    async with product(
        folder, database_url=database_url, pack_path=(PACKS,), session_idle_seconds=0.1, session_sweep_seconds=0.1
    ) as it:
        for pipeline in PIPELINES.values():
            await it.mutate(_SAVE, {"document": pipeline.document()})
        await put(it, "soak", "generic", {"secret": SECRET}, grants=["soak.leak"])
        token = await it.token_for("ada", "READ", "RUN", "WRITE")
        urls = {"one": it.url("").rstrip("/")}
        caller = Caller("ada", token, urls, journal, folder / "once.txt", random.Random(1))
        admin = Admin(it)
        await begin_schedules(admin, journal)
        try:
            await use(caller, it)
        finally:
            await caller.close()
        await end_schedules(admin, journal, PATIENCE_SECONDS)

        async def is_at_rest() -> bool:
            found = (await it.services.store.rows(_IN_USE))[0]
            return not any(found) and not any((it.folder / "sessions").glob("*"))

        await eventually(is_at_rest)
    return journal


class Admin:
    """The administrator of a product."""

    def __init__(self, it: Product) -> None:
        self._it = it

    async def ask(self, query: str, /, **variables: object) -> dict[str, Any]:
        return await self._it.query(query, variables)

    async def command(self, query: str, /, **variables: object) -> dict[str, Any]:
        return await self._it.mutate(query, variables)


async def use(caller: Caller, it: Product) -> None:
    await caller.add_webhook()
    await asyncio.gather(*(caller.deliver("delivery", "delivered") for _ in range(2)))
    runs = {}
    for number, key in enumerate(PIPELINES):
        runs[key] = await caller.start(key, "x" * (number + 1), f"key-{number}")
    cancelled = await caller.start("soak-slow", "cancelled")
    deleted = await caller.start("soak-quick", "deleted")
    assert cancelled is not None
    assert deleted is not None
    await caller.cancel(cancelled)
    await caller.start("soak-quick", "x", "key-0")
    ended = [run for run in (*runs.values(), deleted) if run is not None]
    assert len(ended) == len(PIPELINES) + 1
    for run in ended:

        async def has_ended(run_id: str = run.id) -> bool:
            found = await it.services.store.rows(Sql(f"SELECT 1 FROM run WHERE id = '{run_id}' AND ended_at IS NULL"))
            return not found

        await eventually(has_ended)
    assert runs["soak-stumble"] is not None
    assert runs["soak-quick"] is not None
    await caller.resume(runs["soak-stumble"])
    await caller.rerun(runs["soak-quick"])
    await caller.delete(deleted)
    await caller.look(runs["soak-quick"])
    await caller.look(runs["soak-broken"])
    await caller.watch_some()


def remains_of(url: str, folder: Path) -> checker.Remains:
    return checker.read(url, folder / "data", executions=checker.executions(folder / "once.txt"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Journal]:
    """What a few runs left of an embedded database, and what was answered."""
    folder = tmp_path_factory.mktemp("left")
    journal = await do_a_few_runs(folder, "sqlite")
    await checker.tidy("sqlite", folder / "data")
    return folder, journal


async def test_what_a_few_runs_leave_is_whole(left: tuple[Path, Journal]):
    folder, journal = left
    remains = remains_of("sqlite", folder)
    assert checker.faults_of(remains, journal) == []
    assert journal.faults == []
    states = Counter(row["state"] for row in remains.runs.values() if row["trigger_id"] is None)
    # The stumbling one was resumed, the quick one ran twice; broken fails, and so does every other text of the leak.
    assert states["cancelled"] == 1
    assert states.total() == len(PIPELINES) + 2
    assert "soak-leak" in {remains.pipelines[row["pipeline_id"]] for row in remains.runs.values()}
    assert {row["outcome"] for row in remains.tables["firing"]} >= {"fired"}
    assert len(journal.deliveries) == 1
    assert {"run_pipeline", "rerun_run", "resume_run", "cancel_run", "delete_run"} <= {
        action for action, _, _ in journal.commands
    }


@pytest.mark.postgres
async def test_on_postgresql_too(tmp_path: Path):
    with ready_database() as url:
        journal = await do_a_few_runs(tmp_path, url)
        await checker.tidy(url, tmp_path / "data")
        assert checker.faults_of(remains_of(url, tmp_path), journal) == []
    assert journal.faults == []


_RUN = """(SELECT run.id FROM run JOIN pipeline ON pipeline.id = pipeline_id WHERE pipeline.key = 'soak-{}'
    AND trigger_id IS NULL LIMIT 1)"""
_INSTANT = "(SELECT id FROM firing WHERE scheduled_at IS NOT NULL AND outcome = 'fired' ORDER BY id LIMIT 1)"
_DUE = f"(SELECT run_id FROM firing WHERE id = {_INSTANT})"
_QUICK, _BROKEN, _ONCE, _FILES = (_RUN.format(name) for name in ("quick", "broken", "once", "files"))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (f"DELETE FROM run WHERE id = {_ONCE}", "its start was answered, and it is not there"),
        (f"UPDATE run SET state = 'running', ended_at = NULL WHERE id = {_QUICK}", "is running, which is not final"),
        (f"UPDATE run SET state = 'failed', failure = '{{}}' WHERE id = {_QUICK}", "its last event says succeeded"),
        (
            f"UPDATE run_event SET after = 'cancelled' WHERE type = 'run_state' AND run_id = {_QUICK}"
            " AND after = 'succeeded'",
            "its last event says cancelled, its row succeeded",
        ),
        (f"UPDATE run SET next_seq = next_seq + 1 WHERE id = {_QUICK}", "are missing or too many"),
        (
            f"DELETE FROM run_event WHERE run_id = {_QUICK} AND sequence ="
            f" (SELECT max(sequence) FROM run_event WHERE run_id = {_QUICK})",
            "are missing or too many",
        ),
        (f"UPDATE run_step SET state = 'pending' WHERE run_id = {_QUICK} AND position = 2", "and its last event says"),
        (f"UPDATE run SET state = 'cancelled' WHERE id = {_BROKEN}", "answered to be FAILED, and is cancelled"),
        (f"UPDATE run SET pipeline_id = (SELECT pipeline_id FROM run WHERE id = {_ONCE}) WHERE id = {_QUICK}", "is no"),
        (f"UPDATE run SET idempotency_key = 'other' WHERE id = {_QUICK}", "under the key key-0 and does not have it"),
        (f"UPDATE run SET owner = 'somebody' WHERE id = {_QUICK}", "its owner is somebody, and nothing runs"),
        (f"UPDATE run SET lease_until = ended_at WHERE id = {_QUICK}", "its lease_until is"),
        (f"UPDATE run SET admitted = true WHERE id = {_QUICK}", "it takes a slot of its caller"),
        (f"UPDATE run_step SET state = 'waiting' WHERE run_id = {_QUICK} AND position = 2", "is waiting, and nothing"),
        (f"UPDATE attempt SET state = 'running' WHERE run_id = {_QUICK} AND number = 1", "is under way"),
        (
            f'UPDATE run SET failure = \'{{"code":"timeout","message":"late"}}\' WHERE id = {_BROKEN}',
            "a run of soak-broken failed with timeout: late",
        ),
        (f"UPDATE run_step SET attempt_id = NULL WHERE run_id = {_QUICK} AND position = 2", "no succeeded attempt"),
        (f"UPDATE run_step SET state = 'failed' WHERE run_id = {_QUICK} AND position = 2", "its step b is failed"),
        (f'UPDATE attempt SET output = \'{{"text":"xq"}}\' WHERE run_id = {_QUICK}', "its output is {'text': 'xq'}"),
        (f"UPDATE artifact SET digest = '{'0' * 64}' WHERE run_id = {_FILES}", "has no file"),
        ("DELETE FROM blob", "has no row"),
        ("DELETE FROM artifact", "belongs to no artifact"),
        ("UPDATE session SET ended_at = NULL", "has not ended"),
        ("UPDATE audit SET accepted = 0 WHERE action = 'cancel_run'", "cancel_run was accepted 1 times, and the audit"),
        ("DELETE FROM audit WHERE action = 'run_pipeline'", "run_pipeline was accepted 2 times, and the audit has 0"),
        (f"UPDATE log_line SET text = 'it is {SECRET}.'", "a secret is in a row of log_line"),
        (
            f"UPDATE attempt SET output = '{{\"text\":\"' || hex('{SECRET}') || '\"}}'",
            "a secret is in a row of attempt",
        ),
        (f"DELETE FROM firing WHERE id = {_INSTANT}", "has 0 firings"),
        (
            "INSERT INTO firing SELECT id || 'x', trigger_id, key || 'x', scheduled_at, outcome, reason, run_id,"
            f" created_at FROM firing WHERE id = {_INSTANT}",
            "has 2 firings",
        ),
        (f"UPDATE firing SET outcome = 'missed', run_id = NULL WHERE id = {_INSTANT}", "no reason is given"),
        (f"UPDATE firing SET run_id = NULL WHERE id = {_INSTANT}", "it was fired, and its run is None"),
        (f"UPDATE firing SET run_id = NULL WHERE id = {_INSTANT}", "its trigger has 0 firings of it"),
        (f"DELETE FROM run WHERE id = {_DUE}", "is not there"),
        (f"UPDATE run SET trigger_id = 'trig_x' WHERE id = {_DUE}", "is one of trig_x"),
        (f'UPDATE run SET inputs = \'{{"text":"2000-01-01T00:00:00Z"}}\' WHERE id = {_DUE}', "it was due at"),
        ("DELETE FROM audit WHERE action = 'trigger_fired'", "the audit has 0 rows of it"),
        ("DELETE FROM run_step", "refers to a row of run_step that is not there"),
    ],
)
async def test_a_damaged_row_is_named(left: tuple[Path, Journal], tmp_path: Path, damage: str, said: str):
    folder, journal = left
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    connection = sqlite3.connect(tmp_path / "data" / DATABASE)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    assert connection.execute(damage).rowcount > 0
    connection.commit()
    connection.close()
    faults = checker.faults_of(remains_of("sqlite", tmp_path), journal)
    assert any(said in fault for fault in faults), faults


def leave_part(folder: Path) -> None:
    (folder / "data" / "blobs" / "tmp").mkdir(exist_ok=True)
    (folder / "data" / "blobs" / "tmp" / "half").touch()


def leave_workspace(folder: Path) -> None:
    (folder / "data" / "sessions" / "sess_1").mkdir(parents=True)


def change_content(folder: Path) -> None:
    next((folder / "data" / "blobs").glob("??/" + "?" * 62)).write_bytes(b"other")


def leave_secret(folder: Path) -> None:
    (folder / "data" / "note").write_text(SECRET)


def execute_twice(folder: Path) -> None:
    marks = folder / "once.txt"
    marks.write_text(marks.read_text() * 2)


def execute_never(folder: Path) -> None:
    (folder / "once.txt").unlink()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (leave_part, "a temporary file is left, half"),
        (leave_workspace, "the workspace sess_1 is left"),
        (change_content, "holds something else"),
        (leave_secret, "a secret is in note"),
        (execute_twice, "its at-most-once step b was executed 2 times"),
        (execute_never, "its at-most-once step b succeeded and was not executed"),
    ],
)
async def test_a_damaged_folder_is_named(
    left: tuple[Path, Journal], tmp_path: Path, damage: Callable[[Path], None], said: str
):
    folder, journal = left
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    damage(tmp_path)
    faults = checker.faults_of(remains_of("sqlite", tmp_path), journal)
    assert any(said in fault for fault in faults), faults


async def test_other_damage_is_named(left: tuple[Path, Journal]):
    folder, journal = left
    journal = deepcopy(journal)
    remains = remains_of("sqlite", folder)
    remains.logs = {"one": f"a line\nit is {SECRET.encode().hex()}\n"}
    remains.processes = ["python -m worker"]
    run = next(run for run in journal.runs.values() if run.deleted == "no")
    run.deleted = "yes"
    faults = checker.faults_of(remains, journal)
    assert faults == [
        f"{run.id}: its deletion was answered, and it is still there",
        "server one: a secret is in its log",
        "process: python -m worker still runs",
    ]


async def test_a_secret_is_found_in_base64_wherever_it_begins(left: tuple[Path, Journal]):
    import base64

    folder, journal = left
    for before in ("", "u", "us", "use", "user:"):
        for after in ("", "!", "!!"):
            remains = remains_of("sqlite", folder)
            remains.logs = {"one": base64.b64encode(f"{before}{SECRET}{after}".encode()).decode()}
            assert checker.faults_of(remains, journal) == ["server one: a secret is in its log"]


async def test_an_idempotency_key_that_leads_elsewhere_is_named():
    journal = Journal()
    journal.led_to("ada", "key", "run_1")
    journal.led_to("ada", "key", "run_1")
    assert journal.faults == []
    journal.led_to("ada", "key", "run_2")
    assert journal.faults == ["run_2: the start with key key of ada led to run_1 before"]
