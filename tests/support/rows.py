"""Rows for store tests, made with as little said as possible."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from store.access.callers import CallerRecord, ensure_caller
from store.database.dialects import Sql
from store.database.ids import new_id
from store.database.paging import oldest_id
from store.pipelines.commands import Saved, create_pipeline
from store.pipelines.rows import Definition, Heading

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.ids import Prefix

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


def id_at(prefix: Prefix, at: datetime, number: int = 0) -> str:
    """An id as if made at an instant; `number` tells those of one instant apart and orders them."""
    return oldest_id(prefix, at)[:-6] + f"{number:06d}"


async def caller(store: Store, subject: str = "ada") -> CallerRecord:
    return await store.write(ensure_caller, subject, subject.title())


def heading(key: str = "deck", **changes: Any) -> Heading:
    name = changes.pop("name", key.title())
    made = Heading(key, name, f"Makes a {key}.", json.dumps({"intent_keywords": [key]}), f"{key} {name.lower()}")
    return replace(made, **changes)


def definition(text: str = "one") -> Definition:
    return Definition(f"digest-{text}", json.dumps({"name": text}), f"name: {text}\n", '{"type":"object"}')


async def pipeline(store: Store, owner_id: str, key: str = "deck", **changes: Any) -> Saved:
    return await store.write(create_pipeline, heading(key, **changes), definition(key), owner_id=owner_id)


def insert(conn: Connection, table: str, values: dict[str, Any]) -> None:
    names = list(values)
    marks = ", ".join(f":{name}" for name in names)
    conn.run(Sql(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"), values)


async def run(store: Store, caller_id: str, at: datetime = START, number: int = 0, **changes: Any) -> str:
    """A run written row by row, past the engine: `state` and times can be anything the table allows."""
    state = changes.get("state", "succeeded")
    final = state in ("succeeded", "failed", "cancelled")
    values: dict[str, Any] = {
        "id": id_at("run", at, number),
        "caller_id": caller_id,
        "title": "A run",
        "state": state,
        "cause": "person",
        "inputs": '{"topic":"lighthouses"}',
        "inputs_digest": "d",
        "deadline_seconds": 60.0,
        "search_text": "a run lighthouses",
        "force": False,
        "cancel_requested": False,
        "priority": 0,
        "admitted": state in ("running", "cancelling"),
        "epoch": 0,
        "next_seq": 1,
        "lost_in_row": 0,
        "resume_count": 0,
        "progress": 0.0,
        "created_at": at,
        "started_at": at,
        "ended_at": at + timedelta(seconds=10) if final else None,
    }
    if "pipeline_id" not in changes and "pack" not in changes:
        values["pack"] = "demo.echo"
    values |= changes
    await store.write(insert, "run", values)
    return str(values["id"])


async def step(store: Store, run_id: str, position: int = 1, **changes: Any) -> str:
    values: dict[str, Any] = {
        "id": new_id("step"),  # type: ignore[arg-type]
        "run_id": run_id,
        "position": position,
        "key": f"step{position}",
        "pack": "demo.echo",
        "state": "succeeded",
        "attempts": 0,
        "stretch_attempts": 0,
        "warnings": "[]",
        "milestones": "[]",
    }
    values |= changes
    await store.write(insert, "run_step", values)
    return str(values["id"])


async def attempt(store: Store, run_id: str, step_id: str, number: int = 1, **changes: Any) -> str:
    values: dict[str, Any] = {
        "id": new_id("att"),
        "run_id": run_id,
        "step_id": step_id,
        "number": number,
        "epoch": 1,
        "state": "succeeded",
        "input": '{"a":1}',
        "output": '{"b":2}',
        "idempotency_key": "k",
        "notes": "[]",
        "started_at": START,
        "ended_at": START + timedelta(seconds=1),
    }
    values |= changes
    await store.write(insert, "attempt", values)
    return str(values["id"])
