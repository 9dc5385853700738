"""Ended runs that triggers have yet to fire for, over both databases: kept by the commit that ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from store.database.wakes import Topic
from store.runs.commands import delete_run, request_cancel, resume
from store.runs.reads import find_runs
from store.runs.unit_types import Resume
from store.triggers.commands import TriggerText, create_trigger, pause_trigger
from store.triggers.firings import FiredBeforeError, FiringOutcome, NewFiring, record_once, record_unfired
from store.triggers.run_ends import due_ended_runs, ended_run_of, finish_ended_run, run_ended_triggers
from tests.support.heard import Heard
from tests.support.rows import caller, pipeline
from tests.support.runs import submitted

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.pipelines.commands import Saved

_TEXT = TriggerText("After", None, "[]", "{}", "{}", enabled=True, next_at=None)


async def trigger(store: Store, owner_id: str, of: Saved, *, kind: str = "run_ended") -> str:
    return await store.write(create_trigger, _TEXT, kind=kind, pipeline_id=of.pipeline_id, owner_id=owner_id, limit=100)


async def ended(store: Store, caller_id: str, of: Saved | None) -> str:
    """A run of a pipeline, or of a pack, that was cancelled."""
    if of is None:
        run_id = (await submitted(store, caller_id)).run_id
    else:
        of_pipeline = {"pipeline_id": of.pipeline_id, "version_id": of.version_id, "pack": None, "document": None}
        run_id = (await submitted(store, caller_id, **of_pipeline)).run_id
    await store.write(request_cancel, run_id, None)
    return run_id


async def due(store: Store) -> list[str]:
    return [run.id for run in await due_ended_runs(store, limit=10)]


async def test_an_ended_run_is_due_only_if_a_trigger_may_fire_for_it(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    await ended(store, ada.id, deck)
    await trigger(store, ada.id, report, kind="webhook")
    await ended(store, ada.id, deck)
    assert await due(store) == []

    heard = Heard(store)
    made = await trigger(store, ada.id, report)
    await ended(store, ada.id, report)  # its own pipeline
    await ended(store, ada.id, None)  # a call of a pack
    assert await due(store) == []
    run_id = await ended(store, ada.id, deck)
    assert await due(store) == [run_id]
    await heard.until((Topic.TRIGGERS_DUE, run_id))
    assert [one.id for one in await run_ended_triggers(store)] == [made]

    await store.write(pause_trigger, made, revision=1)
    await ended(store, ada.id, deck)
    assert await due(store) == [run_id]
    assert await run_ended_triggers(store) == []


async def test_an_end_stays_until_the_triggers_have_fired(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    await trigger(store, ada.id, report)
    run_id = await ended(store, ada.id, deck)
    (run,) = await due_ended_runs(store, limit=10)
    assert (run.pipeline, run.state, run.chain_depth, run.resume_count) == ("deck", "cancelled", 0, 0)
    await store.write(finish_ended_run, run._replace(resume_count=1))
    assert await due(store) == [run_id]
    await store.write(finish_ended_run, run)
    assert await due(store) == []


async def test_a_run_that_was_resumed_at_once_has_both_ends(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    await trigger(store, ada.id, report)
    run_id = await ended(store, ada.id, deck)
    await store.write(resume, Resume(run_id, 0, ()), queue_limit=10)
    assert await due(store) == [run_id]
    await store.write(request_cancel, run_id, None)
    assert [(run.id, run.resume_count) for run in await due_ended_runs(store, limit=10)] == [(run_id, 0), (run_id, 1)]


async def test_an_end_is_kept_by_the_transaction_that_ends_the_run(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    await trigger(store, ada.id, report)
    of_deck = {"pipeline_id": deck.pipeline_id, "version_id": deck.version_id, "pack": None, "document": None}
    run_id = (await submitted(store, ada.id, **of_deck)).run_id

    def dies(conn: Connection) -> None:
        request_cancel(conn, run_id, None)
        raise ConnectionError("The power is gone.")

    with pytest.raises(ConnectionError):
        await store.write(dies)
    assert await due(store) == []
    assert (await find_runs(store, [run_id]))[run_id].state == "queued"


async def test_a_deleted_run_fires_nothing(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    await trigger(store, ada.id, report)
    run_id = await ended(store, ada.id, deck)
    await store.write(delete_run, run_id)
    assert await due(store) == []


async def test_a_trigger_has_one_firing_for_an_end(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    made = await trigger(store, ada.id, report)
    await ended(store, ada.id, deck)
    (run,) = await due_ended_runs(store, limit=10)
    firing = NewFiring(run.firing_key, FiringOutcome.FIRED, run_id="run_x")
    await store.write(record_once, made, firing, revision=1)
    with pytest.raises(FiredBeforeError):
        await store.write(record_once, made, firing, revision=1)
    assert not await store.write(record_unfired, made, firing)
    again = NewFiring(run._replace(resume_count=1).firing_key, FiringOutcome.FIRED, run_id="run_y")
    await store.write(record_once, made, again, revision=1)


async def test_the_key_of_a_firing_names_the_run(store: Store) -> None:
    ada = await caller(store)
    deck, report = await pipeline(store, ada.id, "deck"), await pipeline(store, ada.id, "report")
    await trigger(store, ada.id, report)
    run_id = await ended(store, ada.id, deck)
    (run,) = await due_ended_runs(store, limit=10)
    assert ended_run_of(run.firing_key) == run_id
    assert ended_run_of("2026-03-01T12:00:00+00:00") is None
