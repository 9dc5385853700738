"""`packline trigger` against a real server, each its own process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.machine import Machine

if TYPE_CHECKING:
    from pathlib import Path


def test_a_trigger_is_created_shown_fired_paused_and_deleted(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with machine.up():
        created = ("trigger", "create", "sample", "Yearly", "--cron", "@yearly", "--zone", "Europe/Berlin")
        (made,) = machine.lines(*created)
        assert (made["name"], made["enabled"], len(made["nextFirings"])) == ("Yearly", True, 5)
        begin = made["id"][:16]
        (shown,) = machine.lines("trigger", "show", begin)
        assert shown["schedule"]["timeZone"] == "Europe/Berlin"
        (fired,) = machine.lines("trigger", "fire", begin)
        (firing,) = machine.lines("trigger", "firings", begin)
        assert (firing["outcome"], firing["run"]["id"]) == ("FIRED", fired["run"]["id"])
        (paused,) = machine.lines("trigger", "pause", begin)
        assert (paused["enabled"], paused["nextAt"]) == (False, None)
        (resumed,) = machine.lines("trigger", "resume", begin)
        assert resumed["nextAt"] == made["nextAt"]
        assert [each["id"] for each in machine.lines("trigger", "list", "--pipeline", "sample")] == [made["id"]]
        assert machine.lines("trigger", "list", "--attention") == []
        listed = machine.run("trigger", "list", "--text")
        assert "@yearly Europe/Berlin" in listed.stdout

        wrong = machine.run("trigger", "create", "sample", "Never", "--cron", "0 0 30 2 *")
        assert wrong.returncode == 2
        assert "0 0 30 2 *" in wrong.stderr
        unasked = machine.run("trigger", "delete", made["id"])
        assert "--yes" in unasked.stderr
        assert machine.lines("trigger", "delete", made["id"], "--yes") == [{"type": "deleted", "id": made["id"]}]
        missing = machine.run("trigger", "show", made["id"])
        assert missing.returncode != 0
        assert f"There is no trigger `{made['id']}`" in missing.stderr
