"""The lists as a person meets them: on a terminal of 80 columns."""

import fcntl
import os
import pty
import struct
import termios

import pytest

from tests.app.cli.test_commands import artifact, entry, page, run, token
from tests.support.forks import fork

AT = "2026-11-21T12:00:00.000Z"
RUN = "run_01KAV00000AAAAAAAAAAAAAAAA"
LONG = "Searches, reads and compares many sources on the web, and writes a narrated deck about them."


@pytest.fixture
def terminal(server, tmp_path):
    """Runs a command on a terminal of 80 columns and returns its lines."""

    def call(*arguments):
        environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
        environment |= {"PACKLINE_DATA_DIR": str(tmp_path), "TERM": "xterm", "NO_COLOR": "1"}
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        with fork(arguments, environment, stdout=theirs) as process:
            os.close(theirs)
            shown = b""
            try:
                while part := os.read(ours, 4096):
                    shown += part
            except OSError:  # Linux: the other side is closed
                pass
            os.close(ours)
            assert process.wait() == 0
        return [_plain(line) for line in shown.decode().splitlines()]

    return call


def _plain(line):
    from rich.text import Text

    return Text.from_ansi(line).plain.rstrip()


def pipeline(key, **more):
    return {
        "id": f"builtin.{key}",
        "key": key,
        "name": "Research to narrated deck",
        "description": f"{LONG}\n\nSecond paragraph.",
        "builtin": True,
        "updatedAt": AT,
        "metadata": {"practice": False},
        "availability": {"usable": False, "missing": [{"message": "The role writer has no key.", "hintParts": None}]},
        "currentVersion": {"number": 1},
        **more,
    }


def test_pipelines_take_one_line_each(terminal, server):
    keys = ["research-narrate", "scaffolded-narrated-video", "byo-audio-narrated-video"]
    server.answers["CliPipelines"] = page("pipelines", *map(pipeline, keys))
    heading, *lines = terminal("pipelines")
    assert heading.split() == ["pipeline", "runs", "here", "what", "it", "does"]
    assert [line.split()[:2] for line in lines] == [[key, "no"] for key in sorted(keys)]
    assert all(len(line) <= 80 and line.endswith("…") for line in lines)


def test_long_shows_everything_of_each(terminal, server):
    server.answers["CliPipelines"] = page("pipelines", pipeline("research-narrate"))
    first, *lines = terminal("pipelines", "--long")
    told = " ".join(" ".join(lines).split())
    assert first == "research-narrate"
    assert f"what it does {LONG} Second paragraph." in told
    for text in ("name Research to narrated deck", "kind starter", "missing The role writer has no key."):
        assert text in told
    assert all(len(line) <= 80 for line in lines)


def test_the_other_lists_break_no_id_and_take_one_line_each(terminal, server):
    missing = {"kind": "SERVICE", "name": "x", "steps": [], "message": LONG, "hintParts": None}
    server.answers["CliCatalog"] = page(
        "catalog",
        entry(
            id="blog.rewrite_for_audience",
            metadata={
                "accepts": ["markdown", "text", "document"],
                "produces": ["markdown", "blog_post"],
                "practice": False,
            },
            availability={"usable": False, "missing": [missing]},
        ),
    )
    server.answers["CliLoadErrors"] = {"server": {"packSources": []}}
    failure = {"code": "INVALID_INPUT", "message": LONG, "hint": None, "stepKey": "read"}
    server.answers["CliRuns"] = page("runs", run("FAILED", id=RUN, title=LONG, failure=failure))
    file = artifact(f"{LONG}.pdf", id="art_01KAV00000AAAAAAAAAAAAAAAA", createdAt=AT, pinned=False, run=None)
    server.answers["CliArtifacts"] = page("artifacts", file)
    scopes = ["READ", "OBSERVE", "RUN", "WRITE"]
    made = token(id="tok_01KAV00000AAAAAAAAAAAAAAAA", name=LONG, scopes=scopes)
    server.answers["CliTokens"] = page("callers", {"id": "call_1", "tokens": {"nodes": [made]}})
    secret = {"id": "cred_1", "key": "github.token", "kind": "bearer", "fieldsSet": ["token"], "readable": True}
    secret |= {"createdAt": AT, "expiresAt": None, "lastUsedAt": None, "lastTest": None, "updatedAt": AT}
    grants = [{"id": f"p{n}", "key": f"research-narrate-{n}"} for n in range(9)]
    server.answers["CliCredentials"] = page("credentials", {**secret, "grants": grants})
    asked = {
        ("packs",): "blog.rewrite_for_audience",
        ("runs",): RUN,
        ("artifact", "list"): file["id"],
        ("token", "list"): made["id"],
        ("credential", "list"): "github.token",
    }
    for command, id in asked.items():
        _, *lines = terminal(*command)
        assert len(lines) == 1, command
        assert lines[0].startswith(f"{id}  "), command
        assert len(lines[0]) <= 80, command
