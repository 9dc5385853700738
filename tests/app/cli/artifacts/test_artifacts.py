"""`packline artifact` against a real server, each its own process, and what a terminal is spared."""

import io

from app.cli.base.terminal import DefusedConsole
from tests.support.machine import Machine


def refused(machine, *arguments):
    done = machine.run("artifact", *arguments)
    assert done.returncode == 2, done
    return done.stderr


def test_a_file_is_sent_listed_read_kept_and_saved(tmp_path):
    machine = Machine(tmp_path / "machine")
    notes = tmp_path / "notes.md"
    notes.write_text("# Tides\n" + "Twice a day.\n" * 100)
    with machine.up():
        assert machine.lines("artifact", "list") == []
        (sent,) = machine.lines("artifact", "send", str(notes))
        (listed,) = machine.lines("artifact", "list", "--search", "notes", "--status", "stored", "--not-pinned")
        assert (listed["id"], listed["run"], listed["pinned"]) == (sent["id"], None, False)
        assert machine.lines("artifact", "list", "--type", "image/*") == []
        assert machine.lines("artifact", "list", "--largest") == [listed]
        assert machine.lines("artifact", "list", "--pipeline", "sample") == []

        (first,) = machine.lines("artifact", "text", sent["id"], "--limit", "8")
        assert (first["text"], first["nextOffset"]) == ("# Tides\n", 8)
        told = machine.run("artifact", "text", sent["id"], "--text", "--limit", "8")
        assert (told.stdout, f"text {sent['id']} --offset 8" in told.stderr) == ("# Tides\n", True)

        assert machine.lines("artifact", "pin", sent["id"])[0]["pinned"]
        assert len(machine.lines("artifact", "list", "--pinned")) == 1
        assert "kept until" in machine.run("artifact", "unpin", sent["id"], "--text").stdout

        folder = tmp_path / "out"
        folder.mkdir()
        (saved,) = machine.lines("artifact", "save", sent["id"], "--to", str(folder))
        assert saved["path"] == str(folder / "notes.md")
        assert (folder / "notes.md").read_bytes() == notes.read_bytes()
        (again,) = machine.lines("artifact", "save", sent["id"], "--to", str(folder))
        assert again["path"] == str(folder / "notes-2.md")
        assert "exists" in refused(machine, "save", sent["id"], "--to", str(folder / "notes.md"))
        assert "There is no folder" in refused(machine, "save", sent["id"], "--to", str(tmp_path / "no" / "x.md"))

        unknown = "art_01J00000000000000000000000"
        for command in ("text", "save", "pin", "release"):
            assert unknown in refused(machine, command, unknown)
        assert "quarantine" in refused(machine, "release", sent["id"])
        assert "`good` is not a status" in refused(machine, "list", "--status", "good")
        assert "There is no file" in refused(machine, "send", str(tmp_path / "nothing"))


def test_texts_do_not_command_the_terminal():
    shown = io.StringIO()
    console = DefusedConsole(file=shown, force_terminal=True, width=80)
    console.print("a\x1b]0;title\x07\x9b2Jb\u202ec\td", style="red", markup=False)
    text = shown.getvalue()
    assert "\x1b[31m" in text, "colours of our own are drawn"
    assert "\x1b]0" not in text
    assert not {"\x07", "\x9b", "\u202e"} & set(text)
