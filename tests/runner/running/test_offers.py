"""What steps need of a worker, what a worker offers, and what all of them together lack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from packline import Missing, ModelNeed, Service, worker_label
from runner.definitions.preflight import StandaloneStep, preflight
from runner.packs.availability import RequirementCheck, missing_settings, pack_requirements
from runner.packs.fleet import Fleet, worker_with
from runner.packs.registry import PackSource, Registry
from runner.running.offers import PackNeeds, WorkerOffers
from runner.secrets.vault import CredentialRequester
from tests.support.databases import postgres_store
from tests.support.engine import laboratory
from tests.support.engine_packs import Signals, engine_packs

if TYPE_CHECKING:
    from pathlib import Path

    from packline import Pack

#: Any pack.
ECHO = next(pack for pack in engine_packs(Signals()) if pack.name == "test.scripted")
GONE = Service("renderer", lambda: Missing("It is gone.", "Bring it back."))
HERE = Service("compiler", lambda: None)


def registry_of(*packs: Pack) -> Registry:
    registry = Registry()
    registry.put(PackSource("user_folder", "yours"), [("yours", pack) for pack in packs])
    return registry


def test_a_step_needs_what_its_pack_declares_and_the_pack_itself_unless_it_ships():
    declared = replace(
        ECHO, services=(GONE, worker_label("gpu")), models=(ModelNeed("writer"), ModelNeed("voice", False))
    )
    needs = PackNeeds(registry_of(declared)).of(ECHO.name, ECHO.version)
    assert needs.needs == {"renderer", "gpu", "model:writer", f"pack:{ECHO.name}@1"}
    shipped = Registry()
    shipped.put(PackSource("builtin_folder", "ours"), [("ours", declared)])
    assert PackNeeds(shipped).of(ECHO.name, ECHO.version).needs == {"renderer", "gpu", "model:writer"}


def test_of_a_pack_that_is_not_here_only_the_pack_is_needed():
    needs = PackNeeds(Registry())
    assert needs.of("garden.water", "2.1.0").needs == {"pack:garden.water@2"}
    assert needs.of("agent", "claude@large").needs == {"agent:claude"}


def test_what_is_needed_follows_the_installed_packs():
    registry = registry_of(replace(ECHO, services=(GONE,)))
    needs = PackNeeds(registry)
    assert "renderer" in needs.of(ECHO.name, ECHO.version).needs
    registry.put(PackSource("user_folder", "yours"), [("yours", ECHO)])
    assert "renderer" not in needs.of(ECHO.name, ECHO.version).needs


@pytest.mark.postgres
async def test_a_worker_offers_what_its_probes_find_its_labels_and_complete_packs(tmp_path: Path):
    complete = replace(ECHO, name="test.complete", services=(HERE, worker_label("gpu")))
    lacking = replace(ECHO, name="test.lacking", services=(HERE, GONE))
    async with postgres_store(tmp_path) as store, laboratory(tmp_path, [complete, lacking]) as lab:
        resources = replace(lab.engine.resources, store=store, labels=frozenset({"gpu"}))
        offers = WorkerOffers(resources)
        assert offers.now == frozenset()
        offers.refresh()
        assert offers.now == {"compiler", "gpu", "pack:test.complete@1", f"@{store.machine}"}


async def test_with_the_embedded_database_nothing_is_recorded(tmp_path: Path):
    async with laboratory(tmp_path, [ECHO]) as lab:
        offers = WorkerOffers(lab.engine.resources)
        offers.refresh()
        assert (offers.matter, offers.text) == (False, "")


def test_a_pack_lacks_nothing_that_one_living_worker_has():
    needy = replace(ECHO, services=(GONE, replace(GONE, name="printer")))
    fleet = Fleet()
    check = RequirementCheck(fleet=fleet)
    for offers, complete in (
        ([], False),
        ([{"renderer"}, {"printer"}], False),  # no worker has both
        ([{"renderer", "printer", "git"}], True),
    ):
        fleet.update(offers)
        assert (pack_requirements(needy, check=check) == []) is complete
        assert (preflight([StandaloneStep("a", needy.name, None)], registry_of(needy), check=check) == []) is complete


def test_credentials_are_needed_wherever_the_pack_runs():
    fleet = Fleet()
    fleet.update([{"renderer"}])
    credential = [*pack_requirements(replace(ECHO, services=(GONE,)))]
    check = RequirementCheck(lambda _: [replace(credential[0], kind="credential", name="github")], fleet)
    assert [lack.name for lack in pack_requirements(replace(ECHO, services=(GONE,)), check=check)] == ["github"]


@pytest.mark.parametrize(("version", "accepted"), [(None, True), ("1", True), ("2.4.0", True), ("3", False)], ids=str)
def test_a_pack_that_another_worker_has_is_accepted_by_its_major_version(version: str | None, accepted: bool):
    fleet = Fleet()
    fleet.update([{"pack:garden.water@1"}, {"pack:garden.water@2", "pack:garden.waterfall@3"}])
    steps = [StandaloneStep("a", "garden.water", version)]
    assert (preflight(steps, Registry(), check=RequirementCheck(fleet=fleet)) == []) is accepted
    assert fleet.major("garden.water", None) == "2"


def test_a_label_is_missing_until_an_operator_gives_it():
    labelled = replace(ECHO, services=(worker_label("gpu"),))
    (lack,) = missing_settings(labelled, (), ())
    assert (lack.kind, lack.name, lack.message) == ("service", "gpu", "This server does not offer the label `gpu`.")
    assert "PACKLINE_OFFERS=gpu" in str(lack.hint)
    assert missing_settings(labelled, (), {"gpu"}) == []


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ({"chromium", "pack:garden.water@1"}, "a worker with chromium"),
        ({"pack:garden.water@1"}, "a worker with pack garden.water@1"),
        ({"@home:/data", "git"}, "a worker with git on home:/data"),
        ({"@home:/data"}, "a worker on home:/data"),
    ],
)
def test_what_is_lacked_is_named(needs: set[str], said: str):
    assert worker_with(needs) == said


def test_a_fleet_names_what_nobody_offers_or_all_that_nobody_offers_together():
    fleet = Fleet()
    assert fleet.lacked("chromium") == set(), "nothing is known yet"
    assert fleet.missing({"chromium"}) == {"chromium"}
    fleet.update([{"chromium", "git"}, {"gpu"}])
    assert fleet.missing(set()) == fleet.missing({"chromium", "git"}) == set()
    assert fleet.missing({"chromium", "tpu"}) == {"tpu"}
    assert fleet.missing({"chromium", "gpu"}) == {"chromium", "gpu"}


async def test_a_start_is_judged_by_the_needs_that_a_run_records(tmp_path: Path):
    needy = replace(ECHO, name="test.needy", services=(GONE,))
    async with laboratory(tmp_path, [needy]) as lab:
        resources, fleet = lab.engine.resources, Fleet()
        recorded = PackNeeds(resources.registry).of(needy.name, needy.version).needs
        assert recorded == {"renderer", "pack:test.needy@1"}
        check = replace(resources, fleet=fleet).requirement_check(CredentialRequester("caller", None))
        for offers in ({"renderer"}, set(recorded)):
            fleet.update([offers, {"git"}])
            assert (pack_requirements(needy, check=check) == []) is fleet.serves(recorded)


def test_a_server_without_a_worker_does_not_count_its_own_machine():
    here = replace(ECHO, services=(HERE, replace(HERE, name="model:writer")))
    fleet = Fleet()
    check = RequirementCheck(fleet=fleet, executes=False)
    fleet.update([{"git"}])
    lacking = pack_requirements(here, check=check)
    assert [(lack.kind, lack.name) for lack in lacking] == [("service", "compiler"), ("model", "writer")]
    assert lacking[0].message == "No living worker offers `compiler`."
    fleet.update([{"compiler", "model:writer"}])
    assert pack_requirements(here, check=check) == []
    fleet.update([])
    assert pack_requirements(replace(ECHO, services=(GONE,)), check=check) == [], "nobody is alive: the run waits"
