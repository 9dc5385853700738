"""`packline trigger` against a real server, each its own process."""

from __future__ import annotations

import json
import queue
import re
import shlex
import threading
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = Path(__file__).parents[3] / "docs" / "triggers.md"


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
        local = datetime.fromisoformat(made["nextAt"]).astimezone()
        assert f"{local:%Y-%m-%d %H:%M:%S %Z}" in machine.run("trigger", "show", begin, "--text").stdout

        (after,) = machine.lines("trigger", "create", "sample", "After", "--after", "failed", "--of", "doc-deck")
        assert after["runEnded"] == {"states": ["FAILED"], "runsOf": "OWNER", "pipelines": [{"key": "doc-deck"}]}
        assert "failed runs of doc-deck" in machine.run("trigger", "list", "--text").stdout
        both = machine.run("trigger", "create", "sample", "Both", "--after", "failed", "--cron", "@daily")
        assert "`--webhook` or `--after`" in both.stderr
        other = ("--after", "succeeded", "--after", "cancelled", "--any-pipeline", "--all-callers")
        (other_runs,) = machine.lines("trigger", "update", after["id"], *other)
        assert other_runs["runEnded"] == {"states": ["SUCCEEDED", "CANCELLED"], "runsOf": "ALL", "pipelines": None}
        (one,) = machine.lines("trigger", "update", after["id"], "--of", "doc-deck", "--own-runs")
        assert one["runEnded"] == {**after["runEnded"], "states": ["SUCCEEDED", "CANCELLED"]}
        assert "does not fire when runs end" in machine.run("trigger", "update", begin, "--own-runs").stderr
        reads = ("-i", "run=${{ trigger.run }}")
        (moved,) = machine.lines("trigger", "update", after["id"], "--pipeline", "notify-failure", *reads)
        assert moved["pipeline"]["key"] == "notify-failure"
        machine.lines("trigger", "delete", after["id"], "--yes")

        when = ("--cron", "30 6 * * MON-FRI", "--zone", "Asia/Tokyo")
        (preview,) = machine.lines("trigger", "preview", *when, "--count", "2")
        shown = machine.run("trigger", "preview", *when, "--text").stdout
        local = datetime.fromisoformat(preview["nextFirings"][1]).astimezone()
        assert (len(preview["nextFirings"]), "in Asia/Tokyo" in shown, "06:30:00 JST" in shown) == (2, True, True)
        assert f"{local:%Y-%m-%d %H:%M:%S %Z}" in shown
        never = machine.run("trigger", "preview", "--cron", "0 0 30 2 *")
        assert (never.returncode, "0 0 30 2 *" in never.stderr) == (2, True)

        wrong = machine.run("trigger", "create", "sample", "Never", "--cron", "0 0 30 2 *")
        assert wrong.returncode == 2
        assert "0 0 30 2 *" in wrong.stderr
        (changed,) = machine.lines("trigger", "update", begin, "--overlap", "queue", "--catch-up-limit", "3")
        assert {**made["schedule"], "overlap": "QUEUE", "catchUpLimit": 3} == changed["schedule"]
        (changed,) = machine.lines("trigger", "update", begin, "--every", "3600", "--name", "Hourly")
        assert (changed["name"], changed["schedule"]["cron"], changed["schedule"]["overlap"]) == (
            "Hourly",
            None,
            "QUEUE",
        )
        assert "nothing to change" in machine.run("trigger", "update", begin).stderr
        assert "no events" in machine.run("trigger", "update", begin, "--event", "push").stderr

        unasked = machine.run("trigger", "delete", made["id"])
        assert "--yes" in unasked.stderr
        assert machine.lines("trigger", "delete", made["id"], "--yes") == [{"type": "deleted", "id": made["id"]}]
        missing = machine.run("trigger", "show", made["id"])
        assert missing.returncode != 0
        assert f"There is no trigger `{made['id']}`" in missing.stderr


def test_a_webhook_is_created_tried_rotated_and_replayed(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with machine.up():
        forced = "practice_failure=${{ trigger.payload.forced }}"
        given = ("trigger", "create", "sample", "Pushes", "--webhook", "github", "-i", forced)
        (made,) = machine.lines(*given, "--event", "push", "--event", "release")
        assert (made["webhook"]["preset"], made["webhook"]["events"]) == ("GITHUB", ["push", "release"])
        assert made["webhook"]["url"].startswith("http://127.0.0.1:")
        shown = machine.run("trigger", "show", made["id"], "--text").stdout
        assert "Events: push, release\nInputs:\n  practice_failure: ${{ trigger.payload.forced }}\n" in shown, shown
        sample = ("trigger", "test", made["id"][:16], "--from-stdin")
        tried = machine.run(*sample, text=made["secret"])
        assert '"status":"accepted"' in tried.stdout.replace(" ", ""), tried.stderr
        wrong = machine.run(*sample, text="not the secret at all")
        assert (wrong.returncode, "401" in wrong.stderr) == (2, True), wrong.stderr
        ignored = machine.run(*sample, "--event", "ping", "--text", text=made["secret"])
        assert "does not fire for this event" in ignored.stdout

        (firing,) = machine.lines("trigger", "firings", made["id"])
        assert (firing["outcome"], firing["delivery"]["event"]) == ("FIRED", "push")
        (replayed,) = machine.lines("trigger", "replay", firing["id"])
        assert replayed["run"]["id"] != firing["run"]["id"]

        rotated = machine.run("trigger", "rotate", made["id"], "--overlap", "0", "--text").stdout
        secret = rotated.partition("Secret: ")[2].split()[0]
        assert machine.run(*sample, text=made["secret"]).returncode == 2
        assert machine.run(*sample, text=secret).returncode == 0
        (changed,) = machine.lines("trigger", "update", made["id"], "--all-events")
        assert changed["webhook"]["events"] == []
        both = machine.run(*given, "--cron", "@daily")
        assert "the options of a schedule" in both.stderr
        neither = machine.run("trigger", "create", "sample", "Nothing")
        assert "--webhook" in neither.stderr


@contextmanager
def chat() -> Iterator[tuple[int, queue.Queue[Any]]]:
    """A chat channel's webhook: its port, and what was posted."""
    posted: queue.Queue[Any] = queue.Queue()

    class Channel(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Channel) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield server.server_port, posted
        finally:
            server.shutdown()
            serving.join()


def test_the_commands_of_the_page_post_a_failure_to_a_channel(tmp_path: Path) -> None:
    found = re.search(r"### Get notified about failures\n.*?```sh\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    machine, address = Machine(tmp_path), tmp_path / "address.txt"
    with chat() as (port, posted):
        machine.environment["PACKLINE_EGRESS_ALLOW"] = f"127.0.0.1:{port}"
        address.write_text(f"http://127.0.0.1:{port}/services/T0/B0/secret\n")
        with machine.up():
            for line in found[1].splitlines():
                words = shlex.split(line.replace("@address.txt", f"@{address}"))[1:]
                form = ["--input", "form=slack"] if words[:2] == ["trigger", "create"] else []
                done = machine.run(*words, *form)
                assert done.returncode == 0, done.stderr
            machine.run("run", "sample")
            message = posted.get(timeout=60)["text"]
    assert message.startswith("*sample failed*\nSee it work\n")
    assert "Practice failure: this step fails the first time" in message
