"""Making, upgrading and refusing schemas, over both databases."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from procrastinate.schema import SchemaManager
from sqlalchemy import (
    Boolean,
    DateTime,
    Float,
    Integer,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy import Column as SqlColumn
from sqlalchemy import String as SqlString
from sqlalchemy.pool import NullPool
from sqlmodel import SQLModel

import store.models  # noqa: F401 - fills SQLModel.metadata
from resolvers.catalog.gaps import read_gap
from store.database import revisions, upgrade
from store.database.dialects import libpq_url
from store.database.errors import StoreError, StoreSchemaError
from store.database.queue_schema import queue_statements
from store.database.revisions import REVISIONS, head_revision
from store.database.schema import ensure_postgres_schema, ensure_sqlite_schema
from store.database.upgrade import configuration
from store.runs.events import ROW, events_of
from tests.support.databases import empty_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine, Table

CHILDREN = 3
_EVENT_ROWS = text(f"SELECT {ROW} FROM run_event ORDER BY sequence")


@dataclass
class Database:
    """One database seen through what the module under test offers for it."""

    kind: str
    where: str

    def ensure(self, *, migrate: bool = True) -> None:
        if self.kind == "sqlite":
            ensure_sqlite_schema(Path(self.where), migrate=migrate)
        else:
            ensure_postgres_schema(self.where, migrate=migrate)

    def upgrade(self) -> None:
        upgrade.upgrade_sqlite(Path(self.where)) if self.kind == "sqlite" else upgrade.upgrade_postgres(self.where)

    def downgrade(self, revision: str) -> None:
        if self.kind == "sqlite":
            upgrade.downgrade_sqlite(Path(self.where), revision)
        else:
            upgrade.downgrade_postgres(self.where, revision)

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        url = self.where
        if self.kind == "sqlite":
            url = f"sqlite:///{self.where}"
        else:
            url = libpq_url(url).replace("postgresql:", "postgresql+psycopg:", 1)
        engine = create_engine(url, poolclass=NullPool)
        if self.kind == "sqlite":
            # As everywhere in the product; it is what makes a careless batch alter delete children.
            event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA foreign_keys=ON"))
        yield engine
        engine.dispose()

    def stamp(self, revision: str) -> None:
        with self.engine() as engine, engine.begin() as connection:
            connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")

    def run(self, code: str) -> subprocess.Popen[bytes]:
        program = f"import sys; from pathlib import Path\n{code}"
        return subprocess.Popen([sys.executable, "-c", program, self.where], cwd=Path(revisions.__file__).parents[1])


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        yield Database("sqlite", str(tmp_path / "packline.db"))
        return
    with empty_database() as url:
        yield Database("postgresql", url)


def parts(sql: str) -> list[str]:
    return sql.replace('"', "").partition("(")[2].rstrip().removesuffix(")").split(",")


def described(connection: Connection) -> object:
    """Everything the database says about its tables, in a form that can be compared."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"
        )
        # Constraints may be written in another order.
        return [(kind, name, sorted(" ".join(part.split()) for part in parts(sql or ""))) for kind, name, sql in rows]
    columns = connection.exec_driver_sql(
        """SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default
        FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 3"""
    )
    constraints = connection.exec_driver_sql(
        """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1, 2"""
    )
    indexes = connection.exec_driver_sql(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
    )
    return [tuple(row) for result in (columns, constraints, indexes) for row in result]


def fill(connection: Connection) -> dict[str, int]:
    """Rows in every table, children too; how many in each."""
    counts = {}
    for table in SQLModel.metadata.sorted_tables:
        connection.execute(insert(table), [row_of(table, number) for number in range(CHILDREN)])
        counts[table.name] = CHILDREN
    return counts


def row_of(table: Table, number: int) -> dict[str, object]:
    row: dict[str, object] = {}
    for column in table.columns:
        kind = getattr(column.type, "impl_instance", column.type)
        if column.foreign_keys:
            # All children point to the first row of their parent, unless that is all they are told apart by.
            parent = number if list(table.primary_key.columns) == [column] else 0
            target = next(iter(column.foreign_keys)).column
            row[column.name] = f"{target.table.name}-{parent}-{target.name}"
        elif isinstance(kind, Boolean):
            row[column.name] = False
        elif isinstance(kind, DateTime):
            row[column.name] = None if column.nullable else datetime(2026, 1, 1, tzinfo=UTC)
        elif isinstance(kind, Integer | Float):
            row[column.name] = number
        else:
            row[column.name] = f"{table.name}-{number}-{column.name}"
    if table.name == "run":
        row |= {"state": "queued", "pack": None}
    if table.name == "attempt":
        row["run_id"] = "run-0-id"  # its step's, though no key says so
    if table.name == "run_event":
        row["earlier"] = None  # or it would be a list of events
    if table.name == "gap_proposal":
        row["gap"] = "{}"  # JSON that a revision reads
    return row


