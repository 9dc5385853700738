"""The queue of PostgreSQL."""

from __future__ import annotations

from alembic import op

from store.database.queue_schema import FOLDER

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TABLES = ("periodic_defers", "events", "jobs", "workers")
_TYPES = ("job_to_defer_v1", "job_event_type", "job_status")
_DROP_FUNCTIONS = """
    DO $$ DECLARE found regprocedure; BEGIN
        FOR found IN SELECT oid::regprocedure FROM pg_proc
            WHERE proname LIKE 'procrastinate\\_%' AND pronamespace = current_schema()::regnamespace
        LOOP EXECUTE 'DROP FUNCTION ' || found; END LOOP;
    END $$
"""


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _run((FOLDER / "3.10.sql").read_text())


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table in _TABLES:
            _run(f"DROP TABLE procrastinate_{table} CASCADE")  # a function returns rows of it
        _run(_DROP_FUNCTIONS)
        for kind in _TYPES:
            _run(f"DROP TYPE procrastinate_{kind}")


def _run(sql: str) -> None:
    op.get_bind().exec_driver_sql(sql, execution_options={"no_parameters": True})
