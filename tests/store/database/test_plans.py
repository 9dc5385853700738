"""How SQLite answers the lists: from an index, never by walking or sorting all of history.

The timings behind this are in `make bench`; here the plans are pinned, since a plan changes by a word in the query.
"""

from __future__ import annotations

import importlib
import re
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from store.access.callers import CallerFilter, find_caller_of, list_callers
from store.access.tokens import list_tokens, lost_scope, scopes_of, tokens_for_others
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.database.schema import ensure_sqlite_schema
from store.files.artifacts import (
    ArtifactFilter,
    ArtifactOrder,
    artifacts_of_attempts,
    artifacts_of_steps,
    find_artifacts,
    list_artifacts,
)
from store.pipelines.reads import PipelineFilter, PipelineOrder, list_pipelines
from store.runs.budgets import list_spending
from store.runs.reads import RunFilter, find_payloads, list_runs, newest_runs, oldest_queued, queue_places
from store.runs.spending import spending_of_runs
from store.runs.step_reads import (
    attempt_payloads,
    attempts_of_steps,
    find_attempts,
    find_steps,
    milestones_of,
    steps_of_runs,
)
from store.runs.unit_types import Spent, Succeed
from store.runs.workers import list_workers, takeovers_of_runs
from store.states import RunState, Scope
from tests.support.databases import DATABASE, sqlite_store
from tests.support.rows import caller
from tests.support.runs import submitted, working

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from store.database.engine import Store

ACTIVE = (RunState.QUEUED, RunState.RUNNING, RunState.WAITING)
PAGE = PageWindow(after=("run_9",))
PAGE_OF_COSTS = PageWindow(after=(7, "call_9"))
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)

CASES: dict[str, tuple[Callable[[Store], Awaitable[object]], str]] = {
    "all": (lambda c: list_runs(c, RunFilter(), PAGE), "sqlite_autoindex_run_1 (id<?)"),
    "of a caller": (
        lambda c: list_runs(c, RunFilter(), PAGE, visible_to="call_1"),
        "ix_run_caller (caller_id=? AND id<?)",
    ),
    "in one state": (
        lambda c: list_runs(c, RunFilter(states=(RunState.FAILED,)), PAGE),
        "ix_run_state (state=? AND id<?)",
    ),
    "in final states": (
        lambda c: list_runs(c, RunFilter(states=(RunState.FAILED, RunState.SUCCEEDED)), PAGE),
        "ix_run_state (state=? AND id<?)",
    ),
    "of pipelines": (
        lambda c: list_runs(c, RunFilter(pipeline_ids=("p", "q")), PAGE),
        "ix_run_pipeline (pipeline_id=? AND id<?)",
    ),
    "needing attention": (
        lambda c: list_runs(c, RunFilter(needs_attention=True), PAGE),
        "ix_run_state (state=? AND id<?)",
    ),
    "active": (lambda c: list_runs(c, RunFilter(states=ACTIVE), PAGE), "ix_run_state (state=?)"),
    "active of a caller": (
        lambda c: list_runs(c, RunFilter(states=ACTIVE), PAGE, visible_to="call_1"),
        "ix_run_active (caller_id=? AND state=?)",
    ),
    "of a time": (
        lambda c: list_runs(c, RunFilter(created_from=NOON, created_before=NOON), PAGE),
        "sqlite_autoindex_run_1 (id>? AND id<?)",
    ),
    "artifacts of a time": (
        lambda c: list_artifacts(c, ArtifactFilter(created_from=NOON, created_before=NOON), PAGE),
        "sqlite_autoindex_artifact_1 (id>? AND id<?)",
    ),
    "the largest artifacts": (
        lambda c: list_artifacts(c, ArtifactFilter(), PageWindow((9, "art_9"), None, 5), order=ArtifactOrder.LARGEST),
        "ix_artifact_size",
    ),
    "places in the queue": (lambda c: queue_places(c, ["run_1"]), "ix_run_state (state=?)"),
    "pipelines by latest run": (
        lambda c: list_pipelines(c, PipelineFilter(), PipelineOrder.RECENTLY_RUN, PageWindow(), used_since=NOON),
        "ix_run_pipeline (pipeline_id=?)",
    ),
    "pipelines by a caller's latest run": (
        lambda c: list_pipelines(
            c, PipelineFilter(), PipelineOrder.RECENTLY_RUN, PageWindow(), used_since=NOON, visible_to="call_1"
        ),
        "ix_run_pipeline (pipeline_id=?)",
    ),
    "newest of pipelines": (lambda c: newest_runs(c, ["p", "q"], each=3), "ix_run_pipeline (pipeline_id=?)"),
    "the costs of a month": (lambda c: list_spending(c, "2026-11", PAGE_OF_COSTS), "ix_caller_spending_month (month=?"),
    "a caller's cost in a month": (
        lambda c: list_spending(c, "2026-11", PageWindow(), visible_to="call_1"),
        "sqlite_autoindex_caller_spending_1 (caller_id=? AND month=?)",
    ),
    "callers": (lambda c: list_callers(c, CallerFilter(), PageWindow(after=("call_9",))), "sqlite_autoindex_caller_1"),
    "the caller of a subject": (lambda c: find_caller_of(c, "ada"), "sqlite_autoindex_caller_2 (subject=?)"),
    "tokens of a caller": (lambda c: list_tokens(c, "call_1", PageWindow()), "ix_token_caller_id (caller_id=?"),
    "tokens that a caller made": (
        lambda c: tokens_for_others(c, "call_1", NOON, limit=5),
        "ix_token_made_by (made_by=?",
    ),
    "whether a caller lost a scope": (
        lambda c: lost_scope(c, "call_1", Scope.RUN, NOON),
        "ix_token_caller_id (caller_id=?",
    ),
    "scopes of a caller": (lambda c: scopes_of(c, "call_1", NOON), "ix_token_caller_id (caller_id=?"),
}


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """What SQLAlchemy hands to the driver meanwhile."""
    seen: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        seen.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@contextmanager