def counted(connection: Connection, without: frozenset[str] = frozenset()) -> dict[str, int]:
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in SQLModel.metadata.sorted_tables
        if table.name not in without
    }


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    return not (kind == "table" and name is not None and name.startswith("procrastinate_"))


def test_the_list_of_revisions_is_that_of_the_folder():
    scripts = ScriptDirectory.from_config(configuration())
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(REVISIONS)
    assert scripts.get_heads() == [head_revision()]


def test_a_new_database_and_a_migrated_one_have_the_same_schema(database: Database, tmp_path: Path):
    database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        migrated = described(connection)
        opts = {"compare_type": True, "compare_server_default": True, "include_name": is_ours}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, SQLModel.metadata) == []
    database.downgrade("base")
    database.ensure()
    with database.engine() as engine, engine.connect() as connection:
        assert described(connection) == migrated


def test_up_and_down_and_up_with_rows_in_every_table(database: Database):
    database.ensure()
    with database.engine() as engine:
        with engine.begin() as connection:
            counts = fill(connection)
        database.upgrade()
        with engine.connect() as connection:
            assert counted(connection) == counts, "an upgrade of what is current changes nothing"
        for revision in reversed((None, *REVISIONS[:-1])):
            database.downgrade(revision or "base")
        with engine.connect() as connection:
            assert set(inspect(connection).get_table_names()) <= {"alembic_version"}
    database.ensure()
    database.ensure(migrate=False)


def test_attempts_stay_where_their_key_to_the_run_goes_and_comes_back(database: Database):
    database.ensure()
    # Made by revisions after that one.
    triggers = {"trigger", "firing", "webhook", "trigger_secret", "webhook_delivery", "run_end"}
    later = frozenset(
        {"spent_key", "admission", "worker", "blob_marker", "a2a_task", "a2a_push", "caller_spending", "run_spending"}
        | triggers
    )
    with database.engine() as engine, engine.begin() as connection:
        fill(connection)
        counts = counted(connection, later)
    for before, after in (("0006", {("run_id", "run"), ("step_id", "run_step")}), (None, {("step_id", "run_step")})):
        database.downgrade(before) if before else database.upgrade()
        with database.engine() as engine, engine.connect() as connection:
            assert counted(connection, later) == counts
            keys = inspect(connection).get_foreign_keys("attempt")
            assert {(key["constrained_columns"][0], key["referred_table"]) for key in keys} == after
    with database.engine() as engine, engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM run WHERE id = 'run-0-id'")
        left = counted(connection)
        assert [left[name] for name in ("run_step", "attempt", "log_line", "run_event")] == [0, 0, 0, 0]


def test_events_that_share_a_row_get_rows_of_their_own_again(database: Database):
    database.ensure()
    with database.engine() as engine, engine.begin() as connection:
        fill(connection)
        table = SQLModel.metadata.tables["run_event"]
        connection.execute(delete(table))
        key = {"run_id": "run-0-id", "at": datetime(2026, 1, 1, 12, 30, tzinfo=UTC)}
        connection.execute(insert(table), {**key, "sequence": 1, "type": "run_state", "after": "queued"})
        ended = ["attempt_state", "step-1", "att-1", None, None, "succeeded", None, None]
        went = ["step_state", "step-1", None, None, "running", "succeeded", "a reason", '{"a":1}']
        connection.execute(
            insert(table),
            {**key, "sequence": 4, "type": "run_state", "after": "failed", "earlier": json.dumps([ended, went])},
        )
        before = [told for row in connection.execute(_EVENT_ROWS).all() for told in events_of(tuple(row))]
    database.downgrade("0007")
    with database.engine() as engine, engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(_EVENT_ROWS.text.replace(", earlier", ""))).all()]
        assert [told for row in rows for told in events_of((*row, None))] == before
        assert [each.sequence for each in before] == [1, 2, 3, 4]
        assert len(rows) == 4
    database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        assert [told for row in connection.execute(_EVENT_ROWS) for told in events_of(tuple(row))] == before


