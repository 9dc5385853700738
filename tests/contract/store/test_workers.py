"""The list of workers, and who took runs over from whom, over both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.runs.claim import release_leases
from store.runs.claimed_run import release
from store.runs.settle import settle
from store.runs.unit_types import Claim, Wait
from store.runs.workers import (
    FORGET_LEASES,
    WorkerIdentity,
    list_queue,
    list_workers,
    remove_worker,
    sign_of_life,
    takeovers_of_runs,
)
from store.states import AttemptState
from tests.support.rows import caller
from tests.support.runs import LEASE, claimed, expire_lease, submitted, working

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store

ONE = WorkerIdentity("one:1:aa", machine="one:folder", release="1.0.0", lanes=8)
TWO = WorkerIdentity("two:2:bb", machine="two:folder", release="1.1.0", lanes=64)


async def seen(store: Store, worker: WorkerIdentity, up_seconds: float = 0.0) -> dict[str, tuple[int, bool]]:
    return (await store.write(sign_of_life, worker, "", up_seconds, LEASE)).held


async def unseen_for(store: Store, worker: WorkerIdentity, seconds: float) -> None:
    """Set back a worker's last sign of life."""

    def unit(conn: Connection) -> None:
        seen_at = conn.bindable(conn.now() - timedelta(seconds=seconds))
        conn.run(Sql("UPDATE worker SET seen_at = :seen_at WHERE id = :id"), {"id": worker.id, "seen_at": seen_at})

    await store.write(unit)


async def names(store: Store) -> list[str]:
    return [worker.id for worker in await list_workers(store, LEASE)]


async def test_a_worker_is_listed_with_the_runs_it_holds(store: Store):
    ada = await caller(store)
    assert await list_workers(store, LEASE) == []
    await seen(store, ONE)
    run_id = (await submitted(store, ada.id)).run_id
    await claimed(store, run_id, owner=ONE.id)
    await submitted(store, ada.id)

    assert await seen(store, ONE, up_seconds=60) == {run_id: (1, False)}, "leases are renewed with the sign of life"

    (listed,) = await list_workers(store, LEASE)
    assert (listed.id, listed.machine, listed.release, listed.lanes) == ("one:1:aa", "one:folder", "1.0.0", 8)
    assert (listed.running, listed.alive) == (1, True)
    assert listed.started_at <= listed.seen_at
    await store.write(remove_worker, ONE.id)
    assert await list_workers(store, LEASE) == []


async def test_a_worker_that_is_not_seen_is_not_alive_and_later_forgotten(store: Store):
    await seen(store, ONE)
    await unseen_for(store, ONE, LEASE + 5)
    (listed,) = await list_workers(store, LEASE)
    assert not listed.alive
    assert LEASE + 4 < listed.unseen_seconds < LEASE + 60

    await seen(store, TWO)
    # A process that owns its database alone knows that the other one is gone.
    assert await names(store) == ([ONE.id, TWO.id] if store.shared else [TWO.id])
    await unseen_for(store, ONE, FORGET_LEASES * LEASE + 1)
    await seen(store, TWO)
    assert await names(store) == [TWO.id]


async def test_a_worker_that_was_only_frozen_is_listed_again_since_its_start(store: Store):
    await seen(store, ONE)
    await store.write(remove_worker, ONE.id)
    await seen(store, ONE, up_seconds=900)
    (listed,) = await list_workers(store, LEASE)
    assert (listed.id, listed.alive) == (ONE.id, True)
    assert (listed.seen_at - listed.started_at).total_seconds() == 900


async def test_a_takeover_names_both_workers(store: Store):
    ada, eve = await caller(store), await caller(store, "eve")
    run_id = (await submitted(store, ada.id)).run_id
    worker = await working(store, run_id)
    assert worker.claim.previous_worker is None
    await worker.start()
    assert await takeovers_of_runs(store, [run_id]) == {run_id: []}

    await expire_lease(store, run_id)
    taken = await claimed(store, run_id, owner="w2")

    assert isinstance(taken, Claim)
    assert (taken.worker, taken.previous_worker, taken.lost_attempt) == ("w2", "w1", worker.attempt_id)
    (takeover,) = (await takeovers_of_runs(store, [run_id], visible_to=ada.id))[run_id]
    assert (takeover.worker, takeover.previous_worker, takeover.lost) == ("w2", "w1", True)
    assert takeover.at == taken.now
    assert await takeovers_of_runs(store, [run_id], visible_to=eve.id) == {run_id: []}


async def test_a_run_that_moves_without_a_loss_names_both_workers(store: Store):
    ada = await caller(store)
    run_id = (await submitted(store, ada.id)).run_id
    worker = await working(store, run_id)
    await worker.start()
    await store.write(release, worker.fence, (worker.step_id, worker.attempt_id), "The server stops.")
    again = await claimed(store, run_id, owner="w1")
    assert isinstance(again, Claim)
    assert again.previous_worker is None, "the same worker went on"

    moved = type(worker)(store, again)
    await moved.start()
    await store.write(settle, moved.fence, moved.ended(AttemptState.FAILED), Wait(0.0, "a hiccup"), artifact_days=7)
    await claimed(store, run_id, owner="w2")
    (takeover,) = (await takeovers_of_runs(store, [run_id]))[run_id]
    assert (takeover.worker, takeover.previous_worker, takeover.lost) == ("w2", "w1", False)


async def test_a_restart_of_the_embedded_server_names_the_lost_process(store: Store):
    ada = await caller(store)
    run_id = (await submitted(store, ada.id)).run_id
    await (await working(store, run_id)).start()
    await store.write(release_leases)
    await claimed(store, run_id, owner="w2")
    (takeover,) = (await takeovers_of_runs(store, [run_id]))[run_id]
    assert (takeover.worker, takeover.previous_worker, takeover.lost) == ("w2", "w1", True)


async def test_queued_runs_are_counted_by_what_they_need(store: Store):
    ada = await caller(store)
    runs = [(await submitted(store, ada.id)).run_id for _ in range(4)]

    def need(conn: Connection) -> None:
        for run_id, needs in zip(runs, ("chromium,gpu", "", "chromium,gpu", ""), strict=True):
            conn.run(Sql("UPDATE run SET needs = :needs WHERE id = :id"), {"needs": needs, "id": run_id})

    assert await list_queue(store) == [((), 4, (await list_queue(store))[0].since)]
    await store.write(need)
    await claimed(store, runs[3], owner=ONE.id)
    queue = await list_queue(store)
    assert [(record.needs, record.runs) for record in queue] == [(("chromium", "gpu"), 2), ((), 1)]
    assert queue[0].since <= queue[1].since
