from __future__ import annotations

from dataclasses import replace

import pytest

from runner.definitions.preflight import StandaloneStep, preflight
from runner.issues import Hint
from runner.packs.availability import PROBE_SECONDS, Probes, Requirement, pack_requirements
from runner.packs.needs import Missing, Service, program, python_module
from runner.packs.registry import PackSource, Registry, builtins_folder, load_registry
from tests.support.pack_folders import pack_source, write_pack_folder


class CountingService:
    def __init__(self, answer: Missing | None) -> None:
        self.answer = answer
        self.asked = 0
        self.service = Service("counting", self._probe)

    def _probe(self) -> Missing | None:
        self.asked += 1
        return self.answer


@pytest.fixture
def pack(tmp_path):
    folder = write_pack_folder(tmp_path, {"text/echo.py": pack_source("text.echo")})
    found = load_registry(folder, entry_points=False).find("text.echo")
    assert found is not None
    return found


def registry_of(*packs) -> Registry:
    registry = Registry()
    registry.put(PackSource("user_folder", "test"), [("test", pack) for pack in packs])
    return registry


def test_what_is_missing_is_told_with_its_remedy(pack):
    services = (program("no-such-program"), python_module("no_such_module", extra="web"), program("sh"))
    requirements = pack_requirements(replace(pack, services=services), Probes())
    assert [(r.kind, r.name, r.steps) for r in requirements] == [
        ("service", "no-such-program", ()),
        ("service", "no_such_module", ()),
    ]
    assert "packline[web]" in str(requirements[1].hint)


def test_a_probe_is_asked_once_in_a_while(pack):
    now = [100.0]
    probes = Probes(lambda: now[0])
    counting = CountingService(Missing("gone", "bring it back"))
    needy = replace(pack, services=(counting.service,))
    assert pack_requirements(needy, probes) == pack_requirements(needy, probes)
    assert counting.asked == 1
    counting.answer = None
    now[0] += PROBE_SECONDS
    assert pack_requirements(needy, probes) == []
    assert counting.asked == 2


def test_a_probe_that_fails_counts_as_missing(pack):
    def probe():
        raise RuntimeError("no idea")

    requirements = pack_requirements(replace(pack, services=(Service("odd", probe),)), Probes())
    assert "no idea" in requirements[0].message


def test_preflight_reports_everything_at_once(pack):
    service = Service("voice", lambda: Missing("There is no voice.", "Install one."))
    registry = registry_of(replace(pack, name="audio.say", services=(service,)), pack)
    steps = [
        StandaloneStep("say", "audio.say", None),
        StandaloneStep("fine", "text.echo", "1"),
        StandaloneStep("say-again", "audio.say", "1.0.0"),
        StandaloneStep("typo", "text.ehco", None),
        StandaloneStep("newer", "text.echo", "2"),
    ]
    requirements = preflight(steps, registry, Probes())
    assert requirements == [
        Requirement("service", "voice", ("say", "say-again"), "There is no voice.", Hint("Install one.")),
        Requirement("pack", "text.ehco", ("typo",), "The pack text.ehco is not installed.", Hint(closest="text.echo")),
        Requirement(
            "pack",
            "text.echo@2",
            ("newer",),
            "Version 2 of pack text.echo is not installed; installed: 1.0.0.",
            Hint("Use an installed version, or install the missing one."),
        ),
    ]
    assert preflight([StandaloneStep("fine", "text.echo", None)], registry, Probes()) == []


def test_a_pack_that_works_in_a_session_needs_a_step_before_it_that_leaves_one() -> None:
    registry = load_registry(builtins_folder(), (), entry_points=False)

    alone = preflight([StandaloneStep("map", "repo.map", None)], registry)
    after = preflight([StandaloneStep("fetch", "repo.fetch", None), StandaloneStep("map", "repo.map", None)], registry)

    assert [(lack.kind, lack.steps) for lack in alone if lack.kind == "session"] == [("session", ("map",))]
    assert not [lack for lack in after if lack.kind == "session"]