def test_a_step_that_was_retired_gets_its_place_and_key_back(database: Database):
    steps = "SELECT id, position, key, retired_at IS NOT NULL FROM run_step WHERE run_id = 'run-0-id' ORDER BY id"
    database.ensure()
    with database.engine() as engine, engine.begin() as connection:
        fill(connection)
    database.downgrade("0009")
    with database.engine() as engine, engine.begin() as connection:
        connection.exec_driver_sql("UPDATE run_step SET key = 'draft~1', position = -1007 WHERE position = 0")
        connection.exec_driver_sql("UPDATE run_step SET key = 'draft~12', position = -12001 WHERE position = 1")
        connection.exec_driver_sql("UPDATE run_step SET key = 'draft', position = 1 WHERE position = 2")
    database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        found = [tuple(row) for row in connection.exec_driver_sql(steps)]
    upgraded = [("draft", 7, True), ("draft", 1, True), ("draft", 1, False)]
    assert [(key, position, bool(retired)) for _, position, key, retired in found] == upgraded
    database.downgrade("0009")
    database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        assert [tuple(row) for row in connection.exec_driver_sql(steps)] == found


def test_a_kept_gap_is_read_as_a_capability_with_its_proposal_and_goes_back(database: Database):
    database.ensure()
    table = SQLModel.metadata.tables["gap_proposal"]
    wanted = "post it to\nLinkedIn 🚀 " + "again " * 40
    schemas = {"input_schema": {"type": "object"}, "output_schema": {}}
    texts = {"integration_pattern": "An API.", "why_useful": "Reach."}
    old = {
        "missing_capability": "Nothing here can do this.",
        "proposed_pack": {"name": "social.post", **schemas, **texts},
    }
    with database.engine() as engine, engine.begin() as connection:
        fill(connection)
    database.downgrade("0027")
    with database.engine() as engine, engine.begin() as connection:
        connection.execute(table.update().values(user_intent=wanted, gap=json.dumps(old)))
    database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        gaps = [read_gap(row.gap) for row in connection.execute(select(table.c.gap))]
    assert len(gaps) == CHILDREN
    gap = gaps[0]
    assert gap.missing_capability.startswith("post it to LinkedIn 🚀 again")
    assert len(gap.missing_capability) == 120
    assert (gap.why_missing, gap.proposal.action, gap.proposal.packs) == (
        "Nothing here can do this.",
        "propose_pack",
        [],
    )
    assert (gap.proposal.name, gap.proposal.why_useful) == ("social.post", "Reach.")
    chain = {
        **gap.proposal.model_dump(),
        "action": "draft_pipeline",
        "name": f"pdf-to-{'x' * 93}",
        "packs": ["doc.parse"],
    }
    with database.engine() as engine, engine.begin() as connection:
        first = select(func.min(table.c.id)).scalar_subquery()
        text_of = json.dumps({**gap.model_dump(), "proposal": chain})
        connection.execute(table.update().where(table.c.id == first).values(gap=text_of))
    database.downgrade("0027")
    with database.engine() as engine, engine.connect() as connection:
        kept = [json.loads(row.gap) for row in connection.execute(select(table.c.gap).order_by(table.c.id))]
    assert kept[1:] == [old] * (CHILDREN - 1)
    assert kept[0]["proposed_pack"]["name"] == f"custom.pdf_to_{'x' * 86}", "at most 100 characters"


def test_altering_a_parent_keeps_its_children(database: Database, monkeypatch: pytest.MonkeyPatch):
    """A batch alter copies the table on SQLite; with foreign keys on, dropping the old one deletes the children."""
    database.ensure()
    with database.engine() as engine, engine.begin() as connection:
        counts = fill(connection)

    def alter(connection: Connection, _revision: str, *, up: bool) -> None:
        operations = Operations(MigrationContext.configure(connection, opts={"render_as_batch": True}))
        for table in ("caller", "pipeline", "run", "run_step", "attempt"):
            with operations.batch_alter_table(table, recreate="auto") as batch:
                batch.add_column(SqlColumn("extra", Integer, nullable=False, server_default="0"))
                batch.alter_column("id", existing_type=SqlString(), type_=SqlString(100))

    monkeypatch.setattr(upgrade, "_migrate", alter)
    database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        assert counted(connection) == counts


def test_a_migration_that_fails_changes_nothing(database: Database, monkeypatch: pytest.MonkeyPatch):
    database.ensure()
    with database.engine() as engine, engine.begin() as connection:
        counts = fill(connection)

    def broken(connection: Connection, _revision: str, *, up: bool) -> None:
        connection.exec_driver_sql("CREATE TABLE half (id INTEGER)")
        connection.exec_driver_sql("DELETE FROM run_event")
        connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")

    monkeypatch.setattr(upgrade, "_migrate", broken)
    with pytest.raises(StoreSchemaError, match="changed nothing"):
        database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        assert counted(connection) == counts
        assert "half" not in inspect(connection).get_table_names()


