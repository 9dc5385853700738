"""Who executes runs, as operators and callers see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from tests.support.front_door import ended
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection

WORKERS = """{
    workers {name machine release startedAt lastSeenAt alive lanes running}
    server {version queuedRuns oldestQueuedAt health {name ok message}}
}"""
CALL = """mutation ($in: JSON!) {runPack(pack: "test.slow", input: $in) {
    __typename ... on StartRunSuccess {run {id worker takeovers {worker}}}}}"""
RUN = "query ($id: ID!) {run(id: $id) {state worker takeovers {worker}}}"


async def test_an_operator_sees_the_workers_and_what_waits_for_them(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1) as it:
        idle = await it.query(WORKERS)
        assert (idle["server"]["queuedRuns"], idle["server"]["oldestQueuedAt"]) == (0, None)
        before = datetime.now(UTC)
        first = (await it.mutate(CALL, {"in": {"text": "one"}}))["run"]
        await bench.started.wait()
        await it.mutate(CALL, {"in": {"text": "two"}})

        told = await it.query(WORKERS)

        (worker,) = told["workers"]
        assert (worker["alive"], worker["running"], worker["lanes"]) == (True, 1, 64)
        assert worker["release"] == told["server"]["version"]
        assert worker["machine"].endswith(f"/{tmp_path.name}/data")
        assert datetime.fromisoformat(worker["startedAt"]) <= before
        assert told["server"]["queuedRuns"] == 1
        waiting_since = datetime.fromisoformat(told["server"]["oldestQueuedAt"])
        assert before - timedelta(seconds=1) <= waiting_since <= datetime.now(UTC)
        (check,) = [check for check in told["server"]["health"] if check["name"] == "workers"]
        assert (check["ok"], check["message"]) == (True, "1 alive.")
        held = (await it.query(RUN, {"id": first["id"]}))["run"]
        assert held == {"state": "RUNNING", "worker": worker["name"], "takeovers": []}

        token = await it.token_for("ada", "READ", "RUN", "WRITE")
        assert (await it.query("{server {queuedRuns oldestQueuedAt}}", token=token))["server"] == {
            "queuedRuns": 0,
            "oldestQueuedAt": None,
        }, "they are another caller's"
        (refused,) = (await it.answer("{workers {name}}", token=token)).errors
        assert (refused["extensions"]["code"], refused["extensions"]["scope"]) == ("FORBIDDEN", "MANAGE")

        bench.release.set()
        await ended(it, first["id"])
        assert (await it.query(RUN, {"id": first["id"]}))["run"]["worker"] is None


async def test_health_names_workers_that_are_not_seen_and_releases_that_differ(tmp_path: Path) -> None:
    async with product(tmp_path, lease_seconds=600) as it:  # a sign of life removes other workers on SQLite
        release = (await it.query(WORKERS))["server"]["version"]

        def arrive(conn: Connection) -> None:
            for name in ("old:1:aa", "gone:2:bb"):
                conn.run(
                    Sql(
                        "INSERT INTO worker (id, machine, release, lanes, started_at, seen_at)"
                        " VALUES (:id, 'machine', '0.0.1', 2, :at, :at)"
                    ),
                    {"id": name, "at": conn.bindable(conn.now() - timedelta(seconds=700 * (name == "gone:2:bb")))},
                )

        await it.services.store.write(arrive)

        told = await it.query(WORKERS)
        alive = {worker["name"]: worker["alive"] for worker in told["workers"]}
        (own,) = alive.keys() - {"old:1:aa", "gone:2:bb"}
        assert alive == {own: True, "old:1:aa": True, "gone:2:bb": False}
        (check,) = [check for check in told["server"]["health"] if check["name"] == "workers"]
        assert not check["ok"]
        assert "2 alive." in check["message"]
        assert f"different releases (0.0.1: old:1:aa; {release}: {own})" in check["message"]
        assert "Lost: gone:2:bb (seen 70" in check["message"]


DRAIN = """mutation ($name: String!, $draining: Boolean!) {drainWorker(name: $name, draining: $draining) {
    __typename ... on DrainWorkerSuccess {worker {name draining}} ... on NotFoundProblem {suggestion}}}"""


async def test_the_only_worker_is_drained_and_takes_runs_again(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        (worker,) = (await it.query(WORKERS))["workers"]
        answer = await it.mutate(DRAIN, {"name": worker["name"], "draining": True})
        assert answer["worker"] == {"name": worker["name"], "draining": True}
        await eventually(lambda: it.services.engine.worker.draining)
        waiting = (await it.mutate(CALL, {"in": {"text": "one"}}))["run"]
        (check,) = [check for check in (await it.query(WORKERS))["server"]["health"] if check["name"] == "workers"]
        assert not check["ok"]
        assert f"Drained: {worker['name']}." in check["message"]
        assert (await it.query(RUN, {"id": waiting["id"]}))["run"]["state"] == "QUEUED"

        await it.mutate(DRAIN, {"name": worker["name"], "draining": False})
        await bench.started.wait()
        bench.release.set()
        await ended(it, waiting["id"])
        unknown = await it.mutate(DRAIN, {"name": worker["name"] + "x", "draining": True})
        assert (unknown["__typename"], unknown["suggestion"]) == ("NotFoundProblem", worker["name"])


QUEUE = "{queue {needs runs workers missing} server {health {name ok message}}}"


async def test_an_operator_sees_what_nobody_alive_serves(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, lease_seconds=600, caller_concurrent_runs=1) as it:
        await it.mutate(CALL, {"in": {"text": "one"}})
        await bench.started.wait()
        waiting = [(await it.mutate(CALL, {"in": {"text": text}}))["run"]["id"] for text in ("two", "three")]

        def need(conn: Connection, offers: str) -> None:
            for run_id, needs in zip(waiting, ("chromium,gpu", "gpu"), strict=True):
                conn.run(Sql("UPDATE run SET needs = :needs WHERE id = :id"), {"needs": needs, "id": run_id})
            conn.run(Sql("UPDATE worker SET offers = :offers"), {"offers": offers})

        await it.services.store.write(need, "gpu")
        answer = await it.query(QUEUE)
        name = it.services.engine.worker.name
        assert answer["queue"] == [
            {"needs": ["chromium", "gpu"], "runs": 1, "workers": [], "missing": ["chromium"]},
            {"needs": ["gpu"], "runs": 1, "workers": [name], "missing": []},
        ]
        (check,) = [check for check in answer["server"]["health"] if check["name"] == "workers"]
        assert not check["ok"]
        assert "No living worker offers chromium; runs that wait for it: 1." in check["message"]
        await it.services.store.write(need, "chromium,gpu")
        answer = await it.query(QUEUE)
        assert [queued["missing"] for queued in answer["queue"]] == [[], []]
        (check,) = [check for check in answer["server"]["health"] if check["name"] == "workers"]
        assert check["ok"]
        bench.release.set()
