"""Memory in the store, over both databases: taken up once, replaced, forgotten, swept, sealed anew."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from runner.secrets.vault_offline import reset_vault, rotate_key
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.memory.entries import (
    EVERYTHING,
    MemoryScope,
    count_memory,
    evidence,
    forget,
    list_memory,
    place_of,
    sweep_memory,
)
from store.memory.outcomes import DueRun, NewOutcome, any_due, due_runs, record_outcomes
from store.memory.overrides import OverrideRecord, override_place, overrides_of, put_override
from store.memory.state import find_counts, keep_counts, memory_state, set_learning
from store.secrets.cipher import Cipher, key_text
from store.secrets.vault_key import KeyFile
from store.secrets.vault_proof import VaultChangedError, create_vault
from store.states import RunState
from tests.support.rows import attempt, caller, run, step

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.memory.entries import MemoryRecord

NOW = datetime.now(UTC)
_COUNTS = Sql("UPDATE run_step SET attempt_id = :attempt WHERE id = :step")
_DUE = Sql("UPDATE run SET memory_due = :yes, epoch = :epoch, resume_count = :resumes WHERE id = :id")


async def ended(store: Store, caller_id: str, number: int = 0, at: datetime = NOW, *, steps: int = 1) -> str:
    """A run of a pack that ended and is due, with a step that was executed in epoch 1."""
    run_id = await run(store, caller_id, at, number, state="succeeded")
    for position in range(1, steps + 1):
        step_id = await step(store, run_id, position, state="succeeded", pack="test.echo")
        attempt_id = await attempt(store, run_id, step_id, input='{"persona":"x"}')
        points = {"step": step_id, "attempt": attempt_id}
        await store.write(lambda conn, points=points: conn.run(_COUNTS, points))
    await mark_due(store, run_id)
    return run_id


async def mark_due(store: Store, run_id: str, *, epoch: int = 1, resumes: int = 0) -> None:
    await store.write(lambda conn: conn.run(_DUE, {"id": run_id, "yes": True, "epoch": epoch, "resumes": resumes}))


async def due(store: Store) -> list[DueRun]:
    return [found for found, _ in await due_runs(store, limit=100)]


def outcome(at: datetime, step_id: str = "", **changes: Any) -> NewOutcome:
    values: dict[str, Any] = {
        "kind": "pack",
        "target": "test.echo",
        "step_id": step_id,
        "at": at,
        "outcome": RunState.SUCCEEDED,
        "failure_code": None,
        "duration_seconds": 1.5,
        "sealed": None,
    }
    return NewOutcome(**{**values, **changes})


async def taken(store: Store, found: list[DueRun], *, keep_days: float = 30, **changes: Any) -> int:
    rows = [(one, [outcome(one.ended_at, **changes)]) for one in found]
    return await store.write(record_outcomes, rows, proof=None, keep_days=keep_days)


async def rows_of(store: Store, caller_id: str, scope: MemoryScope = EVERYTHING) -> list[MemoryRecord]:
    return await list_memory(store, caller_id, scope, PageWindow(limit=100))


async def test_an_outcome_is_taken_up_once_however_many_servers_try(store: Store) -> None:
    ada = await caller(store)
    for number in range(5):
        await ended(store, ada.id, number)
    found = await due(store)
    assert len(found) == 5
    counts = await asyncio.gather(*(taken(store, found) for _ in range(4)))
    assert sorted(counts) == [0, 0, 0, 5]
    assert len(await rows_of(store, ada.id)) == 5
    assert not await any_due(store)
    assert await taken(store, found) == 0


async def test_steps_of_epochs_taken_up_before_are_not_due_again(store: Store) -> None:
    ada = await caller(store)
    run_id = await ended(store, ada.id, steps=2)
    ((_, steps),) = await due_runs(store, limit=10)
    assert len(steps) == 2
    await taken(store, await due(store))
    await mark_due(store, run_id, epoch=2, resumes=1)
    ((again, steps),) = await due_runs(store, limit=10)
    assert (again.memory_epoch, steps) == (1, [])
    before = (await rows_of(store, ada.id))[0]
    await taken(store, [again], outcome=RunState.FAILED, failure_code="timeout")
    (after,) = await rows_of(store, ada.id)
    assert (after.outcome, after.failure_code, after.run_id) == (RunState.FAILED, "timeout", before.run_id)
    state = await memory_state(store, ada.id)
    assert (state.revision, state.removed) == (2, 2)


async def test_a_run_that_was_resumed_meanwhile_is_left_for_its_next_end(store: Store) -> None:
    ada = await caller(store)
    run_id = await ended(store, ada.id)
    found = await due(store)
    await mark_due(store, run_id, epoch=1, resumes=1)
    assert await taken(store, found) == 0
    assert await any_due(store)


async def test_each_scope_takes_its_rows_and_nobody_elses(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    mine, theirs = await ended(store, ada.id, 1), await ended(store, bob.id, 2)
    found = {one.id: one for one in await due(store)}
    rows = [
        outcome(NOW, kind="pipeline", target="pipe_1"),
        outcome(NOW, "step_a"),
        outcome(NOW, "step_b", target="test.other"),
    ]
    await store.write(record_outcomes, [(found[mine], rows)], proof=None, keep_days=30)
    await store.write(record_outcomes, [(found[theirs], rows[:1])], proof=None, keep_days=30)
    (of_run,) = await rows_of(store, ada.id, MemoryScope(kind="pipeline"))

    async def count(scope: MemoryScope) -> int:
        listed = await count_memory(store, ada.id, scope)
        assert await store.write(lambda conn: forget(conn, ada.id, scope, dry_run=True)) == listed
        return listed

    assert await count(EVERYTHING) == 3
    assert await count(MemoryScope(kind="pack")) == 2
    assert await count(MemoryScope(kind="pack", target="test.other")) == 1
    assert await count(MemoryScope(kind="pipeline", target="pipe_1")) == 1
    assert await count(MemoryScope(kind="pipeline", target="test.other")) == 0
    assert await count(MemoryScope(entry_id=of_run.id)) == 3
    (of_step,) = await rows_of(store, ada.id, MemoryScope(kind="pack", target="test.other"))
    assert await count(MemoryScope(entry_id=of_step.id)) == 1
    (of_bob,) = await rows_of(store, bob.id)
    assert await store.write(forget, ada.id, MemoryScope(entry_id=of_bob.id)) == 0
    assert await store.write(forget, ada.id, MemoryScope(entry_id=of_run.id)) == 3
    assert await rows_of(store, ada.id) == []
    assert len(await rows_of(store, bob.id)) == 1


async def test_a_pause_drops_what_would_be_learned_and_keeps_the_outcome(store: Store) -> None:
    ada = await caller(store)
    await ended(store, ada.id, 1)
    await store.write(lambda conn: set_learning(conn, ada.id, paused=True))
    since = (await memory_state(store, ada.id)).paused_at
    await store.write(lambda conn: set_learning(conn, ada.id, paused=True))
    assert (await memory_state(store, ada.id)).paused_at == since is not None
    await taken(store, await due(store), sealed="1:sealed")
    await store.write(lambda conn: set_learning(conn, ada.id, paused=False))
    await ended(store, ada.id, 2)
    await taken(store, await due(store), sealed="1:sealed")
    assert sorted(str(row.sealed) for row in await rows_of(store, ada.id)) == ["1:sealed", "None"]


async def test_rows_are_swept_when_their_time_is_over_whatever_the_clock_did(store: Store) -> None:
    ada = await caller(store)
    await ended(store, ada.id, 1, NOW - timedelta(days=29))
    await ended(store, ada.id, 2, NOW + timedelta(days=300))  # a clock that was set back since
    await ended(store, ada.id, 3, NOW - timedelta(days=31))
    assert await taken(store, await due(store)) == 2
    assert await store.write(sweep_memory) == 0
    await store.write(
        lambda conn: conn.run(Sql("UPDATE memory_entry SET expires_at = at WHERE at < :now"), {"now": NOW})
    )
    assert await store.write(sweep_memory) == 1
    state = await memory_state(store, ada.id)
    assert state.removed == state.revision
    assert len(await rows_of(store, ada.id)) == 1


async def test_what_was_counted_is_kept_until_rows_go(store: Store) -> None:
    ada = await caller(store)
    proof = await store.write(create_vault, "proof")
    for number in (1, 2):
        await ended(store, ada.id, number)
        await taken(store, await due(store))
    assert await find_counts(store, ada.id) is None
    await store.write(keep_counts, ada.id, 1, "one", proof=proof)
    assert await find_counts(store, ada.id) == (1, "one")
    await store.write(keep_counts, ada.id, 2, "two", proof=proof)
    await store.write(keep_counts, ada.id, 1, "late", proof=proof)
    assert await find_counts(store, ada.id) == (2, "two")
    with pytest.raises(VaultChangedError):
        await store.write(keep_counts, ada.id, 3, "sealed with a key of before", proof="another")

    assert await store.write(forget, ada.id, MemoryScope(kind="pipeline")) == 0
    assert await find_counts(store, ada.id) == (2, "two")
    assert await store.write(forget, ada.id, EVERYTHING) == 2
    assert await find_counts(store, ada.id) is None
    await store.write(keep_counts, ada.id, 2, "what is forgotten", proof=proof)
    assert await find_counts(store, ada.id) is None


async def test_what_was_counted_holds_when_a_failure_is_done_again(store: Store) -> None:
    ada = await caller(store)
    proof = await store.write(create_vault, "proof")
    run_id = await ended(store, ada.id)
    await taken(store, await due(store), outcome=RunState.FAILED)
    await store.write(keep_counts, ada.id, 1, "one", proof=proof)

    await mark_due(store, run_id, epoch=2, resumes=1)
    await taken(store, await due(store))
    assert [row.outcome for row in await rows_of(store, ada.id)] == [RunState.SUCCEEDED]
    assert await find_counts(store, ada.id) == (1, "one")
    assert [row[-1] for row in await evidence(store, ada.id, after=1, limit=10)] == [2]

    await mark_due(store, run_id, epoch=3, resumes=2)
    await taken(store, await due(store))
    assert await find_counts(store, ada.id) is None, "a success that was counted went"


async def test_evidence_comes_by_revision_newest_first(store: Store) -> None:
    ada = await caller(store)
    await ended(store, ada.id, 1)
    await taken(store, await due(store))
    first = await memory_state(store, ada.id)
    await ended(store, ada.id, 2)
    await taken(store, await due(store))
    await ended(store, ada.id, 3)
    await taken(store, await due(store), outcome=RunState.CANCELLED)
    assert [row[-1] for row in await evidence(store, ada.id, after=0, limit=10)] == [2, 1]
    assert [row[-1] for row in await evidence(store, ada.id, after=first.revision, limit=10)] == [2]


async def test_a_rotated_key_seals_memory_anew_and_a_lost_one_takes_it_away(store: Store, tmp_path: Path) -> None:
    ada = await caller(store)
    keys = KeyFile(tmp_path / "keys")
    key = os.urandom(32)
    (tmp_path / "keys").mkdir()
    keys.path.write_text(key_text(key))
    cipher = Cipher(key)
    proof = await store.write(create_vault, cipher.proof())
    run_id = await ended(store, ada.id, 1)
    place, pinned = place_of(ada.id, run_id, ""), override_place(ada.id, "pack", "test.echo", "persona")
    sealed = [(one, [outcome(NOW, sealed=cipher.seal("{}", place))]) for one in await due(store)]
    with pytest.raises(VaultChangedError):
        await store.write(record_outcomes, sealed, proof="1:another", keep_days=30)
    await store.write(record_outcomes, sealed, proof=proof, keep_days=30)

    def pin(conn: Connection) -> None:
        record = OverrideRecord("pack", "test.echo", "persona", "pinned", cipher.seal("executive", pinned))
        put_override(conn, ada.id, record, proof=proof)
        put_override(conn, ada.id, OverrideRecord("pack", "test.echo", "theme", "excluded", None), proof=None)

    await store.write(pin)
    fresh = os.urandom(32)
    await rotate_key(store, keys, fresh)
    after = Cipher(fresh)
    (row,) = await rows_of(store, ada.id)
    assert row.sealed is not None
    assert after.open(row.sealed, place) == "{}"
    (found, excluded) = await overrides_of(store, ada.id)
    assert found.sealed is not None
    assert (after.open(found.sealed, pinned), excluded.rule) == ("executive", "excluded")

    await reset_vault(store)
    (row,) = await rows_of(store, ada.id)
    assert row.sealed is None
    assert [record.rule for record in await overrides_of(store, ada.id)] == ["excluded"]