def test_a_migration_that_leaves_dangling_rows_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    database = Database("sqlite", str(tmp_path / "packline.db"))
    database.ensure()
    with database.engine() as engine, engine.begin() as connection:
        counts = fill(connection)
    monkeypatch.setattr(
        upgrade, "_migrate", lambda connection, _revision, up: connection.exec_driver_sql("DELETE FROM run")
    )
    with pytest.raises(StoreSchemaError, match="missing rows"):
        database.upgrade()
    with database.engine() as engine, engine.connect() as connection:
        assert counted(connection) == counts


def test_a_newer_schema_is_refused_with_what_to_do(database: Database):
    database.ensure()
    database.stamp("9999")
    for migrate in (True, False):
        with pytest.raises(StoreSchemaError, match=r"newer release.*Install that release again"):
            database.ensure(migrate=migrate)


def test_an_older_schema_is_upgraded_only_when_asked_and_after_a_backup(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    database.ensure()
    with database.engine() as engine, engine.begin() as connection:
        fill(connection)
    monkeypatch.setattr(revisions, "REVISIONS", (*REVISIONS, "9998"))
    with pytest.raises(StoreSchemaError, match="packline migrate"):
        database.ensure(migrate=False)
    seen: list[str] = []
    monkeypatch.setattr(upgrade, "_migrate", lambda _connection, revision, up: seen.append(revision))
    database.ensure()
    assert seen == ["9998"]
    if database.kind == "sqlite":
        (backup,) = Path(database.where).parent.glob("*.backup")
        with closing(sqlite3.connect(backup)) as raw:
            assert raw.execute("SELECT count(*) FROM run").fetchone() == (CHILDREN,)


def test_an_empty_database_is_made_only_when_asked(database: Database):
    with pytest.raises(StoreSchemaError, match="is empty"):
        database.ensure(migrate=False)
    database.ensure()


def test_somebody_elses_database_is_not_touched(database: Database):
    with database.engine() as engine, engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE run (id INTEGER)")
    with pytest.raises(StoreSchemaError, match="no Packline schema"):
        database.ensure()
    with database.engine() as engine, engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["run"]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / "packline.db").write_bytes(b"not a database at all, however long it may be " * 50)
    with pytest.raises(StoreSchemaError, match="cannot be read"):
        ensure_sqlite_schema(tmp_path / "packline.db", migrate=True)


def test_of_processes_that_migrate_at_once_one_does_it(database: Database):
    call = (
        "from store.database.schema import ensure_sqlite_schema; ensure_sqlite_schema(Path(sys.argv[1]), migrate=True)"
        if database.kind == "sqlite"
        else "from store.database import schema; schema.ensure_postgres_schema(sys.argv[1], migrate=True)"
    )
    processes = [database.run(call) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    database.ensure(migrate=False)


def test_alembic_is_not_imported_to_make_or_accept_a_database(tmp_path: Path):
    database = Database("sqlite", str(tmp_path / "packline.db"))
    code = (
        "from store.database import schema; schema.ensure_sqlite_schema(Path(sys.argv[1]), migrate=True)\n"
        "assert 'alembic' not in sys.modules, 'imported'"
    )
    for _ in range(2):
        assert database.run(code).wait(60) == 0


def test_the_statements_of_the_queue_are_those_of_the_installed_release():
    assert queue_statements() == SchemaManager.get_schema(), "write a revision with procrastinate's migrations"


@pytest.mark.postgres
@pytest.mark.parametrize(
    "lost", ["FUNCTION procrastinate_finish_job_v1", "TABLE procrastinate_events"], ids=["function", "table"]
)
def test_a_database_whose_queue_is_not_whole_is_refused(lost: str):
    with empty_database() as url:
        ensure_postgres_schema(url, migrate=True)
        with psycopg.connect(url) as connection:
            connection.execute(f"DROP {lost}".encode())
        with pytest.raises(StoreSchemaError, match=rf"lacks {lost.split()[1]} .* restore a backup"):
            ensure_postgres_schema(url, migrate=True)


@pytest.mark.postgres
def test_a_database_with_the_queue_of_another_application_is_refused():
    with empty_database() as url:
        with psycopg.connect(url) as connection:
            connection.execute(SchemaManager.get_schema().encode())
        with pytest.raises(StoreSchemaError, match=r"procrastinate_jobs.* no Packline schema"):
            ensure_postgres_schema(url, migrate=True)


def test_a_postgres_that_is_away_is_told_plainly():
    with pytest.raises(StoreError, match="cannot be reached"):
        ensure_postgres_schema("postgresql://nobody@127.0.0.1:1/none", migrate=True)