def rows_asked(opened: Store) -> Iterator[list[tuple[str, tuple[object, ...]]]]:
    """The prepared reads meanwhile, with their parameters."""
    asked: list[tuple[str, tuple[object, ...]]] = []
    rows = opened.rows

    async def noted(statement: Sql, parameters: Any = (), **how: bool) -> Any:
        asked.append((statement.sqlite, statement.bound(parameters)))
        return await rows(statement, parameters, **how)

    with patch.object(opened, "rows", noted):
        yield asked


def plan_of(folder: Path, statement: str, parameters: Any) -> list[str]:
    """How SQLite answers a statement, line by line."""
    with closing(sqlite3.connect(folder / DATABASE)) as raw:
        return [str(row[-1]) for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]


@pytest.mark.parametrize("name", CASES)
async def test_lists_are_answered_from_an_index(tmp_path: Path, name: str):
    read, index = CASES[name]
    async with sqlite_store(tmp_path) as opened:
        with statements() as seen:
            await read(opened)
    plan = plan_of(tmp_path, *seen[-1])
    assert any(index in line for line in plan), plan
    walks = [line for line in plan if re.match("SCAN (run|token|caller)", line) and not ALLOWED.search(line)]
    assert walks == [], plan


#: What lists may walk: active runs, and callers from the newest on.
ALLOWED = re.compile("ix_run_active|SCAN caller USING INDEX sqlite_autoindex_caller_1")
#: What may be walked: active, queued or admitted runs, by a pause all callers, and triggers of ended runs up to the
#: first that does not start the run's own pipeline.
FEW = re.compile("ix_run_active|ix_run_admitted|ix_run_queue|ix_trigger_run_ended|SCAN (waiting|queue|caller_slot)")
#: Modules with units of work on runs and callers; the other modules of these rooms only read.
UNITS = (
    "runs.admission",
    "runs.budgets",
    "runs.claim",
    "runs.claimed_run",
    "runs.commands",
    "runs.ending",
    "runs.fence",
    "runs.idempotency_keys",
    "runs.ledger",
    "runs.settle",
    "runs.submit",
    "access.callers",
    "access.tokens",
)


def test_units_find_what_they_touch_by_an_index(tmp_path: Path):
    path = tmp_path / "packline.db"
    ensure_sqlite_schema(path, migrate=True)
    modules = [importlib.import_module(f"store.{name}") for name in UNITS]
    # The janitor walks the secrets, which are few, to sweep those that ended.
    units = [unit for module in modules for name, unit in vars(module).items() if name != "_SWEEP"]
    statements = {unit.sqlite for unit in units if isinstance(unit, Sql)}
    assert len(statements) > 60
    walks = []
    with closing(sqlite3.connect(path)) as raw:
        for statement in sorted(statements):
            marks = [None] * len(set(re.findall(r"\?\d+", statement)))
            plan = [row[-1] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}", marks)]
            walks += [(statement, line) for line in plan if "SCAN" in line and not FEW.search(line)]
    assert walks == []


async def test_what_models_cost_is_summed_without_walking_all_attempts(tmp_path: Path):
    async with sqlite_store(tmp_path) as opened:
        who = (await caller(opened)).id
        started = await submitted(opened, who, steps=1)
        worker = await working(opened, started.run_id)
        await worker.start()
        await worker.settle(Succeed(), spent=Spent(1, 2, 3, "[]"))
        with rows_asked(opened) as asked:
            for only in (None, who):
                await spending_of_runs(opened, [started.run_id], visible_to=only)
    plans = [line for statement in asked for line in plan_of(tmp_path, *statement)]
    assert len(asked) == 4, "what was paid, and what was lost, of all and of one caller"
    assert [line for line in plans if "SCAN" in line] == [], plans
    assert sum("ix_attempt_spent" in line for line in plans) == 2, plans


async def test_what_workers_hold_and_leave_waiting_is_read_by_indexes(tmp_path: Path):
    async with sqlite_store(tmp_path) as opened:
        with rows_asked(opened) as asked:
            await oldest_queued(opened)
            await oldest_queued(opened, visible_to="call_1")
            await list_workers(opened, 30.0)
    plans = [plan_of(tmp_path, *statement) for statement in asked]
    for plan, index in zip(
        plans, ("state (state=?)", "active (caller_id=? AND state=?)", "state (state=?)"), strict=True
    ):
        assert any(f"ix_run_{index}" in line for line in plan), plan
        assert [line for line in plan if line.startswith("SCAN run")] == [], plan


async def test_what_a_caller_may_see_is_looked_up_by_indexes(tmp_path: Path):
    async with sqlite_store(tmp_path) as opened:
        reads = (
            find_payloads,
            find_steps,
            steps_of_runs,
            milestones_of,
            find_attempts,
            attempts_of_steps,
            attempt_payloads,
            find_artifacts,
            artifacts_of_steps,
            artifacts_of_attempts,
            spending_of_runs,
            takeovers_of_runs,
        )
        with rows_asked(opened) as statements:
            for read in reads:
                await read(opened, ["a", "b"], visible_to="call_1")
    with closing(sqlite3.connect(tmp_path / "packline.db")) as raw:
        plans = {
            statement: [row[-1] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            for statement, parameters in statements
        }
    assert len(plans) == len(reads)
    for statement, plan in plans.items():
        assert "call_1" not in statement
        assert "caller_id = ?" in statement
        assert [line for line in plan if "SCAN" in line] == [], (statement, plan)
