"""A soak of some seconds with a kill or two finds nothing; `make soak` runs it for minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.soak import __main__ as command
from tests.soak.journal import Journal
from tests.soak.soak import Soak

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "workers"),
    [("sqlite", 0), pytest.param("postgresql", 2, marks=[pytest.mark.postgres, pytest.mark.sweep])],
)
async def test_a_short_soak_finds_nothing(tmp_path: Path, database: str, workers: int):
    lines: list[str] = []
    soak = Soak(
        database,
        4,
        seed=1,
        callers=2,
        workers=workers,
        between_faults=(1, 2),
        kinds=("kill",),
        forked=True,
        tell=lines.append,
    )
    journal = await soak.run(tmp_path)
    assert journal.faults == []
    assert journal.counts["servers: kill"] >= 1
    assert journal.counts["ended: succeeded"] >= 1
    assert "0 faults found" in lines[-1]


@pytest.mark.slow
@pytest.mark.postgres
async def test_two_servers_killed_at_random_miss_and_repeat_no_instant(tmp_path: Path):
    """For ten minutes: `python -m tests.soak --database postgresql --callers 0 --kill-only`."""
    faults = {"between_faults": (0.5, 2.0), "kinds": ("kill",)}
    soak = Soak("postgresql", 12, seed=2, callers=0, **faults, forked=True, tell=[].append)
    journal = await soak.run(tmp_path)
    assert journal.faults == []
    assert journal.counts["servers: kill"] >= 1
    assert journal.counts["firings: fired"] >= 12
    assert all(schedule.until for schedule in journal.schedules.values())


@pytest.mark.parametrize(("faults", "status"), [([], 0), (["run_1: it is lost"], 1)])
def test_the_command_tells_the_seed_and_each_fault(monkeypatch, capsys, faults, status):
    soaked: list[Soak] = []

    async def run(self: Soak, folder: Path) -> Journal:
        soaked.append(self)
        return Journal(faults=[f"{fault} ({self.database})" for fault in faults])

    monkeypatch.setattr(Soak, "run", run)
    assert command.main(["--minutes", "2", "--seed", "7", "--workers", "3"]) == status
    told = capsys.readouterr().out
    assert "seed 7" in told
    assert [(soak.database, soak.workers) for soak in soaked] == [("sqlite", 0), ("postgresql", 3)]
    assert {(soak.seconds, soak.seed) for soak in soaked} == {(120, 7)}
    for soak in soaked:
        assert f"{soak.database}: {len(faults)} faults found" in told
        assert all(f"FAULT {fault} ({soak.database})" in told for fault in faults)
